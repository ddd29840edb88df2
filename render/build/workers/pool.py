"""Workers on this machine: a process for each work.

It is forked from one that has imported what makers need, where that is safe; elsewhere it starts
from nothing. It answers with events, and ``None`` every other second as a sign of life. One that
ends without a message is reported as lost; one that does not respond (stopped, or out of memory) is
killed and reported too. Each leads its own process group, ends with its parent, however that ends,
and takes the group with it.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import multiprocessing
import os
import pickle
import queue
import signal
import sys
import tempfile
import threading
import time
import traceback
import types
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Literal, Self

from engine.errors import FULL, LectureError, from_os_error
from render.base.failure import Failure
from render.base.files import place_of
from render.base.process import end_with_parent, usable_cores
from render.base.project import ROOT
from render.base.reads import Json, Made, Reads, Stamp
from render.build.code import recheck
from render.build.product import FACTS, Work, content_of, key_of

#: seconds without a response after which a worker is given up
PATIENCE = 60.0
_SECONDS_BETWEEN_SIGNS = 2.0
_SECONDS_TO_DIE = 30.0  # after SIGKILL, where the disk hangs
#: bytes that a pipe takes at once: a worker that is stopped meanwhile never leaves half a message
_WHOLE = 4000
#: of the lists and settings that all threads of this process start and end processes with
_STARTING = threading.Lock()
#: what the process that workers are forked from imports; the latter only where something is drawn
_LIGHT = "render.media.mux render.media.check render.media.captions.write render.documents.about"
_DRAWING = "scenes.base render.draw.scene"


@dataclass(frozen=True, slots=True)
class Event:
    """What happened to a step. ``frames``: drawn so far. ``made``: with the paths of the files in
    the worker's folder. ``lost``: the worker died silently, another try may help."""

    step: str
    kind: Literal["started", "frames", "made", "failed", "lost"]
    frames: int = 0
    made: Made | None = None
    failure: Failure | None = None

    @property
    def is_last(self) -> bool:
        """Whether nothing more comes from this step."""
        return self.kind in ("made", "failed", "lost")


