"""What goes into the decoder: the whole target at once, or the words written so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from manim import VGroup

from .. import theme
from .flow import Block, Wire, cross
from .phrase import Phrase
from .shapes import Token


class Columns:
    """Places for words side by side, all of one width, between two edges."""

    def __init__(self, left: float, right: float, count: int, gap: float = 0.12) -> None:
        self.pitch = (right - left + gap) / count
        self.width = self.pitch - gap
        self.left = left

    def x(self, column: int) -> float:
        return self.left + self.pitch * column + self.width / 2

    def fitting(self, words: Sequence[str], size: float) -> float:
        """The size at which the longest word fits its column."""
        widest = max(Phrase(word, size=size, bold=True).width for word in words)
        return size * min(1.0, (self.width - 0.26) / widest)

    def token(self, column: int, y: float, word: str, **options: Any) -> Token:
        return Token(word, width=self.width, **options).move_to([self.x(column), y, 0])


class TrainingSide(VGroup):
    """The whole target into the decoder, a guess at every position out of it, and the way back
    to the input, which is shut."""

    def __init__(
        self,
        words: Sequence[str],
        guesses: Sequence[str],
        *,
        left: float,
        right: float,
        size: float,
        levels: tuple[float, float, float],
    ) -> None:
        edge = right - 0.6
        columns = Columns(left, edge, len(words))
        size = columns.fitting([*words, *guesses], size)
        top, middle, low = levels

        def line(texts: Sequence[str], y: float, **options: Any) -> VGroup:
            options = {"size": size, "height": 0.62, **options}
            return VGroup(*(columns.token(i, y, text, **options) for i, text in enumerate(texts)))

        self.words = line(words, top, color=theme.TRAINING)
        self.open = line(["?"] * len(words), low, color=theme.MUTED, dashed=True)
        self.guesses = line(guesses, low, color=theme.MUTED)
        self.block = Block((left, middle + 0.36), (edge, middle - 0.36), color=theme.TRAINING)
        self.block.write(Phrase("Decoder", size=theme.HEADING, bold=True))
        places = [columns.x(i) for i in range(len(words))]
        self.into = VGroup(*(Wire([x, top - 0.37], [x, middle + 0.42]) for x in places))
        self.out = VGroup(*(Wire([x, middle - 0.42], [x, low + 0.37]) for x in places))
        start, turn = edge + 0.1, edge + 0.5
        self.back = Wire([start, low], [turn, low], [turn, top], [start, top])
        self.cut = cross(0.2, width=6).move_to([turn, middle, 0])
        super().__init__(self.words, self.block, self.open, self.into, self.out, self.back)
        self.add(self.cut)


class InferenceSide(VGroup):
    """The input of every round, one below the other, each one word longer, with its open place;
    what is found there stands under it in the next round. ``more``: the last round has an open
    place, too, for what is written after all these words."""

    EXTRA = 0.5  # width of that place

    def __init__(
        self,
        words: Sequence[str],
        *,
        left: float,
        right: float,
        size: float,
        top: float,
        bottom: float,
        more: bool = False,
    ) -> None:
        super().__init__()
        edge = right - self.EXTRA - 0.12 if more else right
        columns = Columns(left, edge, len(words))
        size = columns.fitting(words, size)
        rounds = len(words) - 1
        pitch = (top - bottom) / rounds
        self.rows, self.open, self.found = VGroup(), VGroup(), VGroup()
        for k in range(rounds + 1):
            y = top - pitch * k
            style = {"color": theme.INFERENCE, "size": size, "height": min(0.62, 0.68 * pitch)}
            self.rows.add(
                VGroup(*(columns.token(i, y, w, **style) for i, w in enumerate(words[: k + 1])))
            )
            style = {**style, "color": theme.MUTED}
            if k == rounds:
                if more:
                    extra = Token("?", dashed=True, width=self.EXTRA, **style)
                    self.open.add(extra.move_to([right - self.EXTRA / 2, y, 0]))
                continue
            self.open.add(columns.token(k + 1, y, "?", dashed=True, **style))
            half = style["height"] / 2 + 0.03
            x = columns.x(k + 1)
            self.found.add(
                Wire([x, y - half], [x, y - pitch + half], color=theme.INFERENCE, tip=0.13)
            )
        self.add(self.rows, self.open, self.found)
