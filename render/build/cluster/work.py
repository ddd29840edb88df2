"""What runs on a worker of the cluster: a look at what it is, and one scene at a time.

A scene is drawn by a process of its own, as on one machine, in a folder of its own. Nothing but
plain data comes and goes; the finished scene goes into the store. The process is killed when the
scene is not wanted any more: it was cancelled, or whoever wanted it is gone.
"""

from __future__ import annotations

import dataclasses
import secrets
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.errors import LectureError
from render.base.workspace import STATE, Workspace
from render.build import pool
from render.build.backlog import Job
from render.build.cluster.fingerprint import fingerprint, short
from render.build.forks import Forked, Single, Start, can_fork
from render.build.store.finished import Finished
from render.build.store.store import Store
from render.build.task import Failure, Result, Task
from render.media import ffmpeg

_TELL_EVERY = 1.0  # seconds
_LONGEST_LOG = 200_000  # characters
_KEPT = "code.json"
_own = threading.local()


class Unwanted(BaseException):
    """The scene is not wanted any more."""


def examine(store: str, mark: str) -> dict[str, Any]:
    """Whether this worker may be given scenes: its fingerprint, and whether it can reach the store,
    where ``mark`` was left; ``{"trouble": …}`` where it cannot be used at all."""
    try:
        if not Store.open(store).sees(mark):
            found = "another or an empty one (is it shared with this worker?)"
            raise LectureError(
                where=store, field="store", expected="the one of this run", found=found
            )
        from distributed import get_worker

        return {"fingerprint": fingerprint(_kept(get_worker()))}
    except LectureError as error:
        return {"trouble": str(error)}


def render(
    said: Mapping[str, Any], files: Mapping[str, bytes], store: str, expected: str, topic: str
) -> dict[str, Any]:
    """Render a task, given as its fields, with weight ``files`` by name; put it into the store.

    ``expected``: the fingerprint wanted, in short. ``topic``: where frames drawn so far are told.
    Returns ``{"result": …}``, ``{"failure": …, "log": …}``, or ``{"refused": fingerprint}`` where
    this worker has become another one.
    """
    from distributed import get_worker

    worker = get_worker()
    mine = fingerprint(_kept(worker))
    if short(mine) != expected:
        return {"refused": mine}
    with Workspace(_own_folder(worker)) as space:
        task = _here(said, files, space)
        listener = _Listener(worker, worker.get_current_task(), topic)
        start = _nursery(task.code_kept)
        pool.run([Job(task, 1)], 1, listener, lock=space.lock, start=start, tick=listener.tick)
        outcome = listener.outcome
        try:
            if isinstance(outcome, Result):
                Store.open(store).put(Finished.of(task, outcome))
                return {"result": dataclasses.asdict(outcome)}
        except LectureError as error:
            outcome = Failure(str(error), mistake=True)
        return {"failure": dataclasses.asdict(outcome), "log": _log(task)}


def _own_folder(worker: Any) -> Path:
    return Path(worker.local_directory) / "lecture"


def _kept(worker: Any) -> Path:
    """Where digests of code are kept for as long as this worker lives."""
    path = _own_folder(worker) / STATE / _KEPT
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _nursery(code_kept: str) -> Start:
    """Of this thread, for as long as this worker lives: scenes are forks of it."""
    if not can_fork():
        return Single()
    if not hasattr(_own, "nursery"):
        _own.nursery = Forked(code_kept)
    nursery: Forked = _own.nursery
    return nursery


def _here(said: Mapping[str, Any], files: Mapping[str, bytes], space: Workspace) -> Task:
    """The task as it is to be done on this machine."""
    written: dict[str, str] = {}
    for name, data in files.items():
        path = space.fresh_folder("weights") / Path(said[name]).name
        path.write_bytes(data)
        written[name] = str(path)
    folder = space.folder / f"{said['slug']}-{secrets.token_hex(4)}"
    own = {"folder": str(folder), "code_kept": str(space.state / _KEPT)}
    # kept: a video there, of which only the sound would be another; here it is drawn
    here = {"ffmpeg": ffmpeg.find(), "threads": 1, "kept": None}
    return Task(**{**said, **written, **own, **here})


def _log(task: Task) -> str:
    try:
        return task.log.read_text(encoding="utf-8", errors="replace")[-_LONGEST_LOG:]
    except OSError:
        return ""


class _Listener:
    """Passes on what the process of one scene says."""

    def __init__(self, worker: Any, key: Any, topic: str) -> None:
        self.outcome: Result | Failure = Failure("not begun", mistake=False)
        self._worker, self._key, self._topic = worker, key, topic
        self._told = 0.0

    def wanted(self, task: Task) -> bool:
        return True

    def started(self, task: Task) -> None:
        """Nothing to tell yet."""

    def advanced(self, task: Task, frames: int) -> None:
        if time.monotonic() > self._told + _TELL_EVERY:
            self._told = time.monotonic()
            self._worker.log_event(self._topic, {"key": self._key, "frames": frames})

    def ended(self, task: Task, outcome: Result | Failure) -> None:
        self.outcome = outcome

    def tick(self) -> None:
        """Raises Unwanted where the cluster has forgotten or cancelled the scene."""
        state = self._worker.state.tasks.get(self._key)
        if state is None or state.state == "cancelled":
            raise Unwanted
