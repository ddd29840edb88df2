"""Attention as arrows: from the words that ask to the words they look at."""

from __future__ import annotations

from collections.abc import Sequence

from manim import LEFT, RIGHT, Animation, GrowArrow, LaggedStart, ManimColor, Mobject, VGroup

from .. import theme
from ..values import Scalar, Values
from .phrase import Number
from .shapes import Token, arrow

#: Stroke width of an arrow of weight 1; all others in proportion.
FULL_WIDTH = 32


class WeightArrow(VGroup):
    """An arrow as wide as its weight, and fainter the less it is. It leads from one mobject to
    another at its right."""

    def __init__(self, asking: Mobject, asked: Mobject, weight: Scalar, *, gap: float) -> None:
        self.asking, self.asked, self.weight = asking, asked, weight
        start, end = asking.get_right() + gap * RIGHT, asked.get_left() + gap * LEFT
        share = min(1.0, max(0.0, weight.exact))
        self.opacity = max(0.12, share**0.5)
        self.arrow = arrow(
            start, end, color=theme.WEIGHT, width=FULL_WIDTH * share, tip=0.12 + 0.45 * share
        )
        super().__init__(self.arrow.set_opacity(self.opacity))

    def fade_to(self, share: float) -> WeightArrow:
        """Take on a share of the full opacity; for ``arrow.animate.fade_to(0.3)``."""
        self.arrow.set_opacity(share * self.opacity)
        return self


class Fan(VGroup):
    """The arrows of one row of weights: from one mobject to each of several at its right."""

    def __init__(
        self, asking: Mobject, asked: Sequence[Mobject], weights: Values, *, gap: float = 0.12
    ) -> None:
        super().__init__(
            *(
                WeightArrow(asking, word, weight, gap=gap)
                for word, weight in zip(asked, weights, strict=True)
            )
        )

    def grow(self) -> Animation:
        return LaggedStart(*(GrowArrow(each.arrow) for each in self), lag_ratio=0.15)

    def fade_to(self, share: float) -> Fan:
        """As :meth:`WeightArrow.fade_to`, for all."""
        for each in self:
            each.fade_to(share)
        return self


class AttentionArrows(VGroup):
    """Two columns of words with all arrows between them.

    ``weights`` is a matrix of the trace: a row for each word of ``asking``, a column for each of
    ``asked``. ``beside[i]`` are the numbers of row i, each next to the word it belongs to; they are
    no part of the group.
    """

    def __init__(
        self,
        weights: Values,
        asking: VGroup,
        asked: VGroup,
        *,
        decimals: int = 3,
    ) -> None:
        self.weights, self.asking, self.asked, self.decimals = weights, asking, asked, decimals
        self.fans = VGroup(
            *(Fan(word, asked, row) for word, row in zip(asking, weights, strict=True))
        )
        super().__init__(asking, asked, self.fans)
        self.beside = [self._numbers(i) for i in range(len(asking))]

    def _numbers(self, i: int) -> VGroup:
        return VGroup(
            *(
                Number(weight, self.decimals, color=theme.WEIGHT).place(
                    word.get_right() + 0.15 * RIGHT, LEFT
                )
                for weight, word in zip(self.weights[i], self.asked, strict=True)
            )
        )

    def arrow_of(self, i: int, j: int) -> WeightArrow:
        return self.fans[i][j]


def token_column(
    words: Sequence[str], x: float, top: float, pitch: float, color: ManimColor
) -> VGroup:
    """Tokens one below the other, all as wide as the widest."""
    widest = max(Token(word).width for word in words)
    return VGroup(
        *(
            Token(word, color=color, width=widest).move_to([x, top - pitch * n, 0])
            for n, word in enumerate(words)
        )
    )
