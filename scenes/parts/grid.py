"""Matrices: cells with numbers, labels on rows and columns, colour that means the value."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from manim import DOWN, LEFT, ORIGIN, RIGHT, UP, ManimColor, Rectangle, RoundedRectangle, VGroup

from .. import theme
from ..rounding import leading
from ..values import Scalar, Values
from .phrase import Number, Phrase
from .shapes import hatch

Fill = Callable[[float], ManimColor]
GAP = 0.05


def cell_width(count: int, width: float, most: float) -> float:
    """How wide each of ``count`` cells side by side is, so that all fit into ``width``: at most
    ``most``."""
    return min(most, (width + GAP) / count - GAP)


class Grid(VGroup):
    """A matrix on screen.

    ``values`` is a 2-D part of the trace, shape (rows, columns), or a 1-D part, which makes one
    row. ``fill`` gives a cell's colour from its value; :meth:`signed` and :meth:`heat` make the
    two usual kinds. A number that would not fit its cell gets smaller, down to the smallest size,
    and then fewer decimals: all cells alike.

    ``mask`` (a ``decoder.mask``) closes the cells where it is below zero: red and hatched, with
    their value's leading digit only (``−1e9``, or an exact ``0``). ``bare_zeros`` shows every
    exact zero without decimals.
    """

    def __init__(
        self,
        values: Values,
        *,
        rows: Sequence[str] = (),
        columns: Sequence[str] = (),
        decimals: int = 4,
        cell: tuple[float, float] = (1.15, 0.55),
        size: float = theme.SMALL,
        fill: Fill = lambda value: theme.PANEL,
        row_color: ManimColor = theme.MUTED,
        column_color: ManimColor = theme.MUTED,
        label_size: float = theme.BODY,
        bold_labels: bool = True,
        mask: Values | None = None,
        bare_zeros: bool = False,
    ) -> None:
        super().__init__()
        self.values = values
        self.mask = mask
        self.bare_zeros = bare_zeros
        self.shape = values.shape if len(values.shape) > 1 else (1, *values.shape)
        self.fill_of = fill
        width, height = cell
        self.decimals, self.size = self._fitting(decimals, size, width - 0.12)
        self.cells = VGroup()
        self.numbers = VGroup()
        self.hatches = VGroup()
        for i in range(self.shape[0]):
            for j in range(self.shape[1]):
                at = RIGHT * j * (width + GAP) + DOWN * i * (height + GAP)
                self._add_cell(i, j, at, width, height)
        self._align_columns()
        self.row_labels = VGroup()
        self.column_labels = VGroup()
        self.add(self.cells, self.hatches, self.numbers, self.row_labels, self.column_labels)
        for i, text in enumerate(rows):
            label = Phrase(text, size=label_size, color=row_color, bold=bold_labels)
            self.row_labels.add(label.beside(self.cell(i, 0), 0.22, LEFT))
        for j, text in enumerate(columns):
            label = Phrase(text, size=label_size, color=column_color, bold=bold_labels)
            top = self.cell(0, j).get_top()
            self.column_labels.add(label.place(top + UP * 0.3))
        self.move_to(ORIGIN)

    @classmethod
    def signed(cls, values: Values, **options: object) -> Grid:
        """Blue below zero, orange above, by the largest magnitude in the matrix."""
        mask = options.get("mask")
        counted = values.array if mask is None else values.array[mask.array >= 0]  # type: ignore[attr-defined]
        scale = float(np.abs(counted).max())
        return cls(values, fill=lambda v: theme.signed_fill(v, scale), **options)  # type: ignore[arg-type]

    @classmethod
    def heat(cls, values: Values, **options: object) -> Grid:
        """Attention weights from 0 to 1: panel to gold."""
        options = {"decimals": 3, "cell": (1.0, 1.0), "size": theme.BODY, **options}
        return cls(values, fill=theme.weight_fill, **options)  # type: ignore[arg-type]

    def _fitting(self, decimals: int, size: float, room: float) -> tuple[int, float]:
        while True:
            widest = max(Number(s, decimals, size=size).width for s in self._extremes())
            if widest <= room:
                return decimals, size
            smaller = max(theme.SMALLEST, size * room / widest)
            if widest * smaller / size <= room + 1e-6 or decimals == 0:
                return decimals, smaller
            decimals -= 1

    def _extremes(self) -> list[Scalar]:
        """Smallest and largest value of the cells that are not closed."""
        rows, columns = self.shape
        places = [(i, j) for i in range(rows) for j in range(columns) if not self.is_closed(i, j)]
        scalars = [self.scalar(i, j) for i, j in places]
        return [min(scalars, key=lambda s: s.exact), max(scalars, key=lambda s: s.exact)]

    def _add_cell(self, i: int, j: int, at: np.ndarray, width: float, height: float) -> None:
        scalar, closed = self.scalar(i, j), self.is_closed(i, j)
        color = theme.CLOSED if closed else self.fill_of(scalar.exact)
        box = Rectangle(
            width=width, height=height, stroke_width=0, fill_color=color, fill_opacity=1
        ).move_to(at)
        bare = closed or (self.bare_zeros and scalar.exact == 0)
        decimals = leading(scalar.exact) if bare else self.decimals
        number = Number(scalar, decimals, size=self.size, color=theme.ink_on(color))
        self.cells.add(box)
        self.numbers.add(number.place(at).set_z_index(1))
        self.hatches.add(hatch(box, spare=number) if closed else VGroup())

    def _align_columns(self) -> None:
        """Right edges, and so decimal points, one below the other, the widest centred; what has
        lost its decimals stays in the middle."""
        for j in range(self.shape[1]):
            column = [self.number(i, j) for i in range(self.shape[0])]
            column = [number for number in column if number.decimals == self.decimals]
            if not column:
                continue
            right = max(number.width for number in column) / 2 + self.cell(0, j).get_x()
            for number in column:
                number.shift(RIGHT * (right - number.get_right()[0]))

    def _at(self, i: int, j: int) -> int:
        rows, columns = self.shape
        return (i % rows) * columns + j % columns

    def scalar(self, i: int, j: int) -> Scalar:
        """The value of a cell."""
        return self.values[i, j] if len(self.values.shape) > 1 else self.values[j]

    def is_closed(self, i: int, j: int) -> bool:
        """Whether the mask forbids this cell."""
        return self.mask is not None and bool(self.mask.array[i, j] < 0)

    def closed(self) -> list[tuple[int, int]]:
        """The forbidden cells, row by row."""
        rows, columns = self.shape
        return [(i, j) for i in range(rows) for j in range(columns) if self.is_closed(i, j)]

    def whole_cell(self, i: int, j: int) -> VGroup:
        """Cell, hatching and number."""
        return VGroup(self.cell(i, j), self.hatches[self._at(i, j)], self.number(i, j))

    def cell(self, i: int, j: int) -> Rectangle:
        return self.cells[self._at(i, j)]

    def number(self, i: int, j: int) -> Number:
        return self.numbers[self._at(i, j)]

    def row_cells(self, i: int) -> VGroup:
        return VGroup(*(self.cell(i, j) for j in range(self.shape[1])))

    def row_hatches(self, i: int) -> VGroup:
        return VGroup(*(self.hatches[self._at(i, j)] for j in range(self.shape[1])))

    def row_numbers(self, i: int) -> VGroup:
        return VGroup(*(self.number(i, j) for j in range(self.shape[1])))

    def column_cells(self, j: int) -> VGroup:
        return VGroup(*(self.cell(i, j) for i in range(self.shape[0])))

    def column_numbers(self, j: int) -> VGroup:
        return VGroup(*(self.number(i, j) for i in range(self.shape[0])))

    def row_all(self, i: int) -> VGroup:
        """Cells, numbers and label of a row."""
        whole = VGroup(self.row_cells(i), self.row_hatches(i), self.row_numbers(i))
        if len(self.row_labels):
            whole.add(self.row_labels[i])
        return whole

    def body(self) -> VGroup:
        """Cells and numbers, without labels."""
        return VGroup(self.cells, self.hatches, self.numbers)

    def keep_inside(self, left: float = theme.LEFT_EDGE, slack: float = 0.0) -> Grid:
        """Keep row labels to the right of ``left``: move the matrix right, by ``slack`` at most,
        and then make the labels smaller, all alike."""
        over = left - min((label.get_left()[0] for label in self.row_labels), default=left)
        if over <= 0:
            return self
        step = min(over, slack)
        self.shift(RIGHT * step)
        if over > step:
            widest = max(label.width for label in self.row_labels)
            least = theme.SMALLEST / self.row_labels[0].size
            factor = max(least, (widest - over + step) / widest)
            for label in self.row_labels:
                edge = [label.get_right()[0], label.midline, 0]
                label.scale(factor, about_point=edge)
        return self

    def frame(self, *members: VGroup, color: ManimColor = theme.INK) -> RoundedRectangle:
        """An outline around some cells (a row, a column, one cell; all of them by default)."""
        return outline(VGroup(*members) if members else self.cells, color=color)


def outline(
    around: VGroup, *, color: ManimColor = theme.INK, buff: float = 0.04, stroke: float = 3
) -> RoundedRectangle:
    """A rounded outline around something."""
    box = RoundedRectangle(
        width=around.width + 2 * buff,
        height=around.height + 2 * buff,
        corner_radius=0.08,
        stroke_width=stroke,
        stroke_color=color,
        fill_opacity=0,
    )
    return box.move_to(around)
