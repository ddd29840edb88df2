"""What a handout consists of: plain data that knows nothing of HTML or PDF."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal, DivisionByZero, InvalidOperation, Overflow
from typing import Any

from scenes.rounding import MINUS, as_decimal, rounds_to, shown
from scenes.values import OPERATIONS, Scalar

PLUS, TIMES, OVER = "+", "×", "÷"


@dataclass(frozen=True)
class Number:
    """A value with its source and its decimals: the only way for a digit into a handout."""

    scalar: Scalar
    decimals: int = 4

    @property
    def text(self) -> str:
        return str(shown(self.scalar.exact, self.decimals))

    def recipe(self) -> dict[str, Any]:
        return dict(self.scalar.recipe())


@dataclass(frozen=True)
class Math:
    """A formula in Typst's notation: letters and indices, no values of the model."""

    typst: str


@dataclass(frozen=True)
class Mark:
    """Text of a meaning: ``q`` for query, ``t`` for training… (the tags of the text files)."""

    tag: str
    text: str


Part = str | Number | Math | Mark
Parts = tuple[Part, ...]


@dataclass(frozen=True)
class Paragraph:
    parts: Parts
    kind: str = ""  # "", "note" or "point", the sentence to keep


@dataclass(frozen=True)
class Formula:
    """A formula in a line of its own."""

    typst: str


@dataclass(frozen=True)
class Group:
    """A bracket in an expression; or what stands under a root (sqrt), is squared (square), is the
    exponent of the formula's 10000 (10000^), or stands in a function of OPERATIONS (exp, sin…)."""

    items: Expression
    function: str = ""


Expression = tuple["Number | Group | str", ...]


@dataclass(frozen=True)
class Equation:
    """``label`` = side = side …; each sign is ``=`` only where the shown digits make it true."""

    label: str  # in Typst's notation, may be empty
    sides: tuple[Expression, ...]

    def signs(self) -> list[str]:
        """The sign before each side; the first is the one after the label."""
        pairs = zip(self.sides, self.sides[1:], strict=False)
        return ["=", *("=" if _equal(one, other) else "≈" for one, other in pairs)]


@dataclass(frozen=True)
class Matrix:
    """Numbers in rows and columns with names; ``look``: plain, signed, heat; ``closed`` are the
    cells that a mask forbids, ``marked`` rows are the ones that are talked of."""

    caption: Parts
    values: tuple[tuple[Number, ...], ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    look: str = "plain"
    closed: frozenset[tuple[int, int]] = frozenset()
    marked: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Table:
    """A table of words and numbers; ``marked`` rows stand out."""

    caption: Parts
    head: tuple[Parts, ...]
    rows: tuple[tuple[Parts, ...], ...]
    marked: frozenset[int] = frozenset()


Block = Paragraph | Formula | Equation | Matrix | Table


@dataclass
class Step:
    """A numbered step of the tutorial."""

    number: int
    title: Parts
    blocks: list[Block] = field(default_factory=list)


@dataclass
class Section:
    """The steps of one scene; ``slug`` is the scene's, or names an appendix."""

    slug: str
    title: str
    part: str  # encoder, training, inference or both: decides the colour
    steps: list[Step] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)


@dataclass
class Handout:
    language: str
    title: str
    subtitle: str
    words: dict[str, str]  # names of things around the content
    sections: list[Section] = field(default_factory=list)


def numbers_in(expression: Expression) -> list[Number]:
    found: list[Number] = []
    for item in expression:
        if isinstance(item, Number):
            found.append(item)
        elif isinstance(item, Group):
            found += numbers_in(item.items)
    return found


def evaluate(expression: Expression) -> Decimal:
    """The value of an expression from its shown digits, × and ÷ first. NaN where there is none."""
    total, product, sign, operator = Decimal(0), Decimal(1), 1, TIMES
    try:
        for item in expression:
            if item in (PLUS, MINUS):
                total += sign * product
                product, sign, operator = Decimal(1), 1 if item == PLUS else -1, TIMES
            elif isinstance(item, str):
                operator = item
            else:
                value = _value(item)
                product = product / value if operator == OVER else product * value
        return total + sign * product
    except (DivisionByZero, InvalidOperation, Overflow, ValueError):
        return Decimal("NaN")


def _value(item: Number | Group) -> Decimal:
    if isinstance(item, Number):
        return Decimal(as_decimal(item.text))
    inner = evaluate(item.items)
    if item.function == "":
        return inner
    if item.function == "sqrt":
        return inner.sqrt()
    if item.function == "square":
        return inner * inner
    if item.function == "10000^":
        return Decimal(10000) ** inner
    return Decimal(OPERATIONS[item.function](float(inner)))


def _equal(one: Expression, other: Expression) -> bool:
    """Whether a sign between the two may be ``=``: a number must be what the side before it
    rounds to, an expression must have its very value."""
    left = evaluate(one)
    if len(other) == 1 and isinstance(other[0], Number):
        return bool(rounds_to(left, other[0].text))
    return left == evaluate(other)


def joined(terms: Sequence[Expression], operator: str = PLUS) -> Expression:
    """Expressions in a row with an operator between them."""
    made: list[Number | Group | str] = []
    for n, term in enumerate(terms):
        made += [operator, *term] if n else [*term]
    return tuple(made)
