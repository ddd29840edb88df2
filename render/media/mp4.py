"""The MP4 format beyond what libraries offer: names in it, and its boxes."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

LANGUAGE_CODES = {"zh": "zho", "en": "eng"}  # ISO 639-2, as MP4 has them
LECTURE_TITLES = {
    "zh": "Transformer：每一个数字都算给你看",
    "en": "The Transformer, number by number",
}
_CONTAINERS = {b"moov", b"trak", b"edts", b"mdia"}
_ENABLED = 1  # a flag of a track


@dataclass(frozen=True)
class Chapter:
    """A named stretch of a film, in frames: ``start`` belongs to it, ``end`` no longer."""

    title: str
    start: int
    end: int

    def __str__(self) -> str:
        return f"{self.title!r} in frames {self.start} to {self.end}"


@dataclass(frozen=True)
class Origin:
    """What a video was made from; stands in its comment tag and in its record, so that one is
    known to belong to the other. ``key`` stands for everything that the video depends on."""

    language: str
    quality: str
    key: str

    def __str__(self) -> str:
        return f"transformer-lecture language={self.language} quality={self.quality} key={self.key}"


def top_level(path: Path) -> list[str]:
    """The names of the file's outermost boxes in order, e.g. ``ftyp moov free mdat``."""
    with path.open("rb") as file:
        return [name.decode("latin-1") for name, _, _ in _boxes(file, 0, path.stat().st_size)]


def edit_lists(path: Path) -> int:
    """How many tracks have an edit list."""
    with path.open("rb") as file:
        return sum(name == b"elst" for name in _walk(file, 0, path.stat().st_size))


def hide_subtitles(path: Path) -> None:
    """Mark every subtitle track as not enabled: shown only if the viewer asks for it.

    ffmpeg enables the first track of each kind whatever its options say.
    """
    with path.open("r+b") as file:
        for _, start, end in _of_name(file, 0, path.stat().st_size, b"moov"):
            for _, inside, stop in _of_name(file, start, end, b"trak"):
                parts = {name: at for name, at, _ in _boxes(file, inside, stop)}
                if _handler(file, inside, stop) == b"sbtl" and b"tkhd" in parts:
                    file.seek(parts[b"tkhd"] + 3)  # version, then three bytes of flags
                    flags = file.read(1)[0]
                    file.seek(parts[b"tkhd"] + 3)
                    file.write(bytes([flags & ~_ENABLED]))


def _handler(file: BinaryIO, start: int, end: int) -> bytes:
    """What kind of track the content of a ``trak`` box is."""
    for _, inside, stop in _of_name(file, start, end, b"mdia"):
        for _, at, _ in _of_name(file, inside, stop, b"hdlr"):
            file.seek(at + 8)
            return file.read(4)
    return b""


def _of_name(file: BinaryIO, start: int, end: int, wanted: bytes) -> list[tuple[bytes, int, int]]:
    return [box for box in _boxes(file, start, end) if box[0] == wanted]


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
