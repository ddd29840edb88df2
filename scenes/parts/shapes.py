"""Tokens, arrows and bars."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from manim import (
    LEFT,
    ORIGIN,
    RIGHT,
    Arrow,
    Line,
    ManimColor,
    Mobject,
    Rectangle,
    RoundedRectangle,
    VGroup,
)

from .. import glyphs, theme
from ..values import Scalar, Values, Word
from .phrase import Number, Phrase


class Token(VGroup):
    """A word in a rounded box."""

    def __init__(
        self,
        text: str,
        *,
        color: ManimColor = theme.ENCODER,
        size: float = theme.HEADING,
        height: float = 0.62,
        width: float | None = None,
        filled: bool = False,
        dashed: bool = False,
    ) -> None:
        ink = theme.ink_on(color) if filled else theme.INK
        self.label = Phrase(text, size=size, color=ink, bold=True)
        self.box = RoundedRectangle(
            width=width or max(height, self.label.width + 0.36),
            height=height,
            corner_radius=0.12,
            stroke_width=2.5,
            stroke_color=color,
            fill_color=color if filled else theme.PANEL,
            fill_opacity=1,
        )
        if dashed:
            self.box.set_stroke(opacity=0.55)
        self.label.place(self.box.get_center())
        super().__init__(self.box, self.label)


def fitting(words: Sequence[str], room: float, size: float = theme.HEADING) -> float:
    """The size, at most ``size`` and at least the smallest, at which every word is no wider than
    ``room``, if there is one."""
    widest = max(Phrase(word, size=size, bold=True).width for word in words)
    return max(theme.SMALLEST, size * min(1.0, room / widest))


def is_wide(words: Sequence[str]) -> bool:
    """Whether any of the words takes more room than two Chinese characters."""
    return max(glyphs.width(word) for word in words) > 2.2 * glyphs.width("我")


def shortened(words: Sequence[str], room: float) -> list[Word]:
    """The words as they fit over columns of this width: whole, or what fits of them, ended by an
    ellipsis; where two would then look alike, each by its position."""
    made = [_cut(word, room) for word in words]
    taken = Counter(made)
    return [
        Word(text if text == word or taken[text] == 1 else str(place))
        for place, (word, text) in enumerate(zip(words, made, strict=True), start=1)
    ]


def _cut(word: str, room: float) -> str:
    """A word, or its beginning, no wider than ``room`` in bold at the smallest size."""
    text = word
    for length in range(len(word) - 1, 0, -1):
        if Phrase(Word(text), size=theme.SMALLEST, bold=True).width <= room:
            break
        text = f"{word[:length]}…"
    return text


def token_row(
    words: Sequence[str], *, gap: float = 0.22, width: float | None = None, **options: Any
) -> VGroup:
    """Tokens side by side, from left to right."""
    tokens = VGroup(*(Token(word, width=width, **options) for word in words))
    return tokens.arrange(RIGHT, buff=gap)


def arrow(
    start: Any,
    end: Any,
    *,
    color: ManimColor = theme.MUTED,
    width: float = 3,
    tip: float = 0.16,
    buff: float = 0.0,
) -> Arrow:
    """A straight arrow whose tip does not shrink with its length."""
    return Arrow(
        np.array(start, dtype=float),
        np.array(end, dtype=float),
        color=color,
        buff=buff,
        stroke_width=width,
        tip_length=tip,
        max_tip_length_to_length_ratio=1,
        max_stroke_width_to_length_ratio=1000,
    )


def hatch(
    box: Rectangle,
    *,
    spare: Mobject | None = None,
    color: ManimColor = theme.MASKED,
    pitch: float = 0.2,
) -> VGroup:
    """Diagonal lines over a box: forbidden, also for those who cannot tell red.

    The lines stop short of ``spare``, a number in the box.
    """
    left, right = box.get_left()[0], box.get_right()[0]
    bottom, height = box.get_bottom()[1], box.height
    lines = VGroup()
    start = left - height + pitch / 2
    while start < right:
        low, high = max(start, left), min(start + height, right)
        for a, b in _outside(low, high, start - bottom, spare):
            if b - a > 0.02:
                ends = [a, bottom + a - start, 0], [b, bottom + b - start, 0]
                lines.add(Line(*ends, stroke_width=1.6, color=color, stroke_opacity=0.6))
        start += pitch
    return lines


def _outside(
    low: float, high: float, drop: float, spare: Mobject | None, room: float = 0.06
) -> list[tuple[float, float]]:
    """The parts of the line ``y = x - drop`` from ``low`` to ``high`` that are not in ``spare``."""
    if spare is None:
        return [(low, high)]
    first = max(spare.get_left()[0], spare.get_bottom()[1] + drop) - room
    last = min(spare.get_right()[0], spare.get_top()[1] + drop) + room
    if first >= last:
        return [(low, high)]
    return [(low, min(high, first)), (max(low, last), high)]


class Bars(VGroup):
    """Horizontal bars, one for each value from 0 up: a label, the bar, the number.

    ``full`` is the value whose bar is ``width`` frame units long; ``decimals`` may be given for
    each value. ``strongest`` are the places of the bars that stand out, where any do.
    """

    def __init__(
        self,
        values: Values | Sequence[Scalar],
        labels: Sequence[str] = (),
        *,
        decimals: int | Sequence[int] = 3,
        width: float = 3.0,
        full: float = 1.0,
        pitch: float = 0.5,
        color: ManimColor = theme.WEIGHT,
        label_color: ManimColor = theme.INK,
        size: float = theme.SMALL,
        label_size: float = theme.BODY,
        strongest: int | Collection[int] | None = None,
    ) -> None:
        super().__init__()
        best = (strongest,) if isinstance(strongest, int) else strongest
        self.labels, self.bars, self.numbers = VGroup(), VGroup(), VGroup()
        for i, text in enumerate(labels):
            label = Phrase(text, size=label_size, color=label_color, bold=True)
            self.labels.add(label.place([0, -i * pitch, 0], align=RIGHT))
        for i, scalar in enumerate(values):
            top = best is not None and i in best
            y = -i * pitch
            length = max(0.02, width * min(1.0, scalar.exact / full))
            bar = Rectangle(
                width=length, height=pitch * 0.5, stroke_width=0, fill_color=color, fill_opacity=1
            )
            if best is not None and not top:
                bar.set_fill(opacity=0.5)
            self.bars.add(bar.move_to([0.25, y, 0], LEFT))
            ink = color if top else theme.INK
            places = decimals if isinstance(decimals, int) else decimals[i]
            number = Number(scalar, places, size=size, color=ink, bold=top)
            self.numbers.add(number.place([bar.get_right()[0] + 0.15, y, 0], align=LEFT))
        self.add(self.labels, self.bars, self.numbers).move_to(ORIGIN)

    def item(self, i: int) -> VGroup:
        return VGroup(*self.labels[i : i + 1], self.bars[i], self.numbers[i])
