"""How workers are started: each from nothing, or forked from one process that has imported Manim.

Importing Manim takes longer than drawing a second of film. The nursery (``build.nursery``) does it
once for all workers of a run. It is asked over a socket, which carries the files as well.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from render.base.project import ROOT
from render.build.task import Task

Command = Callable[[Task, int], list[str]]


class Running(Protocol):
    """A worker that leads its own process group."""

    pid: int

    def wait(self, timeout: float | None = None) -> int | None:
        """The exit code, negative for a signal; None if it is not known by then."""


class Start(Protocol):
    """Starts a worker. It gets the files that messages go to, whose end tells it to go (as its
    stdin), and that holds the run's lock."""

    def __call__(self, task: Task, messages: int, stdin: int, lock: int) -> Running: ...


def can_fork() -> bool:
    """Elsewhere than on Linux system libraries do not bear it."""
    return sys.platform == "linux" and hasattr(os, "pidfd_open")


def write_task(task: Task) -> Path:
    """The task as a file for its worker."""
    path = Path(task.folder) / "task.json"
    path.write_text(task.to_json(), encoding="ascii")
    return path


def worker_command(task: Task, descriptor: int) -> list[str]:
    """How a worker for ``task`` is started by itself; writes the task's file."""
    return [sys.executable, "-m", "render.draw.worker", str(write_task(task)), str(descriptor)]


class Single:
    """Starts each worker from nothing."""

    def __init__(self, command: Command = worker_command) -> None:
        self._command = command

    def __call__(self, task: Task, messages: int, stdin: int, lock: int) -> Running:
        process = subprocess.Popen(
            self._command(task, messages),
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=task.folder,
            env=environment(),
            pass_fds=(messages, lock),
            start_new_session=True,
        )
        return _Popen(process)

    def close(self) -> None:
        """Nothing to do."""


class _Popen:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.pid = process.pid
        self._process = process

    def wait(self, timeout: float | None = None) -> int | None:
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None


class Forked:
    """Starts workers as forks of one nursery; from nothing where that is lost."""

    def __init__(self, code_kept: str) -> None:
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.codes: dict[int, int] = {}
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "render.build.nursery", str(theirs.fileno()), code_kept],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",  # nothing is imported from there
                env=environment(),
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )

    def __call__(self, task: Task, messages: int, stdin: int, lock: int) -> Running:
        asked = json.dumps({"task": str(write_task(task)), "folder": task.folder}).encode()
        try:
            socket.send_fds(self.socket, [asked], [messages, stdin, lock])
            while "pid" not in (said := self.hear(None)):
                pass
            return _Fork(self, said["pid"])
        except (OSError, EOFError):
            return Single()(task, messages, stdin, lock)

    def hear(self, timeout: float | None) -> dict[str, int]:
        """The next message: the pid of a worker, or how one ended, which is noted. Raises OSError
        after ``timeout`` seconds, or EOFError if the nursery is gone."""
        self.socket.settimeout(timeout)
        data = self.socket.recv(1000)
        if not data:
            raise EOFError
        said: dict[str, int] = json.loads(data)
        if "ended" in said:
            self.codes[said["ended"]] = said["code"]
        return said

    def close(self) -> None:
        """Let the nursery go; its workers are not touched."""
        self.socket.close()
        self._process.kill()
        self._process.wait()


class _Fork:
    def __init__(self, nursery: Forked, pid: int) -> None:
        self.pid = pid
        self._nursery = nursery

    def wait(self, timeout: float | None = None) -> int | None:
        end = None if timeout is None else time.monotonic() + timeout
        while self.pid not in self._nursery.codes:
            try:
                left = None if end is None else max(0.001, end - time.monotonic())
                self._nursery.hear(left)
            except (OSError, EOFError):
                return None
        return self._nursery.codes[self.pid]


def environment() -> dict[str, str]:
    """Ours, with the project on the path whatever folder the worker starts in.

    Each worker draws with one thread: there are as many workers as cores.
    """
    root = str(ROOT)
    paths = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    single = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    return {**os.environ, **single, "PYTHONPATH": os.pathsep.join([*paths, root])}
