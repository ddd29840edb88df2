"""The two sides of the generation loop: the encoder with its memory, and the decoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from manim import LEFT, RIGHT, UP, VGroup

from .. import theme
from ..values import Run
from .flow import Block, Mask, Wire, shape_of
from .grid import Grid, outline
from .phrase import Phrase, row
from .shapes import Bars, Token, fitting, is_wide, token_row

#: Height of the words that go in, of source and target, and the left edge of the decoder.
WORDS_Y = 2.25
DECODER_X = -2.95
#: Between the words beside a table of keys and its cells.
LABEL_GAP = 0.24
_SOURCE_X = -5.2


def lines_of(text: str, *, pitch: float = 0.38, width: float = 9, **options: Any) -> VGroup:
    """A label of several lines, left edges one below the other, no wider than ``width``."""
    lines = VGroup(*(Phrase(line, **options) for line in text.split("\n")))
    for index, line in enumerate(lines):
        line.place([0, -pitch * index, 0], LEFT)
    if lines.width > width:
        lines.scale(width / lines.width)
    return lines


class SourceSide(VGroup):
    """Source words, encoder and memory in a column: at home in the loop, at the far left."""

    def __init__(self, run: Run, once: str) -> None:
        self.words = token_row(run.source, gap=0.1, height=0.56, size=theme.BODY)
        if self.words.width > 2.7 and is_wide(run.source):
            self.words = _in_two_rows(run.source)
        self.words.move_to([_SOURCE_X, WORDS_Y, 0])
        if self.words.width > 2.7:
            self.words.scale(2.7 / self.words.width)
        self.block = Block((-6.4, 1.5), (-4.0, 0.55), color=theme.ENCODER)
        self.block.write(Phrase("Encoder", size=theme.HEADING, bold=True), 0.17)
        self.block.write(Phrase(once, size=theme.SMALL), -0.24)
        memory = run["memory"]
        rows, columns = memory.shape
        cell = (2.4 / columns - 0.05, 1.5 / rows - 0.05)
        grid = Grid.signed(memory, cell=cell, size=theme.SMALLEST)
        self.cells = grid.cells.move_to([_SOURCE_X, -1.18, 0])
        self.title = memory_name(run, theme.BODY).move_to([_SOURCE_X, -0.19, 0])
        self.wires = VGroup(
            Wire([_SOURCE_X, 1.93], [_SOURCE_X, 1.54]), Wire([_SOURCE_X, 0.51], [_SOURCE_X, 0.03])
        )
        super().__init__(self.words, self.block, self.cells, self.title, self.wires)


def _in_two_rows(words: Sequence[str]) -> VGroup:
    """Tokens in two rows, as high as one of usual height."""
    half = (len(words) + 1) // 2
    size, made = fitting(words, 0.95, theme.SMALL), VGroup()
    for i, word in enumerate(words):
        token = Token(word, size=size, height=0.32, width=1.25)
        made.add(token.move_to([1.35 * (i % half), -0.38 * (i // half), 0]))
    return made


class SourceStage(VGroup):
    """The same from left to right, large, with the numbers of the memory."""

    def __init__(self, run: Run, home: SourceSide) -> None:
        y = 0.35
        self.words = home.words.copy().scale(1.25).move_to([theme.LEFT_EDGE, y, 0], LEFT)
        self.block = home.block.copy().scale(1.25).move_to([-1.15, y, 0])
        memory = run["memory"]
        width = 4.4 / memory.shape[1] - 0.05
        self.grid = Grid.signed(
            memory,
            rows=run.source,
            decimals=2,
            cell=(width, 0.66),
            size=theme.BODY,
            row_color=theme.ENCODER,
        )
        self.grid.move_to([theme.RIGHT_EDGE, y, 0], RIGHT)
        self.title = memory_name(run, 30)
        self.title.next_to(self.grid.cells, UP, buff=0.25)
        left, right = self.block.get_left()[0], self.block.get_right()[0]
        self.wires = VGroup(
            Wire([self.words.get_right()[0] + 0.08, y], [left - 0.08, y]),
            Wire([right + 0.08, y], [self.grid.get_left()[0] - 0.12, y], color=theme.ENCODER),
        )
        super().__init__(self.words, self.block, self.grid, self.title, self.wires)


def memory_name(run: Run, size: float) -> VGroup:
    """``memory 4 × 4``, sizes from the trace."""
    name = Phrase("memory", size=size, color=theme.ENCODER, bold=True)
    sizes = shape_of(run.size("memory", 0), run.size("memory", 1), size=size)
    return VGroup(*row(name, *sizes, gap=0.12))


class DecoderSide(VGroup):
    """The decoder's box, with the masked self-attention and the cross-attention in it."""

    def __init__(self, masked: str, cross: str) -> None:
        inside: dict[str, Any] = {"fill": theme.BACKGROUND, "stroke": 1.5}
        self.block = Block((DECODER_X, 1.5), (0.95, -1.93), color=theme.INFERENCE)
        self.block.write(Phrase("Decoder", size=theme.HEADING, bold=True), 1.42)
        self.masked = Block((DECODER_X + 0.18, 0.88), (0.77, -0.64), **inside)
        self.cross = Block((DECODER_X + 0.18, -0.8), (0.77, -1.75), **inside)
        name = lines_of(masked, width=1.75)
        self.masked.add(name.move_to([DECODER_X + 0.36, 0.72, 0], UP + LEFT))
        self.cross.write(Phrase(cross))
        super().__init__(self.block, self.masked, self.cross)

    def mask(self, run: Run, longest: int) -> VGroup:
        """A round's mask, its size, and a ring around its last row; room for ``longest`` rows."""
        doors = Mask(run["decoder.mask"], cell=min(0.4, 1.32 / longest - 0.05))
        doors.move_to([0.66 - 1.3, 0.77, 0], UP + LEFT)
        size = shape_of(*(run.size("decoder.mask", axis) for axis in (0, 1)), size=theme.BODY)
        size.move_to([DECODER_X + 0.36, -0.4, 0], LEFT)
        return VGroup(doors, size, outline(doors.row(-1), stroke=2.5))

    def words(self, words: Sequence[str]) -> VGroup:
        """The input row above the decoder."""
        tokens = token_row(words, gap=0.16, color=theme.INFERENCE)
        return tokens.move_to([DECODER_X, WORDS_Y, 0], LEFT)

    def slot(self, words: Sequence[str]) -> Token:
        """The open place after those words."""
        slot = Token("?", color=theme.MUTED, dashed=True)
        return slot.next_to(self.words(words), RIGHT, buff=0.16)


