"""How numbers are written: fixed decimals, a true minus sign, and no equation that lies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import Any

from numpy.typing import NDArray

MINUS = "\u2212"


def shown(value: float, decimals: int, *, signed: bool = False) -> str:
    """``value`` with ``decimals`` digits after the point, rounded half to even from the exact
    binary value (as Python and C do); a zero never has a sign.

    Decimals below zero round to a power of ten and say so: ``shown(-1e9, -9)`` is ``−1e9``.
    """
    if decimals < 0:
        text = f"{abs(value) / 10.0**-decimals:.0f}e{-decimals}"
        text = "0" if text.startswith("0e") else text
    else:
        text = f"{abs(value):.{decimals}f}"
    zero = not text.strip("0.")
    if value < 0 and not zero:
        return MINUS + text
    return "+" + text if signed and not zero else text


def probability(value: float, decimals: int) -> str:
    """A probability: one that is too small for the decimals is not nothing, but ``< 0.0001``."""
    text = shown(value, decimals)
    if text.strip("0."):
        return text
    return f"< {10.0**-decimals:.{decimals}f}" if value > 0 else "0"


def leading(value: float) -> int:
    """The decimals that keep the leading digit of a huge value and nothing else: -9 for -1e9,
    and for the -999999998.99 that rounds to it."""
    return -int(f"{value:.0e}".split("e")[1]) if math.isfinite(value) and value else 0


def as_decimal(text: str) -> Decimal:
    """The number that a shown string says; 0 where it says no more than a bound."""
    if text.startswith("<"):
        return Decimal(0)
    return Decimal(text.replace(MINUS, "-").strip("()"))


def adds_up(terms: Sequence[str], result: str) -> bool:
    """Whether the shown terms, added exactly, round to the shown result."""
    return rounds_to(sum((as_decimal(term) for term in terms), Decimal(0)), result)


def rounds_to(exact: Decimal, result: str) -> bool:
    """Whether ``exact`` rounded to the decimals of ``result`` is ``result`` (either way at a half).

    A result written in a power of ten hides digits before the point: it has to be met exactly.
    One that is a bound has to be kept.
    """
    target = as_decimal(result)
    if not exact.is_finite():
        return False
    if result.startswith("<"):
        return 0 <= exact < Decimal(result.removeprefix("< "))
    if "e" in result:
        return exact == target
    with localcontext() as context:
        context.prec = 60
        step = Decimal(1).scaleb(target.as_tuple().exponent)  # type: ignore[arg-type]
        if exact.quantize(step, rounding=ROUND_HALF_EVEN) == target:
            return True
        return abs(exact - target) * 2 == step


def decimals_needed(values: Sequence[float] | NDArray[Any], most: int) -> int:
    """The fewest decimals that write all ``values`` exactly, ``most`` where none are enough."""
    for decimals in range(1, most):
        if all(abs(round(value, decimals) - value) < 1e-12 for value in values):
            return decimals
    return most
