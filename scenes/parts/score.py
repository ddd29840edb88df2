"""One attention score worked out: a dot product term by term, and its scaling."""

from __future__ import annotations

from collections.abc import Sequence

from manim import LEFT, RIGHT, Animation, FadeIn, Mobject, VGroup

from .. import theme
from ..values import Scalar, Values
from .equation import OVER, PLUS, TIMES, Equation, Term
from .motion import LATE, fly
from .phrase import Phrase


class ScoreLines(VGroup):
    """Two lines, each with its name before it: ``q · k =`` …, and ``score =`` dot ÷ √d_k.

    ``query`` and ``key`` are the two vectors of the trace, ``names`` what stands before the lines
    and ``ys`` where these stand. A first line too long to be readable has fewer
    decimals in its factors.
    """

    def __init__(
        self,
        query: Values,
        key: Values,
        dot: Scalar,
        score: Scalar,
        d_k: Scalar,
        names: Sequence[Phrase],
        *,
        left: float = -6.3,
        ys: tuple[float, float] = (-1.3, -2.02),
    ) -> None:
        scale: list[Term | str] = [Term(dot, 4), OVER, Term(d_k, 0, theme.MUTED, root=True)]
        self.score = Equation(scale, Term(score, 4, theme.WEIGHT, bold=True), size=28)
        edge = left + max(name.width for name in names)
        self.dot = _dot_line(query, key, dot, theme.RIGHT_EDGE - edge - 0.2)
        for name, line, y in zip(names, (self.dot, self.score), ys, strict=True):
            name.place([edge, y, 0], RIGHT)
            line.place([edge + 0.2, y])
        self.names = VGroup(*names)
        super().__init__(self.names, self.dot, self.score)

    def product(self, d: int, query: Mobject, key: Mobject) -> list[Animation]:
        """The d-th product: its factors come from their vectors."""
        one, times, two = self.dot.terms[4 * d : 4 * d + 3]
        signs = [self.dot.terms[4 * d - 1], times] if d else [times]
        return [*(FadeIn(sign) for sign in signs), fly(query, one), fly(key, two)]

    def total(self) -> Animation:
        return FadeIn(self.dot.right_side(), shift=0.2 * LEFT)

    def scaling(self) -> list[Animation]:
        """The second line without its result: the dot product comes down."""
        rest = self.score.terms[1:]
        comes = fly(self.dot.result, self.score.terms[0])
        return [FadeIn(self.names[1]), FadeIn(*rest, rate_func=LATE), comes]

    def result(self) -> Animation:
        return FadeIn(self.score.right_side(), shift=0.2 * LEFT)

    def all_but_result(self) -> VGroup:
        """What leaves when the score moves on."""
        return VGroup(self.names, self.dot, *self.score.terms, self.score.sign)


def _dot_line(query: Values, key: Values, dot: Scalar, width: float) -> Equation:
    """The dot product in at most this width, with all the decimals that can be read."""
    for decimals in range(4, -1, -1):
        terms: list[Term | str] = []
        for d, (a, b) in enumerate(zip(query, key, strict=True)):
            terms += [PLUS] if d else []
            terms += [Term(a, decimals, theme.QUERY), TIMES, Term(b, decimals, theme.KEY)]
        line = Equation(terms, Term(dot, 4, bold=True), size=28, width=width)
        if line.sign.em >= theme.SMALLEST * theme.EM:
            break
    return line
