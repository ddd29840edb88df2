"""A cue: lines of text with the frames in which they are shown."""

from __future__ import annotations

from dataclasses import dataclass

from render.media.captions.rules import RULES


@dataclass(frozen=True)
class Cue:
    """``start`` is the first frame with the text, ``end`` the first without it."""

    start: int
    end: int
    lines: tuple[str, ...]

    def moved(self, frames: int) -> Cue:
        """The same cue as many frames later."""
        return Cue(self.start + frames, self.end + frames, self.lines)

    def milliseconds(self, fps: int) -> tuple[int, int]:
        """Start and end as caption files have them, never outside the cue's frames."""
        return -(-self.start * 1000 // fps), self.end * 1000 // fps

    def speed(self, fps: int, language: str) -> float:
        """Characters a second."""
        start, end = self.milliseconds(fps)
        return length(self.lines, language) * 1000 / (end - start)


def length(lines: tuple[str, ...], language: str) -> int:
    """Characters to be read."""
    return len(RULES[language].space.join(lines))
