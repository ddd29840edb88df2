"""A rail with the stages of a computation, so that one knows where one is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from manim import LEFT, Line, ManimColor, RoundedRectangle, VGroup

from .. import theme
from .phrase import Phrase


class Rail(VGroup):
    """Boxes in a row from ``left`` to ``right``: the one now told is lit, those done are outlined
    in its colour."""

    def __init__(
        self,
        names: Sequence[str],
        *,
        y: float,
        color: ManimColor = theme.ENCODER,
        left: float = theme.LEFT_EDGE,
        right: float = theme.RIGHT_EDGE,
        height: float = 0.46,
        gap: float = 0.3,
        size: float = theme.SMALL,
    ) -> None:
        super().__init__()
        self.lit: int | None = None
        self._color = color
        self.labels = VGroup(
            *(Phrase(name, size=size, color=theme.MUTED, bold=True) for name in names)
        )
        free = right - left - gap * (len(names) - 1) - sum(label.width for label in self.labels)
        pad, x = free / len(names), left
        self.boxes, self.wires = VGroup(), VGroup()
        for label in self.labels:
            width = label.width + pad
            box = RoundedRectangle(
                width=width,
                height=height,
                corner_radius=0.1,
                stroke_width=2,
                stroke_color=theme.HAIRLINE,
                fill_color=theme.BACKGROUND,
                fill_opacity=1,
            )
            self.boxes.add(box.move_to([x, y, 0], LEFT))
            label.place(box.get_center())
            x += width + gap
        for one, other in zip(self.boxes, self.boxes[1:], strict=False):
            wire = Line(one.get_right(), other.get_left(), stroke_width=2, color=theme.HAIRLINE)
            self.wires.add(wire)
        self.add(self.wires, self.boxes, self.labels)

    def light(self, i: int) -> list[Any]:
        """The animations that light stage ``i`` and leave the one before it done."""
        animations: list[Any] = []
        if self.lit is not None and self.lit != i:
            box, label = self.boxes[self.lit], self.labels[self.lit]
            animations.append(box.animate.set_fill(theme.BACKGROUND).set_stroke(self._color))
            animations.append(label.animate.set_color(self._color))
        if self.lit != i:
            box, label = self.boxes[i], self.labels[i]
            animations.append(box.animate.set_fill(self._color).set_stroke(self._color))
            animations.append(label.animate.set_color(theme.ink_on(self._color)))
        self.lit = i
        return animations
