"""What an audit finds."""

from __future__ import annotations

from dataclasses import dataclass

from scenes.onscreen import Box, box_of


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


__all__ = ["Box", "Fault", "box_of"]
