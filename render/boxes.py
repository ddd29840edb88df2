"""A look at the boxes of an MP4 file, for what no decoder reports: their order, edit lists."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

_CONTAINERS = {b"moov", b"trak", b"edts", b"mdia"}


def top_level(path: Path) -> list[str]:
    """The names of the file's outermost boxes in order, e.g. ``ftyp moov free mdat``."""
    with path.open("rb") as file:
        return [name.decode("latin-1") for name, _, _ in _boxes(file, 0, path.stat().st_size)]


def edit_lists(path: Path) -> int:
    """How many tracks have an edit list."""
    with path.open("rb") as file:
        return sum(name == b"elst" for name in _walk(file, 0, path.stat().st_size))


def _walk(file: BinaryIO, start: int, end: int) -> Iterator[bytes]:
    for name, inside, stop in _boxes(file, start, end):
        yield name
        if name in _CONTAINERS:
            yield from _walk(file, inside, stop)


def _boxes(file: BinaryIO, start: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """(name, start of content, end) of the boxes between two offsets; stops at nonsense."""
    while start + 8 <= end:
        file.seek(start)
        header = file.read(16)
        if len(header) < 8:
            return
        size, name = struct.unpack(">I4s", header[:8])
        content = start + 8
        if size == 1 and len(header) == 16:
            size, content = struct.unpack(">Q", header[8:])[0], start + 16
        elif size == 0:
            size = end - start
        if size < 8:
            return
        yield name, content, min(start + size, end)
        start += size
