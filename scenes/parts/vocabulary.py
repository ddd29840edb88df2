"""The vocabulary as a table, and sequences of IDs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from manim import LEFT, RIGHT, ManimColor, RoundedRectangle, VGroup, interpolate_color

from .. import theme
from ..values import Scalar
from .phrase import Number, Phrase
from .shapes import Token


class Vocabulary(VGroup):
    """IDs and words, a line for each, between two heads; a line lights up when it is looked up."""

    def __init__(
        self,
        words: Sequence[str],
        ids: Sequence[Scalar],
        heads: Sequence[Phrase],
        *,
        x: float = 0.0,
        top: float = 1.92,
        pitch: float = 0.53,
        width: float = 3.3,
        inset: tuple[float, float] = (0.55, 1.2),
    ) -> None:
        self.boxes, self.ids, self.words = VGroup(), VGroup(), VGroup()
        self.columns = x - width / 2 + inset[0], x - width / 2 + inset[1]
        for i, (word, scalar) in enumerate(zip(words, ids, strict=True)):
            y = top - pitch * i
            box = RoundedRectangle(
                width=width,
                height=pitch - 0.06,
                corner_radius=0.09,
                stroke_width=2,
                stroke_color=theme.HAIRLINE,
                fill_color=theme.PANEL,
                fill_opacity=1,
            )
            self.boxes.add(box.move_to([x, y, 0]))
            number = Number(scalar, 0, size=theme.HEADING, bold=True)
            self.ids.add(number.place([self.columns[0], y, 0]).set_z_index(1))
            name = Phrase(word, size=theme.HEADING).place([self.columns[1], y, 0], LEFT)
            self.words.add(name.set_z_index(1))
        self.heads = VGroup(*heads)
        heads[0].place([self.columns[0], top + 0.5, 0])
        heads[1].place([self.columns[1], top + 0.5, 0], LEFT)
        super().__init__(self.boxes, self.ids, self.words, self.heads)

    def line(self, i: int) -> VGroup:
        return VGroup(self.boxes[i], self.ids[i], self.words[i])

    def lit(self, i: int, color: ManimColor) -> RoundedRectangle:
        """The box of a line as it looks when it has been found."""
        fill = interpolate_color(theme.PANEL, color, 0.3)
        return self.boxes[i].copy().set_stroke(color, width=2.5).set_fill(fill)


class IdRow(VGroup):
    """IDs side by side in cells of one width, from ``left``; the words above them, if given."""

    def __init__(
        self,
        ids: Iterable[Scalar],
        *,
        left: float,
        y: float,
        color: ManimColor,
        words: Sequence[str] = (),
        cell: tuple[float, float] = (1.3, 0.84),
        gap: float = 0.12,
        size: float = 36,
        rise: float = 0.86,
    ) -> None:
        self.cells, self.numbers, self.words = VGroup(), VGroup(), VGroup()
        widest = max((Phrase(word, size=size, bold=True).width for word in words), default=1.0)
        text = max(theme.SMALLEST, size * min(0.75, (cell[0] - 0.24) / widest))
        for i, scalar in enumerate(ids):
            x = left + cell[0] / 2 + (cell[0] + gap) * i
            self.cells.add(id_cell(cell, color).move_to([x, y, 0]))
            number = Number(scalar, 0, size=size, bold=True)
            self.numbers.add(number.place([x, y, 0]).set_z_index(1))
            if words:
                token = Token(words[i], color=color, size=text, width=cell[0], height=0.7)
                self.words.add(token.move_to([x, y + rise, 0]))
        super().__init__(self.words, self.cells, self.numbers)

    def item(self, i: int) -> VGroup:
        return VGroup(self.cells[i], self.numbers[i])

    def slot(self) -> VGroup:
        """The open place after the last ID."""
        last = self.cells[-1]
        step = self.cells[1].get_x() - self.cells[0].get_x() if len(self.cells) > 1 else 0.0
        box = last.copy().set_stroke(theme.MUTED, opacity=0.55).set_fill(theme.PANEL)
        mark = Phrase("?", size=theme.BODY, color=theme.MUTED, bold=True)
        step = step or last.width + 0.12
        return VGroup(box.shift(step * RIGHT), mark.place(box.get_center()))


def id_cell(cell: tuple[float, float], color: ManimColor) -> RoundedRectangle:
    """An empty place for an ID."""
    return RoundedRectangle(
        width=cell[0],
        height=cell[1],
        corner_radius=0.1,
        stroke_width=2.5,
        stroke_color=color,
        fill_color=interpolate_color(theme.PANEL, color, 0.16),
        fill_opacity=1,
    )
