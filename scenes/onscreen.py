"""What is on the screen: text items and shapes, in the order they are drawn.

For the record of numbers and for the audits. It looks at mobjects as Manim will draw them, so a
raw ``Text`` smuggled into a scene is seen as well as our own parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from manim import Mobject, Text, VMobject
from manim.mobject.text.typst_mobject import Typst

from .parts.phrase import Glyphs, Number, Quoted

#: Fainter than this counts as not on the screen.
VISIBLE = 0.05


Box = tuple[float, float, float, float]


def box_of(*mobjects: Mobject) -> Box:
    """The box around mobjects in frame units: left, bottom, right, top. As Manim's own, by
    anchors; a point at the origin where there is nothing."""
    low = np.full(2, np.inf)
    high = np.full(2, -np.inf)
    for mobject in mobjects:
        for member in mobject.get_family():
            if len(member.points):
                for anchors in (member.points[::4, :2], member.points[3::4, :2]):
                    if len(anchors):
                        low = np.minimum(low, anchors.min(axis=0))
                        high = np.maximum(high, anchors.max(axis=0))
    if low[0] > high[0]:
        return 0.0, 0.0, 0.0, 0.0
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])


def text_of(mobject: Mobject | None) -> str | None:
    """What a text mobject says; None for anything else."""
    if isinstance(mobject, Typst):
        return str(mobject.typst_code)
    if isinstance(mobject, Glyphs | Text):
        return str(getattr(mobject, "original_text", mobject.text))
    return None


@dataclass(frozen=True)
class TextItem:
    """A piece of text: our own :class:`Glyphs`, a formula, or a raw Manim ``Text``.

    ``path`` holds its ancestors, outermost first; ``opacity`` is the largest of its glyphs.
    """

    mobject: Any
    path: tuple[Mobject, ...]
    opacity: float

    @property
    def text(self) -> str:
        return text_of(self.mobject) or ""

    @cached_property
    def box(self) -> Box:
        return box_of(self.mobject)

    @cached_property
    def midline(self) -> float:
        """Height of the line through the middle of digits and capitals; of the middle for what
        is not set by us."""
        own = isinstance(self.mobject, Glyphs)
        return self.mobject.midline if own else (self.box[1] + self.box[3]) / 2

    @cached_property
    def em(self) -> float:
        """The em in frame units; the height for what is not set by us."""
        return self.mobject.em if isinstance(self.mobject, Glyphs) else self.box[3] - self.box[1]


@dataclass(frozen=True)
class Shape:
    """Anything else that is drawn: a box, a line, an arrow tip."""

    mobject: VMobject
    path: tuple[Mobject, ...]

    @cached_property
    def box(self) -> Box:
        return box_of(self.mobject)


Item = TextItem | Shape


def glyph_opacity(mobject: Mobject) -> float:
    """The largest fill opacity of a mobject's outlines."""
    return max(
        (
            float(max(member.get_fill_opacity(), 0.0))
            for member in mobject.get_family()
            if isinstance(member, VMobject) and member.has_points()
        ),
        default=0.0,
    )


def is_drawn(mobject: VMobject) -> bool:
    """Whether the mobject itself (not its parts) leaves ink."""
    if not mobject.has_points():
        return False
    filled = float(mobject.get_fill_opacity()) > VISIBLE
    stroked = float(mobject.get_stroke_opacity()) > VISIBLE and mobject.get_stroke_width() > 0
    return filled or stroked


def items(mobjects: list[Mobject], path: tuple[Mobject, ...] = ()) -> Iterator[Item]:
    """Every visible text item and shape below ``mobjects``, parents before children."""
    for mobject in mobjects:
        if isinstance(mobject, (Glyphs, Text, Typst)):
            opacity = glyph_opacity(mobject)
            if opacity > VISIBLE:
                yield TextItem(mobject, path, opacity)
            continue
        if isinstance(mobject, VMobject) and is_drawn(mobject):
            yield Shape(mobject, path)
        yield from items(mobject.submobjects, (*path, mobject))


def in_drawing_order(mobjects: list[Mobject]) -> list[Item]:
    """Visible items, farthest back first: as the Cairo camera draws them (by z_index, stable)."""
    return sorted(items(mobjects), key=lambda item: getattr(item.mobject, "z_index", 0))


def numbers_of(item: TextItem) -> Iterator[Number | Quoted]:
    """The traceable numbers of a text item: itself, or those quoted in a sentence."""
    if isinstance(item.mobject, Number):
        yield item.mobject
        return
    for member in item.mobject.submobjects:
        if isinstance(member, Quoted):
            yield member
