"""The embedding matrix as a dictionary: one row a word, with the word's ID in front."""

from __future__ import annotations

from collections.abc import Sequence

from manim import LEFT, UP, ManimColor, Rectangle, RoundedRectangle, VGroup

from .. import theme
from ..values import Scalar, Values
from .flow import shape_of
from .grid import Fill, Grid, outline
from .phrase import Number, Phrase, row
from .shapes import Token


def sized(name: Phrase, shape: tuple[Scalar, Scalar]) -> VGroup:
    """A matrix's name with its shape behind it: ``E  8 × 4``."""
    size = shape_of(*shape, color=theme.MUTED, size=name.size)
    size.shift([name.get_right()[0] + 0.22 - size.get_left()[0], name.midline, 0])
    return VGroup(name, size)


class LookupTable(VGroup):
    """IDs, words, and the matrix whose rows they name.

    ``left`` and ``top`` are the upper left corner of the matrix, ``pitch`` the distance of rows.
    """

    def __init__(
        self,
        values: Values,
        words: Sequence[str],
        ids: Sequence[Scalar],
        shape: tuple[Scalar, Scalar],
        *,
        left: float,
        top: float,
        pitch: float,
        fill: Fill,
        decimals: int,
        width: float = 0.82,
        size: float = theme.HEADING,
    ) -> None:
        super().__init__()
        columns = [f"d{j}" for j in range(values.shape[1])]
        self.grid = Grid(
            values,
            columns=columns,
            decimals=decimals,
            cell=(width, pitch - 0.05),
            size=size,
            fill=fill,
            label_size=theme.SMALL,
            bold_labels=False,
        )
        self.grid.shift([left, top, 0] - self.grid.cells.get_corner(UP + LEFT))
        self._id_x = left - 1.72
        self.ids, self.words = VGroup(), VGroup()
        for i, (scalar, word) in enumerate(zip(ids, words, strict=True)):
            y = self.grid.cell(i, 0).get_y()
            number = Number(scalar, 0, color=theme.MUTED)
            self.ids.add(number.place([self._id_x, y, 0]))
            self.words.add(Phrase(word, bold=True).place([left - 1.45, y, 0], LEFT))
        head_y = self.grid.column_labels[0].midline
        name = Phrase("E", size=theme.BODY, bold=True).place([left - 1.45, head_y, 0], LEFT)
        self.name = sized(name, shape)
        self.id_name = Phrase("ID", size=theme.SMALL, color=theme.MUTED)
        self.id_name.place([self._id_x, head_y, 0])
        self.add(self.id_name, self.ids, self.words, self.name, self.grid)

    def others(self, but: int) -> VGroup:
        """Words and cells of all rows except one, to dim. IDs are muted as it is."""
        grid, kept = self.grid, VGroup()
        for i, word in enumerate(self.words):
            if i != but:
                kept.add(word, grid.row_cells(i), grid.row_numbers(i))
        return kept

    def row_frame(self, i: int) -> RoundedRectangle:
        """An outline around a row, its ID and word included."""
        front = Rectangle(width=0.34, height=0.1).move_to([self._id_x, self.ids[i].get_y(), 0])
        return outline(VGroup(front, self.grid.row_cells(i)))


class IdToken(VGroup):
    """A word in its box with its ID below."""

    def __init__(self, word: str, scalar: Scalar, color: ManimColor, width: float = 1.56) -> None:
        self.token = Token(word, color=color, size=theme.BODY, height=0.54, width=width)
        self.number = Number(scalar, 0, bold=True)
        caption = row(Phrase("ID", size=theme.SMALL, color=theme.MUTED), self.number, gap=0.12)
        caption.shift([-caption.get_x(), -0.5, 0])
        super().__init__(self.token, caption)
