"""Titles, languages, chapters and the note of origin, as they are written into an MP4."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

LANGUAGE_CODES = {"zh": "zho", "en": "eng"}  # ISO 639-2, as MP4 has them
LECTURE_TITLES = {
    "zh": "Transformer：每一个数字都算给你看",
    "en": "The Transformer, number by number",
}
_SPECIAL = re.compile(r"([=;#\\\n])")


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
    known to belong to the other."""

    language: str
    quality: str
    key: str  # of everything that it depends on: render/build/incremental/made.py

    def __str__(self) -> str:
        return f"transformer-lecture language={self.language} quality={self.quality} key={self.key}"


def escape(text: str) -> str:
    """``text`` as an FFMETADATA value: ``=``, ``;``, ``#``, backslash and newline escaped.

    ffmpeg takes a backslash at the very end of a line for an escape of the line break even where
    it is itself escaped, so such a text gets a blank behind it.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return _SPECIAL.sub(r"\\\1", text) + (" " if text.endswith("\\") else "")


def write_metadata(
    path: Path, *, title: str, comment: str, fps: int, chapters: Sequence[Chapter] = ()
) -> None:
    """Write the FFMETADATA file that gives a video its title, comment and chapters."""
    lines = [";FFMETADATA1", f"title={escape(title)}", f"comment={escape(comment)}"]
    for chapter in chapters:
        lines += [
            "[CHAPTER]",
            f"TIMEBASE=1/{fps}",
            f"START={chapter.start}",
            f"END={chapter.end}",
            f"title={escape(chapter.title)}",
        ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
