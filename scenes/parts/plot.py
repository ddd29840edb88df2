"""Curves over positions: axes, continuous curves, and dots at the whole positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from manim import DOWN, LEFT, Dot, Line, ManimColor, VGroup, VMobject

from .. import theme
from ..values import Scalar, constant
from .phrase import Number

#: Points of a curve for each whole position, so that it goes exactly through its dots.
_FINENESS = 16


class Plot(VGroup):
    """Axes for values from -1 to 1 over positions from 0 to ``end``.

    ``ticks`` are the positions that get a tick, their number below it with ``decimals``
    (but a plain 0).
    """

    def __init__(
        self,
        end: float,
        width: float,
        height: float,
        *,
        ticks: Sequence[Scalar] = (),
        levels: bool = False,
        size: float = theme.SMALL,
        decimals: int = 0,
    ) -> None:
        super().__init__()
        self.end = end
        half = height / 2
        axis = {"stroke_width": 1.5, "color": theme.MUTED}
        self.zero = Line([0, 0, 0], [width, 0, 0], **axis)
        self.side = Line([0, -half, 0], [0, half, 0], **axis)
        self.rules = VGroup(
            *(
                Line([0, y, 0], [width, y, 0], stroke_width=1.5, color=theme.HAIRLINE)
                for y in (-half, half)
            )
        )
        self.ticks, self.numbers, self.levels = VGroup(), VGroup(), VGroup()
        for scalar in ticks:
            foot = self.point(scalar.exact, -1)
            self.ticks.add(Line(foot, foot + 0.1 * DOWN, **axis))
            places = decimals if scalar.exact else 0
            number = Number(scalar, places, size=size, color=theme.MUTED)
            self.numbers.add(number.place(foot + 0.3 * DOWN))
        for level in (1, 0, -1) if levels else ():
            number = Number(constant(level), 0, size=size, color=theme.MUTED)
            self.levels.add(number.place(self.point(0, level) + 0.15 * LEFT, -LEFT))
        self.add(self.rules, self.zero, self.side, self.ticks, self.numbers, self.levels)

    def point(self, x: float, y: float) -> np.ndarray:
        """Where a value ``y`` at position ``x`` stands, wherever the axes are now."""
        along = self.zero.get_end() - self.zero.get_start()
        up = (self.side.get_end() - self.side.get_start()) / 2
        return self.zero.get_start() + along * x / self.end + up * y

    def stand(self, left: float, middle: float) -> Plot:
        """Put the zero of the axes at ``left``, ``middle``."""
        return self.shift([left, middle, 0] - self.zero.get_start())

    def curve(
        self, function: Callable[[float], float], color: ManimColor, *, width: float = 4
    ) -> VMobject:
        """The graph of a function over all positions."""
        step = 1 / _FINENESS if self.end < 100 else self.end / 100
        xs = [step * k for k in range(int(self.end / step) + 1)]
        if xs[-1] < self.end - 1e-9:
            xs.append(self.end)
        line = VMobject(stroke_color=color, stroke_width=width, fill_opacity=0)
        return line.set_points_smoothly([self.point(x, function(x)) for x in xs])

    def dot(self, x: float, value: Scalar, color: ManimColor, *, radius: float = 0.1) -> Dot:
        """A sample: a value of the trace at a position."""
        dot = Dot(self.point(x, value.exact), radius=radius, color=color)
        return dot.set_stroke(theme.BACKGROUND, width=2).set_z_index(2)

    def stem(self, x: float, value: Scalar, color: ManimColor) -> Line:
        """A thin line from the axis to a sample."""
        return Line(self.point(x, 0), self.point(x, value.exact), stroke_width=2, color=color)
