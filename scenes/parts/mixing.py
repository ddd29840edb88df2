"""A weighted sum worked out: a weight times a vector in each line, and their sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from manim import LEFT, RIGHT, Animation, FadeIn, LaggedStart, Line, ManimColor, VGroup

from .. import theme
from ..relations import Relation
from ..values import Values
from .equation import TIMES
from .grid import GAP, Grid, cell_width
from .motion import born_each
from .phrase import Number, Phrase
from .vector import equals


@dataclass(frozen=True)
class _Columns:
    """Where the columns of a weighted sum stand: left edge of the keys, right edge of the weights,
    middle and width of the values, left edge of the rule, right edge of the first product and the
    way to the next one; sizes of the products and of their sums."""

    key: float
    weight: float
    values: float
    values_width: float
    rule: float
    products: float
    step: float
    size: float
    sum_size: float


_WIDE = _Columns(-5.9, -3.5, -1.1, 3.1, 0.65, 3.6, 2.1, theme.HEADING, 28)
_NARROW = _Columns(theme.LEFT_EDGE, -3.86, -1.6, 3.7, 0.5, 2.54, 1.3, theme.SMALL, theme.SMALL)


class WeightedSum(VGroup):
    """``weights`` (n,) times ``values`` (n, d), line by line, and the sum (d,), all of the trace.

    ``heads`` are the headings of weights, values and products. A weight that is exactly 0, and its
    products, are shown as ``0``. Values of more than two numbers stand closer together, and
    smaller.
    """

    def __init__(
        self,
        weights: Values,
        values: Values,
        result: Values,
        keys: Sequence[str],
        heads: Sequence[Phrase],
        *,
        key_color: ManimColor = theme.ENCODER,
        top: float = 1.45,
        pitch: float = 0.74,
    ) -> None:
        super().__init__()
        shares = list(weights)
        self.relations = [
            Relation("dot", (shares, [value[d] for value in values], []), [total])
            for d, total in enumerate(result)
        ]
        self.columns = columns = _NARROW if values.shape[1] > 2 else _WIDE
        self.keys, self.weights, self.signs, self.products = (VGroup() for _ in range(4))
        cell = (cell_width(values.shape[1], columns.values_width, 1.5), pitch - GAP)
        self.values = Grid.signed(values, cell=cell, size=theme.HEADING)
        middle = [columns.values, top - pitch * (len(keys) - 1) / 2, 0]
        self.values.shift(middle - self.values.cells.get_center())
        for j, word in enumerate(keys):
            y = top - pitch * j
            key = Phrase(word, size=theme.HEADING, color=key_color, bold=True)
            self.keys.add(key.place([columns.key, y, 0], LEFT))
            places = 4 if weights[j].exact else 0
            weight = Number(weights[j], places, size=theme.HEADING, color=theme.WEIGHT)
            self.weights.add(weight.place([columns.weight, y, 0], RIGHT))
            sign = Phrase(TIMES, size=theme.HEADING, color=theme.MUTED)
            middle_x = (columns.weight + self.values.cells.get_left()[0]) / 2
            self.signs.add(sign.place([middle_x, y, 0]))
            products = (weights[j] * value for value in values[j])
            numbers = [Number(product, places, size=columns.size) for product in products]
            self.products.add(self._in_columns(numbers, y))
        y = top - pitch * len(keys) - 0.14
        style = {"size": columns.sum_size, "color": theme.VALUE, "bold": True}
        self.sums = self._in_columns([Number(total, 4, **style) for total in result], y)
        left, right = columns.rule, self.sums.get_right()[0] + 0.1
        rule = Line([left, y + 0.41, 0], [right, y + 0.41, 0], stroke_width=2, color=theme.MUTED)
        equal = f"Σ {equals(self.products, self.sums)}"
        sigma = Phrase(equal, size=theme.HEADING, color=theme.MUTED).place([left, y, 0], LEFT)
        self.rule = VGroup(rule, sigma)
        self.heads = VGroup(*heads)
        heads[0].place([columns.weight, top + 0.77, 0], RIGHT)
        heads[1].place([columns.values, top + 0.77, 0])
        heads[2].place([self.products.get_x(), top + 0.77, 0])
        self.add(self.keys, self.weights, self.signs, self.values, self.products)
        self.add(self.rule, self.sums, self.heads)

    def _in_columns(self, numbers: Sequence[Number], y: float) -> VGroup:
        places = (
            [self.columns.products + self.columns.step * d, y, 0] for d in range(len(numbers))
        )
        return VGroup(*(n.place(at, RIGHT) for n, at in zip(numbers, places, strict=True)))

    def multiply(self) -> Animation:
        """The products slide out of their lines, one line after the other."""
        lines = (FadeIn(products, shift=0.9 * RIGHT) for products in self.products)
        return LaggedStart(*lines, lag_ratio=0.5)

    def add_up(self) -> list[Animation]:
        """The products of a column fall into its sum."""
        return born_each(self.sums, *self.products)

    def title(self, name: Phrase) -> Phrase:
        """Let a phrase stand over the keys, no wider than there is room."""
        key = self.columns.key
        name.place([key, self.heads[0].midline, 0], LEFT)
        room = float(self.heads[0].get_left()[0]) - key - 0.2
        edge = [key, name.midline, 0]
        return name.scale(min(1.0, room / name.width), about_point=edge)

    def all_but_sums(self) -> VGroup:
        return VGroup(*(part for part in self.submobjects if part is not self.sums))
