"""What may be said of a model: the cases of attention and of the layers. Imports no Manim.

Every decision is made from the digits on screen, so that whoever compares them agrees: a tie of
what is shown is told as a tie. Each function gives a :class:`Case`: the name of a text in
``[wording.FAMILY]`` of ``assets/text`` (the family bears the function's name unless it says
otherwise) and the facts that fill it. A beat whose text has ``{largest.*}`` in it is played so::

    case = wording.largest(row, query, keys)
    with self.beat("takeaway", case.facts, variant=case.name):

Cases of a text with two families are added, in the text's order: ``(one + two).name``.
What is said of words and losses is in :mod:`scenes.verdicts`.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from .rounding import as_decimal, shown
from .structure import words_of
from .texts import Say
from .values import Run, Scalar, Values, Word, compute, constant, rounded

#: Decimals of attention weights and entropies, and of all other values.
SHARES, VALUES = 3, 4
#: Activations by what is said of them.
ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "gelu_tanh": "gelu", "silu": "silu"}
#: Positions of words that occur more than once.
_LOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")

Fact = str | Say
Index = tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """A case of a family of texts, with what fills its sentence."""

    name: str
    facts: Mapping[str, Fact] = field(default_factory=dict)

    def __add__(self, other: Case) -> Case:
        return Case(f"{self.name}_{other.name}", {**self.facts, **other.facts})

    def named(self, prefix: str) -> Case:
        """For a text that says ``{family.*:prefix}``."""
        return Case(self.name, {f"{prefix}_{key}": fact for key, fact in self.facts.items()})


@dataclass(frozen=True)
class Top:
    """The largest of some values by their digits: ``kind`` is "one", "shared", "alike" (all of
    several) or "only" (there is no other); ``at`` are the places that show it."""

    kind: str
    at: tuple[Index, ...]
    shown: str
    count: int
    value: Scalar


def whole(number: int) -> Say:
    return Say(constant(number), 0)


def cells(values: Values | Sequence[Scalar]) -> dict[Index, Scalar]:
    """The elements of an array or of a row, by place."""
    if isinstance(values, Values):
        return dict(zip(np.ndindex(values.shape), values.scalars(), strict=True))
    return {(i,): value for i, value in enumerate(values)}


def top(values: Values | Sequence[Scalar] | Mapping[Index, Scalar], decimals: int = SHARES) -> Top:
    """The largest of an array, a row, or cells by place. Raises ValueError where there is none."""
    of = values if isinstance(values, Mapping) else cells(values)
    digits = {at: shown(value.exact, decimals) for at, value in of.items()}
    most = max(digits.values(), key=as_decimal)
    at = tuple(index for index, text in digits.items() if text == most)
    kind = "one" if len(at) == 1 else "shared"
    if len(at) == len(digits):
        kind = "only" if len(at) == 1 else "alike"
    return Top(kind, at, most, len(digits), of[at[0]])


def named(tokens: Sequence[str]) -> tuple[Word, ...]:
    """The tokens of a sentence as they are spoken of: one that is there twice has its position."""
    places = (str(i).translate(_LOW) for i in range(1, len(tokens) + 1))
    return tuple(
        Word(f"{token}{place}" if tokens.count(token) > 1 else token)
        for token, place in zip(tokens, places, strict=True)
    )


def largest(row: Values | Sequence[Scalar], query: str, keys: Sequence[str]) -> Case:
    """Which keys a query attends to most; ``row`` holds what it may see, in the order of ``keys``
    (which may be longer)."""
    found = top(row)
    facts: dict[str, Fact] = {"query": query, "weight": Say(found.value, SHARES)}
    here = [keys[at[0]] for at in found.at]
    if found.kind == "only":
        return Case("only", {"weight": Say(found.value, 0)})
    if found.kind == "alike":
        return Case("alike", facts | {"count": whole(found.count)})
    if found.kind == "one":
        rest = [value for at, value in cells(row).items() if at != found.at[0]]
        least = shown(0.0, SHARES)
        if found.shown == shown(1.0, SHARES) and all(
            shown(value.exact, SHARES) == least for value in rest
        ):
            return Case("all", {"key": here[0], "rest": Say(rest[0], SHARES)})
        return Case("one", facts | {"key": here[0]})
    if len(here) > 3:
        return Case("shared", _shared(found))
    name = "pair" if len(here) == 2 else "three"
    return Case(name, facts | {f"key_{n}": key for n, key in enumerate(here, start=1)})


def _shared(found: Top) -> dict[str, Fact]:
    counts: dict[str, Fact] = {"n": whole(len(found.at)), "count": whole(found.count)}
    return counts | {"weight": Say(found.value, SHARES)}


def cross(weights: Values, queries: Sequence[str], keys: Sequence[str]) -> Case:
    """What a whole map of attention over a source says, ``weights`` of shape (m, n)."""
    found, count = top(weights), weights.shape[1]
    if count == 1:
        return Case("only", {"weight": Say(found.value, 0)})
    if found.kind == "alike":
        return Case("alike", {"weight": Say(found.value, SHARES)})
    values = weights.scalars()
    if all(abs(value.exact - 1 / count) <= 0.2 / count for value in values):
        ends = {"least": compute("min", *values), "most": compute("max", *values)}
        return Case("even", {key: Say(value, SHARES) for key, value in ends.items()})
    weight = Say(found.value, SHARES)
    pairs = [(queries[i], keys[j]) for i, j in found.at]
    if len(pairs) == 1:
        return Case("one", {"query": pairs[0][0], "key": pairs[0][1], "weight": weight})
    if len(pairs) == 2:
        (query_1, key_1), (query_2, key_2) = pairs
        facts = {"query_1": query_1, "key_1": key_1, "query_2": query_2, "key_2": key_2}
        return Case("pair", facts | {"weight": weight})
    return Case("shared", _shared(found))


def compared(maps: Values) -> tuple[int, int]:
    """The two heads that are spoken of, of ``maps`` of shape (h, m, n), counted from 0: those
    whose strongest cells differ most, where there are more than two."""
    heads = [cells(maps[head]) for head in range(maps.shape[0])]
    tops = [top(head) for head in heads]

    def apart(pair: tuple[int, int]) -> tuple[bool, float]:
        a, b = pair
        at = tops[a].at[0], tops[b].at[0]
        gap = sum(abs(heads[a][cell].exact - heads[b][cell].exact) for cell in at)
        return tops[a].at != tops[b].at, gap

    return max(itertools.combinations(range(len(heads)), 2), key=apart)


def heads(maps: Values, queries: Sequence[str], keys: Sequence[str]) -> Case:
    """What two heads of a layer have in common and what not; ``maps`` of shape (h, m, n)."""
    count = maps.shape[0]
    if count == 1:
        return Case("single")
    a, b = compared(maps)
    number = Case("more", {"heads": whole(count)}) if count > 2 else Case("two")
    return Case("pair") + number + _two_heads(maps[a], maps[b], (a + 1, b + 1), queries, keys)


def _two_heads(
    one: Values, two: Values, numbers: tuple[int, int], queries: Sequence[str], keys: Sequence[str]
) -> Case:
    tops, number = [top(one), top(two)], list(map(whole, numbers))
    digits = [[shown(v.exact, SHARES) for v in each.scalars()] for each in (one, two)]
    ab: dict[str, Fact] = {"a": number[0], "b": number[1]}
    if digits[0] == digits[1]:
        return Case("same", ab)
    order = {"one": 0, "shared": 1, "alike": 2}
    if order[tops[0].kind] > order[tops[1].kind]:
        tops.reverse()
        ab = {"a": number[1], "b": number[0]}
    first, second = (Say(found.value, SHARES) for found in tops)
    pairs = [(queries[found.at[0][0]], keys[found.at[0][1]]) for found in tops]
    place: dict[str, Fact] = {"query": pairs[0][0], "key": pairs[0][1]}
    match tops[0].kind, tops[1].kind:
        case "one", "alike":
            return Case("even", ab | place | {"weight": first, "even": second})
        case "one", "shared":
            count = whole(len(tops[1].at))
            return Case("shared", ab | place | {"weight": first, "n": count, "most": second})
        case "shared", "shared":
            counts = {f"n_{n}": whole(len(found.at)) for n, found in enumerate(tops, start=1)}
            return Case("ties", ab | counts | {"weight_1": first, "weight_2": second})
        case "shared", _:
            facts = {"n": whole(len(tops[0].at)), "weight": first, "even": second}
            return Case("ties_even", ab | facts)
    if tops[0].at != tops[1].at:
        places = {"query_1": pairs[0][0], "key_1": pairs[0][1]}
        places |= {"query_2": pairs[1][0], "key_2": pairs[1][1]}
        return Case("other", ab | places | {"weight_1": first, "weight_2": second})
    if tops[0].shown != tops[1].shown:
        return Case("cell", place | {"weight_1": first, "weight_2": second})
    return Case("equal", place | {"weight": first})


def all_heads(count: int) -> Case:
    """How all heads of a layer are called."""
    return Case({1: "one", 2: "two"}.get(count, "more"), {"heads": whole(count)})


def entropy(query: str, first: Scalar, second: Scalar) -> Case:
    """How the entropy of a query's weights changes from one layer to another."""
    facts: dict[str, Fact] = {"query": query, "first": Say(first, SHARES)}
    before, after = (as_decimal(shown(each.exact, SHARES)) for each in (first, second))
    if before == after:
        return Case("same", facts)
    return Case("rises" if after > before else "falls", facts | {"second": Say(second, SHARES)})


