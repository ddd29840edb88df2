"""Trying again what failed for a passing reason, with longer and longer pauses."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from engine.errors import LectureError

Done = TypeVar("Done")


class Passing(Exception):
    """A failure that may be over soon: a dropped connection, a busy server. ``after``: seconds
    that the server asks to wait."""

    def __init__(self, reason: str, after: float = 0.0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.after = after


@dataclass
class Patience:
    """``first``: seconds of the first pause, doubled each time up to ``longest``; ``tries`` in a
    row without any progress, and it gives up."""

    tries: int = 7
    first: float = 1.0
    longest: float = 60.0
    say: Callable[[str], None] = print
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)

    def __call__(self, what: str, work: Callable[[], Done]) -> Done:
        """``work()``, again while it fails with :class:`Passing`. Raises LectureError at last."""
        failures = 0
        while True:
            try:
                return work()
            except Passing as error:
                failures += 1
                self.wait(what, error, failures)

    def wait(self, what: str, error: Passing, failures: int) -> None:
        """Pause after the ``failures``-th failure in a row. Raises LectureError after the last."""
        if failures >= self.tries:
            raise LectureError(
                where=what,
                expected="an answer",
                found=f"{error.reason}, {failures} times (what was sent is kept; try again later)",
            ) from error
        pause = min(self.longest, self.first * 2 ** (failures - 1)) * random.uniform(0.7, 1.3)
        pause = max(pause, min(error.after, 10 * self.longest))
        self.say(f"{what}: {error.reason}; again in {pause:.0f} s")
        self.sleep(pause)
