"""What a handout consists of: plain data that knows nothing of HTML or PDF."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, is_dataclass
from decimal import Decimal, DivisionByZero, InvalidOperation, Overflow

from scenes.rounding import MINUS, as_decimal, rounds_to
from scenes.values import OPERATIONS, Scalar

PLUS, TIMES, OVER = "+", "×", "÷"


class Typst(str):
    """Code of a formula in Typst's notation. Anything else gets in as a string of Typst, so that
    no token is ever read as code."""

    __slots__ = ()

    @classmethod
    def of(cls, template: str, /, *values: object, **named: object) -> Typst:
        """A template of code, filled as ``str.format`` does with values that are quoted first."""
        every = {name: cls.quoted(value) for name, value in named.items()}
        return cls(template.format(*map(cls.quoted, values), **every))

    @classmethod
    def quoted(cls, value: object) -> Typst:
        """A string of Typst, which a formula sets upright; code stays as it is."""
        if isinstance(value, Typst):
            return value
        said = value.text if isinstance(value, Number) else str(value)
        return cls('"' + said.replace("\\", "\\\\").replace('"', '\\"') + '"')


@dataclass(frozen=True)
class Number:
    """A value with its source and its decimals: the only way for a digit into a handout."""

    scalar: Scalar
    decimals: int = 4

    @property
    def text(self) -> str:
        return str(self.scalar.written(self.decimals))

    @property
    def origin(self) -> str:
        """Where it comes from: ``run|name|index`` of the trace, or the recipe in JSON."""
        recipe = self.scalar.recipe()
        if "name" not in recipe:
            return json.dumps(recipe, ensure_ascii=False, separators=(",", ":"))
        index = ",".join(map(str, recipe["index"]))
        return f"{recipe['run']}|{recipe['name']}|{index}"


@dataclass(frozen=True)
class Math:
    """A formula: letters and indices, no values of the model; ``alone``: in a line of its own."""

    typst: Typst
    alone: bool = False


@dataclass(frozen=True)
class Mark:
    """Text of a meaning: ``q`` for query, ``t`` for training… (the tags of the text files)."""

    tag: str
    text: str


Fact = str | Number
Part = str | Number | Math | Mark
Parts = tuple[Part, ...]


class Block:
    """Something that stands for itself below a title."""

    @property
    def kind(self) -> str:
        return type(self).__name__.lower()


@dataclass(frozen=True)
class Paragraph(Block):
    parts: Parts
    role: str = ""  # "", "note", "heading", "erratum", or "point": the sentence to keep


@dataclass(frozen=True)
class Formula(Block):
    math: Math


@dataclass(frozen=True)
class Group:
    """A bracket in an expression; or what stands under a root (sqrt), is squared (square), is the
    exponent of the formula's 10000 (10000^), or stands in a function of OPERATIONS (exp, sin…)."""

    items: Expression
    function: str = ""


Expression = tuple["Number | Group | str", ...]


@dataclass(frozen=True)
class Equation(Block):
    """``label`` = side = side …; each sign is ``=`` only where the shown digits make it true."""

    label: Math
    sides: tuple[Expression, ...]

    def signs(self) -> list[str]:
        """The sign before each side; the first is the one after the label."""
        pairs = zip(self.sides, self.sides[1:], strict=False)
        return ["=", *("=" if _equal(one, other) else "≈" for one, other in pairs)]


@dataclass(frozen=True)
class Matrix(Block):
    """Numbers in rows and columns with names; ``look``: plain, signed, heat; ``closed`` are the
    cells that a mask forbids, ``marked`` rows are the ones that are talked of."""

    caption: Parts
    values: tuple[tuple[Number, ...], ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    look: str = "plain"
    closed: frozenset[tuple[int, int]] = frozenset()
    marked: frozenset[int] = frozenset()

    def cells(self) -> Iterator[list[tuple[Number, str, float]]]:
        """Each row's numbers, each with the kind of its colour (heat, pos, neg, closed or none)
        and how strong that is, from 0 to 1."""
        largest = max((abs(n.scalar.exact) for row in self.values for n in row), default=0.0)
        for i, row in enumerate(self.values):
            yield [(n, *self._colour(n.scalar.exact, largest, (i, j))) for j, n in enumerate(row)]

    def _colour(self, exact: float, largest: float, place: tuple[int, int]) -> tuple[str, float]:
        if place in self.closed:
            return "closed", 0.0
        if self.look == "heat":
            return "heat", min(1.0, max(0.0, exact))
        if self.look == "plain" or not exact:
            return "", 0.0
        return "pos" if exact > 0 else "neg", abs(exact) / largest


@dataclass(frozen=True)
class Table(Block):
    """A table of words and numbers; ``marked`` rows stand out."""

    caption: Parts
    head: tuple[Parts, ...]
    rows: tuple[tuple[Parts, ...], ...]
    marked: frozenset[int] = frozenset()


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
    made_from: str  # which weights the numbers come from, by the names of their files
    sections: list[Section] = field(default_factory=list)

    def steps(self, first: int, last: int) -> str:
        """``Steps 3 to 5`` in the handout's language."""
        return self.words["steps" if first != last else "one_step"].format(first=first, last=last)


def formulas_in(item: object) -> Iterator[Math]:
    """Every formula in a handout or a part of it."""
    if isinstance(item, Math):
        yield item
    elif isinstance(item, (list, tuple)):
        for member in item:
            yield from formulas_in(member)
    elif is_dataclass(item) and not isinstance(item, Number):
        yield from formulas_in(list(vars(item).values()))


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


def joined(terms: Iterable[Expression | Number | Group], operator: str = PLUS) -> Expression:
    """Terms in a row with an operator between them."""
    made: list[Number | Group | str] = []
    for term in terms:
        made += [operator, *(term if isinstance(term, tuple) else (term,))]
    return tuple(made[1:])
