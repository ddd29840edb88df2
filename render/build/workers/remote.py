"""What runs on a worker of a cluster: a look at what it is, and one work at a time.

A work is done as on one machine, by a process of its own in a folder of its own, whose result goes
into the cache. The process is killed when the work is not wanted any more: it was cancelled, or
whoever wanted it is gone.
"""

from __future__ import annotations

import contextlib
import pickle
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import engine
from engine.errors import LectureError
from render.base.failure import Failure
from render.base.files import Workspace
from render.base.project import ASSETS, font_file
from render.base.reads import Made, sha256
from render.build.code import Code, facts_of
from render.build.inputs import Now
from render.build.product import Work
from render.build.storage.cache import Cache
from render.build.storage.places import CacheChoice
from render.build.workers.pool import Event, LocalPool
from scenes import registry

_TELL_EVERY = 1.0  # seconds
_LONGEST_LOG = 200_000  # characters
_MAKERS = "render.draw.scene", "render.draw.cover", "render.media.burn"
_NAMED = 3  # files; of more only how many


class Unwanted(BaseException):
    """The work is not wanted any more."""


class Lost(RuntimeError):
    """The process of a work died without a message: Dask tries the work again."""


@dataclass(frozen=True)
class Asked:
    """What a worker of the run ``run`` must be like: sees ``mark`` in ``store``, and has this
    fingerprint."""

    store: str
    mark: str
    fingerprint: Mapping[str, str]
    run: str


#: what this worker was like when what it forks from was imported
_forked: dict[str, str] = {}


def fingerprint() -> dict[str, str]:
    """What must be the same on two machines so that they draw the same: versions by name, and a
    digest of what every file does that draws, and of the engine and the texts, which keys have by
    value only, by path. Raises LectureError where no ffmpeg can be used."""
    found = {**_versions(), **Code().files(_roots())}
    root = Path(str(engine.__file__)).parent
    for path in sorted(root.rglob("*.py")):
        found[path.relative_to(root.parent).as_posix()] = facts_of(path.read_bytes()).digest
    for path in sorted((ASSETS / "text").glob("*.toml")):
        found[f"assets/text/{path.name}"] = sha256(path)
    return found


@cache
def _versions() -> dict[str, str]:
    own = {"distributed": version("distributed"), "font": sha256(font_file())[:16]}
    return {**Code().tools(_roots()), **own, "ffmpeg": Now().ffmpeg()}


def _roots() -> tuple[str, ...]:
    return (*_MAKERS, *(scene.module for scene in registry.film("full")))


def differences(expected: Mapping[str, str], found: Mapping[str, str]) -> str:
    """What is otherwise in ``found``, for people; empty if all is the same."""
    unlike = [name for name in {**expected, **found} if expected.get(name) != found.get(name)]
    told = [
        f"{name}: expected {expected.get(name, 'none')}, found {found.get(name, 'none')}"
        for name in unlike
        if "/" not in name
    ]
    files = [name for name in unlike if "/" in name]
    if files:
        more = f" and {len(files) - _NAMED} more files" if len(files) > _NAMED else ""
        named = ", ".join(files[:_NAMED])
        told.append(f"project code: expected the same as on this machine, differs in {named}{more}")
    return "; ".join(told)


def examine(asked: Asked) -> str:
    """Why this worker must not be given works; empty if it may."""
    try:
        if not Cache(CacheChoice(asked.store, True, None), looking=True).sees(asked.mark):
            return f"{asked.store}: another or an empty store (is it shared with this worker?)"
        return differences(asked.fingerprint, fingerprint())
    except LectureError as error:
        return str(error)


async def take_part(run: str, share: int, dask_worker: Any) -> None:
    """Be given works of a run, one for each thread, or with a ``share`` of 0 no longer."""
    await dask_worker.set_resources(**{run: share * dask_worker.state.nthreads})


def render(work: Work, files: Mapping[str, bytes], asked: Asked) -> bytes:
    """Do a work, with weight ``files`` by name of the setting; put what is made into the
    cache. Returns the last events of its steps and the log of a failure, pickled.

    Raises Lost where this worker has become another one since it was examined, or the process of
    the work was gone; then another worker, or this one, gets the work again.
    """
    from distributed import get_worker

    worker, run, mine = get_worker(), asked.run, fingerprint()
    trouble = differences(asked.fingerprint, mine)
    if trouble:
        worker.loop.add_callback(worker.set_resources, **{run: 0})
        refused = {"kind": "refused", "address": worker.address, "trouble": trouble}
        worker.log_event(run, refused)
        raise Lost(f"worker {worker.name}: {trouble}")
    _forked.update({} if _forked else mine)
    said: list[str] = []
    with (
        Workspace(Path(worker.local_directory) / "lecture") as space,
        Cache(CacheChoice(asked.store, True, None), said.append) as shared,
    ):
        work = _here(work, files, space, shared)
        with LocalPool(1, space.lock, forks=_forked == mine) as pool:
            found = list(_last_events(work, pool, worker, run))
        for event in found:
            what = work.also if work.also and work.also.step == event.step else work
            if event.made:
                shared.put(what.kind, what.spec, event.made)
        log = ""
        if any(event.failure for event in found):
            with contextlib.suppress(OSError):
                log = work.log.read_text(encoding="utf-8", errors="replace")[-_LONGEST_LOG:]
        if said:
            found = [Event(work.step, "failed", failure=Failure(said[0], mistake=True))]
        return pickle.dumps((found, log))


def _here(work: Work, files: Mapping[str, bytes], space: Workspace, shared: Cache) -> Work:
    """The work as it is to be done on this machine. Raises Lost where a need is missing."""
    settings = dict(work.settings)
    for name, data in files.items():
        path = space.fresh_folder("weights") / Path(settings[name]).name
        path.write_bytes(data)
        settings[name] = str(path)
    needs: dict[str, Made] = {}
    for role, made in work.needs.items():
        borrowed = shared.borrow(made, space.fresh_folder("needs")) if made.paths else made
        if borrowed is None:
            raise Lost(f"the store does not have the {role}")
        needs[role] = borrowed
    folder = space.fresh_folder(Path(work.folder).name)
    spoken = work.spoken
    if spoken and "kept" in spoken:
        spoken = {**spoken, "kept": str(folder / "sounds")}
    own = replace(work, settings=settings, needs=needs, folder=str(folder))
    return replace(own, spoken=spoken, threads=1)


def _last_events(work: Work, pool: LocalPool, worker: Any, run: str) -> Iterator[Event]:
    """Do a work in a process, and log how it gets on. Raises Unwanted where the cluster has
    forgotten or cancelled it, and Lost where its process was gone."""
    key = worker.get_current_task()

    def tell(kind: str, **more: Any) -> None:
        worker.log_event(run, {"kind": kind, "key": key, **more})

    tell("started")
    pool.submit(work)
    last = time.monotonic()
    while True:
        for event in pool.events(timeout=0.5):
            if event.kind == "frames" and time.monotonic() > last + _TELL_EVERY:
                last = time.monotonic()
                tell("frames", frames=event.frames)
            elif event.kind == "lost" and event.failure:
                line = f"worker {worker.name}: {event.failure.line}"
                tell("lost", line=line)
                raise Lost(line)
            elif event.is_last:
                yield event
                if event.step == work.step:
                    return
        state = worker.state.tasks.get(key)
        if state is None or state.state == "cancelled":
            raise Unwanted
