"""One step of inference: logits to probabilities, the word chosen, and a row against another."""

from __future__ import annotations

from collections.abc import Sequence

from manim import (
    LEFT,
    RIGHT,
    UP,
    Animation,
    FadeIn,
    GrowFromEdge,
    LaggedStart,
    Line,
    ManimColor,
    RoundedRectangle,
    VGroup,
)

from .. import theme
from ..relations import Relation
from ..rounding import MINUS
from ..values import Scalar, Values
from .flow import Block, Mask
from .grid import outline
from .icons import tick
from .motion import born_each
from .phrase import Number, Phrase
from .shapes import Bars, fitting, shortened
from .vector import Vector, equals, signed

#: Height of the heads over a table, and of its first line.
HEAD_Y, TOP, PITCH = 2.45, 1.86, 0.54


def in_lines(groups: Sequence[VGroup]) -> list[VGroup]:
    """The first members of all groups, the second members, and so on."""
    return [VGroup(*line) for line in zip(*groups, strict=True)]


class Choice(VGroup):
    """A line for each word: its logit, its probability as a bar.

    ``logits`` and ``probabilities`` are one row of a run; ``words`` the places in the vocabulary
    that get a line. The choice is bold, the wanted word gold. A bar of ``full`` is the longest.
    """

    WORD, LOGIT, BAR, WIDTH = -6.4, -3.3, -2.8, 3.0

    def __init__(
        self,
        vocabulary: Sequence[str],
        logits: Values,
        probabilities: Values,
        words: Sequence[int],
        *,
        choice: int,
        wanted: int | None,
        full: float,
        heads: Sequence[Phrase],
        color: ManimColor = theme.INFERENCE,
    ) -> None:
        super().__init__()
        self.relations = [
            Relation("softmax", [list(logits)], list(probabilities)),
            Relation("largest", [list(logits)], [logits[choice]]),
        ]
        self.words, self.logits = VGroup(), VGroup()
        for line, i in enumerate(words):
            y = TOP - PITCH * line
            word = Phrase(vocabulary[i], size=theme.HEADING, bold=True)
            self.words.add(word.place([self.WORD, y, 0], LEFT))
            self.logits.add(Number(logits[i], 4).place([self.LOGIT, y, 0], RIGHT))
        self.bars = probability_bars(probabilities, words, choice, full, color)
        self.bars.shift([self.BAR - self.bars.bars.get_left()[0], 0, 0])
        self.heads = VGroup(*heads)
        heads[0].place([self.LOGIT, HEAD_Y, 0], RIGHT)
        heads[1].place([self.BAR, HEAD_Y, 0], LEFT)
        self.goal = words.index(wanted) if wanted is not None else None
        self.add(self.words, self.logits, self.bars, self.heads)

    def grow(self) -> Animation:
        return grow_bars(self.bars)

    def turn_gold(self) -> list[Animation]:
        """The line of the wanted word."""
        assert self.goal is not None
        number, word = self.bars.numbers[self.goal], self.words[self.goal]
        bar = self.bars.bars[self.goal]
        lit = [part.animate.set_color(theme.WEIGHT) for part in (word, number)]
        return [*lit, bar.animate.set_fill(theme.WEIGHT, opacity=1)]


def probability_bars(
    values: Values, words: Sequence[int], choice: int, full: float, color: ManimColor
) -> Bars:
    """A bar for each word at the heights of :class:`Choice`, the choice's bright and bold."""
    strongest = words.index(choice)
    bars = Bars(
        [values[i] for i in words],
        decimals=4,
        color=color,
        size=theme.BODY,
        strongest=strongest,
        width=Choice.WIDTH,
        full=full,
        pitch=PITCH,
    )
    return bars.shift([0, TOP - bars.bars[0].get_y(), 0])


def grow_bars(bars: Bars) -> Animation:
    """The bars grow, each with its number."""
    steps = (
        LaggedStart(GrowFromEdge(bar, LEFT), FadeIn(number), lag_ratio=0)
        for bar, number in zip(bars.bars, bars.numbers, strict=True)
    )
    return LaggedStart(*steps, lag_ratio=0.2)


class WordCard(VGroup):
    """What a word is (chosen, wanted), the word with its probability, and a remark; a tick where
    it is right."""

    HEIGHT = 1.7

    def __init__(
        self,
        name: Phrase,
        word: str,
        probability: Scalar,
        remark: Phrase,
        *,
        y: float,
        color: ManimColor,
        right: bool = False,
    ) -> None:
        left, end = 2.5, theme.RIGHT_EDGE
        half = self.HEIGHT / 2
        panel = Block((left, y + half), (end, y - half), color=color)
        name.place([left + 0.3, y + 0.5, 0], LEFT)
        number = Number(probability, 4, size=28, color=color)
        number.place([end - 0.3, y - 0.02, 0], RIGHT)
        shown = Phrase(word, size=32, color=color, bold=True)
        room = number.get_left()[0] - left - 0.6
        if shown.width > room:
            shown.scale(room / shown.width)
        shown.place([left + 0.3, y - 0.02, 0], LEFT)
        remark.place([left + 0.3, y - 0.54, 0], LEFT)
        super().__init__(panel, name, shown, number, remark)
        if right:
            self.add(tick(color).move_to([end - 0.5, y + 0.5, 0]))


