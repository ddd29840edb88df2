"""Computations that come again in every layer, written out for one row of one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from render.documents.handout.book import Book, bracket, exactly, number, of, product, root, whole
from render.documents.handout.content import OVER, PLUS, TIMES, Group, Number, Typst, joined
from scenes.rounding import MINUS, decimals_needed
from scenes.values import Run, Scalar, Values, compute, constant


def dot(
    book: Book, label: Typst, xs: Sequence[Number], ws: Sequence[Number], result: Number
) -> None:
    """x · w term by term: the products, their values, the sum."""
    factors = joined([(x, TIMES, w) for x, w in zip(xs, ws, strict=True)])
    values = joined([(product(x, w),) for x, w in zip(xs, ws, strict=True)])
    book.equation(label, factors, values, (result,))


@dataclass(frozen=True)
class Place:
    """A sub-layer of a pass: ``kind`` is self_attn, cross_attn or ffn; ``number`` counts the
    sub-layers of its layer from 1, as Add & Norm does."""

    run: Run
    side: str
    layer: int
    kind: str
    number: int

    @property
    def name(self) -> str:
        return f"{self.side}.{self.layer}.{self.kind}"

    def __getitem__(self, part: str) -> Values:
        """``place["q"]``: a value of the sub-layer."""
        return self.run[f"{self.name}.{part}"]

    def weight(self, part: str) -> Values:
        return self.run.weight(f"{self.name}.{part}.weight")

    @property
    def input(self) -> Values:
        """What the sub-layer is given, and the residual carries past it."""
        if self.number > 1:
            return self.run[f"{self.side}.{self.layer}.norm{self.number - 1}.output"]
        if self.layer == 0:
            return self.run[f"{self.side}.input"]
        return self.run[last_norm(self.run, self.side, self.layer - 1)]

    @property
    def added(self) -> Values:
        return self.run[f"{self.side}.{self.layer}.add{self.number}"]

    def norm(self, part: str) -> Values:
        return self.run[f"{self.side}.{self.layer}.norm{self.number}.{part}"]

    @property
    def d_k(self) -> int:
        return int(self["q"].shape[2])

    @property
    def heads(self) -> int:
        return int(self["q"].shape[0])


def place(run: Run, side: str, layer: int, kind: str) -> Place:
    return Place(run, side, layer, kind, run.layers(side)[layer].index(kind) + 1)


def last_norm(run: Run, side: str, layer: int) -> str:
    """The name of a layer's output."""
    return f"{side}.{layer}.norm{len(run.layers(side)[layer])}.output"


# -- attention -------------------------------------------------------------------------------------


def weight_rows(at: Place, role: str, head: int) -> list[list[Number]]:
    """The rows of a role's matrix that belong to a head."""
    rows = range(head * at.d_k, (head + 1) * at.d_k)
    matrix = at.weight(f"{role}_proj")
    places = weight_decimals(matrix)
    return [[number(scalar, places) for scalar in matrix[i]] for i in rows]


def weight_decimals(matrix: Values) -> int:
    return int(decimals_needed([scalar.exact for scalar in matrix.scalars()], 3))


def project(
    book: Book,
    at: Place,
    role: str,
    row: int,
    token: str,
    *,
    x: Values | None = None,
    head: int = 0,
    only: Sequence[int] | None = None,
) -> None:
    """Query, key or value of a token: each dimension a row of the matrix times the vector."""
    inputs = exactly((at.input if x is None else x)[row])
    rows = weight_rows(at, role, head)
    for d in range(at.d_k) if only is None else only:
        dot(book, of(role, token, d), inputs, rows[d], number(at[role][head, row, d]))


def weights_of(book: Book, at: Place, role: str, head: int) -> None:
    """The matrix of a role, as far as it belongs to a head."""
    rows = weight_rows(at, role, head)
    named = book.words("weights_of_head", role=role.upper(), head=whole(head + 1))
    book.matrix(named, rows, [f"{role}{d}" for d in range(at.d_k)])


