"""What an audit finds, and whether everything on screen was there long enough to be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from manim.mobject.text.typst_mobject import Typst

from scenes import texts
from scenes.onscreen import Box, box_of
from scenes.parts.phrase import Number
from scenes.record import Showing

#: The shortest time for anything to be seen at all, and for a formula, in seconds.
SHORTEST, FORMULA = 1.0, 2.5


@dataclass(frozen=True)
class Fault:
    """What is wrong, in words, and where: ``box`` is (left, bottom, right, top) in frame units;
    ``beat`` and ``time`` (seconds) are filled in by the audit."""

    kind: str
    what: str
    box: Box | None = None
    beat: str = ""
    time: float = 0.0

    def at(self, beat: str, time: float) -> Fault:
        return replace(self, beat=beat, time=time)

    def __str__(self) -> str:
        return f"{self.kind:<9} {self.beat:<14} {self.time:6.1f} s  {self.what}"


def check_times(showings: Sequence[Showing], language: str) -> Iterator[Fault]:
    """Text that left before it could be read. A label is taken in faster than a sentence is read,
    since the eye knows its place; a number at a glance."""
    for showing in showings:
        item, least = showing.item, SHORTEST
        if isinstance(item.mobject, Typst):
            least = FORMULA
        elif not isinstance(item.mobject, Number):
            least = max(SHORTEST, 0.7 * len(item.text) / texts.READING_SPEED[language])
        if showing.seconds < least - 0.05:
            what = f"{item.text!r} is shown for {showing.seconds:.1f} s, needs {least:.1f} s"
            yield Fault("time", what, box_of(item.mobject), time=showing.first)
