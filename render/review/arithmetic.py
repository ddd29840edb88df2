"""Equations as they are read off the screen: what their digits come to, and what they may."""

from __future__ import annotations

import re
from decimal import Decimal

from scenes.rounding import MINUS, as_decimal, rounds_to

_NUMBER = rf"\(?[{MINUS}+]?\d+(?:\.\d*)?\)?"
_OPERAND = rf"(?:√\s?)?{_NUMBER}"
#: Left side, sign and result of an equation in a line.
EQUATION = re.compile(
    rf"(?<![\w.√])({_OPERAND}(?:\s*[+{MINUS}×÷]\s*{_OPERAND})+)\s*([=≈])\s*({_NUMBER})(?![\w.]|\s*[×÷])"
)
#: An operand, perhaps under a root, and the operator behind it.
_OPERATION = re.compile(rf"\s*(√\s?)?({_NUMBER})\s*([+{MINUS}×÷]?)")
_INFINITE = Decimal("-Infinity"), Decimal("Infinity")
_ONE = Decimal(1), Decimal(1)

Interval = tuple[Decimal, Decimal]


def holds(left: str, sign: str, result: str) -> bool:
    """Whether an equation is true: with ``=`` exactly, but for the rounding of its result; with
    ``≈`` for some numbers that round to those shown."""
    if sign == "=":
        return rounds_to(work_out(left), result)
    (low, high), reach = bounds(left), _half(result)
    return bool(low <= as_decimal(result) + reach and high >= as_decimal(result) - reach)


def work_out(expression: str) -> Decimal:
    """The value of a shown expression, × and ÷ first. Infinite where it divides by zero."""
    return bounds(expression, rounded=False)[1]


def bounds(expression: str, *, rounded: bool = True) -> Interval:
    """The least and the greatest value of an expression, each of whose numbers with a point may be
    half a unit of its last digit more or less if it is ``rounded``."""
    total, product, sign, operator = (Decimal(0), Decimal(0)), _ONE, 1, "×"
    for root, number, following in _OPERATION.findall(expression):
        value, reach = as_decimal(number), _half(number) if rounded else Decimal(0)
        ends = value - reach, value + reach
        if root:
            ends = max(ends[0], Decimal(0)).sqrt(), max(ends[1], Decimal(0)).sqrt()
        if operator == "÷" and ends[0] <= 0 <= ends[1]:
            return _INFINITE
        corners = [a / b if operator == "÷" else a * b for a in product for b in ends]
        product = min(corners), max(corners)
        if following in ("+", MINUS):
            total, product = _sum(total, product, sign), _ONE
            sign, operator = 1 if following == "+" else -1, "×"
        else:
            operator = following
    return _sum(total, product, sign)


def _sum(total: Interval, product: Interval, sign: int) -> Interval:
    low, high = sorted(sign * end for end in product)
    return total[0] + low, total[1] + high


def _half(number: str) -> Decimal:
    """Half a unit of the last digit; 0 for a number without a point, which is whole."""
    decimals = number.rstrip(")").partition(".")[2]
    return Decimal("0.5").scaleb(-len(decimals)) if "." in number else Decimal(0)
