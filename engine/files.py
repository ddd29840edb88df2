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
from engine.errors import LectureError, from_os_error, quoted
from engine.head import weights_of
from engine.weights import Weights

FORMATS = {
    ".json": json_file,
    ".npz": npz_file,
    ".safetensors": safetensors_file,
}
MAX_BYTES = 64 * 2**20  # no lecture needs more; a larger file is a mistake


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
    """All bytes of a regular file of at most MAX_BYTES."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            found = "a directory" if stat.S_ISDIR(status.st_mode) else "something else"
            raise LectureError(where=path, field="file", expected="a regular file", found=found)
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise _from_file_error(error, path) from None
    if len(data) > MAX_BYTES:
        raise LectureError(
            where=path,
            field="file",
            expected=f"at most {MAX_BYTES // 2**20} MiB",
            found=f"{status.st_size} bytes",
        )
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
        raise _from_file_error(error, path) from None


def _from_file_error(error: OSError | ValueError, path: Path) -> LectureError:
    if isinstance(error, OSError):
        return from_os_error(error, path)
    return LectureError(where=path, field="file name", found=str(error))  # such as a NUL in it
