"""The computations that come again and again: products of a matrix and a vector, softmax, norms."""

from __future__ import annotations

from collections.abc import Sequence

from render.documents.handout.book import (
    Book,
    number,
    numbers,
    of,
    paired,
    product,
    visible,
    whole,
)
from render.documents.handout.content import OVER, PLUS, TIMES, Group, Number, Typst, joined
from scenes import structure, wording
from scenes.rounding import MINUS, decimals_needed
from scenes.values import Run, Scalar, Values, compute, constant


class Norm:
    """A norm worked out for one row of ``x``, which is the name of what it normalises; ``name`` is
    its own, such as ``encoder.0.norm1``."""

    def __init__(self, book: Book, run: Run, name: str, x: str, row: int) -> None:
        self.book, self.run, self.name, self.row = book, run, name, row
        self.x = run[x][row]
        self.size = number(run.size(x, 1))

    def _of_row(self, part: str) -> Number:
        return number(self.run[f"{self.name}.{part}"][self.row])

    def worked_out(self) -> None:
        self.statistics()
        self.normalised()

    def statistics(self) -> None:
        """Mean and variance."""
        terms, mean = numbers(self.x), self._of_row("mean")
        self.book.equation(Typst("mu"), (Group(joined(terms)), OVER, self.size), mean)
        squares = Group(joined(Group((term, MINUS, mean), "square") for term in terms))
        over: Group | Number = self.size
        if self.run.setting("norm.variance") == "unbiased":
            over = Group((self.size, MINUS, whole(1)))
        self.book.equation(Typst("sigma^2"), (squares, OVER, over), self._of_row("variance"))

    def normalised(self) -> None:
        """Each dimension less the mean, over the root of variance and ε; then the gain and the
        shift, where the norm has them."""
        eps = self.run.layer_norm_eps
        small = Number(constant(eps), decimals_needed([eps], 15))
        mean, variance = self._of_row("mean"), self._of_row("variance")
        divisor = Group((variance, PLUS, small), "sqrt")
        if self.run.setting("norm.eps_in") == "outside":
            divisor = Group((Group((variance,), "sqrt"), PLUS, small))
        gain, shift = structure.gain_and_shift(self.run, self.name)
        learned = gain is not None or shift is not None
        middle = self.run[f"{self.name}.{'normalised' if learned else 'output'}"][self.row]
        for d, x in enumerate(self.x):
            left = Group((number(x), MINUS, mean)), OVER, divisor
            self.book.equation(of("n" if learned else "x", d), left, middle[d])
        if learned:
            case = wording.learned_norm(self.run.model("groups"))
            self.book.case("learned_norm", case, "")
            output = self.run[f"{self.name}.output"][self.row]
            for d, x in enumerate(middle):
                times = (TIMES, number(gain[d])) if gain is not None else ()
                plus = (PLUS, number(shift[d])) if shift is not None else ()
                self.book.equation(of("x", d), (number(x), *times, *plus), output[d])


def added(bias: Values | None) -> list[Number]:
    """A bias with the decimals that write it exactly; empty where there is none."""
    return [] if bias is None else numbers(bias, decimals_of(bias))


def decimals_of(matrix: Values, most: int = 3) -> int:
    """As many as write all numbers of a matrix exactly."""
    return int(decimals_needed([scalar.exact for scalar in matrix.scalars()], most))


def dot(
    book: Book,
    label: Typst,
    xs: Sequence[Number],
    ws: Sequence[Number],
    result: Number,
    bias: Sequence[Number] = (),
) -> None:
    """x · w term by term: the products, their values, the sum; ``bias``: one number or none, which
    is added."""
    more = tuple(part for one in bias for part in (PLUS, one))
    book.equation(label, (*paired(xs, ws), *more), (*joined(map(product, xs, ws)), *more), result)


def linear(
    book: Book,
    name: str,
    matrix: Values,
    xs: Sequence[Number],
    result: Values,
    rows: Sequence[str] = (),
    most: int = 3,
    bias: Values | None = None,
) -> None:
    """A matrix times a vector, plus a bias if there is one: an equation for each row of the
    matrix; ``rows``: their names."""
    places, more = decimals_of(matrix, most), added(bias)
    for d, row in enumerate(matrix):
        label = of(name, rows[d] if rows else d)
        dot(book, label, xs, numbers(row, places), number(result[d]), more[d : d + 1])


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
    shares = [plain(value) if value.exact == 0 else visible(value) for value in exp]
    total = number(compute("add", *exp))
    for key, score, share in zip(keys, scores, shares, strict=True):
        inside = Group((number(score), MINUS, largest), "exp")
        book.equation(of("e", token, key), (inside,), share)
    book.equation(Typst("sum e"), joined(shares), total)
    results = [plain(value) if value.exact == 0 else visible(value) for value in weights]
    for key, share, weight in zip(keys, shares, results, strict=True):
        book.equation(of("a", token, key), (share, OVER, total), weight)


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
