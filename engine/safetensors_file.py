"""Weights as `.safetensors`, with the head as JSON under "model" in the file's metadata.

The `safetensors` package is needed only here and only when such a file is read or written.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

from numpy.typing import NDArray

from engine import json_file
from engine.errors import LectureError, quoted
from engine.head import Document, head_document
from engine.weights import Weights

METADATA = "model"


def read(data: bytes, path: Path) -> tuple[Document, dict[str, NDArray[Any]]]:
    """A file's bytes to its head and matrices. Raises LectureError."""
    library = _library(path)
    try:
        arrays: dict[str, NDArray[Any]] = library.numpy.load(data)
    except (library.SafetensorError, KeyError, TypeError, ValueError) as error:
        raise _damaged(path, str(error)) from None
    metadata = _metadata(data, path)
    if METADATA not in metadata:
        raise LectureError(
            where=path, field=f"__metadata__.{METADATA}", expected="present", found="missing"
        )
    head = json_file.parse(metadata[METADATA].encode("utf-8", "surrogatepass"), path, METADATA)
    return head, arrays


def write(weights: Weights) -> bytes:
    """The whole file, with the same bytes for the same weights."""
    library = _library(weights.path)
    head = json.dumps(head_document(weights), ensure_ascii=False)
    data: bytes = library.numpy.save(dict(weights.matrices), metadata={METADATA: head})
    return data


def _metadata(data: bytes, path: Path) -> dict[str, str]:
    """The text entries of the header: 8 bytes of length, little-endian, then a JSON object."""
    header = data[8 : 8 + int.from_bytes(data[:8], "little")]
    metadata = json_file.parse(header.rstrip(), path, "header").get("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(t, str) for t in metadata.values()):
        raise LectureError(
            where=path, field="__metadata__", expected="texts by name", found=quoted(metadata)
        )
    return metadata


def _library(path: Path | None) -> ModuleType:
    try:
        import safetensors.numpy
    except ImportError:
        raise LectureError(
            where=path,
            field="format",
            expected="the package safetensors, which this format needs",
            found="not installed",
        ) from None
    return safetensors


def _damaged(path: Path, found: str) -> LectureError:
    return LectureError(where=path, field="file", expected="a sound safetensors file", found=found)
