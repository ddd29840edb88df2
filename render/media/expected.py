"""What a finished video must be, and how what was found is told."""

from __future__ import annotations

from dataclasses import dataclass

from render.media.captions.tracks import Track
from render.media.metadata import Chapter, Origin
from render.media.quality import Quality

BT709 = 1  # its number as primaries, transfer and matrix
LIMITED = 1  # "tv" range


@dataclass(frozen=True)
class Expected:
    """What a video should be; ``frames`` is its whole length.

    ``pictures``: the digest of what the encoder put out. With it a video need not be decoded as a
    whole: its packets are compared with those, to the last byte.
    """

    quality: Quality
    frames: int
    title: str
    origin: Origin
    chapters: tuple[Chapter, ...] = ()
    captions: tuple[Track, ...] = ()
    pictures: str | None = None


@dataclass(frozen=True)
class Finding:
    """One property: what was expected and what the file has."""

    field: str
    expected: object
    found: object

    @property
    def good(self) -> bool:
        return self.expected == self.found
