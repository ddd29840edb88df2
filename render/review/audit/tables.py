"""Matrices on screen: rows and columns in the trace's order, right labels, rows that sum to 1."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

from render.review.audit.fault import Fault, box_of
from render.review.audit.provenance import Recomputer
from scenes import theme
from scenes.onscreen import Item, TextItem
from scenes.parts import Grid, Number, Phrase
from scenes.rounding import as_decimal

_SOFTMAX = ("attn.weights", "probabilities")
_PAIRS = ("dot", "scores", "masked_scores", "exp", "weights")


def check_tables(items: Sequence[Item], recompute: Recomputer) -> list[Fault]:
    """Every matrix that is on screen."""
    faults = []
    grids: dict[int, tuple[Grid, list[Number]]] = {}
    for item in items:
        if not isinstance(item, TextItem) or not isinstance(item.mobject, Number):
            continue
        for ancestor in item.path:
            if isinstance(ancestor, Grid):
                grids.setdefault(id(ancestor), (ancestor, []))[1].append(item.mobject)
    for grid, numbers in grids.values():
        faults += check_grid(grid, numbers, recompute)
    faults += check_softmax_rows(items)
    return faults


def check_grid(grid: Grid, numbers: list[Number], recompute: Recomputer) -> list[Fault]:
    """One matrix: order of its numbers, and its labels."""
    traced = [n for n in numbers if n.scalar.is_traced]
    if not traced:
        return []
    faults = []
    rows = visual_rows(traced)
    for row in rows:
        fixed = {(n.scalar.source[1], n.scalar.source[2][:-1]) for n in row}
        last = [n.scalar.source[2][-1] for n in row]
        if len(fixed) > 1 or any(b <= a for a, b in pairwise(last)):
            return [_fault(grid, "transposed or mixed up: a row on screen is no row of the trace")]
    heads = [row[0].scalar.source[2][:-1] for row in rows]
    if any(b <= a for a, b in pairwise(heads)):
        faults.append(_fault(grid, f"a row is shown twice or out of order: rows {heads}"))
    return faults + check_labels(grid, rows, recompute)


def _fault(grid: Grid, what: str) -> Fault:
    return Fault("table", f"{grid.values.name}: {what}", box_of(grid))


def visual_rows(numbers: Sequence[Number]) -> list[list[Number]]:
    """Numbers in rows from top to bottom, each from left to right, as they stand on screen."""
    level = sorted(numbers, key=lambda n: -n.midline)
    rows: list[list[Number]] = []
    for number in level:
        if rows and abs(rows[-1][0].midline - number.midline) < 0.1:
            rows[-1].append(number)
        else:
            rows.append([number])
    return [sorted(row, key=lambda n: float(n.get_x())) for row in rows]


def check_labels(grid: Grid, rows: list[list[Number]], recompute: Recomputer) -> list[Fault]:
    """Row and column labels against the tokens that the trace's axes stand for."""
    faults = []
    row_names, column_names = axis_names(grid.values.name, recompute, grid.values.run)
    for row in rows:
        label = _nearest(grid.row_labels, row[0].midline, axis=1)
        index = row[0].scalar.source[2]
        if row_names and label is not None and len(index) >= 2:
            faults += _compare(grid, label, row_names[index[-2]], "row")
    for number in rows[0]:
        label = _nearest(grid.column_labels, float(number.get_x()), axis=0)
        if column_names and label is not None:
            faults += _compare(grid, label, column_names[number.scalar.source[2][-1]], "column")
    return faults + _check_label_colours(grid)


def _nearest(labels: Any, where: float, axis: int) -> Phrase | None:
    places = [(abs(float(label.get_center()[axis]) - where), label) for label in labels]
    if not places:
        return None
    distance, label = min(places, key=lambda place: place[0])
    return label if distance < 0.4 else None


def _compare(grid: Grid, label: Phrase, token: str, which: str) -> list[Fault]:
    if token in label.text or not re.search(r"\w", label.text):
        return []
    return [_fault(grid, f"a {which} label says {label.text!r}, the trace {token!r}")]


def _check_label_colours(grid: Grid) -> list[Fault]:
    if not grid.values.name.endswith(_PAIRS):
        return []
    swapped = (grid.row_labels, theme.KEY), (grid.column_labels, theme.QUERY)
    for labels, wrong in swapped:
        if len(labels) and labels[0][0].get_fill_color() == wrong:
            return [_fault(grid, "axis labels are swapped: rows are queries, columns are keys")]
    return []


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


def check_softmax_rows(items: Sequence[Item]) -> list[Fault]:
    """Rows of weights or probabilities that stand whole on screen: the shown digits sum to 1
    within their rounding."""
    rows: dict[tuple[Any, ...], list[Number]] = {}
    for item in items:
        if not isinstance(item, TextItem) or not isinstance(item.mobject, Number):
            continue
        number = item.mobject
        if number.scalar.is_traced and number.scalar.source[1].endswith(_SOFTMAX):
            run, name, index = number.scalar.source
            holder = id(item.path[-1]) if item.path else 0
            rows.setdefault((holder, run, name, index[:-1]), []).append(number)
    return [fault for numbers in rows.values() for fault in _check_sum(numbers)]


def _check_sum(numbers: Sequence[Number]) -> list[Fault]:
    places = {n.scalar.source[2][-1] for n in numbers}
    if len(places) < len(numbers) or len(places) < 2:
        return []
    total = sum((as_decimal(n.text) for n in numbers), Decimal(0))
    exact = sum(n.scalar.exact for n in numbers)
    if abs(exact - 1) > 1e-9:  # only a part of the row is on screen
        return []
    slack = Decimal(len(numbers)) / 2 * Decimal(1).scaleb(-numbers[0].decimals)
    if abs(total - 1) > slack:
        what = f"shown weights {[n.text for n in numbers]} sum to {total}"
        return [Fault("softmax", what, box_of(*numbers))]
    return []
