"""The curve of the loss: -ln p over the probability of the target."""

from __future__ import annotations

import math

import numpy as np
from manim import LEFT, RIGHT, UP, DashedLine, Dot, Line, VGroup, VMobject

from .. import theme
from ..values import Scalar, constant
from ..verdicts import LARGEST_LOSS
from .phrase import Number, Phrase
from .shapes import arrow


class LossCurve(VGroup):
    """``-ln p`` for p from 0 to 1, in a box from ``corner`` (lower left), as high as ``top``.

    The curve ends at a loss of :data:`scenes.verdicts.LARGEST_LOSS` even where ``top`` is larger.
    ``across`` and ``up`` name the two axes.
    """

    def __init__(
        self,
        corner: tuple[float, float],
        size: tuple[float, float],
        top: float,
        across: Phrase,
        up: Phrase,
    ) -> None:
        self._corner, self._size, self._top = corner, size, top
        self._end = min(top, LARGEST_LOSS)
        (x, y), (width, height) = corner, size
        options = {"color": theme.MUTED, "width": 3}
        self.axes = VGroup(
            arrow([x, y, 0], [x + width + 0.3, y, 0], **options),
            arrow([x, y, 0], [x, y + height + 0.3, 0], **options),
            Line([x + width, y - 0.07, 0], [x + width, y + 0.07, 0], color=theme.MUTED),
        )
        tick = {"size": theme.SMALL, "color": theme.MUTED}
        self.ticks = VGroup(
            Number(constant(0), 0, **tick).place([x, y - 0.28, 0]),
            Number(constant(1), 0, **tick).place([x + width, y - 0.28, 0]),
        )
        self.names = VGroup(
            across.place([x + width / 2, y - 0.28, 0]), up.place([x + 0.25, y + height + 0.2], LEFT)
        )
        self.curve = self.stretch(1.0, math.exp(-self._end)).set_stroke(theme.INK, width=4)
        super().__init__(self.axes, self.ticks, self.names, self.curve)

    def at(self, p: float) -> np.ndarray:
        """The place of a probability on the curve, at its end where p is too small for it."""
        loss = min(self._end, -math.log(max(p, 1e-300)))
        (x, y), (width, height) = self._corner, self._size
        return np.array([x + width * p, y + height * loss / self._top, 0])

    def stretch(self, start: float, end: float) -> VMobject:
        """The curve from one probability to another, in equal steps of the loss."""
        first, last = (-math.log(max(p, math.exp(-self._end))) for p in (start, end))
        part = VMobject(fill_opacity=0)
        points = [self.at(math.exp(-loss)) for loss in np.linspace(first, last, 60)]
        return part.set_points_as_corners(points)

    def dot(self, p: float = 1.0) -> Dot:
        return Dot(self.at(p), radius=0.12, color=theme.WEIGHT).set_z_index(1)

    def guides(self, p: Scalar) -> VGroup:
        """Dashed lines from the curve to both axes."""
        place = self.at(p.exact)
        ends = (place[0] * RIGHT + self._corner[1] * UP), (self._corner[0] * RIGHT + place[1] * UP)
        lines = VGroup()
        for end in ends:
            if np.linalg.norm(place - end) > 0.2:
                lines.add(DashedLine(place, end, color=theme.WEIGHT, stroke_width=2.5))
        return lines

    def beyond(self, loss: Scalar) -> VGroup:
        """An arrow up from the end of the curve where a loss is larger than that; else nothing."""
        if loss.exact <= self._end:
            return VGroup()
        foot = self.at(0.0) + 0.12 * UP
        return VGroup(arrow(foot, foot + 0.34 * UP, color=theme.WEIGHT, width=4))

    def beside(self, p: Scalar, name: Phrase) -> Phrase:
        """A name up and right of a point of the curve, inside the box."""
        place = self.at(p.exact) + 0.3 * UP + 0.25 * RIGHT
        right = self._corner[0] + self._size[0] + 0.3 - name.width
        return name.place([min(place[0], right), place[1], 0], LEFT)
