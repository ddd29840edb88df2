"""Vectors of one token, one below the other, and the stages they pass through."""

from __future__ import annotations

from collections.abc import Sequence

from manim import LEFT, Animation, Create, FadeIn, Line, ManimColor, VGroup

from .. import theme
from ..values import Values
from .equation import PLUS
from .flow import Block
from .grid import Grid
from .motion import born_each
from .phrase import Phrase
from .shapes import arrow


class Strip(VGroup):
    """A vector with its caption at the left margin, in the ``line``-th line from the top."""

    LEFT_OF_CELLS = -3.5
    TOP, PITCH, HEIGHT = 1.38, 0.98, 0.74

    def __init__(
        self,
        values: Values,
        caption: Phrase,
        line: int,
        *,
        cell: float = 1.7,
        size: float = 28,
        **options: object,
    ) -> None:
        self.grid = Grid.signed(values, cell=(cell, self.HEIGHT), size=size, **options)
        self.caption = caption.place([theme.LEFT_EDGE, self.y(line), 0], LEFT)
        self.grid.move_to([self.LEFT_OF_CELLS + self.grid.width / 2, self.y(line), 0])
        super().__init__(self.caption, self.grid)

    @property
    def numbers(self) -> VGroup:
        return self.grid.numbers

    @classmethod
    def y(cls, line: float) -> float:
        return cls.TOP - cls.PITCH * line

    def go_to(self, line: int) -> Strip:
        """Move to another line; for ``strip.animate.go_to(0)``."""
        return self.shift([0.0, self.y(line) - self.grid.get_y(), 0.0])

    def born_of(self, *parents: Strip) -> list[Animation]:
        """The caption and the cells appear, and each number comes from those above it."""
        moves = born_each(self.numbers, *(parent.numbers for parent in parents))
        return [FadeIn(self.caption, self.grid.cells), *moves]


class AddAndNorm(VGroup):
    """``x`` and ``change`` in the lines 0 and 1; their sum and its LayerNorm in the lines 2 and 3.

    ``notes`` (mean and variance) stand beside the sum.
    """

    def __init__(
        self, x: Strip, change: Strip, total: Strip, normed: Strip, notes: Sequence[Phrase]
    ) -> None:
        self.x, self.change, self.total, self.normed = x, change, total, normed
        left, right = Strip.LEFT_OF_CELLS, total.grid.get_right()[0]
        plus = Phrase(PLUS, size=32, color=theme.MUTED).place([left - 0.32, Strip.y(1), 0])
        y = Strip.y(1.5)
        rule = Line([left, y, 0], [right, y, 0], stroke_width=2, color=theme.MUTED)
        self.sign, self.rule = plus, rule
        for n, note in enumerate(notes):
            note.place([right + 0.3, Strip.y(2) + (0.2, -0.2)[n], 0], LEFT)
        self.notes = VGroup(*notes)
        super().__init__(x, change, plus, rule, total, self.notes, normed)

    def write(self) -> list[Animation]:
        return [FadeIn(self.sign), Create(self.rule)]

    def add_up(self) -> list[Animation]:
        return self.total.born_of(self.x, self.change)

    def normalise(self) -> list[Animation]:
        return self.normed.born_of(self.total)

    def all_but_normed(self) -> VGroup:
        return VGroup(*(part for part in self.submobjects if part is not self.normed))


class Stages(VGroup):
    """The sub-layers of a layer as a row of boxes, one of them lit."""

    def __init__(self, names: Sequence[str], lit: int, color: ManimColor) -> None:
        super().__init__()
        gap, height, y = 0.5, 0.5, 2.36
        width = (theme.WIDTH - gap * (len(names) - 1)) / len(names)
        for n, name in enumerate(names):
            on, left = n == lit, theme.LEFT_EDGE + n * (width + gap)
            box = Block(
                (left, y - height / 2),
                (left + width, y + height / 2),
                color=color if on else theme.HAIRLINE,
                fill=color if on else theme.PANEL,
            )
            ink = theme.ink_on(color) if on else theme.MUTED
            box.write(Phrase(name, size=22, color=ink, bold=on))
            self.add(box)
            if n:
                self.add(arrow([left - gap + 0.06, y, 0], [left - 0.06, y, 0]))
