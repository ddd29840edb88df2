"""Matrices as they pass by: so small that only their colours tell, with their shape below."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from manim import DOWN, RIGHT, ManimColor, Rectangle, Square, VGroup, interpolate_color

from .. import theme
from ..values import Run, Values
from .flow import shape_of
from .vector import signed

Fill = Callable[[float], ManimColor]
_GAP = 0.02


def share_fill(color: ManimColor) -> Fill:
    """Fill of a cell for a probability from 0 to 1: panel to ``color``."""
    return lambda share: interpolate_color(theme.PANEL, color, min(1.0, max(0.0, share)) ** 0.7)


class Miniature(VGroup):
    """One cell for each value of a matrix, or of some of its rows, ``pitch`` from cell to cell;
    ``rows`` of cells."""

    def __init__(
        self, values: Iterable[Values], *, pitch: float = 0.2, fill: Fill | None = None
    ) -> None:
        super().__init__()
        lines = list(values)
        fill = fill or signed(*lines)
        self.ground = Rectangle(
            width=pitch * len(lines[0]),
            height=pitch * len(lines),
            stroke_width=0,
            fill_color=theme.BACKGROUND,
            fill_opacity=1,
        )
        self.rows = VGroup()
        for i, line in enumerate(lines):
            row = VGroup()
            for j, scalar in enumerate(line):
                cell = Square(pitch - _GAP, stroke_width=0, fill_opacity=1)
                cell.set_fill(fill(scalar.exact)).move_to((DOWN * i + RIGHT * j) * pitch)
                row.add(cell)
            self.rows.add(row)
        self.add(self.ground.move_to(self.rows), self.rows)


class Parcel(VGroup):
    """A traced matrix on its way from block to block: the miniature, and its shape below."""

    def __init__(
        self,
        run: Run,
        name: str,
        *,
        pitch: float = 0.2,
        fill: Fill | None = None,
        size: float = theme.SMALL,
    ) -> None:
        self.data = Miniature(run[name], pitch=pitch, fill=fill)
        self.shape = shape_of(run.size(name, 0), run.size(name, 1), size=size, color=theme.MUTED)
        self.shape.next_to(self.data, DOWN, buff=0.13)
        super().__init__(self.data, self.shape)

    def at(self, x: float, y: float) -> Parcel:
        """Stand with the middle of the matrix at a point."""
        return self.shift([x - self.data.get_x(), y - self.data.get_y(), 0])
