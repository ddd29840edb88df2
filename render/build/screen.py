"""What the person sees while it runs: lines, and on a terminal one bar over everything.

Frames are counted by what they take: those of larger pictures for more (``Product.work``).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping

from engine.errors import one_line

_EVERY = 0.1  # seconds
_MARGIN = 1.05  # a scene longer than foretold is taken to be this much longer than it is so far


class Estimate:
    """Counts frames over all workers. ``expected``: frames by step; ``slots``: workers at once."""

    def __init__(
        self, expected: Mapping[str, float], slots: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._expected = dict(expected)
        self._done = dict.fromkeys(expected, 0.0)
        self._running: dict[str, tuple[float, float] | None] = {}  # since the first report
        self._worked = self._drawn = 0.0  # seconds and frames of the workers that have ended
        self._ended = 0
        self.slots, self._clock = max(1, slots), clock

    @property
    def ended(self) -> str:
        """How many steps are over."""
        return f"{self._ended} of {len(self._expected)} scenes"

    @property
    def total(self) -> float:
        return sum(self._expected.values())

    @property
    def done(self) -> float:
        return sum(self._done.values())

    def start(self, step: str) -> None:
        """A step is running; one that is not expected does not count."""
        if step in self._expected:
            self._running[step] = None

    def advance(self, step: str, frames: float) -> None:
        """``frames`` of the step are done in all."""
        if step in self._running:
            if self._running[step] is None:  # the speed is measured from here: not the start-up
                self._running[step] = self._clock(), frames
            self._done[step] = frames
            if frames > self._expected[step]:
                self._expected[step] = frames * _MARGIN

    def end(self, step: str) -> None:
        """The step is over, well or not; it now counts as exactly what it did."""
        if step in self._expected:
            worked, drawn = self._work(step)
            self._worked, self._drawn = self._worked + worked, self._drawn + drawn
            self._running.pop(step, None)
            self._expected[step] = self._done[step]
            self._ended += 1

    def seconds_left(self) -> float | None:
        """Until the last worker ends, at the speed so far; None before there is a speed. No sooner
        than the longest step, nor than all of them with every worker busy."""
        running = [self._work(step) for step in self._running]
        worked = self._worked + sum(seconds for seconds, _ in running)
        drawn = self._drawn + sum(frames for _, frames in running)
        if drawn <= 0 or worked <= 0:
            return None
        left = [self._expected[step] - self._done[step] for step in self._expected]
        return max(*left, sum(left) / self.slots) * worked / drawn

    def _work(self, step: str) -> tuple[float, float]:
        """Seconds and frames of a step since its first report, if it is running."""
        first = self._running.get(step)
        return (self._clock() - first[0], self._done[step] - first[1]) if first else (0.0, 0.0)


class Screen:
    """Lines on stdout; on a terminal also a bar on stderr. Use as a context manager."""

    def __init__(self, estimate: Estimate) -> None:
        from rich.console import Console  # late: where nothing is to be done, nothing is shown
        from rich.progress import BarColumn, Progress, TextColumn

        self._estimate = estimate
        self._next = 0.0  # when it is shown again
        self._console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.fields[scenes]}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TextColumn("{task.fields[left]}"),
            console=self._console,
            transient=True,
            refresh_per_second=4,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task("", total=estimate.total, scenes="", left="")
        self.update()

    def __enter__(self) -> Screen:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def say(self, line: str) -> None:
        """One line that stays."""
        if self._console.is_terminal and sys.stdout.isatty():
            self._bar.console.print(
                one_line(line), markup=False, highlight=False, soft_wrap=True, emoji=False
            )
        else:
            print(one_line(line), flush=True)

    def update(self) -> None:
        """Show how far the estimate is, now and then."""
        if self._bar.disable or time.monotonic() < self._next:
            return
        began = time.monotonic()
        left = self._estimate.seconds_left()
        self._bar.update(
            self._task,
            completed=self._estimate.done,
            total=max(1, self._estimate.total),
            scenes=self._estimate.ended,
            left="time left: wait…" if left is None else f"about {duration(left)} left",
        )
        ended = time.monotonic()
        self._next = ended + max(_EVERY, 50 * (ended - began))  # with many jobs it takes a while


def duration(seconds: float) -> str:
    """For people: ``52 s``, ``4 min 07 s``, ``1 h 12 min``."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
