"""How far a job list is and how long it will still take, from the frames drawn so far.

Where qualities are mixed, frames are counted by what they take: ``WEIGHTS``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

#: time that a frame takes, in frames of draft quality (scene 9: 3.6 ms, in standard 5.2 ms)
WEIGHTS = {"draft": 1.0, "standard": 1.5, "high": 1.5, "4k": 4.0}
_MARGIN = 1.05  # a scene longer than foretold is taken to be this much longer than it is so far


class Estimate:
    """Counts frames over all workers. ``expected``: frames by task; ``slots``: workers at once."""

    def __init__(
        self,
        expected: Mapping[str, float],
        slots: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._expected = dict(expected)
        self._done = dict.fromkeys(expected, 0.0)
        self._running: dict[str, tuple[float, float] | None] = {}  # since the first report
        self._worked = 0.0  # seconds and frames of the workers that have ended, likewise
        self._drawn = 0.0
        self.slots = max(1, slots)
        self._clock = clock

    @property
    def total(self) -> float:
        return sum(self._expected.values())

    @property
    def done(self) -> float:
        return sum(self._done.values())

    def start(self, task: str) -> None:
        self._running[task] = None

    def advance(self, task: str, frames: float) -> None:
        """``frames`` of the task are done in all."""
        if self._running[task] is None:  # the speed is measured from here on: not the start-up
            self._running[task] = self._clock(), frames
        self._done[task] = frames
        if frames > self._expected[task]:
            self._expected[task] = frames * _MARGIN

    def end(self, task: str) -> None:
        """The task is over, well or not; it now counts as exactly what it did."""
        worked, drawn = self._work(task)
        self._worked += worked
        self._drawn += drawn
        del self._running[task]
        self._expected[task] = self._done[task]

    def seconds_left(self) -> float | None:
        """Until the last worker ends, at the speed so far; None before there is a speed.

        Waiting tasks are dealt to the workers longest first, as they really will be.
        """
        running = [self._work(task) for task in self._running]
        worked = self._worked + sum(seconds for seconds, _ in running)
        drawn = self._drawn + sum(frames for _, frames in running)
        if drawn <= 0 or worked <= 0:
            return None
        left = {task: self._expected[task] - self._done[task] for task in self._expected}
        lanes = [left[task] for task in self._running]
        lanes += [0.0] * (self.slots - len(lanes))
        waiting = [frames for task, frames in left.items() if task not in self._running and frames]
        for frames in sorted(waiting, reverse=True):
            lanes[lanes.index(min(lanes))] += frames
        return max(lanes) * worked / drawn

    def _work(self, task: str) -> tuple[float, float]:
        """Seconds and frames of a running task since its first report."""
        first = self._running[task]
        if first is None:
            return 0.0, 0.0
        return self._clock() - first[0], self._done[task] - first[1]
