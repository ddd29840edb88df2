"""Weights as `.npz`: one `.npy` array per matrix and a text array "metadata" with the head.

Nothing is ever unpickled, and no array is unpacked before its header has been read.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import json_file
from engine.archive import Archive
from engine.arrays import AXES, Arrays, Entry, count
from engine.errors import LectureError
from engine.head import Document, head_document
from engine.reader import TEXT_BYTES, guarded, refuse
from engine.weights import Weights

METADATA = "metadata"
_KIND = "npz archive"
_HEADER_BYTES = 12_000  # more than NumPy accepts


def read(data: bytes, path: Path) -> tuple[Document, Arrays]:
    """A file's bytes to its head and matrices. Raises LectureError."""
    entries = _entries(data, path)
    if METADATA not in entries:
        refuse(path, METADATA, "present", "missing")
    entry = entries.pop(METADATA)
    if not entry.dtype.startswith("<U") or entry.shape:
        refuse(path, METADATA, "a text", entry.dtype)
    text = str(entry.load()).encode("utf-8", "surrogatepass")
    if len(text) > TEXT_BYTES:
        refuse(path, METADATA, f"at most {TEXT_BYTES >> 20} MiB", f"{len(text)} bytes")
    return json_file.parse(text, path, METADATA), Arrays(entries)


def read_arrays(data: bytes, path: Path, kinds: str = "fiuUb") -> Arrays:
    """The arrays of any `.npz`, with whatever names they have, of the ``kinds`` of NumPy's types.
    Raises LectureError."""
    return Arrays(_entries(data, path, kinds))  # masks are left out later


def write(weights: Weights) -> bytes:
    """The whole file, uncompressed, with the same bytes for the same weights."""
    file = io.BytesIO()
    head = json.dumps(head_document(weights), ensure_ascii=False)
    np.savez(file, allow_pickle=False, **{METADATA: np.array(head)}, **weights.matrices)
    return file.getvalue()


def _entries(data: bytes, path: Path, kinds: str = "fiuU") -> dict[str, Entry]:
    archive = Archive(data, path, _KIND)
    entries: dict[str, Entry] = {}
    for member in archive.names():
        name = member.removesuffix(".npy")
        if name in entries:
            refuse(path, name, "once", "twice")
        entries[name] = _entry(archive, member, name, kinds)
    return entries


def _entry(archive: Archive, member: str, name: str, kinds: str) -> Entry:
    """One `.npy` member, once its header and its length agree. `kinds` are NumPy's letters."""
    file = io.BytesIO(archive.read(member, _HEADER_BYTES))
    with guarded(archive.path, name, f"a sound {_KIND}"):
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
        else:
            shape, fortran, dtype = np.lib.format.read_array_header_2_0(file)
    if dtype.hasobject or dtype.kind not in kinds:
        raise LectureError(
            where=archive.path, field=name, expected="an array of numbers", found=f"type {dtype}"
        )
    start, numbers = file.tell(), count(shape)
    size = archive.size(member) - start
    if min(shape, default=0) < 0 or len(shape) > AXES or numbers * dtype.itemsize != size:
        raise archive.damaged(name, f"{size} bytes for an array of shape {shape}")

    def load() -> NDArray[Any]:
        body = archive.read(member)[start:]
        flat = np.frombuffer(body, dtype, numbers)
        return flat.reshape(shape, order="F" if fortran else "C")

    return Entry(shape, str(dtype), load)
