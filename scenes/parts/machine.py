"""The whole model in one picture: an upper lane that reads, a lower lane that writes, the memory
between them, and the data on every wire."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from manim import (
    DOWN,
    LEFT,
    Animation,
    ManimColor,
    VGroup,
    interpolate_color,
    squish_rate_func,
    there_and_back,
)

from .. import theme
from ..structure import has_final_norm, is_placed, outputs
from ..texts import Template
from ..values import Run, Scalar
from .flow import Block, Wire, shape_of
from .light import Beam
from .miniature import Fill, Miniature, Parcel, share_fill
from .phrase import Number, Phrase
from .shapes import Token

PITCH = 0.2
TOP_Y, LOW_Y = 1.6, -0.75
#: Edges of the token columns, of the first and of the last block.
TOKENS = -6.54, -5.5
FIRST, LAST = -4.46, 4.3
EMBEDDING, LAYER = 1.58, 1.28
HEIGHT = 1.2
OUTPUT_X = 5.72


def places(layers: int) -> list[tuple[float, float]]:
    """Left and right edges of the blocks: embedding, ``layers`` layers, output."""
    start = FIRST + EMBEDDING
    step = (LAST - start) / (layers + 1)
    width = min(LAYER, step * 0.55)
    ends = [start + step * (i + 1) for i in range(layers + 1)]
    return [(FIRST, start), *((end - width, end) for end in ends)]


def stack(words: Sequence[str], y: float, color: ManimColor) -> VGroup:
    """Tokens one above the other at the left margin, centred at a height."""
    left, right = TOKENS
    pitch = min(0.42, 1.68 / len(words))
    widest = max(Phrase(word, size=theme.SMALL, bold=True).width for word in words)
    size = max(theme.SMALLEST, theme.SMALL * min(1.0, (right - left - 0.16) / widest))
    tokens = VGroup()
    for i, word in enumerate(words):
        token = Token(word, color=color, size=size, height=pitch - 0.06, width=right - left)
        top = y + pitch * (len(words) - 1) / 2
        tokens.add(token.move_to([(left + right) / 2, top - pitch * i, 0]))
    return tokens


def centred(text: str, width: float) -> VGroup:
    """The lines of a block's name, one below the other."""
    lines = VGroup(*(Phrase(line, size=22, bold=True) for line in text.split("\n")))
    for i, line in enumerate(lines):
        line.place([0, -0.34 * i, 0])
    return lines.scale(width / lines.width) if lines.width > width else lines


class Lane(VGroup):
    """Tokens, then blocks in a row, a wire before each, and a parcel on each wire between."""

    def __init__(
        self,
        run: Run,
        names: Sequence[str],
        words: Sequence[str],
        blocks: Sequence[tuple[str, tuple[float, float]]],
        *,
        y: float,
        color: ManimColor,
        count: Scalar,
        ids: Phrase,
        title: Phrase,
    ) -> None:
        self.level = y
        self.tokens = stack(words, y, color)
        self.title = title.place([self.tokens.get_x(), self.tokens.get_top()[1] + 0.22, 0])
        self.blocks, self.wires, self.parcels = VGroup(), VGroup(), VGroup()
        start = TOKENS[1]
        for text, (left, right) in blocks:
            self.wires.add(Wire([start + 0.06, y], [left - 0.04, y]))
            block = Block((left, y + HEIGHT / 2), (right, y - HEIGHT / 2), color=color)
            block.add(centred(text, right - left - 0.16).move_to(block))
            self.blocks.add(block.set_z_index(2))
            start = right
        self.ids = VGroup(Number(count, 0, size=theme.SMALL), ids)
        for piece, up in zip(self.ids, (0.22, -0.24), strict=True):
            piece.place([(TOKENS[1] + FIRST) / 2 - 0.08, y + up, 0])
        for name, before, after in zip(names, blocks, blocks[1:], strict=False):
            self.parcels.add(parcel(run, name, (before[1][1] + after[1][0]) / 2 - 0.05, y))
        super().__init__(self.tokens, self.title, self.ids)
        self.add(self.wires, self.blocks, self.parcels)

    @property
    def rows(self) -> int:
        return len(self.parcels[0].data.rows)

    def pieces(self) -> list[VGroup]:
        """Wire, block, wire with its parcel, block, … in the order of the flow."""
        wires = [VGroup(self.wires[0], self.ids)]
        wires += [VGroup(*pair) for pair in zip(self.wires[1:], self.parcels, strict=False)]
        return [piece for pair in zip(wires, self.blocks, strict=True) for piece in pair]

    def light(self, until: float, color: ManimColor, rows: int = 0) -> list[Animation]:
        """The tokens light up, then light runs to ``until``, each block aglow as it passes; as
        many tokens and strands as the parcels have rows, or ``rows``."""
        rows = rows or self.rows
        ends = [FIRST - 0.34, self.level], [until, self.level]
        beam = Beam(*ends, color=color, rows=rows, pitch=PITCH, start=0.12)
        rate = squish_rate_func(there_and_back, 0, 0.3)
        lit = interpolate_color(theme.PANEL, color, 0.5)
        tokens = [t.box.animate(rate_func=rate).set_fill(lit) for t in self.tokens[:rows]]
        return [*tokens, *beam.flashes(), *(beam.pulse(block) for block in self.blocks)]


