"""How things move: from their parents, and into what takes their place.

A text never melts into another one, since nobody can read what is between the two. It moves and
scales as a whole, and where it lands it is exchanged in one frame.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

from manim import Animation, FadeIn, FadeOut, Scene, Transform, VMobject
from manim.utils.rate_functions import smooth, squish_rate_func

from .phrase import Glyphs, Number

#: Rates for what fades while something flies: gone before it sets out, there when it has arrived.
EARLY, LATE = squish_rate_func(smooth, 0, 0.4), squish_rate_func(smooth, 0.6, 1)
#: What flies is drawn above everything else.
_ABOVE = 10
#: Share of the way after which the colour changes: what will be dark on a bright cell must not be
#: dark before it is there.
_COLOUR_FROM = 0.9


class Flight(Transform):
    """``old`` moves to where ``new`` stands and is exchanged for it there.

    Texts keep their letters on the way, even where ``new`` writes them otherwise (other decimals,
    a sign, bold): only place, size and, near the end, colour change. Boxes and lines take on their
    new shape. Raises ValueError where the two hold texts but are not built alike.
    """

    def __init__(self, old: VMobject, new: VMobject, **options: Any) -> None:
        self.new = new
        self.has_landed = False
        super().__init__(old, landed(old, new), **options)

    def begin(self) -> None:
        for text in _texts(self.mobject):
            text.set_z_index(_ABOVE)
        super().begin()

    def interpolate(self, alpha: float) -> None:
        if not self.has_landed:
            super().interpolate(alpha)
            if alpha >= 1:
                # what it flies with may take longer: the exchange does not wait for that
                self.mobject.submobjects = self.new.copy().submobjects
                self.has_landed = True

    def interpolate_submobject(
        self, submobject: VMobject, start: VMobject, target: VMobject, alpha: float
    ) -> Flight:
        super().interpolate_submobject(submobject, start, target, alpha)
        share = max(0.0, (alpha - _COLOUR_FROM) / (1 - _COLOUR_FROM))
        submobject.interpolate_color(start, target, share)
        return self

    def clean_up_from_scene(self, scene: Scene) -> None:
        super().clean_up_from_scene(scene)
        scene.replace(self.mobject, self.new)


def landed(old: VMobject, new: VMobject) -> VMobject:
    """``old`` in the place of ``new``, as it looks just before the exchange."""
    if isinstance(old, Glyphs) and isinstance(new, Glyphs):
        return _landed_text(old, new)
    if not (_texts(old) or _texts(new)):
        return new.copy()
    mine, theirs = old.submobjects, new.submobjects
    if isinstance(old, Glyphs) or isinstance(new, Glyphs) or len(mine) != len(theirs):
        raise ValueError(f"{old} and {new} are not built alike: their texts cannot be paired")
    made = new.copy()
    made.submobjects = [landed(a, b) for a, b in zip(mine, theirs, strict=True)]
    return made


def _texts(mobject: VMobject) -> list[Glyphs]:
    return [member for member in mobject.get_family() if isinstance(member, Glyphs)]


def _landed_text(old: Glyphs, new: Glyphs) -> Glyphs:
    made = old.copy().scale(new.em / old.em)
    made.shift([_apart(made, new), new.midline - made.midline, 0])
    _colour_as(made, new)
    return made


def _apart(made: Glyphs, new: Glyphs) -> float:
    """How far to the right ``made`` must go so that what both texts share lies over each other."""
    if isinstance(made, Number) and isinstance(new, Number):
        return _anchor(new) - _anchor(made)
    if made.text != new.text and new.text.startswith(made.text):
        return float(new.get_left()[0] - made.get_left()[0])
    return float(new.get_x() - made.get_x())


def _anchor(number: Glyphs) -> float:
    """The x of the last digit before the point: there the digits of two ways to write a number
    lie over each other."""
    found = re.search(r"\d(?=\.|\D*$)", number.text)
    return float(number[found.start()].get_x() if found else number.get_x())


def _colour_as(made: Glyphs, new: Glyphs) -> None:
    """Glyph by glyph where it is the same text, else in the colour of its first glyph."""
    mine, theirs = (text.family_members_with_points() for text in (made, new))
    same = made.text == new.text and len(mine) == len(theirs)
    for glyph, model in zip(mine, theirs if same else [theirs[0]] * len(mine), strict=True):
        glyph.set_fill(model.get_fill_color(), opacity=model.get_fill_opacity())


def fly(parent: VMobject, child: VMobject, **options: Any) -> Animation:
    """``child`` comes from ``parent``, which stays.

    The same text, or the same value written otherwise, flies over. Anything else (a score that
    becomes its exponential, a point of a curve) sends ``child`` out from the parent's place,
    fading in on the way.
    """
    if isinstance(parent, Glyphs) and isinstance(child, Glyphs) and _says_the_same(parent, child):
        return Flight(parent.copy(), child, **options)
    return FadeIn(child, target_position=parent, **options)


def _says_the_same(one: Glyphs, other: Glyphs) -> bool:
    if isinstance(one, Number) and isinstance(other, Number):
        return math.isclose(one.scalar.exact, other.scalar.exact, rel_tol=1e-9)
    return one.text == other.text


def born_of(child: VMobject, *parents: VMobject) -> list[Animation]:
    """``child`` appears where copies of its parents have come together and vanished; they
    themselves stay."""
    leave = (FadeOut(parent.copy(), target_position=child) for parent in parents)
    return [*leave, FadeIn(child, rate_func=LATE)]


def born_each(children: Iterable[VMobject], *families: Iterable[VMobject]) -> list[Animation]:
    """:func:`born_of` for each child with its own parents, one of each family."""
    return [
        move
        for child, *parents in zip(children, *families, strict=True)
        for move in born_of(child, *parents)
    ]


def hand_over(parents: Iterable[VMobject], children: Iterable[VMobject]) -> list[Animation]:
    """Each parent flies to its child's place and is exchanged for it."""
    return [Flight(parent, child) for parent, child in zip(parents, children, strict=True)]
