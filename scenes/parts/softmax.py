"""One row of attention worked out: scores, exponentials, their total, weights."""

from __future__ import annotations

from collections.abc import Sequence

from manim import (
    DOWN,
    LEFT,
    RIGHT,
    Animation,
    FadeIn,
    GrowFromEdge,
    LaggedStart,
    ManimColor,
    Rectangle,
    VGroup,
)

from .. import theme, wording
from ..relations import Relation
from ..rounding import leading
from ..values import Scalar, Values, compute
from .grid import Grid
from .motion import fly
from .phrase import Number, Phrase, row
from .shapes import Bars, hatch


class SoftmaxTable(VGroup):
    """A line for each key: its score, exp(score - maximum), and the weight as a bar.

    ``scores``, ``exp`` and ``weights`` are one row of the trace. A key whose score is masked
    (``mask`` below zero) has its score on a hatched ground and its exact zeros as ``0``.
    ``chosen`` is the key whose score stands out from the first on; scores then show their signs.
    Scores of a thousand and more have one decimal, as they would reach their words else.
    ``head_gap`` is the distance from the heads to the first line.
    """

    SCORE, EXP, WEIGHT = -2.3, 0.7, 1.8

    def __init__(
        self,
        scores: Values,
        exp: Values | Sequence[Scalar],
        weights: Values,
        keys: Sequence[str],
        heads: Sequence[Phrase],
        *,
        mask: Values | None = None,
        chosen: int | None = None,
        decimals: int = 4,
        top: float = 1.45,
        pitch: float = 0.72,
        left: float = -5.9,
        head_gap: float = 0.8,
        key_color: ManimColor = theme.KEY,
        bar_color: ManimColor = theme.WEIGHT,
    ) -> None:
        super().__init__()
        self.relations = [
            Relation("exp", [list(scores)], list(exp)),
            Relation("softmax", [list(scores)], list(weights)),
        ]
        self.top, self.pitch, self.decimals = top, pitch, decimals
        self.keys, self.scores, self.exp, self.boxes = VGroup(), VGroup(), VGroup(), VGroup()
        self.chosen = chosen
        self.shut = [mask is not None and bool(mask.array[j] < 0) for j in range(len(keys))]
        for j, token in enumerate(keys):
            key = Phrase(token, size=theme.HEADING, color=key_color, bold=True)
            self.keys.add(key.place([left, self._y(j), 0], LEFT))
            self.scores.add(self._score(scores, j).set_z_index(1))
            self.exp.add(self._number(exp[j], j, self.EXP))
            if self.shut[j]:
                self.boxes.add(self._ground(j))
        total = Number(compute("add", *exp), decimals, bold=True)
        total.place([self.EXP, self._y(len(keys)) - 0.08, 0], RIGHT)
        self.total = VGroup(Phrase("Σ", color=theme.MUTED).beside(total, 0.25, LEFT), total)
        self.bars = self._bars(weights, bar_color)
        self.heads = VGroup(*heads)
        places = (self.SCORE, RIGHT), (self.EXP, RIGHT), (self.WEIGHT, LEFT)
        for head, (x, side) in zip(heads, places, strict=True):
            head.place([x, top + head_gap, 0], side)
        self.add(self.boxes, self.keys, self.scores, self.exp, self.total, self.heads, self.bars)

    def _y(self, j: int) -> float:
        return self.top - self.pitch * j

    def _number(self, scalar: Scalar, j: int, right: float) -> Number:
        decimals = leading(scalar.exact) if self.shut[j] else self.decimals
        return Number(scalar, decimals).place([right, self._y(j), 0], RIGHT)

    def _score(self, scores: Values, j: int) -> Number:
        if self.shut[j]:
            return self._number(scores[j], j, self.SCORE)
        widest = max(abs(s.exact) for s, shut in zip(scores, self.shut, strict=True) if not shut)
        chosen = j == self.chosen
        number = Number(
            scores[j],
            self.decimals if widest < 1000 else 1,
            signed=self.chosen is not None,
            color=theme.WEIGHT if chosen else theme.INK,
            bold=chosen,
        )
        return number.place([self.SCORE, self._y(j), 0], RIGHT)

    def _ground(self, j: int) -> VGroup:
        box = Rectangle(width=1.3, height=0.58, stroke_width=0, fill_color=theme.CLOSED)
        box.set_fill(opacity=1).move_to([self.scores[j].get_x(), self._y(j), 0])
        return VGroup(box, hatch(box, spare=self.scores[j]))

    def _bars(self, weights: Values, color: ManimColor) -> Bars:
        best = strongest(weights, self.decimals)
        bars = Bars(
            weights,
            decimals=[0 if shut else self.decimals for shut in self.shut],
            pitch=self.pitch,
            color=color,
            width=3.3,
            full=weights[best[0]].exact,
            strongest=best,
            size=theme.BODY,
        )
        for bar, scalar in zip(bars.bars, weights, strict=True):
            if scalar.exact == 0:
                bar.set_fill(opacity=0)
        return bars.shift(
            [self.WEIGHT - bars.bars.get_left()[0], self.top - bars.bars[0].get_y(), 0]
        )

    # -- the steps, one by one -----------------------------------------------------------------

    def show_exp(self) -> Animation:
        """Each exponential comes from its score."""
        pairs = zip(self.scores, self.exp, strict=True)
        return LaggedStart(*(fly(a, b) for a, b in pairs), lag_ratio=0.3, run_time=1.2)

    def show_total(self) -> Animation:
        return FadeIn(self.total, shift=0.2 * DOWN, run_time=0.4)

    def show_weights(self) -> Animation:
        """The bars grow, each with its number."""
        pairs = zip(self.bars.bars, self.bars.numbers, strict=True)
        steps = (
            FadeIn(number)
            if not bar.get_fill_opacity()
            else LaggedStart(GrowFromEdge(bar, LEFT), FadeIn(number), lag_ratio=0)
            for bar, number in pairs
        )
        return LaggedStart(*steps, lag_ratio=0.3, run_time=1.2)

    def all_but_weights(self) -> VGroup:
        """What leaves when the weights move on to a matrix."""
        return VGroup(
            self.boxes, self.keys, self.scores, self.exp, self.total, self.heads, self.bars.bars
        )


def strongest(weights: Values, decimals: int = wording.SHARES) -> tuple[int, ...]:
    """The places of a row, all that show its largest number."""
    return tuple(at[0] for at in wording.top(weights, decimals).at)


def row_sums(grid: Grid) -> VGroup:
    """``Σ = 1`` to the right of each row of a matrix of weights."""
    sums = VGroup()
    for i in range(grid.shape[0]):
        total = row(
            Phrase("Σ =", size=theme.SMALL, color=theme.MUTED),
            Number(grid.values[i].sum(), 0, size=theme.SMALL, color=theme.MUTED),
            gap=0.1,
        )
        sums.add(total.next_to(grid.cell(i, grid.shape[1] - 1), RIGHT, buff=0.2))
    return sums
