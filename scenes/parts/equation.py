"""Sums worked out on screen. The sign between the two sides is computed, never typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from manim import LEFT, RIGHT, ManimColor, VGroup, VMobject

from .. import theme
from ..rounding import MINUS, as_decimal, rounds_to
from ..values import OPERATIONS, Scalar
from .phrase import Glyphs, Number, Phrase

PLUS, TIMES, OVER = "+", "×", "÷"


@dataclass(frozen=True)
class Term:
    """A value in an equation: its decimals, its colour, whether it stands under a root or inside
    a function of :data:`scenes.values.OPERATIONS` (``sin``, ``exp``, ``−ln``)."""

    scalar: Scalar
    decimals: int = 4
    color: ManimColor = theme.INK
    root: bool = False
    bold: bool = False
    function: str = ""


class Root(VGroup):
    """A radical sign with its bar over a number."""

    def __init__(self, number: Number, color: ManimColor) -> None:
        em = number.em
        base, top = number.baseline - 0.06 * em, number.baseline + 0.92 * em
        left, right = number.get_left()[0] - 0.08 * em, number.get_right()[0] + 0.06 * em
        sign = VMobject(stroke_width=2.2, stroke_color=color, fill_opacity=0)
        sign.set_points_as_corners(
            [
                [left - 0.52 * em, base + 0.42 * em, 0],
                [left - 0.40 * em, base + 0.50 * em, 0],
                [left - 0.22 * em, base, 0],
                [left, top, 0],
                [right, top, 0],
            ]
        )
        super().__init__(sign, number)
        self.number = number


class Applied(VGroup):
    """A function's name with a number in brackets: ``sin(1)``."""

    def __init__(self, number: Number, function: str, color: ManimColor) -> None:
        opening = Phrase(f"{function}(", size=number.size, color=color)
        closing = Phrase(")", size=number.size, color=color)
        opening.place([number.get_left()[0] - 0.06 * number.em, number.midline, 0], RIGHT)
        closing.place([number.get_right()[0] + 0.06 * number.em, number.midline, 0], LEFT)
        super().__init__(opening, number, closing)
        self.number = number


class Equation(VGroup):
    """``left`` = ``result`` in one line: terms and operators, then the sign and the result.

    The sign is ``=`` where the shown digits, worked out exactly, round to the shown result, and
    ``≈`` where rounding of the terms makes them miss it.
    """

    def __init__(
        self,
        left: Sequence[Term | str],
        result: Term,
        *,
        size: float = theme.BODY,
        gap: float = 0.14,
        width: float | None = None,
    ) -> None:
        super().__init__()
        #: what was written, for the audit
        self.written = tuple(left), result
        self.terms: list[VMobject] = []
        for position, item in enumerate(left):
            self.terms.append(_piece(item, size, bracket=position > 0))
        self.result = _piece(result, size, bracket=False)
        exact = evaluate(left, self.terms)
        sign = "=" if rounds_to(exact, _number(self.result).text) else "≈"
        self.sign = Phrase(sign, size=size, color=theme.MUTED)
        pen = 0.0
        for piece in (*self.terms, self.sign, self.result):
            text = _number(piece)
            piece.shift([pen - piece.get_left()[0], -text.midline, 0])
            pen = piece.get_right()[0] + gap
            self.add(piece)
        if width is not None and self.width > width:
            self.scale(width / self.width)

    @property
    def midline(self) -> float:
        return _number(self.sign).midline

    def place(self, point: Sequence[float], align: object = LEFT) -> Equation:
        """Stand with the left (or right) edge at ``point``, the midline at its height."""
        x = self.get_right()[0] if align is RIGHT else self.get_left()[0]
        return self.shift([point[0] - x, point[1] - self.midline, 0])

    def left_side(self) -> VGroup:
        return VGroup(*self.terms)

    def right_side(self) -> VGroup:
        return VGroup(self.sign, self.result)


def _number(piece: VMobject) -> Glyphs:
    return piece.number if isinstance(piece, (Root, Applied)) else piece


def _piece(item: Term | str, size: float, *, bracket: bool) -> VMobject:
    if isinstance(item, str):
        return Phrase(item, size=size, color=theme.MUTED)
    number = Number(
        item.scalar, item.decimals, size=size, color=item.color, bold=item.bold, bracket=bracket
    )
    if item.function:
        return Applied(number, item.function, item.color)
    return Root(number, item.color) if item.root else number


def evaluate(left: Sequence[Term | str], pieces: Sequence[VMobject]) -> Decimal:
    """The left side worked out from its shown digits: × and ÷ before + and −, left to right."""
    total, product, sign, divide = Decimal(0), Decimal(1), 1, False
    for item, piece in zip(left, pieces, strict=True):
        if isinstance(item, str):
            if item in (PLUS, MINUS):
                total += sign * product
                product, sign, divide = Decimal(1), 1 if item == PLUS else -1, False
            elif item in (TIMES, OVER):
                divide = item == OVER
            continue
        value = as_decimal(_number(piece).text)
        value = value.sqrt() if item.root else value
        if item.function:
            value = Decimal(OPERATIONS[item.function](float(value)))
        product = product / value if divide else product * value
    return total + sign * product
