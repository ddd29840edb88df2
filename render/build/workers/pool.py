"""Workers on this machine: processes that draw, one for each slot, and one for everything light.

A worker that draws is forked from a process that has imported Manim, where that is safe; elsewhere
it starts from nothing. Muxes and texts are made in the threads of one worker that imports only
what they need. A worker that ends without a message is reported as lost; one that does not respond
(stopped, or out of memory) is killed and reported too. None outlives this process.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import queue
import signal
import sys
import threading
import types
from collections.abc import Iterator, MutableMapping
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from engine.errors import from_os_error
from render.base.failure import Failure
from render.base.project import ROOT
from render.build.product import Work
from render.build.workers import worker
from render.build.workers.worker import Event

#: seconds without a response after which a worker is given up
PATIENCE = 60.0
_SECONDS_TO_DIE = 30.0  # after SIGKILL, where the disk hangs
#: of the lists and settings that all threads of this process start and end processes with
_STARTING = threading.Lock()


class LocalPool:
    """``with LocalPool(slots, lock) as pool``. ``slots``: works that draw at a time. ``lock``: a
    descriptor that every worker holds open. ``forks``: whether what was imported by the process
    that workers are forked from is what the files have now. Leaving the context ends all workers
    at once."""

    def __init__(
        self, slots: int, lock: int | None = None, patience: float = PATIENCE, forks: bool = True
    ) -> None:
        self.slots, self._lock, self._patience = slots, lock, patience
        self._forks = forks and sys.platform == "linux"
        self._said: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._waiting: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        self._alive: set[_Worker] = set()
        self._light: _Worker | None = None
        self._changing = threading.Lock()  # of the two
        self._is_left = False

    def __enter__(self) -> LocalPool:
        for _ in range(self.slots):
            threading.Thread(target=self._draw, daemon=True).start()
        return self

    def __exit__(self, *told: object) -> None:
        with self._changing:
            self._is_left = True
            alive = list(self._alive)
        for each in alive:
            each.kill()
        for _ in range(self.slots):
            self._waiting.put(None)  # the end of a slot
        for each in alive:
            each.ended.wait(_SECONDS_TO_DIE)

    def submit(self, work: Work) -> None:
        """Make a product, as soon as there is a slot for it."""
        Path(work.folder).mkdir(parents=True, exist_ok=True)
        if work.heavy:
            self._waiting.put(work)
            return
        with self._changing:
            if self._light is None:
                forked = self._forks and bool(self._alive)
                self._light = each = _Worker(self._lock, forked=forked, alone=False)
                self._alive.add(each)
                threading.Thread(target=self._hear, args=(each,), daemon=True).start()
            self._said.put(Event(work.step, "started"))
            self._light.give(work)

    def events(self, timeout: float | None = None) -> Iterator[Event]:
        """What has happened since the last call; waits for the first, at most ``timeout``
        seconds."""
        with contextlib.suppress(queue.Empty):
            said = self._said.get(timeout=timeout)
            while True:
                yield from self._understood(said)
                said = self._said.get_nowait()

    def _understood(self, said: Any) -> list[Event]:
        """The events that something said stands for."""
        return [said]

    def _draw(self) -> None:
        """Be a slot: a worker for each work, one after the other."""
        while work := self._waiting.get():
            try:
                each = _Worker(self._lock, forked=self._forks, alone=True)
                each.give(work)
            except OSError as error:
                failure = Failure.of(from_os_error(error, work.folder))
                self._said.put(Event(work.step, "failed", failure=failure))
                continue
            with self._changing:
                self._alive.add(each)
                if self._is_left:
                    each.kill()
            self._said.put(Event(work.step, "started"))
            self._hear(each)

    def _hear(self, each: _Worker) -> None:
        """Pass on what a worker says, until it has ended or gives no sign of life."""
        half = self._patience / 2  # as this process may have been stopped together with the worker
        line = ""
        with contextlib.suppress(EOFError, OSError):
            while each.events.poll(half) or each.events.poll(half):
                event: Event | None = each.events.recv()
                if event:
                    if event.is_last:
                        each.steps.discard(event.step)
                    self._said.put(event)
            line = f"the worker did not respond for {self._patience:.0f} s"
            each.kill()
        code = each.end(10.0 if each.steps else 1.0)
        if not line and code == -signal.SIGKILL:
            line = "the worker was killed (out of memory?)"
        line = line or f"the worker exited with code {code} and no result"
        with self._changing:
            self._alive.discard(each)
            if each is self._light:
                self._light = None
        failure = Failure(line, mistake=False)
        for step in each.steps:
            self._said.put(Event(step, "lost", failure=failure))
        each.ended.set()


class _Worker:
    """A worker process, and the works that it was given and has not ended."""

    def __init__(self, lock: int | None, *, forked: bool, alone: bool) -> None:
        self.steps: set[str] = set()
        self.ended = threading.Event()
        theirs, self._works = multiprocessing.Pipe(duplex=False)
        self.events, answers = multiprocessing.Pipe(duplex=False)
        held = None if lock is None else Connection(os.dup(lock))  # goes where a process does
        context: Any = multiprocessing.get_context("forkserver" if forked else "spawn")
        with theirs, answers, held or contextlib.nullcontext(), _bare_start():
            if forked:
                multiprocessing.set_forkserver_preload(["render.build.workers.preload"])
            self._process = context.Process(target=worker.main, args=(theirs, answers, held, alone))
            self._process.start()

    def give(self, work: Work) -> None:
        """Have the worker make something. It is told where to read what: a pipe that nobody empties
        takes little."""
        self.steps.add(work.step)
        said = Path(work.folder, "work.pickle").absolute()
        said.write_bytes(pickle.dumps(work))
        with contextlib.suppress(BrokenPipeError):  # its end is noticed by its events
            self._works.send(str(said))

    def kill(self) -> None:
        """End the worker and whatever it has started."""
        for kill in (os.killpg, os.kill):  # it may not lead its group yet
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(self._process.pid, signal.SIGKILL)

    def end(self, seconds: float) -> int | None:
        """Give it that long for a voluntary end. Returns the exit code, None if nobody knows it."""
        wait([self._process.sentinel], seconds)
        self.kill()
        wait([self._process.sentinel], _SECONDS_TO_DIE)
        with _STARTING:
            self._process.join(1.0)
            code: int | None = self._process.exitcode
            self._works.close()
            self.events.close()
            return code


@contextlib.contextmanager
def _bare_start() -> Iterator[None]:
    """While a process is started: it imports nothing from the folder that this one runs in, nor
    the program that this one is, and computes with one thread, as there is one for each core.
    A worker of Dask, which may not start processes, starts ours, as they end with it."""
    paths = [*filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)), str(ROOT)]
    ones = "PYTHONSAFEPATH", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"
    environment = {"PYTHONPATH": os.pathsep.join(paths), **dict.fromkeys(ones, "1")}
    own: Any = multiprocessing.current_process()
    with (
        _STARTING,
        _changed(os.environ, environment),
        _changed(sys.modules, {"__main__": types.ModuleType("__main__")}),
        _changed(own._config, {"daemon": False}),
    ):
        yield


@contextlib.contextmanager
def _changed(known: MutableMapping[str, Any], changes: dict[str, Any]) -> Iterator[None]:
    """Entries of a mapping, changed for a while."""
    before = {name: known[name] for name in changes if name in known}
    known.update(changes)
    try:
        yield
    finally:
        known.update(before)
        for name in changes.keys() - before.keys():
            del known[name]
