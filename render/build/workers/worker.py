"""What runs in a process of a pool: makers are called, what they left is checked and recorded.

A worker is told where works lie, one after the other, and answers with events, and ``None`` every
other second as a sign of life. It leads its own process group and ends with its parent, however
that ends, and takes the group with it.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pickle
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal

from engine.errors import LectureError
from render.base.failure import Failure
from render.base.process import end_with_parent, usable_cores
from render.base.reads import Json, Made, Reads, Stamp
from render.build.code import recheck
from render.build.product import FACTS, Work, content_of, key_of

SECONDS_BETWEEN_SIGNS = 2.0
_READ = "value", "text", "file"


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


def run(work: Work, tell: Callable[[int], None]) -> Iterator[tuple[str, Made]]:
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
        read = tuple(one for one in found if one.kind in _READ)
        seen = replace(work.also, inputs=(*work.also.inputs, *read))
        yield seen.step, _made(seen, {Path(also.NAME).stem: folder / also.NAME}, {})
    yield work.step, _made(replace(work, inputs=(*work.inputs, *found)), files, facts)


def _made(work: Work, files: Mapping[str, Path], facts: Mapping[str, Json]) -> Made:
    stamps = {role: Stamp.of(path) for role, path in files.items()}
    inputs = recheck(work.inputs, (work.maker.partition(":")[0], *work.modules))
    content = content_of(facts, stamps, work.aside)
    paths = {role: str(path) for role, path in files.items()}
    return Made(key_of(work.kind, inputs), inputs, stamps, content, facts, paths)


def function_of(name: str) -> Callable[..., Any]:
    """What a string such as ``render.media.mux:make`` names: a maker or a checker."""
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found


def main(works: Connection, events: Connection, lock: Connection | None, alone: bool) -> None:
    """Be a worker: the paths of ``works`` come in, events go out. ``lock`` stays open as long as
    this lives. ``alone``: for one work, whose log gets everything that is printed."""
    with contextlib.suppress(PermissionError):  # it leads one already
        os.setsid()
    end_with_parent()
    for each in filter(None, (works, events, lock)):
        os.set_inheritable(each.fileno(), False)
    send = _sender(events)
    work = _read(works) if alone else None
    _print_to(work.log if work else Path(os.devnull))
    if work:
        # Manim's bars have one for several processes, which would be left by a kill
        importlib.import_module("tqdm").tqdm.set_lock(threading.RLock())
        _do(work, send)
        return
    with ThreadPoolExecutor(usable_cores()) as threads:
        while True:
            threads.submit(_do, _read(works), send)


def _read(works: Connection) -> Work:
    work: Work = pickle.loads(Path(works.recv()).read_bytes())
    return work


def _sender(events: Connection) -> Callable[[Event | None], None]:
    """Sends events, one at a time, from now on with signs of life."""
    sending = threading.Lock()

    def send(event: Event | None) -> None:
        with sending, contextlib.suppress(BrokenPipeError):
            events.send(event)

    def live() -> None:
        while True:
            send(None)
            time.sleep(SECONDS_BETWEEN_SIGNS)

    threading.Thread(target=live, daemon=True).start()
    return send


def _do(work: Work, send: Callable[[Event], None]) -> None:
    """Do a work, and report how it ended."""
    try:
        for step, made in run(work, lambda frames: send(Event(work.step, "frames", frames))):
            send(Event(step, "made", made=made))
    except BaseException as error:
        if not isinstance(error, LectureError):
            with contextlib.suppress(OSError), work.log.open("a", encoding="utf-8") as log:
                traceback.print_exc(file=log)
        send(Event(work.step, "failed", failure=Failure.of(error)))


def _print_to(path: Path) -> None:
    """Everything that is printed from now on, by whatever part of this process."""
    with contextlib.suppress(OSError), path.open("ab") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
