"""Relations that a picture declares, worked out again in plain Python: does the result follow from
what is shown as its inputs? Nothing here is the engine's arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from render.review.fault import Fault
from render.review.numbers import Recomputer, axis_names, describe
from scenes.onscreen import Item, box_of, text_of
from scenes.parts.attention import FULL_WIDTH, WeightArrow
from scenes.parts.equation import Equation, Term
from scenes.relations import Relation
from scenes.rounding import MINUS
from scenes.values import Scalar

Vectors = Sequence[Sequence[float]]

#: Two ways to the same number differ by no more than this share of its terms' size.
_EXACT = 1e-9
#: An arrow ends no farther than this from the height of its word, in frame units.
_BESIDE = 0.1
_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "": lambda x: x,
    "sin": math.sin,
    "cos": math.cos,
    "exp": math.exp,
    "ln": math.log,
    "−ln": lambda x: -math.log(x),
}


def _dot(inputs: Vectors) -> list[float]:
    left, right, added = inputs
    return [math.fsum([*(a * b for a, b in zip(left, right, strict=True)), *added])]


def _sum(inputs: Vectors) -> list[float]:
    return [math.fsum(terms) for terms in zip(*inputs, strict=True)]


def _exp(inputs: Vectors) -> list[float]:
    (scores,) = inputs
    return [math.exp(score - max(scores)) for score in scores]


def _softmax(inputs: Vectors) -> list[float]:
    powers = _exp(inputs)
    return [power / math.fsum(powers) for power in powers]


def _minus_ln(inputs: Vectors) -> list[float]:
    return [-math.log(p) if p > 0 else math.inf for p in inputs[0]]


KINDS: dict[str, Callable[[Vectors], list[float]]] = {
    "dot": _dot,
    "sum": _sum,
    "exp": _exp,
    "softmax": _softmax,
    "-ln": _minus_ln,
    "largest": lambda inputs: [max(inputs[0])],
    "sin": lambda inputs: [math.sin(angle) for angle in inputs[0]],
    "cos": lambda inputs: [math.cos(angle) for angle in inputs[0]],
}


def check_relations(items: Sequence[Item], recompute: Recomputer) -> Iterator[Fault]:
    """What the parts on screen declare, and what their equations say."""
    parts = {id(part): part for item in items for part in (*item.path, item.mobject)}
    for part in parts.values():
        if isinstance(part, WeightArrow):
            for what in astray(part, recompute):
                yield Fault("arrow", what, box_of(part))
        if isinstance(part, Equation) and (what := unequal(*part.written)):
            yield Fault("relation", what, box_of(part))
        for relation in getattr(part, "relations", ()):
            if what := broken(relation, recompute):
                yield Fault("relation", what, box_of(part))


def astray(arrow: WeightArrow, recompute: Recomputer) -> Iterator[str]:
    """What is wrong with an arrow: the words at its ends are those of its weight, it begins and
    ends at them, and it is as wide as the weight."""
    run, name, index = arrow.weight.source
    for end, tokens, place in zip(
        (arrow.asking, arrow.asked), axis_names(name, recompute, run), index[-2:], strict=True
    ):
        told = [text for part in end.get_family() if (text := text_of(part))]
        if tokens is None or not any(tokens[place] in text for text in told):
            yield f"an arrow of weight {_named(arrow.weight)} stands at {' '.join(told)!r}"
    line = arrow.arrow
    apart = [
        abs(float(line.get_start()[1] - arrow.asking.get_y())),
        abs(float(line.get_end()[1] - arrow.asked.get_y())),
    ]
    if max(apart) > _BESIDE:
        yield f"an arrow of weight {_named(arrow.weight)} does not lead from word to word"
    width, wanted = float(line.get_stroke_width()), FULL_WIDTH * min(1.0, arrow.weight.exact)
    if abs(width - wanted) > 0.01 * FULL_WIDTH:
        yield f"an arrow is {width:.1f} wide, {wanted:.1f} for {_named(arrow.weight)}"


def unequal(left: Sequence[Term | str], result: Term) -> str:
    """What is wrong with an equation whose terms, to the last bit, do not come to its result."""
    total, product, sign, divides, size = [], 1.0, 1, False, abs(result.scalar.exact)
    try:
        for item in left:
            if isinstance(item, Term):
                value = item.scalar.exact
                value = _FUNCTIONS[item.function](math.sqrt(value) if item.root else value)
                product = product / value if divides else product * value
            elif item in ("+", MINUS):
                total.append(sign * product)
                product, sign, divides = 1.0, 1 if item == "+" else -1, False
            else:
                divides = item == "÷"
    except (ZeroDivisionError, ValueError, OverflowError):
        return ""  # shown as what it is: no number
    total.append(sign * product)
    if _alike(math.fsum(total), result.scalar.exact, max(size, *map(abs, total))):
        return ""
    return f"the terms come to {math.fsum(total):.6g}, not to {_named(result.scalar)}"


def broken(relation: Relation, recompute: Recomputer) -> str:
    """What is wrong with a relation; nothing where it holds."""
    every = [scalar for part in (*relation.inputs, relation.result) for scalar in part]
    runs = {scalar.source[0] for scalar in every if scalar.is_traced}
    if relation.same_run and len(runs) > 1:
        return f"a {relation.kind} of numbers of different passes: {', '.join(sorted(runs))}"
    inputs = [[scalar.exact for scalar in part] for part in relation.inputs]
    if relation.kind in KINDS:
        wanted = KINDS[relation.kind](inputs)
    else:
        summed = inputs[0] if relation.kind == "norm" else _sum(inputs)
        wanted = _normalised(summed, relation.result, recompute)
    size = max((abs(number) for part in inputs for number in part if number > -1e8), default=1.0)
    for scalar, number in zip(relation.result, wanted, strict=True):
        if not _alike(number, scalar.exact, size):
            return f"the {relation.kind} is {number:.6g}, shown is {_named(scalar)}"
    return ""


def _named(scalar: Scalar) -> str:
    return f"{scalar.exact:.6g} ({describe(scalar.recipe())})"


def _alike(one: float, other: float, size: float) -> bool:
    return one == other or abs(one - other) <= _EXACT * max(1.0, size * size)


def _normalised(
    row: Sequence[float], result: Sequence[Scalar], recompute: Recomputer
) -> list[float]:
    """LayerNorm of a row with the settings of the model and what its norm has learned."""
    run, name, _ = result[0].source
    norm, _, part = name.rpartition(".")
    config = recompute.trace(run).weights.config.norm
    mean = math.fsum(row) / len(row)
    count = len(row) - (config.variance == "unbiased")
    variance = math.fsum((x - mean) ** 2 for x in row) / count
    inside = config.eps_in == "root"
    scale = math.sqrt(variance + config.eps) if inside else math.sqrt(variance) + config.eps
    normed = [(x - mean) / scale for x in row]
    if part != "output":
        return normed
    learned = recompute.trace(run).weights.matrices
    gains = learned.get(f"{norm}.weight", [1.0] * len(row))
    shifts = learned.get(f"{norm}.bias", [0.0] * len(row))
    return [x * gain + shift for x, gain, shift in zip(normed, gains, shifts, strict=True)]
