"""Processes for work that is shared out within one command: audits and contact sheets."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

Job = TypeVar("Job")
Done = TypeVar("Done")


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


def end_with_parent() -> None:
    """End this process as soon as its parent is gone."""
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
