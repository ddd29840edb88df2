"""What runs in a process of a pool: makers are called, what they left is checked and recorded.

A worker is told where works lie, line by line, and answers in lines of JSON: ``alive`` every other
second, ``frames`` drawn so far, and how each work ended. It leads its own process group and ends
with its parent, however that ends, and takes the group with it.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from engine.errors import LectureError
from render.base.failure import Failure
from render.base.process import end_with_parent, usable_cores
from render.base.reads import Json, Made, Reads, Stamp
from render.build.code import recheck
from render.build.product import FACTS, Work, content_of, key_of

SECONDS_BETWEEN_SIGNS = 2.0
_READ = "value", "text", "file"


def run(work: Work, tell: Callable[[int], None]) -> Iterator[tuple[str, Made]]:
    """Make a product, check it, and describe it; before that, what the same play has yielded. Each
    with its step. Raises LectureError for a mistake in the input, and whatever a maker raises."""
    folder = Path(work.folder)
    also = _module(work.also) if work.also else None
    reads = Reads(
        work.settings,
        key=key_of(work.kind, work.inputs),
        spoken=work.spoken,
        threads=work.threads,
        observers=(also.observe,) if also else (),
    )
    files = dict(_function(work.maker)(work.spec, work.needs, reads, folder, tell))
    facts = files.pop(FACTS, {})
    check(work.checker, work.spec, work.needs, files, facts)
    found = reads.inputs()
    if work.also and also and (folder / also.NAME).is_file():
        read = tuple(one for one in found if one.kind in _READ)
        seen = replace(work.also, inputs=(*work.also.inputs, *read))
        yield seen.step, _made(seen, {Path(also.NAME).stem: folder / also.NAME}, {})
    yield work.step, _made(replace(work, inputs=(*work.inputs, *found)), files, facts)


def check(
    checker: str | None,
    spec: Mapping[str, Json],
    needs: Mapping[str, Made],
    files: Mapping[str, Path],
    facts: Mapping[str, Json],
) -> None:
    """Look at what a maker has left, or a cache has given. Raises LectureError."""
    if checker:
        _function(checker)(spec, needs, files, facts)


def _made(work: Work, files: Mapping[str, Path], facts: Mapping[str, Json]) -> Made:
    stamps = {role: Stamp.of(path) for role, path in files.items()}
    roots = (work.maker.partition(":")[0], *work.modules)
    inputs = recheck(work.inputs, roots)
    content = content_of(facts, stamps, work.aside)
    paths = {role: str(path) for role, path in files.items()}
    return Made(key_of(work.kind, inputs), inputs, stamps, content, facts, paths)


def _module(work: Work) -> Any:
    return importlib.import_module(work.maker.partition(":")[0])


def _function(name: str) -> Callable[..., Any]:
    """What a string such as ``render.media.mux:make`` names."""
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found


def main(works: int, messages: int, lock: int | None, alone: bool) -> None:
    """Be a worker. ``works`` and ``messages``: pipes; ``lock``: stays open as long as this lives.
    ``alone``: for one work, whose log gets everything that is printed."""
    with contextlib.suppress(PermissionError):  # it leads one already
        os.setsid()
    end_with_parent()
    for descriptor in (works, messages, lock):
        if descriptor is not None:
            os.set_inheritable(descriptor, False)
    send = _Sender(messages)
    with os.fdopen(works, encoding="ascii") as asked:
        if alone:
            work = _read(asked.readline())
            _print_to(work.log)
            _do(work, send)
        else:
            _print_to(Path(os.devnull))
            with ThreadPoolExecutor(usable_cores()) as threads:
                for line in asked:
                    threads.submit(_do, _read(line), send)


def _read(line: str) -> Work:
    """The work that lies where a line says."""
    return Work.from_json(Path(json.loads(line)).read_text(encoding="ascii"))


class _Sender:
    """Writes messages, each whole, and signs of life."""

    def __init__(self, answers: int) -> None:
        self._answers = answers
        self._lock = threading.Lock()
        threading.Thread(target=self._live, daemon=True).start()

    def __call__(self, **message: Any) -> None:
        data = json.dumps(message).encode("ascii") + b"\n"
        with self._lock, contextlib.suppress(BrokenPipeError):
            while data:
                data = data[os.write(self._answers, data) :]

    def _live(self) -> None:
        while True:
            self(alive=True)
            time.sleep(SECONDS_BETWEEN_SIGNS)


def _do(work: Work, send: Callable[..., None]) -> None:
    """Do a work, and report how it ended."""
    try:
        for step, made in run(work, lambda frames: send(step=work.step, frames=frames)):
            send(step=step, made=made.to_json(), paths=dict(made.paths))
    except BaseException as error:
        if not isinstance(error, LectureError):
            with contextlib.suppress(OSError), work.log.open("a", encoding="utf-8") as log:
                traceback.print_exc(file=log)
        send(step=work.step, failure=asdict(Failure.of(error)))


def _print_to(path: Path) -> None:
    """Everything that is printed from now on, by whatever part of this process."""
    with contextlib.suppress(OSError), path.open("ab") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
