"""Workers on this machine: processes that draw, one for each slot, and one for everything light.

A worker that draws is forked from a process that has imported Manim, where that is safe; elsewhere
it starts from nothing. Muxes and texts are made in the threads of one worker that imports only
what they need. A worker that ends without a message is reported as lost; one that does not respond
(stopped, or out of memory) is killed and reported too. None outlives this process.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import operator
import os
import selectors
import signal
import sys
import threading
import time
import types
from collections import deque
from collections.abc import Iterator
from multiprocessing import forkserver
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import Any

from render.base.failure import Failure
from render.base.project import ROOT
from render.base.reads import Made
from render.build import worker
from render.build.events import Event
from render.build.product import Work

_FORKS = sys.platform == "linux"
#: seconds without a response after which a worker is given up
PATIENCE = 60.0
_TICK = 0.5  # seconds
_SECONDS_TO_DIE = 30.0  # after SIGKILL, where the disk hangs


class LocalPool:
    """``with LocalPool(slots, lock) as pool``. ``slots``: works that draw at a time. ``lock``: a
    descriptor that every worker holds open. Leaving the context ends all workers at once."""

    def __init__(self, slots: int, lock: int | None = None, patience: float = PATIENCE) -> None:
        self._slots = slots
        self._lock, self._patience = lock, patience
        self._waiting: deque[Work] = deque()
        self._drawing: list[_Worker] = []
        self._light: _Worker | None = None
        self._ready: deque[Event] = deque()
        self._selector = selectors.DefaultSelector()
        self._looked = time.monotonic()

    def __enter__(self) -> LocalPool:
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._alive():
            each.kill()
        self._selector.close()

    @property
    def slots(self) -> int:
        return self._slots

    @property
    def is_idle(self) -> bool:
        """Whether nothing that is drawn is waiting or under way."""
        return not (self._waiting or self._drawing or self._ready)

    def submit(self, work: Work) -> None:
        """Make a product, as soon as there is a slot for it."""
        Path(work.folder).mkdir(parents=True, exist_ok=True)
        if work.heavy:
            self._waiting.append(work)
        else:
            if self._light is None:
                self._light = self._start(forked=bool(self._drawing), alone=False)
            self._ready.append(Event(work.step, "started"))
            self._light.give(work)
        self._fill()

    def events(self, timeout: float | None = None) -> Iterator[Event]:
        """What has happened since the last call; waits for the first, at most ``timeout``
        seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        while not self._ready:
            left = _TICK if end is None else min(_TICK, end - time.monotonic())
            self._look(max(0.0, left))
            if end is not None and time.monotonic() >= end:
                break
        while self._ready:
            yield self._ready.popleft()

    def _alive(self) -> list[_Worker]:
        return [*self._drawing, *([self._light] if self._light else [])]

    def _fill(self) -> None:
        while self._waiting and len(self._drawing) < self._slots:
            work = self._waiting.popleft()
            each = self._start(forked=True, alone=True)
            self._drawing.append(each)
            each.give(work)
            self._ready.append(Event(work.step, "started"))

    def _start(self, *, forked: bool, alone: bool) -> _Worker:
        """``forked``: from the process that has imported Manim, where that is safe."""
        each = _Worker("forkserver" if forked and _FORKS else "spawn", self._lock, alone)
        self._selector.register(each.messages, selectors.EVENT_READ, each)
        return each

    def _remove(self, each: _Worker) -> int | None:
        """End a worker; returns its exit code."""
        self._selector.unregister(each.messages)
        if each is self._light:
            self._light = None
        else:
            self._drawing.remove(each)
        return each.kill()

    def _look(self, seconds: float) -> None:
        """Hear what workers say; end those that have ended, or give no sign of life."""
        for key, _ in self._selector.select(seconds):
            each = key.data
            said = each.read()
            if said is None:
                self._ended(each)
            else:
                self._ready.extend(event for message in said if (event := each.event(message)))
        now = time.monotonic()
        if now > self._looked + self._patience / 2:  # this process itself was stopped
            for each in self._alive():
                each.heard = now
        self._looked = now
        for each in self._alive():
            if now > each.heard + self._patience:
                self._lost(each, f"the worker did not respond for {self._patience:.0f} s")
        self._fill()

    def _ended(self, each: _Worker) -> None:
        """The pipe of a worker is closed."""
        each.join(10.0 if not each.steps else 1.0)
        code = self._remove(each)
        line = f"the worker exited with code {code} and no result"
        if code == -signal.SIGKILL:
            line = "the worker was killed (out of memory?)"
        self._tell_lost(each, line)

    def _lost(self, each: _Worker, line: str) -> None:
        self._remove(each)
        self._tell_lost(each, line)

    def _tell_lost(self, each: _Worker, line: str) -> None:
        failure = Failure(line, mistake=False, lost=True)
        self._ready.extend(Event(step, "lost", failure=failure) for step in each.steps)


