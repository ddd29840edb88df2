"""A sub-layer worked out for one row of one pass: the computations that come again in every layer,
each a block of the step that is open."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from render.documents.handout.book import Book, exactly, number, numbers, of, paired, product, whole
from render.documents.handout.content import OVER, PLUS, Fact, Group, Number, Typst, joined
from scenes.rounding import MINUS, decimals_needed
from scenes.values import Run, Scalar, Values, compute, constant

_ATTENTION = {"heads": ("q", 0), "n": ("q", 1), "d_k": ("q", 2)}
#: the sizes that the texts of a step may use: values and their axes
_SIZES = {"ffn": {"d_ff": ("hidden", 1), "d": ("output", 1)}}


class Sublayer:
    """``kind`` is self_attn, cross_attn or ffn; ``row`` is the one that is worked out. ``rows``
    are the words that ask, ``keys`` those that are looked at; ``number`` counts the sub-layers of
    a layer from 1, as Add & Norm does."""

    def __init__(
        self, book: Book, side: str, layer: int, kind: str, row: int = 0, run: Run | None = None
    ) -> None:
        self.book, self.run, self.kind, self.row = book, run or book.training, kind, row
        self.kinds = self.run.layers(side)[layer]
        self.number = self.kinds.index(kind) + 1
        self.side, self.place, self.layer = side, f"{side}.{layer}", layer
        self.name = f"{self.place}.{kind}"
        self.rows = tuple(self.run.source if side == "encoder" else self.run.target)
        self.keys = book.source if kind == "cross_attn" else self.rows
        self.token = self.rows[row]
        self.masked = side == "decoder" and kind == "self_attn"

    def __getitem__(self, part: str) -> Values:
        """``at["q"]``: a value of the sub-layer."""
        return self.run[f"{self.name}.{part}"]

    def weight(self, part: str) -> Values:
        return self.run.weight(f"{self.name}.{part}.weight")

    def size(self, part: str, axis: int) -> Scalar:
        return self.run.size(f"{self.name}.{part}", axis)

    def norm(self, part: str) -> Values:
        return self.run[f"{self.place}.norm{self.number}.{part}"]

    @property
    def input(self) -> Values:
        """What the sub-layer is given, and the residual carries past it."""
        if self.number > 1:
            return self.run[f"{self.place}.norm{self.number - 1}.output"]
        if self.layer == 0:
            return self.run[f"{self.side}.input"]
        return self.run[last_norm(self.run, self.side, self.layer - 1)]

    @property
    def added(self) -> Values:
        return self.run[f"{self.place}.add{self.number}"]

    @property
    def d_k(self) -> int:
        return int(self["q"].shape[2])

    @property
    def heads(self) -> range:
        return range(self["q"].shape[0])

    def step(
        self, number: int, said: str, *works: Callable[[], object], **facts: Fact | Scalar
    ) -> None:
        """Begin a step with a sentence, which may use the token and the sizes; then do the
        ``works``."""
        sizes = _SIZES.get(self.kind, _ATTENTION)
        known = {name: self.size(*place) for name, place in sizes.items()}
        self.book.step(number, said, **{"token": self.token, **known, **facts})
        for work in works:
            work()

    def _weights(self, role: str, head: int) -> list[list[Number]]:
        """The rows of a role's matrix that belong to a head."""
        matrix = self.weight(f"{role}_proj")
        places = decimals_of(matrix)
        return [numbers(matrix[head * self.d_k + d], places) for d in range(self.d_k)]

    def matrices(self, head: int = 0) -> None:
        """The matrices of all roles, as far as they belong to a head."""
        for role in "qkv":
            cells, rows = self._weights(role, head), [f"{role}{d}" for d in range(self.d_k)]
            self.book.matrix("weights_of_head", cells, rows, role=role.upper(), head=_nth(head))

    def project(self, roles: str = "qkv", head: int = 0, only: Sequence[int] | None = None) -> None:
        """Query, key or value of the token: each dimension a row of the matrix times the vector;
        all dimensions unless some are named. Keys and values of cross-attention: of the first
        word of the memory."""
        for role in roles:
            row, x = self.row, self.input
            token: str = self.token
            if role != "q" and self.kind == "cross_attn":
                row, token, x = 0, self.keys[0], self.run["memory"]
            inputs, rows = exactly(x[row]), self._weights(role, head)
            for d in range(self.d_k) if only is None else only:
                result = number(self[role][head, row, d])
                dot(self.book, of(role, token, d), inputs, rows[d], result)

    def vectors(self, roles: str = "qkv", heads: Sequence[int] = ()) -> None:
        """Queries, keys or values of all tokens, a matrix for each role and head; all heads unless
        some are named."""
        for role in roles:
            rows = self.rows if role == "q" else self.keys
            columns = [f"{role}{d}" for d in range(self.d_k)]
            for head in heads or self.heads:
                cells, named = self[role][head], role.upper()
                self.book.matrix("all_of_head", cells, rows, columns, role=named, head=_nth(head))

    def maps(self, heads: Sequence[int] = (), decimals: int = 3) -> None:
        """Attention weights, a map for each head; all heads unless some are named. An exact zero,
        as where a mask closes a cell, reads 0."""
        for head in heads or self.heads:
            cells = [[plain(w, decimals) for w in line] for line in self["weights"][head]]
            self._map("map", cells, "heat", head)

    def _map(
        self, caption: str, cells: Values | list[list[Number]], look: str = "signed", head: int = 0
    ) -> None:
        """Something of every row and key, closed where the mask is."""
        rows, keys, closed = self.rows, self.keys, future if self.masked else None
        self.book.matrix(caption, cells, rows, keys, look=look, closed=closed, head=_nth(head))

    def mask(self, caption: str) -> None:
        """0 where a row may look, a huge negative number elsewhere."""
        self._map(caption, mask_of(self.run), "plain")

    def masked_scores(self, caption: str = "matrix") -> None:
        """Those of head 1."""
        self._map(caption, self["masked_scores"][0])

    def dots(self) -> None:
        """The dot products of the query with every key, head 1."""
        for j, key in enumerate(self.keys):
            label = Typst.of("{} dot {}", of("q", self.token), of("k", key))
            factors = paired(numbers(self["q"][0, self.row]), numbers(self["k"][0, j]))
            self.book.equation(label, factors, self["dot"][0, self.row, j])

    def scaled(self) -> None:
        """Each dot product divided by the root of d_k, head 1."""
        root = Group((number(self.size("q", 2)),), "sqrt")
        for j, key in enumerate(self.keys):
            left = number(self["dot"][0, self.row, j]), OVER, root
            self.book.equation(of("s", self.token, key), left, self["scores"][0, self.row, j])

    def softmax(self) -> None:
        """The row of head 1 from scores to weights: exponentials, their sum, the shares."""
        names = "masked_scores" if self.masked else "scores", "exp", "weights"
        scores, exp, weights = (list(self[name][0, self.row]) for name in names)
        softmax(self.book, scores, exp, weights, self.keys, self.token)

    def mixed(self, heads: Sequence[int] = (), only: Sequence[int] | None = None) -> None:
        """The values mixed by the weights of the row; all dimensions and heads unless some are
        named."""
        for head in heads or self.heads:
            weights = [plain(value) for value in self["weights"][head, self.row]]
            for d in range(self.d_k) if only is None else only:
                values = [number(self["v"][head, j, d]) for j in range(len(weights))]
                result = self["heads"][head, self.row, d]
                self.book.equation(of("o", self.token, d), paired(weights, values), result)

    def concatenated(self) -> None:
        """The outputs of the heads side by side."""
        columns = [f"h{head + 1}.{d}" for head in self.heads for d in range(self.d_k)]
        self.book.matrix("joined_heads", self["concat"][self.row], [self.token], columns)

    def output(self) -> None:
        """The joined heads times WO."""
        xs, result = numbers(self["concat"][self.row]), self["output"][self.row]
        linear(self.book, "y", self.weight("out_proj"), xs, result)

    def residual(self) -> None:
        """The sub-layer's output added to what it was given."""
        for d, result in enumerate(self.added[self.row]):
            before, change = number(self.input[self.row, d]), number(self["output"][self.row, d])
            self.book.equation(of("r", d), (before, PLUS, change), result)

    def statistics(self) -> None:
        """Mean and variance of the sum."""
        terms = numbers(self.added[self.row])
        size = number(self.run.size(f"{self.place}.norm{self.number}.output", 1))
        mean, variance = (number(self.norm(name)[self.row]) for name in ("mean", "variance"))
        self.book.equation(Typst("mu"), (Group(joined(terms)), OVER, size), mean)
        squares = joined(Group((term, MINUS, mean), "square") for term in terms)
        self.book.equation(Typst("sigma^2"), (Group(squares), OVER, size), variance)

    def normalised(self) -> None:
        """Each dimension less the mean, over the root of variance and ε."""
        eps = self.run.layer_norm_eps
        small = Number(constant(eps), decimals_needed([eps], 15))
        mean, variance = (number(self.norm(name)[self.row]) for name in ("mean", "variance"))
        root = Group((variance, PLUS, small), "sqrt")
        for d, added in enumerate(self.added[self.row]):
            left = Group((number(added), MINUS, mean)), OVER, root
            self.book.equation(of("x", d), left, self.norm("output")[self.row, d])

    def add_and_norm(self) -> None:
        self.residual()
        self.statistics()
        self.normalised()

    def expanded(self) -> None:
        """The first matrix of the FFN times the vector."""
        xs, result = numbers(self.input[self.row]), self["hidden"][self.row]
        linear(self.book, "h", self.weight("linear1"), xs, result)

    def activated(self, decimals: int = 4) -> Number:
        """The vector before and after ReLU, as a matrix of two rows; returns how many are not
        positive, counted as the zeros that come out."""
        hidden, after = self["hidden"][self.row], self["activated"][self.row]
        lines = [numbers(hidden, decimals), [plain(value, decimals) for value in after]]
        columns = [f"h{d}" for d in range(len(hidden))]
        rows = [self.book.plain(name) for name in ("before_relu", "after_relu")]
        self.book.matrix("relu_rows", lines, rows, columns)
        return whole(compute("count_zeros", *after))

    def contracted(self) -> None:
        """The second matrix of the FFN times what ReLU has left."""
        xs = [plain(value) for value in self["activated"][self.row]]
        linear(self.book, "y", self.weight("linear2"), xs, self["output"][self.row])


