"""The output projection: one row of weights for each word, times the decoder's vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from manim import LEFT, RIGHT, VGroup

from .. import theme
from ..rounding import decimals_needed
from ..values import Values
from .equation import PLUS, TIMES, Equation, Term
from .grid import Grid, outline
from .motion import fly
from .phrase import Number, Phrase
from .shapes import arrow


class OutputProjection(VGroup):
    """``vector`` (d,) over the matrix ``weights`` (V, d), and the ``logits`` (V,) beside its rows.

    ``token`` names the vector, ``words`` the rows; ``goal`` is the row that is worked out below.
    """

    CELL, MIDDLE, TOP, LINE = (1.25, 0.37), (-1.95, 0.2), 2.42, -1.92

    def __init__(
        self,
        vector: Values,
        weights: Values,
        logits: Values,
        token: str,
        words: Sequence[str],
        goal: int,
    ) -> None:
        used = decimals_needed(weights.array.ravel(), 4)
        self.matrix = matrix = Grid.signed(
            weights, rows=words, cell=self.CELL, decimals=used, row_color=theme.INK
        )
        matrix.shift([*self.MIDDLE, 0] - matrix.cells.get_center())
        self.vector = Grid.signed(vector, cell=(self.CELL[0], 0.48), size=theme.BODY)
        self.vector.move_to([self.MIDDLE[0], self.TOP, 0])
        name = Phrase(token, color=theme.TRAINING, bold=True).beside(self.vector, 0.22, LEFT)
        self.token = VGroup(name)
        self.logits, self.arrows = VGroup(), VGroup()
        x = matrix.cells.get_right()[0]
        for j, logit in enumerate(logits):
            y = matrix.cell(j, 0).get_y()
            ink = theme.WEIGHT if j == goal else theme.INK
            number = Number(logit, color=ink, bold=j == goal)
            self.logits.add(number.place([x + 2.5, y, 0], RIGHT))
            self.arrows.add(arrow([x + 0.15, y, 0], [x + 0.75, y, 0], tip=0.12, width=2.5))
        self.head = Phrase("logit", color=theme.MUTED).place([x + 2.5, self.TOP, 0], RIGHT)
        self.marks = VGroup(
            self.vector.frame(), outline(matrix.row_cells(goal), color=theme.WEIGHT)
        )
        self.goal = goal
        self.line = self._work_out(vector, weights, logits)
        super().__init__(self.vector, self.token, matrix, self.arrows, self.logits, self.head)
        self.add(self.marks, self.line)

    def _work_out(self, vector: Values, weights: Values, logits: Values) -> Equation:
        terms: list[Term | str] = []
        for d, scalar in enumerate(vector):
            terms += [PLUS] if d else []
            weight = Term(weights[self.goal, d], self.matrix.decimals)
            terms += [Term(scalar), TIMES, weight]
        result = Term(logits[self.goal], 4, theme.WEIGHT, bold=True)
        line = Equation(terms, result, size=26, width=theme.WIDTH - 0.3)
        return line.place([theme.LEFT_EDGE, self.LINE])

    def product(self, d: int) -> tuple[list[Any], VGroup]:
        """For one dimension: the animations that bring its two numbers, and its signs."""
        terms = self.line.terms
        moves = [
            fly(self.vector.number(0, d), terms[4 * d]),
            fly(self.matrix.number(self.goal, d), terms[4 * d + 2]),
        ]
        return moves, VGroup(terms[4 * d + 1], *([terms[4 * d - 1]] if d else []))

    def others(self) -> list[int]:
        """All rows but the one worked out."""
        return [j for j in range(len(self.logits)) if j != self.goal]

    def all_but_words_and_logits(self) -> VGroup:
        return VGroup(
            self.vector,
            self.token,
            self.matrix.body(),
            self.arrows,
            self.head,
            self.marks,
            self.line,
        )
