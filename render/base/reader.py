"""Typed reading of what others may have written: bounded, never waiting, refused in one line.

``engine.reader`` opens and parses; here what was parsed gets its shape, which is a msgspec.Struct,
a dataclass or a type such as ``dict[str, int]``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import msgspec

from engine import reader
from engine.errors import LectureError

T = TypeVar("T")


class Reader:
    """Reads regular files of at most ``most`` bytes. Every method raises LectureError."""

    def __init__(self, most: int = reader.TEXT_BYTES) -> None:
        self._most = most

    def bytes(self, path: Path) -> bytes:
        """All bytes of a file."""
        return reader.read_bytes(path, self._most)

    def text(self, path: Path) -> str:
        """A file in UTF-8, with or without a byte order mark."""
        return reader.read_text(path, self._most)

    def json(self, path: Path, shape: type[T]) -> T:
        """A JSON file of a shape; see :func:`parsed`."""
        return parsed(self.bytes(path), shape, path)

    def toml(self, path: Path, shape: type[T]) -> T:
        """A TOML file of a shape; see :func:`shaped`."""
        return shaped(reader.parse_toml(self.bytes(path), path), shape, path)


def shaped(document: Any, shape: type[T], path: Path, field: str = "") -> T:
    """Plain data as a shape. ``field``: what in the file it is. Raises LectureError with the place
    of the first misfit."""
    try:
        return msgspec.convert(document, shape)
    except (msgspec.ValidationError, RecursionError) as error:
        said, _, place = str(error).partition(" - at ")
        place = place.strip("`").removeprefix("$").removeprefix(".")
        where = ".".join(part for part in (field, place) if part)
        expected, _, found = said.removeprefix("Expected ").partition(", got ")
        raise LectureError(
            where=path,
            field=where or "contents",
            expected=expected.replace("`", ""),
            found=found.replace("`", "") or "something else",
        ) from None


def parsed(data: bytes, shape: type[T], path: Path) -> T:
    """The JSON in ``data``, which came from ``path``, as a shape. Raises LectureError."""
    try:
        return msgspec.json.decode(data, type=shape)
    except (msgspec.MsgspecError, RecursionError, ValueError):  # or it has a byte order mark
        return shaped(reader.parse_json(data, path), shape, path)


def read_state(path: Path) -> dict[str, Any]:
    """What is remembered as JSON; empty where there is none that can be read."""
    try:
        return Reader(most=reader.WEIGHT_BYTES).json(path, dict[str, Any])
    except LectureError:
        return {}
