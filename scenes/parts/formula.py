"""Formulas, set by Typst, with the letters of attention in their colours."""

from __future__ import annotations

import re
from collections.abc import Sequence

from manim import MathTypst

from .. import theme

_COLORS = {
    "q": theme.QUERY,
    "k": theme.KEY,
    "v": theme.VALUE,
    "m": theme.MASKED,
    "w": theme.WEIGHT,
    "u": theme.MUTED,
}


def formula(typst: str, *, size: float = 44, at: Sequence[float] = (0, 0, 0)) -> MathTypst:
    """A formula in which ``{{Q : q}}`` takes the colour of queries; likewise k, v, m, w, u."""
    made = MathTypst(typst, font_size=size).set_color(theme.INK)
    for name in set(re.findall(r":\s*(\w+)\s*\}\}", typst)):
        made.select(name).set_color(_COLORS[name])
    return made.move_to(at)
