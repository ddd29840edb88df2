"""Several workers at once, the longest task first, none of them outliving this process."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from render.build.backlog import Backlog, Job
from render.build.forks import Command, Forked, Single, Start, can_fork
from render.build.task import Failure, Message, Result, Task, decode_message

_TICK = 0.5  # seconds
_SECONDS_TO_DIE = 30  # after SIGKILL, where the disk hangs


class Listener(Protocol):
    """Is told what happens, in the main thread, task by task."""

    def wanted(self, task: Task) -> bool:
        """Asked before a task is started; it is dropped if it need not be done any more."""
        ...

    def started(self, task: Task) -> None: ...
    def advanced(self, task: Task, frames: int) -> None: ...
    def ended(self, task: Task, outcome: Result | Failure) -> None: ...


def run(
    jobs: Sequence[Job],
    slots: int,
    listener: Listener,
    *,
    lock: int,
    command: Command | None = None,
    start: Start | None = None,
    tick: Callable[[], None] | None = None,
) -> None:
    """Do all jobs, at most ``slots`` at a time. A failed one does not stop the others.

    Workers are forks of one process where that is safe, unless a ``command`` is given, or a
    ``start`` that begins them, which stays open.
    ``lock`` is inherited by every worker. If this is left by an exception (Ctrl-C, or one that
    ``tick`` raises, which is called at least twice a second), all workers and their encoders are
    killed first.
    """
    backlog = Backlog(jobs)
    with (
        selectors.DefaultSelector() as selector,
        contextlib.nullcontext(start) if start else _starter(jobs, command) as starting,
        _all_killed_at_the_end() as alive,
    ):
        while backlog or alive:
            while backlog and len(alive) < slots:
                job = backlog.take()
                if not listener.wanted(job.task):
                    backlog.ended(job)
                    continue
                Path(job.task.folder).mkdir(exist_ok=True)
                worker = _Worker(job, starting, lock)
                alive.append(worker)
                selector.register(worker.messages, selectors.EVENT_READ, worker)
                listener.started(job.task)
            for key, _ in selector.select(_TICK if tick else None) if alive else ():
                worker = key.data
                for message in worker.read():
                    if isinstance(message, int):
                        listener.advanced(worker.task, message)
                    else:
                        worker.outcome = message
                if worker.closed:
                    selector.unregister(worker.messages)
                    alive.remove(worker)
                    backlog.ended(worker.job)
                    listener.ended(worker.task, worker.end())
            if tick:
                tick()


@contextlib.contextmanager
def _all_killed_at_the_end() -> Iterator[list[_Worker]]:
    alive: list[_Worker] = []
    try:
        yield alive
    finally:
        for worker in alive:
            worker.kill()


@contextlib.contextmanager
def _starter(jobs: Sequence[Job], command: Command | None) -> Iterator[Start]:
    """One worker alone is as quick from nothing."""
    if command is not None:
        yield Single(command)
    elif len(jobs) < 2 or not can_fork():
        yield Single()
    else:
        with contextlib.closing(Forked(jobs[0].task.code_kept)) as forked:
            yield forked


class _Worker:
    """A running worker process: its messages, its outcome, its end."""

    def __init__(self, job: Job, start: Start, lock: int) -> None:
        self.job = job
        self.task = task = job.task
        self.outcome: Result | Failure | None = None
        self.closed = False
        self._rest = b""
        self.messages, messages = os.pipe()
        stdin, self._stdin = os.pipe()  # its end tells the worker that we are gone
        try:
            self._process = start(task, messages, stdin, lock)
        finally:
            os.close(messages)
            os.close(stdin)

    def read(self) -> list[Message]:
        """The messages that have come in; none and ``closed`` at the end."""
        received = os.read(self.messages, 1 << 16)
        self.closed = not received
        *lines, self._rest = (self._rest + received).split(b"\n")
        return [decode_message(line) for line in lines]

    def end(self) -> Result | Failure:
        """Wait for the process; a worker that said nothing has failed."""
        code = self.kill(grace_seconds=10 if self.outcome else 1)
        if self.outcome is not None:
            return self.outcome
        if code == -signal.SIGKILL:
            return Failure("the worker was killed (out of memory?)", mistake=False, lost=True)
        line = f"the worker ended with code {code} and no result"
        return Failure(line, mistake=False, lost=True)

    def kill(self, grace_seconds: float = 0) -> int | None:
        """End the worker's whole process group, after waiting for a voluntary end. Returns the
        exit code, None if nobody knows it."""
        if grace_seconds:
            self._process.wait(grace_seconds)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        code = self._process.wait(_SECONDS_TO_DIE)
        os.close(self._stdin)
        os.close(self.messages)
        return code
