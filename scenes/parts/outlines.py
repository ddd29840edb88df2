"""Outlines of text that was set before, by whatever process: setting a string takes 15-40 ms.

Kept in the user's cache folder under a name made of everything that they depend on, and read only
where they are what was written, by a digest. A file that is missing, damaged or cannot be written
costs time, nothing else. LECTURE_OUTLINES=0 goes without.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import tempfile
from functools import cache
from pathlib import Path

import cairo
import manim
import manimpango
import numpy as np

from .. import fonts

VARIABLE = "LECTURE_OUTLINES"
_FORMAT = "2"  # another one whenever the files have another form
_DIGEST = 32  # bytes at the front of a file: SHA-256 of the rest
#: modules that set text
_SETTING = ("phrase.py", "outlines.py")


def load(*key: str) -> tuple[list[np.ndarray], float] | None:
    """Points of each glyph and the baseline, to the last bit as they were saved; or None."""
    path = _path(key)
    if path is None:
        return None
    try:
        data = path.read_bytes()
        if hashlib.sha256(data[_DIGEST:]).digest() != data[:_DIGEST]:
            return None
        with io.BytesIO(data[_DIGEST:]) as file:
            counts, points, baseline = (np.load(file, allow_pickle=False) for _ in range(3))
        if points.shape != (counts.sum(), 3):
            return None
        return np.split(points, np.cumsum(counts)[:-1]), float(baseline)
    except (OSError, ValueError, EOFError):
        return None


def save(points: list[np.ndarray], baseline: float, *key: str) -> None:
    path = _path(key)
    if path is None or not points:
        return
    with contextlib.suppress(OSError):
        written = io.BytesIO()
        np.save(written, np.array([len(each) for each in points]))
        np.save(written, np.concatenate(points))
        np.save(written, np.array(baseline))
        data = written.getvalue()
        handle, unfinished = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(data).digest() + data)
        Path(unfinished).replace(path)


def _path(key: tuple[str, ...]) -> Path | None:
    folder = _folder()
    if folder is None:
        return None
    name = hashlib.sha256("\0".join([_setting(), *key]).encode()).hexdigest()[:32]
    return folder / f"{name}.npy"


@cache
def _folder() -> Path | None:
    if os.environ.get(VARIABLE) == "0":
        return None
    chosen = os.environ.get("XDG_CACHE_HOME")
    try:
        base = Path(chosen) if chosen else Path.home() / ".cache"
        folder = base / "transformer-lecture" / "outlines"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    return folder if os.access(folder, os.W_OK) else None


@cache
def _setting() -> str:
    """What sets text: our code, programs and the font."""
    folder = Path(__file__).parent
    code = [hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in _SETTING]
    font = fonts.FILE.stat()
    versions = [manim.__version__, manimpango.__version__, manimpango.pango_version()]
    versions += [cairo.cairo_version_string(), np.__version__]
    return "\0".join(
        [_FORMAT, *code, *versions, fonts.FILE.name, str(font.st_size), str(font.st_mtime_ns)]
    )
