"""The decoder on one side, memory on the other, and what passes between them."""

from __future__ import annotations

from collections.abc import Sequence

from manim import ManimColor, VGroup

from .. import theme
from .attention import token_column
from .flow import Block
from .grid import Grid
from .phrase import Phrase
from .shapes import arrow


class Bridge(VGroup):
    """Q comes from the words of the decoder at the left, K and V from memory at the right."""

    def __init__(self, targets: Sequence[str], sources: Sequence[str]) -> None:
        self.decoder = _station(-4.75, "Decoder", targets, theme.TRAINING)
        self.memory = _station(4.75, "Memory", sources, theme.ENCODER)
        self.middle = Block((-1.75, 1.05), (1.75, -0.75), color=theme.WEIGHT)
        self.middle.write(Phrase("Cross-attention", size=theme.HEADING, bold=True))
        self.query = _passing("Q", -3.1, -1.85, 0.15, theme.QUERY)
        self.key = _passing("K", 3.1, 1.85, 0.5, theme.KEY)
        self.value = _passing("V", 3.1, 1.85, -0.35, theme.VALUE)
        super().__init__(self.decoder, self.memory, self.middle, self.query, self.key, self.value)


def _station(x: float, name: str, words: Sequence[str], color: ManimColor) -> VGroup:
    """A panel at one end with its words in it."""
    block = Block((x - 1.6, 2.3), (x + 1.6, -1.95), color=color)
    block.write(Phrase(name, size=theme.HEADING, color=color, bold=True), up=1.72)
    return VGroup(block, token_column(words, x, 0.95, 0.78, color))


def _passing(name: str, start: float, end: float, y: float, color: ManimColor) -> VGroup:
    label = Phrase(name, size=30, color=color, bold=True)
    label.place([(start + end) / 2, y + 0.32, 0])
    return VGroup(arrow([start, y, 0], [end, y, 0], color=color, width=5, tip=0.22), label)


def projections(left: Grid, right: Grid, *names: tuple[str, ManimColor]) -> VGroup:
    """An arrow from one matrix to the next; over it and under it what is multiplied by, and what
    is added."""
    start, end = left.cells.get_right()[0] + 0.2, right.cells.get_left()[0] - 0.2
    y = left.cells.get_y()
    made = VGroup(arrow([start, y, 0], [end, y, 0], width=4, tip=0.2))
    for n, (name, color) in enumerate(names):
        label = Phrase(name, size=theme.BODY, color=color, bold=True)
        room = (end - start) / label.width
        label.scale(min(1.0, max(theme.SMALLEST / theme.BODY, room)))
        made.add(label.place([(start + end) / 2 - 0.08, y + (0.34, -0.34)[n], 0]))
    return made
