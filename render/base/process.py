"""This process and those it starts: cores, signals, work shared out, ending with the parent."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import TypeVar

Job = TypeVar("Job")
Done = TypeVar("Done")
_CGROUP = Path("/sys/fs/cgroup")
_NO_LIMIT = 1e6


def usable_cores(cgroup: Path = _CGROUP) -> int:
    """At least 1: the cores this process may run on, cut to the container's CPU quota."""
    on_linux = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if on_linux else os.cpu_count() or 1
    return max(1, min(cores, math.floor(_quota(cgroup) + 0.5)))


def _quota(cgroup: Path) -> float:
    """Cores' worth of time that the control group grants; very many without a limit."""
    old = [cgroup / "cpu" / f"cpu.cfs_{name}_us" for name in ("quota", "period")]  # version 1
    for files in ([cgroup / "cpu.max"], old):
        try:
            allowed, period = " ".join(file.read_text() for file in files).split()[:2]
            return int(allowed) / int(period) if int(allowed) > 0 else _NO_LIMIT
        except (OSError, ValueError, ZeroDivisionError):
            continue
    return _NO_LIMIT


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
    """End this process, one of multiprocessing's, as soon as its parent is gone."""
    import multiprocessing

    parent = multiprocessing.parent_process()
    if parent is not None:
        end_with(parent.sentinel)


def end_with(pipe: int) -> None:
    """End this process, and its process group where it leads one, as soon as nobody holds the
    other end of a pipe into which nothing is written."""
    from multiprocessing import connection

    def wait() -> None:
        connection.wait([pipe])
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
    import multiprocessing  # late: a run with nothing to do starts no processes
    from concurrent.futures import ProcessPoolExecutor

    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        min(processes, len(jobs)), mp_context=context, initializer=end_with_parent
    ) as pool:
        yield from pool.map(work, jobs)
