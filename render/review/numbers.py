"""Numbers: each recomputed from a fresh pass, digits without a source, equations worked out from
what is shown, and matrices in the order, with the labels and the sums that the trace gives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
from manim import Text
from manim.mobject.text.typst_mobject import Typst

from render.review import arithmetic
from render.review.fault import Fault
from render.review.weights import passes_of
from scenes import theme
from scenes.onscreen import Item, TextItem, box_of
from scenes.parts.equation import Root
from scenes.parts.grid import Grid
from scenes.parts.phrase import Glyphs, Number, Phrase
from scenes.rounding import as_decimal, probability, shown
from scenes.settings import Settings
from scenes.values import OPERATIONS, is_probability

#: Digits that are part of a name: L1, W1, d0, Head 2, pos 3.
NAME = re.compile(r"(?:\b(?:L|W|d|Head|head|pos|Enc|Dec|Encoder|Decoder|Adam|seed)[ _]?\d+)")
#: Numbers that the formulas of the paper contain.
FORMULA_DIGITS = {"1", "2", "10000"}
#: Texts farther apart than this many ems are not one line.
_GAP = 1.3
_SOFTMAX = ("attn.weights", "probabilities")
_PAIRS = ("dot", "scores", "masked_scores", "exp", "weights")


class Recomputer:
    """Values from their recipes, by forward passes of its own."""

    def __init__(self, settings: Settings) -> None:
        self._passes = passes_of(settings)
        self.trace = self._passes.trace

    def value(self, recipe: Mapping[str, Any]) -> float:
        """The exact value of a recipe. Raises KeyError or IndexError where it names nothing."""
        if "constant" in recipe:
            return float(recipe["constant"])
        if "operation" in recipe:
            operands = [self.value(operand) for operand in recipe["of"]]
            return float(OPERATIONS[recipe["operation"]](*operands))
        values = self._passes.value(recipe["run"], recipe["name"])
        return float(np.asarray(values)[tuple(recipe["index"])])


def check_records(numbers: Sequence[Mapping[str, Any]], recompute: Recomputer) -> Iterator[Fault]:
    """The entries of a ``numbers.json`` against the engine."""
    for entry in numbers:
        try:
            exact = recompute.value(entry["source"])
        except (LookupError, TypeError, ValueError) as error:
            what = f"{entry.get('shown')} has a source that cannot be computed: {error!r}"
            yield Fault("number", what, time=float(entry.get("first", 0)))
            continue
        write = probability if is_probability(entry["source"].get("name", "")) else shown
        said = write(exact, entry["decimals"])
        if exact != entry["exact"] or said != _unsigned(entry["shown"]):
            recipe = describe(entry["source"])
            what = f"shows {entry['shown']}, the engine says {exact!r} ({recipe})"
            yield Fault("number", what, time=float(entry["first"]))


def _unsigned(text: str) -> str:
    return text.strip("()").removeprefix("+")


def describe(recipe: Mapping[str, Any]) -> str:
    """A recipe in words: ``training encoder.0.self_attn.q[0, 0, 1]``."""
    if "constant" in recipe:
        return f"constant {recipe['constant']}"
    if "operation" in recipe:
        return f"{recipe['operation']}({', '.join(describe(one) for one in recipe['of'])})"
    return f"{recipe['run']} {recipe['name']}{list(recipe['index'])}"


def check_digits(items: Sequence[Item]) -> Iterator[Fault]:
    """Digits on screen that are neither a traced number, nor a step, nor part of a name."""
    for item in items:
        if isinstance(item, TextItem) and (stray := stray_digits(item)):
            what = f"digits without a source: {stray} in {item.text!r}"
            yield Fault("digits", what, item.box)


def stray_digits(item: TextItem) -> str:
    """The digits of a text item that come from nowhere."""
    mobject = item.mobject
    if isinstance(mobject, Number):
        exact = mobject.scalar.exact
        typed = mobject.scalar.source[0] == "constant" and not exact.is_integer()
        return mobject.text if typed else ""
    if isinstance(mobject, Typst):
        numbers = re.findall(r"\d+(?:\.\d+)?", item.text)
        return " ".join(number for number in numbers if number not in FORMULA_DIGITS)
    text = item.text
    if isinstance(mobject, Text):
        return " ".join(re.findall(r"[\d.]+", text)) if re.search(r"\d", text) else ""
    text = NAME.sub(" ", mobject.typed if isinstance(mobject, Phrase) else text)
    return " ".join(re.findall(r"\d[\d.]*", text))


def check_shapes(items: Sequence[Item]) -> Iterator[Fault]:
    """Text whose outlines no longer say what its record says (a Transform that left it behind)."""
    for item in _glyphs(items):
        if not item.mobject.is_intact():
            yield Fault("stale", f"the outlines no longer say {item.text!r}", item.box)


def _glyphs(items: Sequence[Item]) -> list[TextItem]:
    return [i for i in items if isinstance(i, TextItem) and isinstance(i.mobject, Glyphs)]


def check_screen(items: Sequence[Item], recompute: Recomputer) -> Iterator[Fault]:
    """Digits, outlines, equations and matrices of what is on screen now."""
    yield from check_digits(items)
    yield from check_shapes(items)
    yield from check_equations(items)
    yield from check_tables(items, recompute)
    yield from check_softmax_rows(items)


def lines(items: Sequence[Item]) -> list[list[TextItem]]:
    """The text items in lines: same midline, close together, from left to right."""
    found: list[list[TextItem]] = []
    for item in sorted(_glyphs(items), key=lambda item: item.box[0]):
        for line in found:
            last = line[-1]
            gap = item.box[0] - last.box[2]
            level = abs(last.midline - item.midline) < 0.06
            if level and -0.1 < gap < _GAP * max(last.em, item.em):
                line.append(item)
                break
        else:
            found.append([item])
    return found


def check_equations(items: Sequence[Item]) -> Iterator[Fault]:
    """Equations whose shown digits do not come to the shown result: exactly with ``=``, and with
    ``≈`` when every number may be half a unit of its last digit more or less."""
    for line in lines(items):
        for match in arithmetic.EQUATION.finditer(" ".join(_text(item) for item in line)):
            left, sign, result = match.groups()
            if not arithmetic.holds(left, sign, result):
                what = f"{left} {sign} {result} does not add up in the shown digits"
                yield Fault("equation", what, box_of(*(i.mobject for i in line)))


def _text(item: TextItem) -> str:
    root = any(isinstance(ancestor, Root) for ancestor in item.path)
    number, text = item.mobject, item.text
    if isinstance(number, Number) and "." not in text and not number.scalar.exact.is_integer():
        text = re.sub(r"\d(?=\)?$)", r"\g<0>.", text)  # a point: digits are missing behind it
    return f"√{text}" if root else text


def _numbers(items: Sequence[Item]) -> Iterator[tuple[TextItem, Number]]:
    for item in items:
        if isinstance(item, TextItem) and isinstance(item.mobject, Number):
            yield item, item.mobject


def check_tables(items: Sequence[Item], recompute: Recomputer) -> Iterator[Fault]:
    """Every matrix that is on screen."""
    grids: dict[int, tuple[Grid, list[Number]]] = {}
    for item, number in _numbers(items):
        for ancestor in item.path:
            if isinstance(ancestor, Grid):
                grids.setdefault(id(ancestor), (ancestor, []))[1].append(number)
    for grid, numbers in grids.values():
        rows = visual_rows([n for n in numbers if n.scalar.is_traced])
        for what in check_grid(grid, rows, recompute) if rows else ():
            yield Fault("table", f"{grid.values.name}: {what}", box_of(grid))


def check_grid(grid: Grid, rows: list[list[Number]], recompute: Recomputer) -> Iterator[str]:
    """One matrix: what is wrong with the order of its numbers, and its labels."""
    for row in rows:
        fixed = {(n.scalar.source[1], n.scalar.source[2][:-1]) for n in row}
        last = [n.scalar.source[2][-1] for n in row]
        if len(fixed) > 1 or any(b <= a for a, b in pairwise(last)):
            yield "transposed or mixed up: a row on screen is not in the trace"
            return
    heads = [row[0].scalar.source[2][:-1] for row in rows]
    if any(b <= a for a, b in pairwise(heads)):
        yield f"a row is shown twice or out of order: rows {heads}"
    yield from check_labels(grid, rows, recompute)


def visual_rows(numbers: Sequence[Number]) -> list[list[Number]]:
    """Numbers in rows from top to bottom, each from left to right, as they stand on screen."""
    rows: list[list[Number]] = []
    for number in sorted(numbers, key=lambda n: -n.midline):
        if rows and abs(rows[-1][0].midline - number.midline) < 0.1:
            rows[-1].append(number)
        else:
            rows.append([number])
    return [sorted(row, key=lambda n: float(n.get_x())) for row in rows]


def check_labels(grid: Grid, rows: list[list[Number]], recompute: Recomputer) -> Iterator[str]:
    """Row and column labels against the tokens that the trace's axes stand for, and their
    colours."""
    row_names, column_names = axis_names(grid.values.name, recompute, grid.values.run)
    for row in rows:
        index = row[0].scalar.source[2]
        if row_names and len(index) >= 2:
            label = _nearest(grid.row_labels, row[0].midline, axis=1)
            yield from _compare("row", label, row_names[index[-2]])
    for number in rows[0]:
        if column_names:
            label = _nearest(grid.column_labels, float(number.get_x()), axis=0)
            yield from _compare("column", label, column_names[number.scalar.source[2][-1]])
    swapped = (grid.row_labels, theme.KEY), (grid.column_labels, theme.QUERY)
    wrong = (len(labels) and labels[0][0].get_fill_color() == color for labels, color in swapped)
    if grid.values.name.endswith(_PAIRS) and any(wrong):
        yield "axis labels are swapped: rows are queries, columns are keys"


def _nearest(labels: Any, where: float, axis: int) -> Phrase | None:
    def distance(label: Phrase) -> float:
        return abs(float(label.get_center()[axis]) - where)

    nearest = min(labels, key=distance, default=None)
    return nearest if nearest is not None and distance(nearest) < 0.4 else None


def _compare(which: str, label: Phrase | None, token: str) -> Iterator[str]:
    if label is not None and token not in label.text and re.search(r"\w", label.text):
        yield f"a {which} label says {label.text!r}, the trace {token!r}"


def axis_names(
    name: str, recompute: Recomputer, run: str
) -> tuple[Sequence[str] | None, Sequence[str] | None]:
    """The tokens that the last two axes of a traced array stand for; None for features."""
    trace = recompute.trace(run)
    source, target = trace.source_tokens, trace.target_tokens
    vocabulary = trace.weights.vocabulary
    last = name.rsplit(".", 1)[-1]
    side = source if name.startswith(("encoder.", "memory", "source.")) else target
    if name in ("embedding",):
        return vocabulary, None
    if name in ("logits", "probabilities"):
        return target, vocabulary
    if name == "decoder.mask":
        return target, target
    if ".cross_attn." in name:
        if last in _PAIRS:
            return target, source
        return (source if last in ("k", "v") else target), None
    if ".self_attn." in name and last in _PAIRS:
        return side, side
    if name == "memory" or name.startswith(("encoder.", "decoder.")):
        return side, None
    return None, None


def check_softmax_rows(items: Sequence[Item]) -> Iterator[Fault]:
    """Rows of weights or probabilities that stand whole on screen: the shown digits sum to 1
    within their rounding."""
    rows: dict[tuple[Any, ...], list[Number]] = {}
    for item, number in _numbers(items):
        if number.scalar.is_traced and number.scalar.source[1].endswith(_SOFTMAX):
            run, name, index = number.scalar.source
            holder = id(item.path[-1]) if item.path else 0
            rows.setdefault((holder, run, name, index[:-1]), []).append(number)
    for numbers in rows.values():
        places = {n.scalar.source[2][-1] for n in numbers}
        part = abs(sum(n.scalar.exact for n in numbers) - 1) > 1e-9
        if part or len(places) < len(numbers) or len(places) < 2:
            continue
        total = sum((as_decimal(n.text) for n in numbers), Decimal(0))
        slack = Decimal(len(numbers)) / 2 * Decimal(1).scaleb(-numbers[0].decimals)
        if abs(total - 1) > slack:
            what = f"shown weights {[n.text for n in numbers]} sum to {total}"
            yield Fault("softmax", what, box_of(*numbers))
