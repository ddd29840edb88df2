"""The waves of the positional encoding: one for each dimension."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from manim import (
    LEFT,
    UP,
    Animation,
    AnimationGroup,
    FadeIn,
    FadeOut,
    LaggedStart,
    ManimColor,
    Succession,
    UpdateFromAlphaFunc,
    VGroup,
    VMobject,
)

from .. import theme
from ..relations import Relation
from ..values import Scalar, Values, compute, constant
from .grid import GAP, Grid
from .motion import EARLY, LATE
from .phrase import Number, Phrase, row
from .plot import Plot

SINE, COSINE = theme.ENCODER, theme.INK


def pair_of(d: int, size: int, halves: bool) -> tuple[int, int]:
    """Which pair of dimensions ``d`` belongs to, and its place there: 0 the sine, 1 the cosine."""
    return (d % (size // 2), d // (size // 2)) if halves else divmod(d, 2)


class Wave:
    """Dimension ``d`` of the table ``values`` (positions, dimensions) as a function of position.

    ``size`` is the number of dimensions; a sine and a cosine of one pace are neighbours or, in
    ``halves``, half the table apart. Dots and stems take their heights from the table, the curve
    from the formula; they meet because the table is right.
    """

    def __init__(self, values: Values, d: int, size: Scalar, halves: bool = False) -> None:
        self.d = d
        self.samples = [row[d] for row in values]
        pair, place = pair_of(d, values.shape[1], halves)
        self.function = "cos" if place else "sin"
        self.color: ManimColor = COSINE if place else SINE
        #: what positions are divided by: 10000 to the power 2i / d_model
        self.rate = compute("power", constant(10000), constant(2 * pair) / size)
        #: positions to a full cycle
        self.period = constant(2 * math.pi) * self.rate

    def at(self, position: float) -> float:
        angle = position / self.rate.exact
        return math.cos(angle) if self.function == "cos" else math.sin(angle)

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
        curve = plot.curve(self.at, self.color)
        angles = [constant(position) / self.rate for position in range(len(self.samples))]
        curve.relations = [Relation(self.function, [angles], self.samples)]
        return curve

    def dots(self, plot: Plot) -> VGroup:
        return VGroup(*(plot.dot(p, value, self.color) for p, value in enumerate(self.samples)))

    def stems(self, plot: Plot) -> VGroup:
        return VGroup(*(plot.stem(p, value, self.color) for p, value in enumerate(self.samples)))

    def zoom(self, plot: Plot, curve: VMobject, dots: VGroup, end: float) -> Animation:
        """Let the axes run to another ``end``; curve and dots follow."""
        start = plot.end

        def update(_: VGroup, alpha: float) -> None:
            plot.end = start * (end / start) ** alpha
            curve.set_points(self.curve(plot).points)
            for p, (dot, value) in enumerate(zip(dots, self.samples, strict=True)):
                dot.move_to(plot.point(p, value.exact))

        return UpdateFromAlphaFunc(VGroup(curve, dots), update)


class WaveTable:
    """A small plot for each wave in a row, and the table of their dots below: one column each.

    ``left`` is the table's left edge, ``pitch`` the distance of columns, ``end`` the last position
    that the curves reach. Not a mobject: its parts come and go one by one.
    """

    PLOT_Y, HEAD_Y, TABLE_TOP, TABLE_HEIGHT = 1.4, 2.5, 0.02, 2.1

    def __init__(
        self, waves: Sequence[Wave], values: Values, *, left: float, pitch: float, end: float
    ) -> None:
        self.waves = waves
        self.left, self.pitch = left, pitch
        positions = range(values.shape[0])
        ticks = [constant(p) for p in positions]
        self.plots = [self._plot(wave.d, end, ticks) for wave in waves]
        pairs = list(zip(waves, self.plots, strict=True))
        self.curves = [wave.curve(plot) for wave, plot in pairs]
        self.dots = [wave.dots(plot) for wave, plot in pairs]
        self.heads = [wave.title([self.column_x(wave.d), self.HEAD_Y, 0]) for wave in waves]
        self.grid = Grid.signed(
            values,
            rows=[f"pos {p}" for p in positions],
            cell=(pitch - GAP, self.TABLE_HEIGHT / len(positions) - GAP),
            size=theme.HEADING,
            label_size=theme.SMALL,
            bold_labels=False,
        )
        corner = self.grid.cells.get_corner(UP + LEFT)
        self.grid.shift([left + GAP / 2, self.TABLE_TOP, 0] - corner)

    def column_x(self, d: int) -> float:
        return self.left + self.pitch * (d + 0.5)

    def _plot(self, d: int, end: float, ticks: Sequence[Scalar], decimals: int = 0) -> Plot:
        width = self.pitch - 0.53
        plot = Plot(end, width, 1.4, ticks=ticks, levels=d == 0, decimals=decimals)
        return plot.stand(self.column_x(d) - width / 2, self.PLOT_Y)

    def drop(self, d: int) -> Animation:
        """The dots of a curve fall into its column and become its numbers."""
        falls = []
        for p, dot in enumerate(self.dots[d]):
            number, falling = self.grid.number(p, d), dot.copy()
            fall = falling.animate(run_time=0.6).move_to(self.grid.cell(p, d))
            landing = AnimationGroup(FadeOut(falling), FadeIn(number), run_time=0.3)
            falls.append(Succession(fall, landing))
        cells = FadeIn(self.grid.column_cells(d), run_time=0.3)
        return LaggedStart(cells, *falls, lag_ratio=0.15)

    def whole_cycle(self, d: int) -> list[Animation]:
        """Let a plot run to a full cycle of its wave, with ticks at 0 and there."""
        wave, plot = self.waves[d], self.plots[d]
        end = wave.period.exact
        decimals = 0 if end >= 100 else 2
        scale = self._plot(d, end, [constant(0), wave.period], decimals)
        old = VGroup(plot.ticks, plot.numbers)
        new = VGroup(scale.ticks, scale.numbers)
        plot.ticks, plot.numbers = scale.ticks, scale.numbers
        plot.add(plot.ticks, plot.numbers)
        zoom = wave.zoom(plot, self.curves[d], self.dots[d], end)
        return [zoom, FadeOut(old, rate_func=EARLY), FadeIn(new, rate_func=LATE)]

    def above(self) -> VGroup:
        """Everything over the table."""
        return VGroup(*self.plots, *self.curves, *self.dots, *self.heads)
