"""Which frames of a scene one process draws and encodes, where several share it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


def _nothing() -> None:
    pass


def _no_parts() -> list[Path]:
    return []


@dataclass(frozen=True)
class Share:
    """The frames ``first`` to ``end``, which is not among them, None for the end of the scene.

    ``rest`` waits for the videos that follow; ``done`` is called when all frames are written.
    """

    first: int = 0
    end: int | None = None
    rest: Callable[[], list[Path]] = _no_parts
    done: Callable[[], None] = _nothing

    def overlap(self, place: int, count: int) -> int:
        """How many of the ``count`` frames from ``place`` on are in the share."""
        end = place + count if self.end is None else min(self.end, place + count)
        return max(0, end - max(place, self.first))

    def is_over(self, place: int) -> bool:
        """Whether the share ends at or before the frame ``place``, with nothing left to do."""
        return self.done is not _nothing and self.end is not None and place >= self.end
