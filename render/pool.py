"""Several workers at once, the longest task first, none of them outliving this process."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from render.backlog import Backlog, Job
from render.task import Failure, Message, Result, Task, decode_message

Command = Callable[[Task, int], list[str]]
_TICK = 0.5  # seconds


class Listener(Protocol):
    """Is told what happens, in the main thread, task by task."""

    def wanted(self, task: Task) -> bool:
        """Asked before a task is started; it is dropped if it need not be done any more."""
        ...

    def started(self, task: Task) -> None: ...
    def advanced(self, task: Task, frames: int) -> None: ...
    def ended(self, task: Task, outcome: Result | Failure) -> None: ...


def worker_command(task: Task, descriptor: int) -> list[str]:
    """How a worker for ``task`` is started; writes the task's file."""
    task_file = Path(task.folder) / "task.json"
    task_file.write_text(task.to_json(), encoding="ascii")
    return [sys.executable, "-m", "render.worker", str(task_file), str(descriptor)]


def run(
    jobs: Sequence[Job],
    slots: int,
    listener: Listener,
    *,
    lock: int,
    command: Command = worker_command,
    tick: Callable[[], None] | None = None,
) -> None:
    """Do all jobs, at most ``slots`` at a time. A failed one does not stop the others.

    ``lock`` is inherited by every worker. If this is left by an exception (Ctrl-C, or one that
    ``tick`` raises, which is called at least twice a second), all workers and their encoders are
    killed first.
    """
    backlog = Backlog(jobs)
    with selectors.DefaultSelector() as selector, _all_killed_at_the_end() as alive:
        while backlog or alive:
            while backlog and len(alive) < slots:
                job = backlog.take()
                if not listener.wanted(job.task):
                    backlog.ended(job)
                    continue
                Path(job.task.folder).mkdir(exist_ok=True)
                worker = _Worker(job, command, lock)
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


class _Worker:
    """A running worker process: its messages, its outcome, its end."""

    def __init__(self, job: Job, command: Command, lock: int) -> None:
        self.job = job
        self.task = task = job.task
        self.outcome: Result | Failure | None = None
        self.closed = False
        self._rest = b""
        self.messages, theirs = os.pipe()
        try:
            self._process = subprocess.Popen(
                command(task, theirs),
                stdin=subprocess.PIPE,  # its end tells the worker that we are gone
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=task.folder,
                env=_environment(),
                pass_fds=(theirs, lock),
                start_new_session=True,
            )
        finally:
            os.close(theirs)

    def read(self) -> list[Message]:
        """The messages that have come in; none and ``closed`` at the end."""
        received = os.read(self.messages, 1 << 16)
        self.closed = not received
        *lines, self._rest = (self._rest + received).split(b"\n")
        return [decode_message(line) for line in lines]

    def end(self) -> Result | Failure:
        """Wait for the process; a worker that said nothing has failed."""
        self.kill(grace_seconds=10 if self.outcome else 1)
        code = self._process.returncode
        if self.outcome is not None:
            return self.outcome
        if code == -signal.SIGKILL:
            return Failure("the worker was killed (out of memory?)", mistake=False, lost=True)
        line = f"the worker ended with code {code} and no result"
        return Failure(line, mistake=False, lost=True)

    def kill(self, grace_seconds: float = 0) -> None:
        """End the worker's whole process group, after waiting for a voluntary end."""
        if grace_seconds:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(grace_seconds)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        assert self._process.stdin is not None
        self._process.stdin.close()
        os.close(self.messages)


def _environment() -> dict[str, str]:
    """Ours, with the project on the path whatever folder the worker starts in.

    Each worker draws with one thread: there are as many workers as cores.
    """
    root = str(Path(__file__).resolve().parent.parent)
    paths = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    single = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    return {**os.environ, **single, "PYTHONPATH": os.pathsep.join([*paths, root])}
