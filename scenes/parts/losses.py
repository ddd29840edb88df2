"""Guesses against targets: a card, a table of losses, and what each position is to predict."""

from __future__ import annotations

from collections.abc import Sequence

from manim import LEFT, RIGHT, ManimColor, VGroup

from .. import theme
from ..relations import Relation
from ..values import Scalar, Values
from ..verdicts import Standing
from ..wording import VALUES, top
from .flow import Block
from .icons import tick
from .phrase import Number, Phrase
from .shapes import Bars, Token, arrow


class Card(VGroup):
    """A word and its probability on a panel, with what they are above."""

    def __init__(self, name: Phrase, word: str, p: Scalar, color: ManimColor, y: float) -> None:
        left, right = 2.35, theme.RIGHT_EDGE
        panel = Block((left, y + 0.8), (right, y - 0.8), color=color)
        name.place([left + 0.35, y + 0.38, 0], LEFT)
        shown = Phrase(word, size=34, color=color, bold=True)
        shown.place([left + 0.35, y - 0.25, 0], LEFT)
        number = Number(p, 4, size=30, color=color)
        self.number = number.place([right - 0.35, y - 0.25, 0], RIGHT)
        self.rest = VGroup(panel, name, shown)
        super().__init__(self.rest, self.number)


class LossTable(VGroup):
    """A line for each position: target, the model's favourite, p(target), loss as a bar.

    ``standings`` are those of the targets, ``losses`` (m,); ``ties`` stand for a favourite where
    several words are first, ``None`` elsewhere; ``heads`` are the headings of the four columns.
    """

    TARGET, GUESS, P_GUESS, HIT, P_TARGET, LOSS = -6.3, -4.3, -1.55, -1.2, 0.75, 1.5
    TOP, PITCH, HEAD = 1.65, 0.75, 2.4

    def __init__(
        self,
        standings: Sequence[Standing],
        losses: Values,
        ties: Sequence[Phrase | None],
        heads: Sequence[Phrase],
    ) -> None:
        self.relations = [
            relation
            for found, loss in zip(standings, losses, strict=True)
            for relation in (
                Relation("-ln", [[found.p]], [loss]),
                Relation("largest", [found.probabilities], [found.probabilities[found.choice]]),
            )
        ]
        self.rows, self.p_target = VGroup(), VGroup()
        for i, (found, tie) in enumerate(zip(standings, ties, strict=True)):
            self.rows.add(self._row(found, tie, self.TOP - self.PITCH * i))
        #: the lines whose losses show the largest digits
        self.worst = [at[0] for at in top(losses, VALUES).at]
        widest = max(Number(each, 4).width for each in losses)
        bars = Bars(
            losses,
            decimals=4,
            width=min(3.5, theme.RIGHT_EDGE - self.LOSS - widest - 0.45),
            full=max(*(each.exact for each in losses), 1e-9),
            pitch=self.PITCH,
            color=theme.TRAINING,
            size=theme.BODY,
        )
        first = bars.bars[0]
        self.bars = bars.shift([self.LOSS - first.get_left()[0], self.TOP - first.get_y(), 0])
        self.heads = VGroup(*heads)
        places = (self.TARGET, LEFT), (self.GUESS, LEFT), (self.P_TARGET, RIGHT), (self.LOSS, LEFT)
        for head, (x, side) in zip(heads, places, strict=True):
            head.place([x, self.HEAD, 0], side)
        super().__init__(self.heads, self.rows, self.p_target, self.bars)

    def _row(self, found: Standing, tie: Phrase | None, y: float) -> VGroup:
        """Target and favourite, the favourite's probability, a tick if it is the target alone."""
        target = Phrase(found.words[found.goal], size=theme.HEADING, color=theme.WEIGHT, bold=True)
        ink = theme.WEIGHT if found.is_hit else theme.INK
        word = tie or Phrase(found.words[found.choice], size=theme.HEADING, color=ink, bold=True)
        row = VGroup(target.place([self.TARGET, y, 0], LEFT), word.place([self.GUESS, y, 0], LEFT))
        row.add(Number(found.probabilities[found.choice], 4).place([self.P_GUESS, y, 0], RIGHT))
        if found.is_hit:
            row.add(tick(theme.WEIGHT).move_to([self.HIT, y, 0]))
        self.p_target.add(Number(found.p, 4).place([self.P_TARGET, y, 0], RIGHT))
        return row

    def whole(self, i: int) -> VGroup:
        """Everything in the line of a position."""
        return VGroup(self.rows[i], self.p_target[i], self.bars.item(i))


class TargetPairs(VGroup):
    """Each input word with the word that its position is to predict, or none."""

    def __init__(
        self, head: Phrase, words: Sequence[str], targets: Sequence[str | None], x: float
    ) -> None:
        self.head = head.place([x, 2.3, 0], LEFT)
        self.inputs, self.arrows, self.outputs = VGroup(), VGroup(), VGroup()
        for i, (word, target) in enumerate(zip(words, targets, strict=True)):
            y = 1.35 - 0.95 * i
            self.inputs.add(self._token(word, theme.TRAINING).move_to([x + 0.95, y, 0]))
            color = theme.MUTED if target is None else theme.WEIGHT
            goal = self._token(target or "—", color, dashed=target is None)
            self.outputs.add(goal.move_to([x + 4.4, y, 0]))
            self.arrows.add(arrow([x + 2.1, y, 0], [x + 3.25, y, 0]))
        super().__init__(self.head, self.inputs, self.arrows, self.outputs)

    @staticmethod
    def _token(word: str, color: ManimColor, *, dashed: bool = False) -> Token:
        return Token(word, color=color, width=1.9, height=0.66, dashed=dashed)
