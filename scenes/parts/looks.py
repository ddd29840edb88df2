"""Arcs from word to word: who looks at whom, and where looking is barred."""

from __future__ import annotations

import numpy as np
from manim import (
    OUT,
    PI,
    UP,
    ArcBetweenPoints,
    DashedVMobject,
    ManimColor,
    Mobject,
    Triangle,
    VGroup,
    angle_of_vector,
)

from .. import theme
from .flow import cross

_RISE = PI / 2.2


class Look(VGroup):
    """An arc over two words in a row, from the middle of one to the middle of the other."""

    def __init__(
        self,
        start: Mobject,
        end: Mobject,
        *,
        color: ManimColor = theme.INK,
        width: float = 4,
        gap: float = 0.12,
    ) -> None:
        self.ends = start.get_top() + gap * UP, end.get_top() + gap * UP
        self.goes_right = bool(self.ends[1][0] > self.ends[0][0])
        angle = -_RISE if self.goes_right else _RISE
        self.arc = ArcBetweenPoints(*self.ends, angle=angle, stroke_width=width, color=color)
        super().__init__(self.arc, _tip(self.arc, color))

    def barred(self, color: ManimColor = theme.MASKED) -> VGroup:
        """The same arc forbidden: red, dashed, crossed out at its top."""
        arc = self.arc.copy().set_stroke(color)
        dashed = DashedVMobject(arc, num_dashes=max(8, int(arc.get_arc_length() / 0.22)))
        return VGroup(
            dashed, _tip(arc, color), cross(0.17, width=6).move_to(arc.point_from_proportion(0.5))
        )


def _tip(arc: ArcBetweenPoints, color: ManimColor) -> Triangle:
    """A triangle whose point is the arc's end."""
    end, before = arc.get_end(), arc.point_from_proportion(0.97)
    tip = Triangle(color=color, fill_opacity=1, stroke_width=0).scale_to_fit_height(0.2)
    tip.rotate(angle_of_vector(end - before) - PI / 2, axis=OUT)
    direction = (end - before) / np.linalg.norm(end - before)
    return tip.move_to(end - 0.05 * direction)