def entropy_rows(pairs: Sequence[tuple[Scalar, Scalar]], heads: int) -> Case:
    """Of how many rows, of all heads, the entropy rises; ``pairs`` of entropies, first and
    second."""
    first, second = ([rounded(pair[side], SHARES) for pair in pairs] for side in (0, 1))
    more = compute("count_greater", *second, *first)
    fewer = compute("count_greater", *first, *second)
    total = compute("count", *first)
    same = total - more - fewer
    facts = {"total": Say(total, 0), "more": Say(more, 0), "same": Say(same, 0)}
    if more.exact == total.exact:
        return Case("all", facts)
    stays = Case({0: "none", 1: "one"}.get(int(same.exact), "some"))
    rises = {0: "none", 1: "one"}.get(int(more.exact), "some")
    name = f"single_{rises}" if heads == 1 and rises != "none" else rises
    return Case(name, facts) + stays


def ahead(scores: Values, i: int, keys: Sequence[str]) -> Case:
    """Whether row ``i`` of scores, shape (m, m), is highest on a token still to come."""
    found = top(scores[i], VALUES)
    later = [at[0] for at in found.at if at[0] > i]
    if not later:
        return Case("none")
    tied = any(at[0] <= i for at in found.at)
    facts: dict[str, Fact] = {"query": keys[i], "key": keys[later[0]]}
    return Case("shared" if tied else "ahead", facts | {"score": Say(found.value, VALUES)})


