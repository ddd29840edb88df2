"""A token's vector through a layer, sub-layer by sub-layer."""

from __future__ import annotations

from collections.abc import Sequence

from manim import DOWN, LEFT, Animation, Create, FadeIn, VGroup

from ..relations import Relation
from ..structure import is_pre
from ..values import Run, Values
from .flow import Wire
from .phrase import Phrase
from .strips import Strip


class Line(Strip):
    """Up to five vectors below one another fill the picture."""

    LEFT_OF_CELLS = -3.1
    TOP, PITCH, HEIGHT = 2.25, 0.98, 0.7


class TightLine(Line):
    """Up to seven: a layer with cross-attention."""

    PITCH, HEIGHT = 0.65, 0.52


_BOXES = {"self_attn": "Self-Attention", "cross_attn": "Cross-Attention", "ffn": "FFN"}
_KEYS = {"self_attn": "strip_attention", "cross_attn": "strip_cross", "ffn": "strip_ffn"}


def boxes_of(run: Run, kind: str) -> list[str]:
    """The names of a sub-layer's boxes, in their order."""
    name = _BOXES[kind]
    return ["Norm", name, "Add"] if is_pre(run) else [name, "Add & Norm"]


def strip_keys(run: Run, kind: str) -> list[str]:
    """The labels of a sub-layer's two lines: its output, and what leaves it."""
    key = _KEYS[kind]
    return [f"{key}_pre", "strip_sum"] if is_pre(run) else [key, "strip_norm"]


def _leaves(values: Values) -> str:
    return "sum and norm" if ".norm" in values.name else "sum"


class SubLayers(VGroup):
    """What goes in, and by turns a sub-layer's output and the sum, or its LayerNorm: each with its
    caption in a line of its own, the residual as a wire past the sub-layer. One more line at the
    end, for a norm after the last layer, has no wire.

    ``residuals`` are the wires' names, one for each sub-layer.
    """

    def __init__(
        self, values: Sequence[Values], captions: Sequence[Phrase], residuals: Sequence[Phrase]
    ) -> None:
        kind = Line if len(values) <= 5 else TightLine
        self.relations = [
            Relation(_leaves(goes_on), [list(x), list(change)], list(goes_on))
            for x, change, goes_on in zip(values[::2], values[1::2], values[2::2], strict=False)
        ]
        if len(values) % 2 == 0:  # the norm after the last layer
            self.relations.append(Relation("norm", [list(values[-2])], list(values[-1])))
        self.strips = [
            kind(value, caption, line, cell=1.85)
            for line, (value, caption) in enumerate(zip(values, captions, strict=True))
        ]
        x = self.strips[0].grid.get_right()[0] + 0.1
        self.wires, self.residuals = VGroup(), VGroup()
        for n, name in enumerate(residuals):
            high, low = kind.y(2 * n) - 0.12, kind.y(2 * n + 2) + 0.12
            self.wires.add(Wire([x, high], [x + 0.65, high], [x + 0.65, low], [x, low]))
            self.residuals.add(name.place([x + 0.9, kind.y(2 * n + 1), 0], LEFT))
        super().__init__(*self.strips, self.wires, self.residuals)

    def step(self, line: int) -> list[Animation]:
        """The animations that bring a line, 1 or more, and the residual that leads to it."""
        strip = self.strips[line]
        moves: list[Animation] = [FadeIn(strip.caption), FadeIn(strip.grid, shift=0.3 * DOWN)]
        if line % 2 == 0:  # the line of a norm after the last layer is odd
            n = line // 2 - 1
            moves += [Create(self.wires[n]), FadeIn(self.residuals[n])]
        return moves

    @property
    def last(self) -> Strip:
        return self.strips[-1]

    def all_but_last(self) -> VGroup:
        """Everything but the cells of the last line."""
        return VGroup(*self.strips[:-1], self.last.caption, self.wires, self.residuals)
