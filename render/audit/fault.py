"""What an audit finds."""

from __future__ import annotations

from dataclasses import dataclass

from manim import Mobject

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Fault:
    """One fault: its kind, what is wrong in words, and where on the frame.

    ``box`` is (left, bottom, right, top) in frame units; ``beat`` and ``time`` are filled in by
    the sweep.
    """

    kind: str
    what: str
    box: Box | None = None
    beat: str = ""
    time: float = 0.0

    def at(self, beat: str, time: float) -> Fault:
        return Fault(self.kind, self.what, self.box, beat, time)


def box_of(*mobjects: Mobject) -> Box:
    """The bounding box of mobjects in frame units."""
    return (
        float(min(m.get_left()[0] for m in mobjects)),
        float(min(m.get_bottom()[1] for m in mobjects)),
        float(max(m.get_right()[0] for m in mobjects)),
        float(max(m.get_top()[1] for m in mobjects)),
    )
