"""A sub-layer worked out for one row of one pass: the computations that come again in every layer,
each a block of the step that is open."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from render.documents.handout.book import Book, exactly, number, numbers, of, paired, whole
from render.documents.handout.content import OVER, PLUS, Fact, Group, Number, Typst
from render.documents.handout.sums import (
    Norm,
    added,
    decimals_of,
    dot,
    future,
    linear,
    mask_of,
    plain,
    softmax,
)
from scenes import structure, wording
from scenes.values import Run, Scalar, Values

_ATTENTION = {"heads": ("q", 0), "n": ("q", 1), "d_k": ("q", 2)}
#: the sizes that the texts of a step may use: values and their axes
_SIZES = {"ffn": {"d_ff": ("hidden", 1), "d": ("output", 1)}}


class Sublayer:
    """``kind`` is self_attn, cross_attn or ffn; ``row`` is the one that is worked out. ``rows``
    are the words that ask, ``keys`` those that are looked at."""

    def __init__(
        self, book: Book, side: str, layer: int, kind: str, row: int = 0, run: Run | None = None
    ) -> None:
        self.book, self.run, self.kind, self.row = book, run or book.training, kind, row
        self.kinds = self.run.layers(side)[layer]
        self.around = structure.sublayer(self.run, side, layer, kind)
        self.side, self.layer, self.name = side, layer, f"{side}.{layer}.{kind}"
        self.rows = tuple(self.run.source if side == "encoder" else self.run.target)
        self.keys = book.source if kind == "cross_attn" else self.rows
        self.token = self.rows[row]
        self.masked = side == "decoder" and kind == "self_attn"

    def __getitem__(self, part: str) -> Values:
        """``at["q"]``: a value of the sub-layer."""
        return self.run[f"{self.name}.{part}"]

    def weight(self, part: str) -> Values:
        return self.run.weight(f"{self.name}.{part}.weight")

    def bias(self, part: str) -> Values | None:
        return structure.bias(self.run, f"{self.name}.{part}")

    def size(self, part: str, axis: int) -> Scalar:
        return self.run.size(f"{self.name}.{part}", axis)

    @property
    def input(self) -> Values:
        """What the sub-layer works on: in pre-LN the norm of what it is given."""
        return self.run[self.around.reads]

    @property
    def next(self) -> Sublayer:
        """The sub-layer of the same layer that comes next."""
        kind = self.kinds[self.kinds.index(self.kind) + 1]
        return Sublayer(self.book, self.side, self.layer, kind, self.row, self.run)

    @property
    def d_k(self) -> int:
        return int(self["q"].shape[2])

    @property
    def heads(self) -> range:
        return range(self["q"].shape[0])

    def step(
        self, number: int, said: str, *works: Callable[[], object], **facts: Fact | Scalar
    ) -> None:
        """Begin a step, whose texts may use the token and the sizes, with a sentence if any; then
        do the ``works``."""
        sizes = _SIZES.get(self.kind, _ATTENTION)
        known = {name: self.size(*place) for name, place in sizes.items()}
        self.book.step(number, *filter(None, [said]), **{"token": self.token, **known, **facts})
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
            bias = added(self.bias(f"{role}_proj"))
            for d in range(self.d_k) if only is None else only:
                result, more = number(self[role][head, row, d]), bias[head * self.d_k + d :][:1]
                dot(self.book, of(role, token, d), inputs, rows[d], result, more)

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
        linear(self.book, "y", self.weight("out_proj"), xs, result, bias=self.bias("out_proj"))

    def residual(self) -> None:
        """The sub-layer's output added to what the layer had before it."""
        before = self.run[self.around.x][self.row]
        for d, result in enumerate(self.run[self.around.total][self.row]):
            change = number(self["output"][self.row, d])
            self.book.equation(of("r", d), (number(before[d]), PLUS, change), result)

    @property
    def norm(self) -> Norm:
        """The sub-layer's norm: of the sum, or, in pre-LN, of what it is given."""
        around = self.around
        x = around.x if structure.is_pre(self.run) else around.total
        return Norm(self.book, self.run, around.norm, x, self.row)

    def norm_first(self) -> None:
        """In pre-LN the norm that comes before the sub-layer."""
        if structure.is_pre(self.run):
            self.book.say("norm_first", token=self.token)
            self.norm.worked_out()

    def add_and_norm(self) -> None:
        """The sum and what comes next: its norm; in pre-LN the next sub-layer begins with one."""
        self.residual()
        if not structure.is_pre(self.run):
            self.norm.worked_out()

    def expanded(self) -> None:
        """The first matrix of the FFN times the vector."""
        xs, result = numbers(self.input[self.row]), self["hidden"][self.row]
        linear(self.book, "h", self.weight("linear1"), xs, result, bias=self.bias("linear1"))

    def activated(self, decimals: int = 4) -> None:
        """The vector before and after the activation, as a matrix of two rows, and what has
        become of negatives."""
        hidden, after = self["hidden"][self.row], self["activated"][self.row]
        lines = [numbers(hidden, decimals), [plain(value, decimals) for value in after]]
        columns = [f"h{d}" for d in range(len(hidden))]
        rows = [self.book.plain(name) for name in ("before_relu", "after_relu")]
        self.book.matrix("relu_rows", lines, rows, columns)
        kind = self.run.setting("activation")
        self.book.case("activated", wording.activation(kind, hidden), "")

    def widened(self) -> None:
        """What the FFN does to the width."""
        sizes = self.size("output", 1), self.size("hidden", 1)
        self.book.case("width", wording.ffn(*sizes), "")

    def contracted(self) -> None:
        """The second matrix of the FFN times what the activation has left."""
        xs, result = [plain(value) for value in self["activated"][self.row]], self["output"]
        bias = self.bias("linear2")
        linear(self.book, "y", self.weight("linear2"), xs, result[self.row], bias=bias)


def _nth(head: int) -> Number:
    return whole(head + 1)