def forget_forks() -> None:
    """End the process that workers are forked from, when they have ended: the code that it has
    imported is no longer that of the files."""
    server: Any = forkserver
    server._forkserver._stop()


class _Handed:
    """A descriptor that the process gets which this is pickled for, as a number of its own."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def __reduce__(self) -> tuple[Any, ...]:
        return operator.methodcaller("detach"), (DupFd(self._descriptor),)


class _Worker:
    """A worker process: what it was given, and its messages."""

    def __init__(self, method: str, lock: int | None, alone: bool) -> None:
        self.steps: set[str] = set()  # given and not over
        self.heard = time.monotonic()
        self._rest = b""
        theirs, self._works = os.pipe()
        self.messages, answers = os.pipe()
        os.set_blocking(self.messages, False)
        context: Any = multiprocessing.get_context(method)
        try:
            with _bare_start(method):
                held = None if lock is None else _Handed(lock)
                arguments = _Handed(theirs), _Handed(answers), held, alone
                self._process = context.Process(target=worker.main, args=arguments)
                self._process.start()
        finally:
            os.close(theirs)
            os.close(answers)

    def give(self, work: Work) -> None:
        """Have the worker make something. It is told where to read what: a pipe that nobody empties
        takes little."""
        self.steps.add(work.step)
        said = Path(work.folder) / "work.json"
        said.write_text(work.to_json(), encoding="ascii")
        with contextlib.suppress(BrokenPipeError):  # its end is noticed by its messages
            os.write(self._works, json.dumps(str(said.absolute())).encode("ascii") + b"\n")

    def read(self) -> list[dict[str, Any]] | None:
        """The messages that have come in; None at the end."""
        received = os.read(self.messages, 1 << 20)
        if not received:
            return None
        self.heard = time.monotonic()
        *lines, self._rest = (self._rest + received).split(b"\n")
        return [json.loads(line) for line in lines]

    def event(self, message: dict[str, Any]) -> Event | None:
        """A message as an event; None for a heartbeat."""
        step = message.get("step")
        if step is None:
            return None
        if "frames" in message:
            return Event(step, "frames", message["frames"])
        self.steps.discard(step)
        if "made" in message:
            return Event(step, "made", made=Made.from_json(message["made"], message["paths"]))
        return Event(step, "failed", failure=Failure(**message["failure"]))

    def join(self, seconds: float) -> None:
        """Wait for a voluntary end."""
        self._process.join(seconds)

    def kill(self) -> int | None:
        """End the worker and whatever it has started. Returns the exit code, None if nobody knows
        it."""
        process = self._process
        for kill in (os.killpg, os.kill):  # it may not lead its group yet
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(process.pid, signal.SIGKILL)
        process.join(_SECONDS_TO_DIE)
        code: int | None = process.exitcode
        for descriptor in (self._works, self.messages):
            os.close(descriptor)
        if code is not None:
            process.close()
        return code


_STARTING = threading.Lock()


@contextlib.contextmanager
def _bare_start(method: str) -> Iterator[None]:
    """While a process is started: it imports nothing from the folder that this one runs in, nor
    the program that this one is, and computes with one thread, as there is one for each core."""
    if method == "forkserver":
        multiprocessing.set_forkserver_preload(["render.build.preload"])
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    changed = {"PYTHONPATH": os.pathsep.join([*paths, str(ROOT)]), "PYTHONSAFEPATH": "1"}
    changed |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    before = {name: os.environ.get(name) for name in changed}
    own: Any = multiprocessing.current_process()
    with _STARTING:
        program, daemon = sys.modules["__main__"], own._config.pop("daemon", None)
        os.environ.update(changed)
        sys.modules["__main__"] = types.ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = program
            if daemon is not None:  # such as a worker of Dask: ours end with it all the same
                own._config["daemon"] = daemon
            for name in changed:
                os.environ.pop(name)
            os.environ.update({name: value for name, value in before.items() if value is not None})