def layer_weights(run: Run, side: str, first: int, second: int) -> Case:
    """Whether two layers of a side are the same, number for number (norms apart)."""
    one, two = (run.layers(side)[layer] for layer in (first, second))
    names = [name for kind in one for name in _arrays(kind, run.model("groups"))]
    same = one == two and all(
        (
            run.weight(f"{side}.{first}.{name}").array
            == run.weight(f"{side}.{second}.{name}").array
        ).all()
        for name in names
    )
    return Case("same" if same else "differ")


def _arrays(kind: str, groups: Collection[str]) -> Iterator[str]:
    """The arrays of a sub-layer, norms apart."""
    parts = (
        {"ffn": ("linear1", "linear2")}
        if kind == "ffn"
        else {
            "attention in": ("q_proj", "k_proj", "v_proj"),
            "attention out": ("out_proj",),
        }
    )
    for group, names in parts.items():
        for name in names:
            yield f"{kind}.{name}.weight"
            if group in groups:
                yield f"{kind}.{name}.bias"


def ffn(d: Scalar, d_ff: Scalar) -> Case:
    """What the feed-forward network does to the width."""
    name = "same" if d.exact == d_ff.exact else "wider" if d_ff.exact > d.exact else "narrower"
    return Case(name, {"d": Say(d, 0), "d_ff": Say(d_ff, 0)})


