"""Vectors: a row or a column of cells, from the trace or worked out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from manim import DOWN, RIGHT, ManimColor, Rectangle, VGroup

from .. import theme
from ..rounding import adds_up
from ..values import Scalar
from .grid import GAP
from .phrase import Number

Fill = Callable[[float], ManimColor]
Cell = tuple[float, float]


def signed(*groups: Iterable[Scalar]) -> Fill:
    """Blue below zero, orange above, by the largest magnitude of all ``groups``."""
    scale = max(abs(scalar.exact) for group in groups for scalar in group)
    return lambda value: theme.signed_fill(value, scale)


class Vector(VGroup):
    """Scalars side by side, or one above the other with ``down``.

    Unlike a :class:`Grid` it takes any scalars, computed ones too. A number that would not fit
    its cell gets smaller, down to the smallest size, and then fewer decimals: all cells alike.
    ``bare_zeros`` shows every exact zero without decimals.
    """

    def __init__(
        self,
        scalars: Iterable[Scalar],
        *,
        decimals: int = 4,
        cell: Cell = (1.4, 0.62),
        size: float = theme.BODY,
        fill: Fill | None = None,
        down: bool = False,
        gap: float = GAP,
        bare_zeros: bool = False,
    ) -> None:
        super().__init__()
        self.scalars = list(scalars)
        self.fill_of = fill or signed(self.scalars)
        step = (cell[1] + gap) * DOWN if down else (cell[0] + gap) * RIGHT
        self.decimals, self.size = self._fitting(decimals, size, cell[0] - 0.12)
        self.cells, self.numbers = VGroup(), VGroup()
        for i, scalar in enumerate(self.scalars):
            color = self.fill_of(scalar.exact)
            box = Rectangle(width=cell[0], height=cell[1], stroke_width=0, fill_color=color)
            self.cells.add(box.set_fill(opacity=1).move_to(i * step))
            places = 0 if bare_zeros and scalar.exact == 0 else self.decimals
            number = Number(scalar, places, size=self.size, color=theme.ink_on(color))
            self.numbers.add(number.place(i * step).set_z_index(1))
        if down:
            self._align()
        self.add(self.cells, self.numbers)

    def _align(self) -> None:
        """Decimal points one below the other; what has lost its decimals stays in the middle."""
        column = [number for number in self.numbers if number.decimals == self.decimals]
        right = max((number.width for number in column), default=0.0) / 2
        for number in column:
            number.shift((right - number.get_right()[0]) * RIGHT)

    def _fitting(self, decimals: int, size: float, room: float) -> tuple[int, float]:
        while True:
            widest = max(Number(s, decimals, size=size).width for s in self.scalars)
            if widest <= room:
                return decimals, size
            smaller = max(theme.SMALLEST, size * room / widest)
            if widest * smaller / size <= room + 1e-6 or decimals == 0:
                return decimals, smaller
            decimals -= 1

    def at(self, x: float, y: float) -> Vector:
        """Stand with the left edge at ``x`` and the first cell's middle at height ``y``."""
        left = self.cells[0].get_left()
        return self.shift([x - left[0], y - left[1], 0])

    def whole(self, i: int) -> VGroup:
        """A cell and its number."""
        return VGroup(self.cells[i], self.numbers[i])

    def xs(self) -> list[float]:
        """The middles of the cells."""
        return [float(cell.get_x()) for cell in self.cells]


def equals(parts: Sequence[Iterable[Number]], total: Iterable[Number]) -> str:
    """``=`` where each column of ``parts`` adds up to ``total`` as shown, else ``≈``."""
    columns = zip(*parts, total, strict=True)
    exact = all(adds_up([n.text for n in terms], result.text) for *terms, result in columns)
    return "=" if exact else "≈"