class RowComparison(VGroup):
    """A row of logits minus another, word by word, and what is left."""

    LABEL, SIGN, CELLS, RIGHT = theme.LEFT_EDGE, -4.22, -3.95, theme.RIGHT_EDGE - 0.1
    YS = (1.5, 0.56, -0.56)
    HEIGHT = 0.76

    def __init__(
        self,
        words: Sequence[str],
        ours: Sequence[Scalar],
        theirs: Sequence[Scalar],
        names: Sequence[Phrase],
    ) -> None:
        super().__init__()
        self.differences = [a - b for a, b in zip(ours, theirs, strict=True)]
        width = (self.RIGHT - self.CELLS + 0.05) / len(words) - 0.05
        fill = signed(ours, theirs, self.differences)
        rows = ours, theirs, self.differences
        cell = (width, self.HEIGHT)
        size = min(Vector(row, cell=cell).size for row in rows)
        decimals = min(Vector(row, cell=cell).decimals for row in rows)
        self.rows = [
            Vector(row, cell=cell, size=size, decimals=decimals, fill=fill).at(self.CELLS, y)
            for row, y in zip(rows, self.YS, strict=True)
        ]
        self._align()
        self.names = VGroup(
            *(name.place([self.LABEL, y, 0], LEFT) for name, y in zip(names, self.YS, strict=True))
        )
        self.words = VGroup()
        for word, x in zip(words, self.rows[0].xs(), strict=True):
            label = Phrase(word, bold=True, color=theme.INK)
            if label.width > width - 0.1:
                label.scale((width - 0.1) / label.width)
            self.words.add(label.place([x, 2.2, 0]))
        style = {"size": 28, "color": theme.MUTED}
        whole, *parts = (row.numbers for row in self.rows)
        sign = equals(parts, whole)
        self.minus = Phrase(MINUS, **style).place([self.SIGN, self.YS[1], 0])
        self.equal = Phrase(sign, **style).place([self.SIGN, self.YS[2], 0])
        y = (self.YS[1] + self.YS[2]) / 2
        ends = [self.SIGN - 0.15, y, 0], [self.RIGHT, y, 0]
        self.rule = Line(*ends, stroke_width=2, color=theme.MUTED)
        self.add(*self.rows, self.names, self.words, self.minus, self.equal, self.rule)

    def largest(self) -> RoundedRectangle:
        """A ring around the largest difference."""
        sizes = [abs(scalar.exact) for scalar in self.differences]
        return outline(self.rows[2].whole(sizes.index(max(sizes))), buff=0.0)

    def subtract(self) -> list[Animation]:
        """Each difference comes from the two logits above it."""
        ours, theirs, apart = self.rows
        moves = born_each(apart.numbers, ours.numbers, theirs.numbers)
        return [FadeIn(apart.cells), *moves]

    def _align(self) -> None:
        """Decimal points one below the other."""
        for numbers in zip(*(row.numbers for row in self.rows), strict=True):
            right = max(number.get_right()[0] for number in numbers)
            for number in numbers:
                number.shift([right - number.get_right()[0], 0, 0])


class MaskTable(VGroup):
    """A causal mask with its words: rows ask (query), columns are looked at (key)."""

    def __init__(
        self, values: Values, words: Sequence[str], *, cell: float, color: ManimColor
    ) -> None:
        self.doors = Mask(values, cell=cell, color=color)
        self.rows, self.columns = VGroup(), VGroup()
        room = cell - 0.08
        heads = shortened(words, room)
        size = fitting(heads, room)
        for i, (word, head) in enumerate(zip(words, heads, strict=True)):
            asks = Phrase(word, size=theme.HEADING, bold=True, color=theme.QUERY)
            self.rows.add(asks.beside(self.doors.cell(i, 0), 0.22, LEFT))
            seen = Phrase(head, size=size, bold=True, color=theme.KEY)
            self.columns.add(seen.place(self.doors.cell(0, i).get_top() + 0.3 * UP))
        super().__init__(self.doors, self.rows, self.columns)

    def at(self, x: float, y: float) -> MaskTable:
        """Stand with the upper left corner of the cells at this place."""
        corner = self.doors.get_corner(UP + LEFT)
        return self.shift([x - corner[0], y - corner[1], 0])

    def grown(self, size: int) -> VGroup:
        """What is new at ``size`` words: the last row and column, and their word."""
        before = [(i, j) for i in range(size) for j in range(size) if max(i, j) == size - 1]
        cells = (self.doors.cell(i, j) for i, j in before)
        return VGroup(*cells, self.rows[size - 1], self.columns[size - 1])
