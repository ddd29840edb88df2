"""The waves of the positional encoding: one for each dimension."""

from __future__ import annotations

import math
from typing import Any

from manim import ManimColor, VGroup, VMobject

from .. import theme
from ..values import Scalar, Values, compute, constant
from .phrase import Number, Phrase, row
from .plot import Plot

SINE, COSINE = theme.ENCODER, theme.INK


class Wave:
    """Dimension ``d`` of the table ``values`` (positions, dimensions) as a function of position.

    ``size`` is the number of dimensions. Dots and stems take their heights from the table, the
    curve from the formula; they meet because the table is right.
    """

    def __init__(self, values: Values, d: int, size: Scalar) -> None:
        self.d = d
        self.samples = [row[d] for row in values]
        self.function = "cos" if d % 2 else "sin"
        self.color: ManimColor = COSINE if d % 2 else SINE
        #: what positions are divided by: 10000 to the power 2i / d_model
        self.rate = compute("power", constant(10000), constant(d - d % 2) / size)
        #: positions to a full cycle
        self.period = constant(2 * math.pi) * self.rate

    def at(self, position: float) -> float:
        angle = position / self.rate.exact
        return math.cos(angle) if self.d % 2 else math.sin(angle)

    def title(self, point: Any) -> Phrase:
        """``d0 sin`` in the wave's colour."""
        name = Phrase(f"d{self.d} {self.function}", color=self.color, bold=True)
        return name.place(point)

    def formula(self) -> VGroup:
        """``d0`` over ``sin(pos ÷ 1)``, the first around the origin."""
        opening = Phrase(f"{self.function}(pos ÷", color=self.color)
        rate = Number(self.rate, 0, color=self.color)
        body = row(opening, rate, gap=0.12)
        body.add(Phrase(")", color=self.color).beside(rate, 0.05))
        body.shift([-body.get_x(), -0.6, 0])
        return VGroup(Phrase(f"d{self.d}", size=theme.HEADING, bold=True), body)

    def curve(self, plot: Plot) -> VMobject:
        return plot.curve(self.at, self.color)

    def dots(self, plot: Plot) -> VGroup:
        return VGroup(*(plot.dot(p, value, self.color) for p, value in enumerate(self.samples)))

    def stems(self, plot: Plot) -> VGroup:
        return VGroup(*(plot.stem(p, value, self.color) for p, value in enumerate(self.samples)))

    def cycle_ticks(self) -> tuple[list[Scalar], int]:
        """Ticks at the ends of a full cycle, and their decimals."""
        return [constant(0), self.period], 0 if self.period.exact >= 100 else 2
