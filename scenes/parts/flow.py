"""Boxes and wires of a flow diagram, and the causal mask as doors that are open or shut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from manim import (
    DOWN,
    RIGHT,
    Line,
    ManimColor,
    RoundedRectangle,
    ShowPassingFlash,
    Square,
    VGroup,
    VMobject,
    interpolate_color,
)

from .. import theme
from ..values import Values
from .grid import GAP
from .phrase import Number, Phrase, row
from .shapes import arrow

Corner = tuple[float, float]


class Block(VGroup):
    """A rounded panel between two opposite corners, to put things on."""

    def __init__(
        self,
        corner: Corner,
        other: Corner,
        *,
        color: ManimColor = theme.HAIRLINE,
        fill: ManimColor = theme.PANEL,
        stroke: float = 2.5,
    ) -> None:
        (x0, y0), (x1, y1) = corner, other
        self.box = RoundedRectangle(
            width=abs(x1 - x0),
            height=abs(y1 - y0),
            corner_radius=0.14,
            stroke_width=stroke,
            stroke_color=color,
            fill_color=fill,
            fill_opacity=1,
        ).move_to([(x0 + x1) / 2, (y0 + y1) / 2, 0])
        super().__init__(self.box)

    def write(self, phrase: Phrase, up: float = 0.0) -> Phrase:
        """Set a phrase on the panel, ``up`` above its middle."""
        phrase.place([self.box.get_x(), self.box.get_y() + up, 0])
        self.add(phrase)
        return phrase


class Mask(VGroup):
    """A causal mask, cell by cell: an open cell is filled, a shut one is crossed out in red."""

    def __init__(
        self, values: Values, *, cell: float = 0.4, color: ManimColor = theme.INFERENCE
    ) -> None:
        super().__init__()
        self.shape = values.shape
        self.side = cell
        for i in range(self.shape[0]):
            for j in range(self.shape[1]):
                door = _door(values[i, j].exact == 0, cell, color)
                self.add(door.move_to((RIGHT * j + DOWN * i) * (cell + GAP)))

    def cell(self, i: int, j: int) -> VGroup:
        rows, columns = self.shape
        return self[(i % rows) * columns + j % columns]

    def row(self, i: int) -> VGroup:
        return VGroup(*(self.cell(i, j) for j in range(self.shape[1])))

    def inner(self, size: int) -> VGroup:
        """The upper left ``size`` × ``size`` cells."""
        return VGroup(*(self.cell(i, j) for i in range(size) for j in range(size)))

    def rest(self, size: int) -> VGroup:
        """All cells but those of :meth:`inner`."""
        rows, columns = self.shape
        places = [(i, j) for i in range(rows) for j in range(columns) if max(i, j) >= size]
        return VGroup(*(self.cell(i, j) for i, j in places))


def _door(is_open: bool, side: float, color: ManimColor) -> VGroup:
    fill = interpolate_color(theme.PANEL, color, 0.75) if is_open else theme.PANEL
    edge = color if is_open else theme.MASKED
    box = Square(side, stroke_width=1.5, stroke_color=edge, fill_color=fill, fill_opacity=1)
    door = VGroup(box)
    if not is_open:
        door.add(cross(0.22 * side, width=2.5))
    return door


def cross(reach: float, *, width: float) -> VGroup:
    """The red cross of what is shut."""
    strokes = VGroup(*(Line([-reach, s * reach, 0], [reach, -s * reach, 0]) for s in (1, -1)))
    return strokes.set_stroke(theme.MASKED, width=width)


def shape_of(rows: Any, columns: Any, **options: Any) -> VGroup:
    """``4 × 4`` from two sizes of the trace."""
    numbers = Number(rows, 0, **options), Number(columns, 0, **options)
    return row(numbers[0], Phrase("×", **options), numbers[1], gap=0.08)


class Wire(VGroup):
    """An arrow with square corners through ``points``."""

    def __init__(
        self,
        *points: Sequence[float],
        color: ManimColor = theme.MUTED,
        width: float = 3,
        tip: float = 0.16,
    ) -> None:
        super().__init__()
        ends = [np.array([*point[:2], 0.0]) for point in points]
        if len(ends) > 2:
            bend = VMobject(stroke_color=color, stroke_width=width, fill_opacity=0)
            self.add(bend.set_points_as_corners(ends[:-1]))
        self.add(arrow(ends[-2], ends[-1], color=color, width=width, tip=tip))
        self._ends = ends

    def flash(self, color: ManimColor) -> ShowPassingFlash:
        """Light that runs once along the wire."""
        light = VMobject(stroke_color=color, stroke_width=8, fill_opacity=0)
        return ShowPassingFlash(light.set_points_as_corners(self._ends), time_width=0.6)
