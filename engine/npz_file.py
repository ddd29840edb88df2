"""Weights as `.npz`: one `.npy` array per matrix and a text array "metadata" with the head.

Nothing is ever unpickled, and no array is made before its size is known to fit its bytes.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import json_file
from engine.errors import LectureError
from engine.head import Document, head_document
from engine.weights import Weights

METADATA = "metadata"
MAX_MEMBER_BYTES = 64 * 2**20  # unpacked


def read(data: bytes, path: Path) -> tuple[Document, dict[str, NDArray[Any]]]:
    """A file's bytes to its head and matrices. Raises LectureError."""
    arrays: dict[str, NDArray[Any]] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.infolist():
                name = member.filename.removesuffix(".npy")
                if name in arrays:
                    raise LectureError(where=path, field=name, expected="once", found="twice")
                if member.file_size > MAX_MEMBER_BYTES:
                    raise _damaged(path, name, f"{member.file_size} bytes unpacked")
                arrays[name] = _array(archive.read(member), name, path)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        raise _damaged(path, "file", str(error) or "a damaged archive") from None
    if METADATA not in arrays:
        raise LectureError(where=path, field=METADATA, expected="present", found="missing")
    text = arrays.pop(METADATA)
    if text.dtype.kind != "U" or text.shape:
        raise LectureError(where=path, field=METADATA, expected="a text", found=str(text.dtype))
    head = json_file.parse(str(text).encode("utf-8", "surrogatepass"), path, METADATA)
    return head, arrays


def write(weights: Weights) -> bytes:
    """The whole file, uncompressed, with the same bytes for the same weights."""
    file = io.BytesIO()
    head = json.dumps(head_document(weights), ensure_ascii=False)
    np.savez(file, allow_pickle=False, **{METADATA: np.array(head)}, **weights.matrices)
    return file.getvalue()


def _array(data: bytes, name: str, path: Path) -> NDArray[Any]:
    """One `.npy` member, once its header and its length agree."""
    file = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
        else:
            shape, fortran, dtype = np.lib.format.read_array_header_2_0(file)
    except Exception as error:  # numpy's header parser lets many kinds out
        raise _damaged(path, name, str(error)) from None
    if dtype.hasobject or dtype.kind not in "fiuU":
        raise LectureError(
            where=path, field=name, expected="an array of numbers", found=f"type {dtype}"
        )
    count = 1
    for side in shape:
        count *= side
    body = data[file.tell() :]
    if min(shape, default=0) < 0 or count * dtype.itemsize != len(body):
        raise _damaged(path, name, f"{len(body)} bytes for an array of shape {shape}")
    return np.frombuffer(body, dtype, count).reshape(shape, order="F" if fortran else "C")


def _damaged(path: Path, field: str, found: str) -> LectureError:
    return LectureError(where=path, field=field, expected="a sound npz archive", found=found)
