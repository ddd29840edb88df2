"""This process and those it starts: cores, signals, work shared out, ending with the parent."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import connection
from pathlib import Path
from types import FrameType
from typing import TypeVar

Job = TypeVar("Job")
Done = TypeVar("Done")
_CGROUP = Path("/sys/fs/cgroup")


def usable_cores(cgroup: Path = _CGROUP) -> int:
    """At least 1: the cores this process may run on, cut to the container's CPU quota."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    quota = _quota(cgroup)
    return max(1, cores if quota is None else min(cores, math.floor(quota + 0.5)))


def _quota(cgroup: Path) -> float | None:
    """Cores' worth of time that the control group grants; None without a limit."""
    try:
        allowed, period = (cgroup / "cpu.max").read_text().split()[:2]  # version 2
    except (OSError, ValueError):
        try:
            folder = cgroup / "cpu"  # version 1
            allowed = (folder / "cpu.cfs_quota_us").read_text().strip()
            period = (folder / "cpu.cfs_period_us").read_text().strip()
        except OSError:
            return None
    try:
        quota = int(allowed) / int(period)
    except (ValueError, ZeroDivisionError):
        return None
    return quota if quota > 0 else None


class Stopped(BaseException):
    """SIGTERM or SIGHUP came; ``code`` is the exit code for it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = 128 + number


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into an exception, so that everything is cleaned up."""

    def stop(number: int, _: FrameType | None) -> None:
        signal.signal(number, signal.SIG_IGN)
        raise Stopped(number)

    wanted = (signal.SIGTERM, signal.SIGHUP)
    heeded = [number for number in wanted if signal.getsignal(number) != signal.SIG_IGN]  # nohup
    before = {number: signal.signal(number, stop) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def end_with_parent() -> None:
    """End this process, one of multiprocessing's, and its process group where it leads one, as soon
    as its parent is gone."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait() -> None:
        connection.wait([parent.sentinel])
        if os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def share_out(work: Callable[[Job], Done], jobs: Sequence[Job], processes: int) -> Iterator[Done]:
    """``work`` on each job, ``processes`` at a time; results in the order of the jobs.

    ``work`` must be a function of a module. The processes end with this one, even by ``kill -9``.
    """
    if processes == 1 or len(jobs) == 1:
        yield from map(work, jobs)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        min(processes, len(jobs)), mp_context=context, initializer=end_with_parent
    ) as pool:
        yield from pool.map(work, jobs)