def activation(kind: str, hidden: Values | Sequence[Scalar]) -> Case:
    """What an activation does to the numbers of a row. ``kind`` as in a weight file."""
    zero: dict[str, Fact] = {"zero": whole(0)}
    if kind != "relu":
        return Case(ACTIVATIONS[kind], zero)
    values = [rounded(value, VALUES) for value in cells(hidden).values()]
    negative = compute("count_below", constant(0), *values)
    count, dead = len(values), int(negative.exact)
    facts = zero | {"negative": Say(negative, 0), "count": Say(compute("count", *values), 0)}
    if dead == count:
        return Case("only" if count == 1 else "all", facts)
    return Case({0: "none", 1: "one"}.get(dead, "some"), facts)


def norm_place(run: Run) -> Case:
    """Whether normalisation follows the addition or comes before the sub-layer."""
    return Case(str(run.setting("norm.place")))


def divisor(run: Run, variance: Scalar) -> Case:
    """What normalisation divides by, as far as it can be seen: ε where it matters."""
    if variance.exact >= 100 * run.setting("norm.eps"):
        return Case("plain")
    return Case(str(run.setting("norm.eps_in")))


def learned_norm(groups: Collection[str]) -> Case:
    """The learned part of normalisation, by the model's groups of arrays."""
    gain, shift = (f"norm {part}" in groups for part in ("gain", "shift"))
    return Case("both" if gain and shift else "gain" if gain else "shift" if shift else "none")


def flat(groups: Collection[str], variance: Scalar) -> Case:
    """Numbers that are all alike, as their variance shows."""
    if as_decimal(shown(variance.exact, VALUES)):
        return Case("none")
    return Case("shift" if "norm shift" in groups else "zero", {"zero": whole(0)})


def fingerprints(nearest: Scalar) -> Case:
    """Whether the two nearest rows of the positional encoding can be told apart."""
    alike = not as_decimal(shown(nearest.exact, VALUES))
    return Case("alike") if alike else Case("apart", {"nearest": Say(nearest, VALUES)})


def position(run: Run) -> Case:
    """Where positions come from."""
    return Case(str(run.setting("position.kind")))


def query_rows(d_k: int) -> Case:
    """What remains of a query after its first number."""
    return Case({1: "one", 2: "two"}.get(d_k, "more"), {"rest": whole(d_k - 1)})


def cut(tokens: Sequence[str]) -> Case:
    """How a sentence was cut, seen from its tokens."""
    if all(len(token) == 1 and "\u4e00" <= token <= "\u9fff" for token in tokens):
        return Case("chinese")
    wide = [token >= "\u2e80" for token in tokens]
    if all(len(token) == 1 for token in tokens) and all(wide):
        return Case("characters")
    return Case("mixed" if any(wide) else "words")


#: How tokenizers mark pieces of words, where they begin and where they end.
_PIECES = ("##", "▁", "Ġ"), ("@@", "</w>")


def unit(run: Run) -> Case:
    """What a token of the source is: a character, a word, or something of both, by the words that
    its vocabulary has and those that it reads."""
    begins, finishes = _PIECES
    if any(w.startswith(begins) or w.endswith(finishes) for w in words_of(run, "source")):
        return Case("mixed")
    return cut(run.source)


def ends(run: Run) -> Case:
    """Which tokens of the model's own are put before and after the sentences that it reads."""
    read = [run.source, run.target]
    there: dict[str, Fact] = {
        name: token
        for name in ("bos", "eos")
        if (token := run.model(f"tokens.{name}")) is not None and any(token in s for s in read)
    }
    return Case("_".join(there) or "none", there)
