"""A ruler from 0 to a largest value, and two values on it joined by an arrow."""

from __future__ import annotations

from manim import DOWN, LEFT, RIGHT, UP, Dot, Line, ManimColor, VGroup

from .. import theme
from ..values import Scalar
from .phrase import Number, Phrase
from .shapes import arrow


class Ruler(VGroup):
    """A line from ``left`` to ``right`` at height ``y``, for values from 0 to ``full``."""

    def __init__(self, left: float, right: float, y: float, full: float) -> None:
        self._left, self._right, self.y, self._full = left, right, y, full
        style = {"color": theme.MUTED, "stroke_width": 2.5}
        self.line = Line([left, y, 0], [right, y, 0], **style)
        self.ends = VGroup(
            *(Line([x, y - 0.1, 0], [x, y + 0.1, 0], **style) for x in (left, right))
        )
        super().__init__(self.line, self.ends)

    def x(self, value: float) -> float:
        """Where a value stands."""
        share = min(1.0, max(0.0, value / self._full)) if self._full else 0.0
        return self._left + (self._right - self._left) * share

    def dot(self, scalar: Scalar, color: ManimColor, *, hollow: bool = False) -> Dot:
        """A value on the ruler: a disc, or a ring if ``hollow``."""
        dot = Dot([self.x(scalar.exact), self.y, 0], radius=0.12, color=color).set_z_index(1)
        if hollow:
            dot.set_fill(theme.BACKGROUND).set_stroke(color, width=3.5)
        return dot

    def mark(self, scalar: Scalar, name: str, color: ManimColor, *, below: bool = False) -> VGroup:
        """A value with its name and number above (or below) the ruler."""
        dot = self.dot(scalar, color, hollow=not below)
        word = Phrase(name, size=theme.BODY, color=color, bold=True)
        number = Number(scalar, 3, size=theme.BODY, color=color, bold=True)
        number.beside(word, 0.16, RIGHT)
        label = VGroup(word, number)
        gap = 0.45 * (DOWN if below else UP)
        label.shift(dot.get_center() + gap - [label.get_x(), number.midline, 0])
        return VGroup(dot, label)

    def name_ends(self, low: Phrase, high: Phrase) -> VGroup:
        """What 0 and the largest value mean, outside the ends."""
        low.place([self._left - 0.25, self.y, 0], RIGHT)
        return VGroup(low, high.place([self._right + 0.25, self.y, 0], LEFT))


class Change(VGroup):
    """Two values on a ruler: a ring for the first, a disc for the second, an arrow between."""

    def __init__(self, ruler: Ruler, first: Scalar, second: Scalar, color: ManimColor) -> None:
        self.ring = ruler.dot(first, theme.MUTED, hollow=True)
        self.disc = ruler.dot(second, color)
        self.way = VGroup()
        start, end = self.ring.get_center(), self.disc.get_center()
        side = RIGHT if end[0] > start[0] else LEFT
        if abs(end[0] - start[0]) > 0.5:
            self.way.add(
                arrow(start + 0.14 * side, end - 0.12 * side, color=color, width=3, tip=0.14)
            )
        super().__init__(self.ring, self.way, self.disc)
