"""Vectors of one token, one below the other, and the stages they pass through."""

from __future__ import annotations

from collections.abc import Sequence

from manim import LEFT, Animation, Create, FadeIn, Line, ManimColor, VGroup

from .. import theme
from ..relations import Relation
from ..values import Scalar, Values
from .equation import PLUS, TIMES
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

    @property
    def scalars(self) -> list[Scalar]:
        return list(self.grid.values)

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
    """``x`` and ``change`` in the lines 0 and 1; their sum and its LayerNorm, if that comes next,
    in the lines 2 and 3.

    ``notes`` (mean and variance) stand beside the sum, a ``remark`` beside the LayerNorm.
    """

    def __init__(
        self,
        x: Strip,
        change: Strip,
        total: Strip,
        normed: Strip | None,
        notes: Sequence[Phrase],
        remark: Phrase | None = None,
    ) -> None:
        self.x, self.change, self.total, self.normed = x, change, total, normed
        self.relations = [Relation("sum", [x.scalars, change.scalars], total.scalars)]
        if normed is not None:
            self.relations.append(Relation("norm", [total.scalars], normed.scalars))
        left, right = Strip.LEFT_OF_CELLS, total.grid.get_right()[0]
        plus = Phrase(PLUS, size=32, color=theme.MUTED).place([left - 0.32, Strip.y(1), 0])
        y = Strip.y(1.5)
        rule = Line([left, y, 0], [right, y, 0], stroke_width=2, color=theme.MUTED)
        self.sign, self.rule = plus, rule
        for n, note in enumerate(notes):
            note.place([right + 0.3, Strip.y(2) + (0.2, -0.2)[n], 0], LEFT)
        self.notes, self.remarks = VGroup(*notes), VGroup()
        super().__init__(x, change, plus, rule, total, self.notes)
        if normed is not None:
            self.add(normed, self.remarks)
            if remark is not None:
                self.remarks.add(remark.place([right + 0.3, Strip.y(3), 0], LEFT))

    def write(self) -> list[Animation]:
        return [FadeIn(self.sign), Create(self.rule)]

    def add_up(self) -> list[Animation]:
        return self.total.born_of(self.x, self.change)

    def normalise(self) -> list[Animation]:
        """Raises ValueError where there is no norm."""
        if self.normed is None:
            raise ValueError("nothing is normalised here")
        return [*self.normed.born_of(self.total), *(FadeIn(remark) for remark in self.remarks)]

    @property
    def last(self) -> Strip:
        """What goes on: the norm, or the sum."""
        return self.total if self.normed is None else self.normed

    def all_but_last(self) -> VGroup:
        return VGroup(*(part for part in self.submobjects if part is not self.last))


class GainAndShift:
    """What LayerNorm has learned: a vector in line 0, times ``gain``, plus ``shift``, in the lines
    below, as far as there are any; under a rule the ``result``. Not a mobject: its parts come one
    by one."""

    def __init__(
        self, normalised: Strip, gain: Strip | None, shift: Strip | None, result: Strip
    ) -> None:
        left, right = Strip.LEFT_OF_CELLS, normalised.grid.get_right()[0]
        self.lines: list[Strip] = []
        self.signs: list[Phrase] = []
        for strip, sign in ((gain, TIMES), (shift, PLUS)):
            if strip is None:
                continue
            line = len(self.lines) + 1
            self.lines.append(strip.go_to(line))
            mark = Phrase(sign, size=32, color=theme.MUTED)
            self.signs.append(mark.place([left - 0.32, Strip.y(line), 0]))
        y = Strip.y(len(self.lines) + 0.5)
        self.rule = Line([left, y, 0], [right, y, 0], stroke_width=2, color=theme.MUTED)
        result.go_to(len(self.lines) + 1)


#: What happens to a token in a sub-layer of attention and the FFN after it, stage by stage; and by
#: where the model normalises the boxes of the layer, and the box that is lit at each stage.
MIX, ADD, NORM, FFN, AGAIN, FINAL = range(6)
BOXES = {
    "post": ("attention", "norm", "ffn", "norm"),
    "pre": ("only_norm", "attention", "add", "only_norm", "ffn", "add"),
}
_LIT = {"post": (0, 1, 1, 2, 3, 4), "pre": (1, 2, 3, 4, 5, 6)}


class Stages(VGroup):
    """The sub-layers of a layer as a row of boxes, the one of a ``stage`` lit.

    ``place`` is "post" or "pre"; ``names`` are those of its :data:`BOXES`, and perhaps of one
    more for the norm after the last layer.
    """

    def __init__(self, names: Sequence[str], place: str, stage: int, color: ManimColor) -> None:
        super().__init__()
        lit = _LIT[place][stage]
        gap, height, y = (0.5 if len(names) < 6 else 0.32), 0.5, 2.36
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
            label = Phrase(name, size=22, color=ink, bold=on)
            room = (width - 0.14) / label.width
            box.write(label.scale(min(1.0, max(theme.SMALLEST / label.size, room))))
            self.add(box)
            if n:
                self.add(arrow([left - gap + 0.06, y, 0], [left - 0.06, y, 0]))
