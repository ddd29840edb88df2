"""Weights as `.safetensors`, with the head as JSON under "model" in the file's metadata.

Such a file is 8 bytes of length, a JSON header, and the numbers. Reading it needs no package;
writing needs `safetensors`, which is asked for only then.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from engine import json_file
from engine.arrays import AXES, Arrays, Entry, Shape, count, from_bytes
from engine.errors import LectureError, quoted
from engine.head import Document, head_document
from engine.reader import TEXT_BYTES, refuse
from engine.weights import Weights

METADATA = "model"
_METADATA = "__metadata__"
_TYPES = {  # the format's word: NumPy's word, bytes of a number
    "F64": ("<f8", 8),
    "F32": ("<f4", 4),
    "F16": ("<f2", 2),
    "BF16": ("bfloat16", 2),
    "I64": ("<i8", 8),
    "I32": ("<i4", 4),
    "I16": ("<i2", 2),
    "I8": ("|i1", 1),
    "U64": ("<u8", 8),
    "U32": ("<u4", 4),
    "U16": ("<u2", 2),
    "U8": ("|u1", 1),
    "BOOL": ("|b1", 1),
}


def read(data: bytes, path: Path) -> tuple[Document, Arrays]:
    """A file's bytes to its head and matrices. Raises LectureError."""
    metadata, arrays = _parts(data, path)
    if METADATA not in metadata:
        refuse(path, f"{_METADATA}.{METADATA}", "present", "missing")
    head = json_file.parse(metadata[METADATA].encode("utf-8", "surrogatepass"), path, METADATA)
    return head, arrays


def read_arrays(data: bytes, path: Path) -> Arrays:
    """The tensors of any such file, with whatever names they have. Raises LectureError."""
    return _parts(data, path)[1]


def write(weights: Weights) -> bytes:
    """The whole file, with the same bytes for the same weights."""
    library = _library(weights.path)
    head = json.dumps(head_document(weights), ensure_ascii=False)
    data: bytes = library.numpy.save(dict(weights.matrices), metadata={METADATA: head})
    return data


def _parts(data: bytes, path: Path) -> tuple[dict[str, str], Arrays]:
    """The texts of the header, and the tensors, which must fill the rest without gap or overlap."""
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > min(len(data) - 8, TEXT_BYTES):
        raise _damaged(path, "file", f"{len(data)} bytes with a header of {length}")
    header = json_file.parse(data[8 : 8 + length].rstrip(), path, "header")
    metadata = header.pop(_METADATA, {})
    if not isinstance(metadata, dict) or not all(isinstance(t, str) for t in metadata.values()):
        refuse(path, _METADATA, "texts by name", quoted(metadata))
    body = memoryview(data)[8 + length :]
    spans: list[tuple[int, int]] = []
    entries = {name: _entry(name, value, body, spans, path) for name, value in header.items()}
    reached = 0
    for start, end in sorted(spans):
        if start != reached:
            raise _damaged(path, "file", f"a gap or overlap at byte {min(start, reached)}")
        reached = end
    if reached != len(body):
        raise _damaged(path, "file", f"{len(body)} bytes of numbers for {reached}")
    return metadata, Arrays(entries)


def _entry(
    name: str, value: Any, body: memoryview, spans: list[tuple[int, int]], path: Path
) -> Entry:
    """One tensor of the header: its dtype, shape and place agree with each other."""
    if not isinstance(value, dict) or set(value) != {"dtype", "shape", "data_offsets"}:
        raise _damaged(path, name, quoted(value))
    kind, shape, place = value["dtype"], value["shape"], value["data_offsets"]
    if not isinstance(kind, str) or kind not in _TYPES:
        refuse(path, name, f"one of the types {', '.join(_TYPES)}", quoted(kind))
    if not (_numbers(shape, AXES) and _numbers(place, 2) and len(place) == 2):
        raise _damaged(path, name, f"shape {quoted(shape)} at {quoted(place)}")
    (dtype, size), sides, (start, end) = _TYPES[kind], tuple(shape), place
    if not start <= end <= len(body) or count(sides) * size != end - start:
        raise _damaged(path, name, f"{end - start} bytes at {start} for {kind} {quoted(shape)}")
    spans.append((start, end))
    return Entry(sides, dtype, partial(_load, body[start:end], dtype, sides))


def _load(data: memoryview, dtype: str, shape: Shape) -> Any:
    return from_bytes(bytes(data), dtype, shape)


def _numbers(value: object, most: int) -> bool:
    """Whether this is a list of at most `most` whole numbers from 0, none absurdly large."""
    if not isinstance(value, list) or len(value) > most:
        return False
    return all(type(number) is int and 0 <= number < 2**48 for number in value)


def _library(path: Path | None) -> ModuleType:
    try:
        import safetensors.numpy
    except ImportError:
        raise LectureError(
            where=path,
            field="format",
            expected="the package safetensors, which writing this format needs",
            found="not installed",
        ) from None
    return safetensors


def _damaged(path: Path, field: str, found: str) -> LectureError:
    return LectureError(where=path, field=field, expected="a sound safetensors file", found=found)