def vectors(
    book: Book, at: Place, roles: str, rows: Sequence[str], heads: Sequence[int] = ()
) -> None:
    """Queries, keys or values of all tokens, a matrix for each role and head; all heads unless
    some are named."""
    for role in roles:
        columns = [f"{role}{d}" for d in range(at.d_k)]
        for head in heads or range(at.heads):
            named = book.words("all_of_head", role=role.upper(), head=whole(head + 1))
            book.matrix(named, at[role][head], rows, columns)


def maps(
    book: Book,
    at: Place,
    rows: Sequence[str],
    columns: Sequence[str],
    heads: Sequence[int] = (),
    *,
    closed: Callable[[int, int], bool] | None = None,
    decimals: int = 3,
) -> None:
    """Attention weights, a map for each head; all heads unless some are named. An exact zero, as
    where a mask closes a cell, reads 0."""
    for head in heads or range(at.heads):
        cells = [[plain(w, decimals) for w in line] for line in at["weights"][head]]
        named = book.words("map", head=whole(head + 1))
        book.matrix(named, cells, rows, columns, look="heat", closed=closed)


def dots(book: Book, at: Place, row: int, rows: Sequence[str], keys: Sequence[str]) -> None:
    """The dot products of a query with every key, head 1."""
    q = [number(value) for value in at["q"][0, row]]
    for j, key in enumerate(keys):
        k = [number(value) for value in at["k"][0, j]]
        label = Typst.of("{} dot {}", of("q", rows[row]), of("k", key))
        factors = joined([(a, TIMES, b) for a, b in zip(q, k, strict=True)])
        book.equation(label, factors, (number(at["dot"][0, row, j]),))


def scaled(book: Book, at: Place, row: int, rows: Sequence[str], keys: Sequence[str]) -> None:
    """Each dot product divided by the root of d_k, head 1."""
    d_k = whole(at.run.size(f"{at.name}.q", 2))
    for j, key in enumerate(keys):
        dotted, score = at["dot"][0, row, j], at["scores"][0, row, j]
        sides = (number(dotted), OVER, root(d_k)), (number(score),)
        book.equation(of("s", rows[row], key), *sides)


def softmax(book: Book, at: Place, row: int, keys: Sequence[str], token: str) -> None:
    """A row of head 1 from scores to weights: exponentials, their sum, the shares."""
    part = "masked_scores" if at.kind == "self_attn" and at.side == "decoder" else "scores"
    scores, exp, weights = (at[name][0, row] for name in (part, "exp", "weights"))
    softmax_of(book, list(scores), list(exp), list(weights), keys, token)


def softmax_of(
    book: Book,
    scores: Sequence[Scalar],
    exp: Sequence[Scalar],
    weights: Sequence[Scalar],
    keys: Sequence[str],
    token: str,
) -> None:
    largest = number(compute("max", *scores))
    shares = [plain(value) for value in exp]
    total = number(compute("add", *exp))
    for key, score, share in zip(keys, scores, shares, strict=True):
        inside = Group((number(score), MINUS, largest), "exp")
        book.equation(of("e", token, key), (inside,), (share,))
    book.equation(Typst("sum e"), joined([(share,) for share in shares]), (total,))
    for key, share, weight in zip(keys, shares, weights, strict=True):
        book.equation(of("a", token, key), (share, OVER, total), (plain(weight),))


def plain(scalar: Scalar, decimals: int | None = None) -> Number:
    """An exact zero as 0: a masked weight is nothing, not nearly nothing."""
    return number(scalar, 0 if scalar.exact == 0 else decimals)


def mixed(
    book: Book,
    at: Place,
    row: int,
    token: str,
    only: Sequence[int] | None = None,
    heads: Sequence[int] = (),
) -> None:
    """The values mixed by the weights of a row; in all heads unless some are named."""
    for head in heads or range(at.heads):
        weights = [plain(value) for value in at["weights"][head, row]]
        for d in range(at.d_k) if only is None else only:
            values = [number(at["v"][head, j, d]) for j in range(len(weights))]
            result = number(at["heads"][head, row, d])
            factors = joined([(w, TIMES, v) for w, v in zip(weights, values, strict=True)])
            book.equation(of("o", token, d), factors, (result,))


