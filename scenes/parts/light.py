"""Light that runs along a path, in as many strands as the data that it stands for has rows."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from manim import (
    UP,
    Animation,
    ManimColor,
    ShowPassingFlash,
    VMobject,
    interpolate_color,
    linear,
    squish_rate_func,
    there_and_back,
)

from .. import theme
from .flow import Block

#: Stroke widths and opacities of a strand, from its glow to its core.
_LAYERS = ((15.0, 0.22), (6.0, 1.0))
_STEP = 0.1


class Beam:
    """Light on the way along ``points``: ``rows`` strands, ``pitch`` apart, ``tail`` units long.

    ``start`` and ``end`` are the part of an animation's time in which it runs; :meth:`flashes`
    makes its animations, :meth:`pulse` those of a block that it passes. A path of several strands
    must be straight from left to right.
    """

    def __init__(
        self,
        *points: Sequence[float],
        color: ManimColor,
        rows: int = 1,
        pitch: float = 0.2,
        tail: float = 1.3,
        start: float = 0.0,
        end: float = 1.0,
    ) -> None:
        self._ends = [np.array([*point[:2], 0.0]) for point in points]
        self.color = color
        lengths = [np.linalg.norm(b - a) for a, b in itertools.pairwise(self._ends)]
        self.length = float(sum(lengths))
        self._tail = tail / self.length
        self.start, self.end = start, end
        middle = (rows - 1) / 2
        self._offsets = [(middle - row) * pitch for row in range(rows)]

    def flashes(self) -> list[Animation]:
        """Every strand, its glow and its core, moving together."""
        path = _evenly(self._ends)
        rate = squish_rate_func(linear, self.start, self.end)
        return [
            ShowPassingFlash(
                self._strand(path + offset * UP, width, opacity),
                time_width=self._tail,
                rate_func=rate,
            )
            for offset in self._offsets
            for width, opacity in _LAYERS
        ]

    def _strand(self, path: np.ndarray, width: float, opacity: float) -> VMobject:
        strand = VMobject(fill_opacity=0, stroke_width=width, stroke_color=self.color)
        return strand.set_stroke(opacity=opacity).set_points_as_corners(path)

    def time_at(self, x: float) -> float:
        """When, as a part of the animation's time, the head of a straight beam is at ``x``."""
        share = (x - self._ends[0][0]) / self.length / (1 + self._tail)
        return self.start + (self.end - self.start) * min(1.0, max(0.0, share))

    def pulse(self, block: Block, strength: float = 0.55) -> Animation:
        """The block glows while the beam passes through it."""
        left, right = block.box.get_left()[0], block.box.get_right()[0]
        begin, end = self.time_at(left), min(1.0, self.time_at(right + self._tail * self.length))
        rate = squish_rate_func(there_and_back, begin, max(end, begin + 0.05))
        lit = interpolate_color(theme.PANEL, self.color, strength)
        return block.box.animate(rate_func=rate).set_fill(lit)


def _evenly(ends: Sequence[np.ndarray]) -> np.ndarray:
    """Points along a polyline at equal distances, so that light runs at one speed."""
    pieces = [ends[0][None]]
    for a, b in itertools.pairwise(ends):
        count = max(1, round(float(np.linalg.norm(b - a)) / _STEP))
        pieces.append(a + (b - a) * np.linspace(0, 1, count + 1)[1:, None])
    return np.concatenate(pieces)
