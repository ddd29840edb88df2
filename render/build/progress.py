"""What the person sees while it runs: one bar over everything, or plain lines in a pipe."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from engine.errors import one_line
from render.build.estimate import Estimate

_EVERY = 0.1  # seconds


class Screen:
    """Lines on stdout; on a terminal also a bar on stderr. Use as a context manager."""

    def __init__(self, estimate: Estimate, scenes: int, console: Console | None = None) -> None:
        self._estimate = estimate
        self._scenes = scenes
        self._ended = 0
        self._next = 0.0  # when it is shown again
        self._console = console or Console(stderr=True)
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def say(self, line: str) -> None:
        """One line that stays."""
        if self._console.is_terminal and sys.stdout.isatty():
            self._bar.console.print(
                one_line(line), markup=False, highlight=False, soft_wrap=True, emoji=False
            )
        else:
            print(one_line(line), flush=True)

    def scene_ended(self) -> None:
        self._ended += 1
        self.update()

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
            scenes=f"{self._ended} of {self._scenes} scenes",
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