def parcel(run: Run, name: str, x: float, y: float, fill: Fill | None = None) -> Parcel:
    """A matrix on a wire, in front of the light."""
    made = Parcel(run, name, pitch=PITCH, fill=fill, size=theme.SMALLEST)
    return made.at(x, y).set_z_index(2)


class Memory(VGroup):
    """The encoder's result, larger, with its name, and the wire to the layers that look into it."""

    def __init__(self, run: Run, left: float, takers: Sequence[float]) -> None:
        self.data = Miniature(run["memory"], pitch=0.25)
        self.data.move_to([left + 0.42, TOP_Y, 0], LEFT).set_z_index(2)
        self.wire = Wire([left + 0.06, TOP_Y], [left + 0.38, TOP_Y])
        middle = float(self.data.get_x())
        self.title = Phrase("memory", size=theme.BODY, color=theme.ENCODER, bold=True)
        self.title.place([middle, self.data.get_top()[1] + 0.24, 0])
        sizes = (run.size("memory", axis) for axis in (0, 1))
        self.shape = shape_of(*sizes, size=theme.SMALLEST, color=theme.MUTED)
        self.shape.next_to(self.data, DOWN, buff=0.13)
        bend, low = TOP_Y - 1.3, LOW_Y + HEIGHT / 2
        start = [middle, self.shape.get_bottom()[1] - 0.08]
        self.paths = [
            (start, [middle, bend], [x, bend], [x, low + 0.05]) for x in takers if x < middle
        ]
        self.bridges = VGroup(*(Wire(*path, color=theme.ENCODER) for path in self.paths))
        self.carried = Phrase(Template("<k>K</k>, <v>V</v>"), size=theme.SMALL, bold=True)
        self.carried.place([(middle + max(takers, default=middle)) / 2, bend + 0.19, 0])
        super().__init__(self.wire, self.data, self.title, self.shape, self.bridges, self.carried)

    def light(self, **window: Any) -> list[Animation]:
        """Light over the bridges."""
        beams = [Beam(*path, color=theme.ENCODER, tail=0.9, **window) for path in self.paths]
        return [flash for beam in beams for flash in beam.flashes()]


class Machine:
    """All of the model: both lanes, the memory, the frame around what is inside, and the wire to
    the probabilities. ``text`` gives the names, by key."""

    def __init__(self, run: Run, text: Callable[[str], str]) -> None:
        encoder, decoder = run.layers("encoder"), run.layers("decoder")
        self._run, self._text = run, text
        self._columns = places(max(len(encoder), len(decoder)))
        self.encoder = self._lane("encoder", "source", TOP_Y, theme.ENCODER)
        self.decoder = self._lane("decoder", "target", LOW_Y, theme.MUTED)
        asking = [i for i, kinds in enumerate(decoder) if "cross_attn" in kinds]
        middles = [sum(edges) / 2 for edges in self._columns[1:]]
        last = self._columns[len(encoder)][1]
        self.memory = Memory(run, last, [middles[i] for i in asking])
        self.frame = Block((FIRST - 0.16, 2.7), (LAST + 0.16, LOW_Y - 0.84)).box
        self.frame.set_fill(opacity=0)
        self.title = Phrase("Transformer", size=theme.SMALL, bold=True, color=theme.MUTED)
        self.title.place([FIRST, 2.46, 0], LEFT)
        self.out_wire = Wire([LAST + 0.06, LOW_Y], [OUTPUT_X - 0.9, LOW_Y])

    def _lane(self, side: str, words: str, y: float, color: ManimColor) -> Lane:
        """Tokens and blocks of a side; the output's block ends the decoder's."""
        run, text = self._run, self._text
        layers = len(run.layers(side))
        names = [f"{side.capitalize()}\nL{i + 1}" for i in range(layers)]
        if has_final_norm(run, side):
            names[-1] += f"\n+ {text('block_norm')}"
        first = text("block_embedding" if is_placed(run) else "block_embedding_none")
        blocks = list(zip([first, *names], self._columns, strict=False))
        if side == "decoder":
            blocks.append((text("block_output"), self._columns[-1]))
        return Lane(
            run,
            outputs(run, side),
            run.source if side == "encoder" else run.target,
            blocks,
            y=y,
            color=color,
            count=run.size(f"{words}.ids", 0),
            ids=Phrase(text("ids"), size=theme.SMALLEST, color=theme.MUTED),
            title=Phrase(text(words), size=theme.SMALLEST, color=theme.MUTED),
        )

    def output(self, run: Run, color: ManimColor) -> Parcel:
        """The probabilities at the end of the lower lane."""
        return parcel(run, "probabilities", OUTPUT_X, LOW_Y, share_fill(color))

    def reading(self) -> list[Animation]:
        """Light through the encoder."""
        return self.encoder.light(self.memory.data.get_right()[0], theme.ENCODER)

    def writing(self, color: ManimColor, rows: int = 0) -> list[Animation]:
        """Light over the bridge and through the decoder."""
        until = self.out_wire.get_right()[0]
        return [*self.memory.light(end=0.45), *self.decoder.light(until, color, rows)]

    def everything(self) -> VGroup:
        """The machine at rest."""
        return VGroup(
            self.frame, self.title, self.encoder, self.decoder, self.memory, self.out_wire
        )
