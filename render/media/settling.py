"""Parts of the picture that have come to rest, which x264 then codes again, finely.

Whatever moves is coded coarsely: nobody sees the difference while it moves. Once it stands still,
or has faded away, one would see what the coarse quantizer left out, and with nothing to code that
would stay until the next keyframe. So we look at the picture five times a second. Tiles that
changed before the last look and not since are coded again with a finer quantizer, whether or not
anything moves elsewhere. That is at most 0.4 s after their last change.

x264 takes a quantizer for a part of a picture as a region of interest; ffmpeg's filter ``addroi``
notes one on a frame.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import av
import numpy as np

from render.media.quality import Quality

TILE = 16  # pixels: one macroblock of H.264, and one tile of the fast renderer
LOOKS = 5  # a second
_MOST = 40  # regions in a frame; beyond that one that holds them all
_QUANTIZERS = 51  # ffmpeg gives offsets as a part of this


class Region(NamedTuple):
    """A rectangle in tiles: from ``left`` and ``top`` on, without ``right`` and ``bottom``."""

    left: int
    top: int
    right: int
    bottom: int


class Settling:
    """Keeps, since the last keyframe, which tiles of the picture have come to rest."""

    def __init__(self, quality: Quality) -> None:
        shape = -(-quality.height // TILE), -(-quality.width // TILE)
        self._interval = quality.fps // LOOKS
        self._moving = np.zeros(shape, bool)  # changed since the last look
        self._slowing = np.zeros(shape, bool)  # changed between the last look and the one before

    def change(self, where: Any) -> None:
        """A new picture: ``where``, (rows, columns) of tiles, is what changed; None for all."""
        self._moving |= True if where is None else where.astype(bool)

    def settled(self, place: int) -> list[Region]:
        """What is to be coded finely in the picture that is ``place`` frames after its keyframe.

        To be asked for every frame, once. The keyframe itself is coded finely as a whole, so
        nothing is left to settle from before it.
        """
        if place == 0:
            self._moving[:] = self._slowing[:] = False
        if place == 0 or place % self._interval:
            return []
        found = self._slowing & ~self._moving
        self._slowing, self._moving = self._moving, np.zeros_like(self._moving)
        return regions(found)


def tiles_changed(before: Any, after: Any) -> Any:
    """Which tiles, (rows, columns), differ in brightness between two pictures of 4:2:0."""
    height, width = before.shape[0] * 2 // 3, before.shape[1]
    differ = before[:height] != after[:height]
    rows = np.logical_or.reduceat(differ, np.arange(0, height, TILE), 0)
    return np.logical_or.reduceat(rows, np.arange(0, width, TILE), 1)


def regions(where: Any) -> list[Region]:
    """Rectangles that cover the true tiles of ``where`` (rows, columns), and no others unless
    there would be very many."""
    found: list[Region] = []
    growing: dict[tuple[int, int], int] = {}  # columns from and to, and the row where they began
    height, width = where.shape
    for row in range(height + 1):
        tiles = where[row] if row < height else np.zeros(width, bool)
        edges = np.flatnonzero(np.diff(np.concatenate(([0], tiles, [0])))).tolist()
        runs = set(zip(edges[::2], edges[1::2], strict=True))
        for run in [run for run in growing if run not in runs]:
            found.append(Region(run[0], growing.pop(run), run[1], row))
        for run in runs:
            growing.setdefault(run, row)
    if len(found) <= _MOST:
        return sorted(found)
    left, top, right, bottom = zip(*found, strict=True)
    return [Region(min(left), min(top), max(right), max(bottom))]


def whole(quality: Quality) -> list[Region]:
    """The whole picture as a region."""
    return [Region(0, 0, -(-quality.width // TILE), -(-quality.height // TILE))]


def with_regions(frame: Any, quality: Quality, found: list[Region], offset: int) -> Any:
    """The frame with a note for x264: code these regions with a quantizer that is ``offset`` from
    the usual one (negative is finer). The planes are not copied."""
    graph = av.filter.Graph()
    last = source = graph.add_buffer(
        width=quality.width,
        height=quality.height,
        format=av.VideoFormat("yuv420p"),
        time_base=Fraction(1, quality.fps),
    )
    for left, top, right, bottom in (tuple(TILE * edge for edge in region) for region in found):
        size = f"w={min(right, quality.width) - left}:h={min(bottom, quality.height) - top}"
        area = f"x={left}:y={top}:{size}:qoffset={offset}/{_QUANTIZERS}"
        note = graph.add("addroi", area)
        last.link_to(note)
        last = note
    sink = graph.add("buffersink")
    last.link_to(sink)
    graph.configure()
    frame.time_base = Fraction(1, quality.fps)
    source.push(frame)
    return sink.pull()