def concatenated(book: Book, at: Place, row: int, token: str) -> None:
    """The outputs of the heads side by side."""
    columns = [f"h{head + 1}.{d}" for head in range(at.heads) for d in range(at.d_k)]
    book.matrix(book.words("joined_heads"), at["concat"][row], [token], columns)


def output(book: Book, at: Place, row: int, token: str) -> None:
    """The joined heads times WO."""
    matrix = at.weight("out_proj")
    linear(book, "y", matrix, [number(value) for value in at["concat"][row]], at["output"][row])


def linear(book: Book, name: str, matrix: Values, xs: Sequence[Number], result: Values) -> None:
    """A matrix times a vector, an equation for each row of the matrix."""
    places = weight_decimals(matrix)
    for d in range(matrix.shape[0]):
        row = [number(scalar, places) for scalar in matrix[d]]
        dot(book, of(name, d), xs, row, number(result[d]))


def mask_of(run: Run) -> list[list[Number]]:
    """The decoder's mask of a pass: 0 where a row may look, a huge negative number elsewhere."""
    mask = run["decoder.mask"]
    size = range(len(mask))
    return [[number(mask[i, j], None if future(i, j) else 0) for j in size] for i in size]


def future(i: int, j: int) -> bool:
    """Whether the mask forbids row i to look at j."""
    return j > i


# -- Add & Norm, FFN -------------------------------------------------------------------------------


def residual(book: Book, at: Place, row: int) -> None:
    """The sub-layer's output added to what it was given."""
    for d in range(at.added.shape[1]):
        before, change = number(at.input[row, d]), number(at["output"][row, d])
        book.equation(of("r", d), (before, PLUS, change), (number(at.added[row, d]),))


def statistics(book: Book, at: Place, row: int) -> None:
    """Mean and variance of the sum."""
    terms = [number(value) for value in at.added[row]]
    size = whole(at.run.size(f"{at.side}.{at.layer}.norm{at.number}.output", 1))
    mean, variance = number(at.norm("mean")[row]), number(at.norm("variance")[row])
    book.equation(Typst("mu"), (bracket(*joined([(t,) for t in terms])), OVER, size), (mean,))
    squares = joined([(Group((term, MINUS, mean), "square"),) for term in terms])
    book.equation(Typst("sigma^2"), (bracket(*squares), OVER, size), (variance,))


def normalised(book: Book, at: Place, row: int) -> None:
    """Each dimension less the mean, over the root of variance and ε."""
    eps = at.run.layer_norm_eps
    small = Number(constant(eps), decimals_needed([eps], 15))
    mean, variance = number(at.norm("mean")[row]), number(at.norm("variance")[row])
    for d in range(at.added.shape[1]):
        top = bracket(number(at.added[row, d]), MINUS, mean)
        sides = (top, OVER, root(variance, PLUS, small)), (number(at.norm("output")[row, d]),)
        book.equation(of("x", d), *sides)


def add_and_norm(book: Book, at: Place, row: int) -> None:
    residual(book, at, row)
    statistics(book, at, row)
    normalised(book, at, row)


def expanded(book: Book, at: Place, row: int) -> None:
    """The first matrix of the FFN times the vector."""
    xs = [number(value) for value in at.input[row]]
    linear(book, "h", at.weight("linear1"), xs, at["hidden"][row])


def activated(book: Book, at: Place, row: int, decimals: int = 4) -> Number:
    """The vector before and after ReLU, as a matrix of two rows; returns how many are not
    positive, counted as the zeros that come out."""
    hidden, after = at["hidden"][row], at["activated"][row]
    lines = [
        [number(value, decimals) for value in hidden],
        [number(value, decimals if value.exact else 0) for value in after],
    ]
    columns = [f"h{d}" for d in range(len(hidden))]
    rows = [book.plain(name) for name in ("before_relu", "after_relu")]
    book.matrix(book.words("relu_rows"), lines, rows, columns)
    return whole(compute("count_zeros", *after))


def contracted(book: Book, at: Place, row: int) -> None:
    """The second matrix of the FFN times what ReLU has left."""
    xs = [plain(value) for value in at["activated"][row]]
    linear(book, "y", at.weight("linear2"), xs, at["output"][row])