class NextWords(Bars):
    """The likeliest words after the last row of a run, and the wanted one, in gold."""

    def __init__(self, run: Run, wanted: str, *, most: int = 4, **options: Any) -> None:
        last, logits = run["probabilities"][-1], run["logits"][-1]
        order = sorted(range(len(last)), key=lambda i: -logits[i].exact)
        target = run.vocabulary.index(wanted)
        shown = order[: most - 1]
        shown += [target] if target not in shown else order[most - 1 : most]
        super().__init__(
            [last[i] for i in shown],
            [run.vocabulary[i] for i in shown],
            full=last[order[0]].exact,
            color=theme.INFERENCE,
            size=theme.BODY,
            strongest=0,
            **options,
        )
        self.wanted = self.labels[shown.index(target)].set_color(theme.WEIGHT)


def table_of_round(run: Run, name: Phrase, place: Sequence[float], room: float) -> dict[str, Any]:
    """A round in a table of rounds: its mask above, below it the keys of its words (first layer,
    first head); all but the newest muted, the newest with a ring. Cells begin at ``place``."""
    x, top = place[0], place[1]
    part = run["decoder.0.self_attn.k"][0]
    width = room / part.shape[1] - 0.05
    keys = Grid.signed(
        part,
        rows=run.target,
        cell=(width, min(0.56, 2.05 / part.shape[0] - 0.05)),
        size=theme.BODY,
        decimals=3,
        row_color=theme.INFERENCE,
    )
    keys.shift([x - keys.cells.get_left()[0], top - 2.12 - keys.cells.get_top()[1], 0])
    room_left = x - theme.LEFT_EDGE - LABEL_GAP
    narrower = min(1.0, room_left / max(label.width for label in keys.row_labels))
    for label in keys.row_labels:
        label.scale(narrower, about_point=[label.get_right()[0], label.midline, 0])
    for i in range(part.shape[0] - 1):
        keys.row_cells(i).set_fill(theme.PANEL)
        VGroup(keys.row_numbers(i), keys.row_labels[i]).set_color(theme.MUTED)
    doors = Mask(run["decoder.mask"], cell=min(0.42, 1.41 / part.shape[0] - 0.05))
    doors.move_to([x, top, 0], UP + LEFT)
    sizes = shape_of(*(run.size("decoder.mask", axis) for axis in (0, 1)), color=theme.MUTED)
    sizes.next_to(doors, RIGHT, buff=0.25)
    name.place([x, top + 0.4, 0], LEFT)
    new = outline(keys.row_cells(-1), color=theme.INFERENCE)
    return {"head": name, "mask": VGroup(doors, sizes), "keys": keys, "new": new}
