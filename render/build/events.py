"""What a pool reports while products are being made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

from render.base.failure import Failure
from render.base.reads import Made
from render.build.product import Work

EventKind = Literal["started", "frames", "made", "failed", "lost", "line"]


@dataclass(frozen=True, slots=True)
class Event:
    """``frames``: drawn so far. ``made``: with the paths of the files in the worker's folder.
    ``lost``: the worker died silently, another try may help. ``line``: for the user."""

    step: str
    kind: EventKind
    frames: int = 0
    made: Made | None = None
    failure: Failure | None = None
    line: str = ""


class Pool(Protocol):
    """Makes products elsewhere: in processes, threads, or on a cluster. A context manager: leaving
    it by an exception ends every worker first."""

    @property
    def slots(self) -> int:
        """Works that are drawn at a time."""
        ...

    def submit(self, work: Work) -> None: ...
    def events(self, timeout: float | None = None) -> Iterator[Event]:
        """What has happened since the last call; waits for the first, at most so many seconds."""
        ...
