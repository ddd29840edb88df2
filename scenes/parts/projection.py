"""A vector times rows of weights: what is multiplied stands in one column."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from manim import LEFT, RIGHT, Line, ManimColor, VGroup

from .. import theme
from ..relations import Relation
from ..rounding import as_decimal, rounds_to
from ..values import Scalar
from .equation import PLUS, TIMES, Equation, Term
from .grid import GAP
from .phrase import Number, Phrase, row
from .shapes import arrow
from .vector import Cell, Vector, signed


class Projection(VGroup):
    """A vector, rows of weights under it, and one result to the right of each row.

    ``left`` and ``top`` are the vector's left edge and middle; ``decimals`` those of the vector,
    the weights and the results. A ``bias``, a number for each row, stands between the two with a
    plus, in cells of ``bias_width``.
    """

    PLUS_ROOM = 0.4

    def __init__(
        self,
        vector: Sequence[Scalar],
        weights: Sequence[Sequence[Scalar]],
        results: Sequence[Scalar],
        *,
        left: float,
        top: float,
        cell: Cell,
        result: tuple[float, float],
        decimals: tuple[int, int, int] = (4, 2, 4),
        size: float = theme.HEADING,
        color: ManimColor = theme.MUTED,
        apart: float = 0.35,
        bias: Sequence[Scalar] | None = None,
        bias_width: float = 1.2,
    ) -> None:
        super().__init__()
        height, (result_left, result_width) = cell[1], result
        self.input = Vector(vector, decimals=decimals[0], cell=cell, size=size).at(left, top)
        fill, first = signed(*weights), top - height - apart
        self.rows, self.arrows = VGroup(), VGroup()
        for i, weight in enumerate(weights):
            line = Vector(weight, decimals=decimals[1], cell=cell, size=size, fill=fill)
            self.rows.add(line.at(left, first - i * (height + GAP)))
        self.pluses, start = VGroup(), float(self.rows.get_right()[0])
        #: the column of biases
        self.bias: Vector | None = None
        if bias is not None:
            own = (bias_width, height)
            self.bias = Vector(bias, decimals=decimals[1], cell=own, size=size, down=True)
            self.bias.at(start + self.PLUS_ROOM, first)
            for line in self.rows:
                at = [start + self.PLUS_ROOM / 2, line.cells.get_y(), 0]
                self.pluses.add(Phrase(PLUS, size=size, color=theme.MUTED).place(at))
            start = float(self.bias.cells.get_right()[0])
        self.relations = [
            Relation("dot", (vector, weight, [bias[i]] if bias is not None else []), [out])
            for i, (weight, out) in enumerate(zip(weights, results, strict=True))
        ]
        for line in self.rows:
            y = line.cells.get_y()
            ends = [start, y, 0], [result_left, y, 0]
            self.arrows.add(arrow(*ends, color=color, buff=0.1))
        self.results = Vector(
            results, decimals=decimals[2], cell=(result_width, height), size=size, down=True
        ).at(result_left, first)
        self.add(self.input, self.rows, self.arrows, self.results)
        if self.bias is not None:
            self.add(self.bias, self.pluses)

    @property
    def bias_parts(self) -> VGroup:
        """The biases with their signs, empty where there are none."""
        return VGroup(*([self.bias] if self.bias is not None else []), self.pluses)


class DotProduct(VGroup):
    """Two lines: products written out, then each worked out under it and all of them added.

    The products stand at ``xs``; the second line begins with its sign at ``sign_x`` and ends with
    the result at ``result_x``, at most ``result_width`` wide. A ``bias`` is one more term of both
    lines, at ``bias_x``.
    """

    def __init__(
        self,
        left: Sequence[Term],
        right: Sequence[Term],
        result: Term,
        *,
        xs: Sequence[float],
        ys: tuple[float, float],
        sign_x: float,
        result_x: float,
        result_width: float,
        decimals: int = 4,
        size: float = theme.BODY,
        bias: Term | None = None,
        bias_x: float = 0.0,
    ) -> None:
        super().__init__()
        pitch = xs[1] - xs[0]
        self.products = VGroup()
        terms: list[Term | str] = []
        for a, b in zip(left, right, strict=True):
            self.products.add(_product(a, b, size))
            terms += [PLUS, Term(a.scalar * b.scalar, decimals)]
        self._align(xs, ys[0], pitch - 0.42)
        self.bias, end = VGroup(), xs[-1] + pitch / 2
        if bias is not None:
            terms += [PLUS, bias]
            number = Number(bias.scalar, bias.decimals, size=size, color=bias.color, bracket=True)
            self.bias.add(number.place([bias_x, ys[0], 0]))
            xs, end = [*xs, bias_x], bias_x + number.width / 2 + 0.25
        total = Equation(terms[1:], result, size=size)
        factors = [[term.scalar for term in side] for side in (left, right)]
        added = [bias.scalar] if bias is not None else []
        self.relations = [Relation("dot", (*factors, added), [result.scalar])]
        self.worked = VGroup(
            *(term.place([x, ys[1], 0]) for term, x in zip(total.terms[::2], xs, strict=True))
        )
        self.signs = VGroup(*(self._pluses(xs, y, size) for y in ys))
        self.equal = Phrase(self._equal(), size=size, color=theme.MUTED)
        self.equal.place([sign_x, ys[1], 0])
        self.sign = total.sign.place([end, ys[1], 0])
        self.result = total.result
        if self.result.width > result_width:
            self.result.scale(result_width / self.result.width)
        self.result.place([result_x, ys[1], 0])
        self.add(
            self.products, self.bias, self.signs, self.equal, self.worked, self.sign, self.result
        )

    def _align(self, xs: Sequence[float], y: float, room: float) -> None:
        """The products at their places, all of one size, in which the widest fits."""
        widest = max(product.width for product in self.products)
        for product, x in zip(self.products, xs, strict=True):
            if widest > room:
                product.scale(max(room / widest, theme.SMALLEST / product[0].size))
            product.shift([x - product.get_x(), y - product[0].midline, 0])

    def _pluses(self, xs: Sequence[float], y: float, size: float) -> VGroup:
        between = [(a + b) / 2 for a, b in pairwise(xs)]
        return VGroup(
            *(Phrase(PLUS, size=size, color=theme.MUTED).place([x, y, 0]) for x in between)
        )

    def _equal(self) -> str:
        """``=`` where every product, from its shown digits, rounds to what stands under it."""
        for (a, _, b), number in zip(self.products, self.worked, strict=False):
            if not rounds_to(as_decimal(a.text) * as_decimal(b.text), number.text):
                return "≈"
        return "="


def _product(a: Term, b: Term, size: float) -> VGroup:
    one = Number(a.scalar, a.decimals, size=size, color=a.color)
    two = Number(b.scalar, b.decimals, size=size, color=b.color, bracket=True)
    return row(one, Phrase(TIMES, size=size, color=theme.MUTED), two, gap=0.1)


class Connections(VGroup):
    """A line from each cell of one column to each of the next: blue for weights below zero,
    orange above, the stronger the larger. A cell that is exactly zero sends none.

    ``weights`` has a row for each cell of ``goal``; ``lines[i]`` are those that end in its cell.
    """

    def __init__(self, start: Vector, goal: Vector, weights: Sequence[Sequence[Scalar]]) -> None:
        largest = max(abs(weight.exact) for row_ in weights for weight in row_) or 1.0
        super().__init__()
        for cell, row_ in zip(goal.cells, weights, strict=True):
            lines = VGroup()
            for source, scalar, weight in zip(start.cells, start.scalars, row_, strict=True):
                share = abs(weight.exact) / largest
                if scalar.exact == 0 or share == 0:
                    continue
                line = Line(source.get_right() + 0.06 * RIGHT, cell.get_left() + 0.06 * LEFT)
                color = theme.POSITIVE if weight.exact > 0 else theme.NEGATIVE
                lines.add(line.set_stroke(color, width=0.8 + 3 * share, opacity=0.2 + 0.6 * share))
            self.add(lines)
