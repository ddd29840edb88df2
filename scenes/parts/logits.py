"""The output projection: one row of weights for each word, times the decoder's vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from manim import LEFT, RIGHT, VGroup

from .. import theme
from ..relations import Relation
from ..rounding import decimals_needed
from ..values import Values
from .equation import PLUS, TIMES, Equation, Term
from .grid import Grid, outline
from .motion import fly
from .phrase import Number, Phrase
from .shapes import arrow
from .vector import Vector


class OutputProjection(VGroup):
    """``vector`` (d,) over the matrix ``weights`` (V, d), and the ``logits`` (V,) beside its rows.

    ``token`` names the vector, ``words`` the rows; ``goal`` is the row that is worked out below.
    A ``bias`` (V,), if there is one, stands between the matrix and the logits.
    """

    CELL, MIDDLE, TOP, LINE = (1.25, 0.37), (-1.95, 0.2), 2.42, -1.92
    #: With a bias: the width of all cells, and how far the bias and the logits are from the matrix.
    NARROW, BIAS, LOGIT = 1.02, 0.36, 3.2

    def __init__(
        self,
        vector: Values,
        weights: Values,
        logits: Values,
        token: str,
        words: Sequence[str],
        goal: int,
        bias: Values | None = None,
    ) -> None:
        added = [[b] for b in bias] if bias is not None else [[]] * len(logits)
        self.relations = [
            Relation("dot", (list(vector), list(row), more), [logit])
            for row, more, logit in zip(weights, added, logits, strict=True)
        ]
        used = decimals_needed(weights.array.ravel(), 4)
        width = self.CELL[0] if bias is None else self.NARROW
        self.matrix = matrix = Grid.signed(
            weights, rows=words, cell=(width, self.CELL[1]), decimals=used, row_color=theme.INK
        )
        middle = self.MIDDLE[0] - weights.shape[1] * (self.CELL[0] - width) / 2
        matrix.shift([middle, self.MIDDLE[1], 0] - matrix.cells.get_center())
        self.vector = Grid.signed(vector, cell=(width, 0.48), size=theme.BODY)
        self.vector.move_to([middle, self.TOP, 0])
        name = Phrase(token, color=theme.TRAINING, bold=True).beside(self.vector, 0.22, LEFT)
        self.token = VGroup(name)
        self.logits, self.arrows = VGroup(), VGroup()
        x = float(matrix.cells.get_right()[0])
        self.bias = None if bias is None else self._bias_column(bias, x)
        start, end = x + 0.15, x + 2.5
        if self.bias is not None:
            start, end = self.bias.cells.get_right()[0] + 0.1, x + self.LOGIT
        for j, logit in enumerate(logits):
            y = matrix.cell(j, 0).get_y()
            ink = theme.WEIGHT if j == goal else theme.INK
            number = Number(logit, color=ink, bold=j == goal)
            self.logits.add(number.place([end, y, 0], RIGHT))
            length = 0.6 if bias is None else 0.4
            self.arrows.add(arrow([start, y, 0], [start + length, y, 0], tip=0.12, width=2.5))
        self.head = Phrase("logit", color=theme.MUTED).place([end, self.TOP, 0], RIGHT)
        self.marks = VGroup(
            self.vector.frame(), outline(matrix.row_cells(goal), color=theme.WEIGHT)
        )
        self.goal = goal
        self.line = self._work_out(vector, weights, logits, bias)
        super().__init__(self.vector, self.token, matrix, self.arrows, self.logits, self.head)
        self.add(self.marks, self.line)
        if self.bias is not None:
            self.add(self.bias, self.bias_signs)

    def _bias_column(self, bias: Values, x: float) -> Vector:
        """The biases to the right of the matrix, a plus in front of each and a name above."""
        cell = self.NARROW, self.CELL[1]
        column = Vector(bias, decimals=4, cell=cell, size=self.matrix.size, down=True)
        column.at(x + self.BIAS, self.matrix.cell(0, 0).get_y())
        name = Phrase("b", color=theme.MUTED).place([column.cells.get_x(), self.TOP, 0])
        self.bias_signs = VGroup(name)
        for cell_ in column.cells:
            at = [x + self.BIAS / 2, cell_.get_y(), 0]
            self.bias_signs.add(Phrase(PLUS, size=theme.SMALL, color=theme.MUTED).place(at))
        return column

    def _work_out(
        self, vector: Values, weights: Values, logits: Values, bias: Values | None
    ) -> Equation:
        terms: list[Term | str] = []
        for d, scalar in enumerate(vector):
            terms += [PLUS] if d else []
            weight = Term(weights[self.goal, d], self.matrix.decimals)
            terms += [Term(scalar), TIMES, weight]
        if bias is not None:
            terms += [PLUS, Term(bias[self.goal])]
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

    def plus_bias(self) -> tuple[list[Any], VGroup]:
        """The animation that brings the bias, and its sign; nothing where there is none."""
        if self.bias is None:
            return [], VGroup()
        sign, term = self.line.terms[-2:]
        return [fly(self.bias.numbers[self.goal], term)], VGroup(sign)

    @property
    def all_of_bias(self) -> VGroup:
        return VGroup() if self.bias is None else VGroup(self.bias, self.bias_signs)

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
            self.all_of_bias,
        )
