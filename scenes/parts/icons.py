"""Small drawings that stand for a state."""

from __future__ import annotations

from manim import PI, UP, Arc, Circle, Line, ManimColor, RoundedRectangle, VGroup, VMobject

from .. import theme


class Lock(VGroup):
    """A closed padlock, ``height`` frame units high: what it stands by does not change."""

    def __init__(self, color: ManimColor = theme.MUTED, height: float = 0.6) -> None:
        body = RoundedRectangle(
            width=0.74, height=0.56, corner_radius=0.09, stroke_width=0, fill_opacity=1
        ).set_fill(color)
        top = body.get_top()
        shackle = Arc(radius=0.22, start_angle=0, angle=PI, stroke_width=0)
        shackle.move_arc_center_to(top + 0.16 * UP)
        legs = VGroup(
            *(Line([x, top[1], 0], [x, top[1] + 0.17, 0], stroke_width=0) for x in (-0.22, 0.22))
        )
        hole = Circle(0.075, stroke_width=0, fill_opacity=1).set_fill(theme.BACKGROUND)
        super().__init__(legs, shackle, body, hole.move_to(body))
        self.scale(height / self.height)
        width = 9 * height
        legs.set_stroke(color, width=width)
        shackle.set_stroke(color, width=width)


def tick(color: ManimColor = theme.WEIGHT, height: float = 0.26) -> VMobject:
    """A check mark: what it stands by is right."""
    strokes = VMobject(stroke_color=color, stroke_width=5, fill_opacity=0)
    return strokes.set_points_as_corners(
        [[-0.5 * height, 0, 0], [-0.1 * height, -0.45 * height, 0], [0.6 * height, 0.5 * height, 0]]
    )
