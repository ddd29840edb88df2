"""Weight files: `.json` (readable, made to be edited by hand), `.npz` and `.safetensors`.

All three carry the configuration, the vocabulary and the matrices, and give back exactly the
same numbers. Reading trusts nothing: whatever does not fit is refused with file, field, expected
and found. Writing goes to a file beside and renames it, so a failure leaves the old file whole.
"""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from engine import json_file, npz_file, safetensors_file
from engine.errors import LectureError, quoted
from engine.head import weights_of
from engine.reader import TEXT_BYTES, WEIGHT_BYTES, from_file_error, read_bytes
from engine.weights import Weights

FORMATS = {
    ".json": json_file,
    ".npz": npz_file,
    ".safetensors": safetensors_file,
}
MAX_BYTES = WEIGHT_BYTES  # no lecture needs more; a larger file is a mistake


def load_weights(path: str | Path) -> Weights:
    """Read a weight file; the suffix says which format. Raises LectureError."""
    path = Path(path)
    suffix = _suffix(path)
    head, matrices = FORMATS[suffix].read(_read(path), path)
    return weights_of(head, matrices, path)


def save_weights(weights: Weights, path: str | Path) -> None:
    """Write a weight file; the suffix says which format. The same weights give the same bytes.
    Raises LectureError, and then leaves whatever was there before."""
    path = Path(path)
    write_aside(path, FORMATS[_suffix(path)].write(weights))


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise LectureError(
            where=path,
            field="file name",
            expected=f"one ending in {', '.join(FORMATS)}",
            found=quoted(path.suffix) if path.suffix else "no ending",
        )
    return suffix


def _read(path: Path) -> bytes:
    """All bytes of a weight file: JSON is a text, the other formats are limited to MAX_BYTES."""
    data = read_bytes(path, TEXT_BYTES if _suffix(path) == ".json" else MAX_BYTES)
    if not data:
        raise LectureError(where=path, field="file", expected="weights", found="an empty file")
    return data


def write_aside(path: Path, data: bytes) -> None:
    """Write a whole file or nothing: to a temporary file in the same folder, then renamed. A link
    keeps pointing where it did; an existing file keeps its permissions. Raises LectureError."""
    try:
        target = Path(os.path.realpath(path))
        if target.is_dir():
            raise IsADirectoryError(None, "is a directory")
        aside = target.with_name(f".{secrets.token_hex(8)}.part")
        try:
            with aside.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if target.exists():
                aside.chmod(stat.S_IMODE(target.stat().st_mode))
            aside.replace(target)
        except BaseException:
            aside.unlink(missing_ok=True)
            raise
    except (OSError, ValueError) as error:
        raise from_file_error(error, path) from None