def _nth(head: int) -> Number:
    return whole(head + 1)


def last_norm(run: Run, side: str, layer: int) -> str:
    """The name of a layer's output."""
    return f"{side}.{layer}.norm{len(run.layers(side)[layer])}.output"


def decimals_of(matrix: Values, most: int = 3) -> int:
    """As many as write all numbers of a matrix exactly."""
    return int(decimals_needed([scalar.exact for scalar in matrix.scalars()], most))


def dot(
    book: Book, label: Typst, xs: Sequence[Number], ws: Sequence[Number], result: Number
) -> None:
    """x · w term by term: the products, their values, the sum."""
    book.equation(label, paired(xs, ws), joined(map(product, xs, ws)), result)


def linear(
    book: Book,
    name: str,
    matrix: Values,
    xs: Sequence[Number],
    result: Values,
    rows: Sequence[str] = (),
    most: int = 3,
) -> None:
    """A matrix times a vector, an equation for each row of the matrix; ``rows``: their names."""
    places = decimals_of(matrix, most)
    for d, row in enumerate(matrix):
        label = of(name, rows[d] if rows else d)
        dot(book, label, xs, numbers(row, places), number(result[d]))


def softmax(
    book: Book,
    scores: Sequence[Scalar],
    exp: Sequence[Scalar],
    weights: Sequence[Scalar],
    keys: Sequence[str],
    token: str,
) -> None:
    """From scores to weights: exponentials, their sum, the shares."""
    largest = number(compute("max", *scores))
    shares = [plain(value) for value in exp]
    total = number(compute("add", *exp))
    for key, score, share in zip(keys, scores, shares, strict=True):
        inside = Group((number(score), MINUS, largest), "exp")
        book.equation(of("e", token, key), (inside,), share)
    book.equation(Typst("sum e"), joined(shares), total)
    for key, share, weight in zip(keys, shares, weights, strict=True):
        book.equation(of("a", token, key), (share, OVER, total), plain(weight))


def plain(scalar: Scalar, decimals: int | None = None) -> Number:
    """An exact zero as 0: a masked weight is nothing, not nearly nothing."""
    return number(scalar, 0 if scalar.exact == 0 else decimals)


def mask_of(run: Run) -> list[list[Number]]:
    """The decoder's mask of a pass: 0 where a row may look, a huge negative number elsewhere."""
    mask = run["decoder.mask"]
    size = range(len(mask))
    return [[number(mask[i, j], None if future(i, j) else 0) for j in size] for i in size]


def future(i: int, j: int) -> bool:
    """Whether the mask forbids row i to look at j."""
    return j > i
