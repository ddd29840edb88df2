"""Was everything on screen long enough to be read?"""

from __future__ import annotations

from collections.abc import Sequence

from manim.mobject.text.typst_mobject import Typst

from render.review.audit.fault import Fault, box_of
from scenes import texts
from scenes.parts import Number
from scenes.record import Showing

#: The shortest time for anything to be seen at all, in seconds.
SHORTEST = 1.0
FORMULA = 2.5


def needed(showing: Showing, language: str) -> float:
    """Seconds that a text must stay. A label is taken in faster than a sentence is read, since
    the eye knows its place; a number at a glance."""
    text = showing.item.text
    if isinstance(showing.item.mobject, Number):
        return SHORTEST
    if isinstance(showing.item.mobject, Typst):
        return FORMULA
    speed: float = texts.READING_SPEED[language]
    return max(SHORTEST, 0.7 * len(text) / speed)


def check_times(showings: Sequence[Showing], language: str) -> list[Fault]:
    """Text that left before it could be read."""
    faults = []
    for showing in showings:
        least = needed(showing, language)
        if showing.seconds < least - 0.05:
            what = (
                f"{showing.item.text!r} is shown for {showing.seconds:.1f} s, needs {least:.1f} s"
            )
            faults.append(Fault("time", what, box_of(showing.item.mobject)).at("", showing.first))
    return faults
