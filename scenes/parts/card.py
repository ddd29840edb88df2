"""A card with the sizes of the model."""

from __future__ import annotations

from collections.abc import Sequence

from manim import LEFT, RIGHT, VGroup

from .. import theme
from ..values import Scalar
from .flow import Block
from .phrase import Number, Phrase


class SizeCard(VGroup):
    """The hyper-parameters: a name and its number in each line."""

    def __init__(
        self, title: Phrase, lines: Sequence[tuple[str, Sequence[Scalar]]], left: float, top: float
    ) -> None:
        right, pitch = theme.RIGHT_EDGE, 0.36
        height = 0.62 + pitch * len(lines)
        self.panel = Block((left, top), (right, top - height))
        self.title = title.place([(left + right) / 2, top - 0.27, 0])
        self.lines = VGroup()
        for i, (name, scalars) in enumerate(lines):
            y = top - 0.66 - pitch * i
            label = Phrase(name, size=theme.SMALL, color=theme.MUTED)
            room = right - left - 0.7
            label.scale(min(1.0, max(theme.SMALLEST / theme.SMALL, room / label.width)))
            line = VGroup(label.place([left + 0.18, y, 0], LEFT))
            pen = right - 0.18
            for k, scalar in enumerate(reversed(scalars)):
                if k:
                    plus = Phrase("+", size=theme.SMALL, color=theme.MUTED)
                    line.add(plus.place([pen, y, 0], RIGHT))
                    pen = plus.get_left()[0] - 0.07
                number = Number(scalar, 0, size=22, bold=True).place([pen, y, 0], RIGHT)
                line.add(number)
                pen = number.get_left()[0] - 0.07
            self.lines.add(line)
        super().__init__(self.panel, self.title, self.lines)
