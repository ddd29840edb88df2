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
        whole = (0, path.stat().st_size)
        return len(list(_contents(file, whole, b"moov", b"trak", b"edts", b"elst")))


def hide_subtitles(path: Path) -> None:
    """Mark every subtitle track as not enabled: shown only if the viewer asks for it.

    ffmpeg enables the first track of each kind whatever its options say.
    """
    with path.open("r+b") as file:
        for track in _contents(file, (0, path.stat().st_size), b"moov", b"trak"):
            for start, _ in _contents(file, track, b"mdia", b"hdlr"):
                file.seek(start + 8)
                if file.read(4) != b"sbtl":
                    continue
                for head, _ in _contents(file, track, b"tkhd"):
                    file.seek(head + 3)  # version, then three bytes of flags
                    flags = file.read(1)[0]
                    file.seek(head + 3)
                    file.write(bytes([flags & ~_ENABLED]))


def _contents(file: BinaryIO, inside: tuple[int, int], *names: bytes) -> Iterator[tuple[int, int]]:
    """Where the contents of boxes are, start and end: of those of the first name ``inside``, in
    them those of the next, and so on."""
    for name, start, end in _boxes(file, *inside):
        if name == names[0] and names[1:]:
            yield from _contents(file, (start, end), *names[1:])
        elif name == names[0]:
            yield start, end


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