class LocalPool:
    """``with LocalPool(slots, lock) as pool``. ``slots``: works that should draw at a time.
    ``lock``: a descriptor that every worker holds open. ``forks``: whether what was imported by the
    process that workers are forked from is what the files have now. Leaving the context ends all
    workers at once."""

    def __init__(
        self, slots: int, lock: int | None = None, patience: float = PATIENCE, forks: bool = True
    ) -> None:
        self.slots, self._lock, self._patience = slots, lock, patience
        self._forks = forks and sys.platform == "linux"
        self._preload = f"{_LIGHT} {_DRAWING}" if slots else _LIGHT
        self._said: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._doing: list[threading.Thread] = []  # one for each work
        self._light = threading.Semaphore(usable_cores())  # works that do not draw
        self._alive: set[Any] = set()  # processes
        self._changing = threading.Lock()
        self._is_left = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *told: object) -> None:
        with self._changing:
            self._is_left = True
            for process in self._alive:
                _kill(process)
        for thread in self._doing:
            thread.join(_SECONDS_TO_DIE)

    def submit(self, work: Work) -> None:
        """Make a product; what does not draw, when there is a core for it."""
        self._doing.append(threading.Thread(target=self._do, args=(work,), daemon=True))
        self._doing[-1].start()

    def events(self, timeout: float | None = None) -> Iterator[Event]:
        """What has happened since the last call; waits for the first, at most ``timeout``
        seconds."""
        with contextlib.suppress(queue.Empty):
            said = self._said.get(timeout=timeout)
            while True:
                yield from self._understood(said)
                said = self._said.get_nowait()

    def _understood(self, said: Any) -> list[Event]:
        return [said]

    def _do(self, work: Work) -> None:
        with contextlib.nullcontext() if work.heavy else self._light:
            if self._is_left:
                return
            try:
                process, events = self._started(work)
            except OSError as error:
                failure = _failure(from_os_error(error, work.folder), work)
                self._said.put(Event(work.step, "failed", failure=failure))
                return
            except EOFError:  # of the process that it should be forked from
                failure = Failure("the worker was killed (out of memory?)", mistake=False)
                self._said.put(Event(work.step, "lost", failure=failure))
                return
            self._said.put(Event(work.step, "started"))
            with self._changing:
                self._alive.add(process)
                if self._is_left:
                    _kill(process)
            with events:
                self._hear(work, process, events)
            with self._changing:
                self._alive.discard(process)

    def _started(self, work: Work) -> tuple[Any, Connection]:
        path = Path(work.folder, "work.pickle").absolute()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(work))
        events, theirs = multiprocessing.Pipe(duplex=False)
        held = None if self._lock is None else Connection(os.dup(self._lock))  # goes with it
        context: Any = multiprocessing.get_context("forkserver" if self._forks else "spawn")
        with theirs, held or contextlib.nullcontext(), _bare_start(LECTURE_PRELOAD=self._preload):
            if self._forks:
                multiprocessing.set_forkserver_preload(["render.build.workers.preload"])
            process = context.Process(target=_work, args=(str(path), theirs, held))
            process.start()
        return process, events

    def _hear(self, work: Work, process: Any, events: Connection) -> None:
        """Pass on what a worker says, until it has ended or gives no sign of life."""
        half = self._patience / 2  # as this process may have been stopped together with the worker
        line, is_over = "", False
        with contextlib.suppress(EOFError, OSError):
            while events.poll(half) or events.poll(half):
                event: Event | Path | None = pickle.loads(events.recv_bytes())
                if isinstance(event, Path):
                    event = pickle.loads(event.read_bytes())
                if isinstance(event, Event):
                    is_over = is_over or (event.is_last and event.step == work.step)
                    self._said.put(event)
            line = f"the worker did not respond for {self._patience:.0f} s"
            _kill(process)
        code = _end(process, 1.0 if is_over else 10.0)
        if not line and code == -signal.SIGKILL:
            line = "the worker was killed (out of memory?)"
        line = line or f"the worker exited with code {code} and no result"
        if not is_over:
            self._said.put(Event(work.step, "lost", failure=Failure(line, mistake=False)))


def _failure(error: BaseException, work: Work) -> Failure:
    """A failure; of a full disk, that of the output folder rather than of a private file."""
    if isinstance(error, OSError) and error.errno in FULL:
        error = from_os_error(error, error.filename or work.folder)
    if isinstance(error, LectureError) and (error.where or "").startswith(work.folder):
        error.where = str(place_of(Path(work.folder, "log.txt")))
    return Failure.of(error)


def _kill(process: Any) -> None:
    """End a worker and whatever it has started."""
    for kill in (os.killpg, os.kill):  # it may not lead its group yet
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(process.pid, signal.SIGKILL)


def _end(process: Any, seconds: float) -> int | None:
    """Give a worker that long for a voluntary end. Returns the exit code, None if nobody knows
    it."""
    wait([process.sentinel], seconds)
    _kill(process)
    wait([process.sentinel], _SECONDS_TO_DIE)
    with _STARTING:
        process.join(1.0)
        code: int | None = process.exitcode
        return code


@contextlib.contextmanager
def _bare_start(**more: str) -> Iterator[None]:
    """While a process is started: it imports nothing from the folder that this one runs in, nor
    the program that this one is, and computes with one thread, as there is one for each core.
    A worker of Dask, which may not start processes, starts ours, as they end with it."""
    paths = [*filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)), str(ROOT)]
    ones = "PYTHONSAFEPATH", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"
    environment = {"PYTHONPATH": os.pathsep.join(paths), **dict.fromkeys(ones, "1")} | more
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


# -- in a worker -------------------------------------------------------------------------------


def _work(path: str, events: Connection, lock: Connection | None) -> None:
    """Do the work at a path, and report how it ended; its log gets everything that is printed.
    ``lock`` stays open as long as this lives."""
    with contextlib.suppress(PermissionError):  # it leads one already
        os.setsid()
    end_with_parent()
    for each in filter(None, (events, lock)):
        os.set_inheritable(each.fileno(), False)
    sending = threading.Lock()

    def send(event: Event | None) -> None:
        said = pickle.dumps(event)
        if len(said) > _WHOLE:
            said = _aside(said, Path(path).parent)
        with sending, contextlib.suppress(BrokenPipeError):
            events.send_bytes(said)

    def live() -> None:
        while True:
            send(None)
            time.sleep(_SECONDS_BETWEEN_SIGNS)

    threading.Thread(target=live, daemon=True).start()
    work: Work = pickle.loads(Path(path).read_bytes())
    tempfile.tempdir = os.environ["TMPDIR"] = work.folder  # which goes, however this ends
    with contextlib.suppress(OSError), work.log.open("ab") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    if work.heavy:  # Manim's bars have one for several processes, which would be left by a kill
        importlib.import_module("tqdm").tqdm.set_lock(threading.RLock())
    try:
        for step, made in _run(work, lambda frames: send(Event(work.step, "frames", frames))):
            send(Event(step, "made", made=made))
    except MemoryError:
        line = "the worker ran out of memory"
        send(Event(work.step, "lost", failure=Failure(line, mistake=False)))
    except BaseException as error:
        if not isinstance(error, LectureError):
            with contextlib.suppress(OSError), work.log.open("a", encoding="utf-8") as text:
                traceback.print_exc(file=text)
        send(Event(work.step, "failed", failure=_failure(error, work)))


def _aside(event: bytes, folder: Path) -> bytes:
    """Leave an event in a file; returns the message that stands for it."""
    handle, name = tempfile.mkstemp(prefix="event-", dir=folder)
    with os.fdopen(handle, "wb") as file:
        file.write(event)
    return pickle.dumps(Path(name))


def _run(work: Work, tell: Callable[[int], None]) -> Iterator[tuple[str, Made]]:
    """Make a product, check it, and describe it; before that, what the same play has yielded. Each
    with its step. Raises LectureError for a mistake in the input, and whatever a maker raises."""
    folder = Path(work.folder)
    also = importlib.import_module(work.also.maker.partition(":")[0]) if work.also else None
    reads = Reads(
        work.settings,
        key=key_of(work.kind, work.inputs),
        spoken=work.spoken,
        threads=work.threads,
        observers=(also.observe,) if also else (),
    )
    files = dict(function_of(work.maker)(work.spec, work.needs, reads, folder, tell))
    facts = json.loads(json.dumps(files.pop(FACTS, {})))  # as a record will have them
    if work.checker:
        function_of(work.checker)(work.spec, work.needs, files, facts)
    found = reads.inputs()
    if work.also and also and (folder / also.NAME).is_file():
        read = tuple(one for one in found if one.kind in ("value", "text", "file"))
        seen = replace(work.also, inputs=(*work.also.inputs, *read))
        yield seen.step, _made(seen, {Path(also.NAME).stem: folder / also.NAME}, {})
    yield work.step, _made(replace(work, inputs=(*work.inputs, *found)), files, facts)


def _made(work: Work, files: Mapping[str, Path], facts: Mapping[str, Json]) -> Made:
    stamps = {role: Stamp.of(path) for role, path in files.items()}
    inputs = recheck(work.inputs, work.modules)
    content = content_of(facts, stamps, work.aside)
    paths = {role: str(path) for role, path in files.items()}
    return Made(key_of(work.kind, inputs), inputs, stamps, content, facts, paths)


def function_of(name: str) -> Callable[..., Any]:
    """What a string such as ``render.media.mux:make`` names: a maker or a checker."""
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found
