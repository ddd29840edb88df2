"""What runs on a worker of a cluster: a look at what it is, and one work at a time.

A work is done as on one machine, by a process of its own in a folder of its own, whose result goes
into the cache. The process is killed when the work is not wanted any more: it was cancelled, or
whoever wanted it is gone.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import engine
from engine.errors import LectureError
from render.base.files import Workspace
from render.base.project import ASSETS, font_file
from render.base.reads import Made, sha256
from render.build.cache import Cache
from render.build.code import Code, digest_of_source
from render.build.inputs import Now
from render.build.places import CacheChoice
from render.build.pool import LocalPool, forget_forks
from render.build.product import Work
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


#: by run, on a worker
_asked: dict[str, Asked] = {}
#: what this worker was like when it began to fork
_forked: dict[str, str] = {}


def fingerprint() -> dict[str, str]:
    """What must be the same on two machines so that they draw the same: versions by name, and a
    digest of what every file does that draws, by path. Raises LectureError where no ffmpeg can be
    used."""
    return {**_versions(), **_files()}


@cache
def _versions() -> dict[str, str]:
    found = Code().tools(_roots())
    found |= {"distributed": version("distributed"), "font": sha256(font_file())[:16]}
    return {**found, "ffmpeg": Now().ffmpeg()}


def _files() -> dict[str, str]:
    """The files that drawing runs; and the engine and the texts, which keys have by value only."""
    found = dict(Code().files(_roots()))
    root = Path(str(engine.__file__)).parent
    for path in sorted(root.rglob("*.py")):
        found[path.relative_to(root.parent).as_posix()] = digest_of_source(path.read_bytes())
    for path in sorted((ASSETS / "text").glob("*.toml")):
        found[f"assets/text/{path.name}"] = sha256(path)
    return found


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
    """Why this worker must not be given works; empty if it may. It is given what it must match."""
    _asked[asked.run] = asked
    try:
        if not Cache.open(CacheChoice(asked.store, True, None), looking=True).sees(asked.mark):
            return f"{asked.store}: another or an empty store (is it shared with this worker?)"
        return differences(asked.fingerprint, fingerprint())
    except LectureError as error:
        return str(error)


def render(said: str, files: Mapping[str, bytes], run: str) -> dict[str, Any]:
    """Do a work of a run, with weight ``files`` by name of the setting; put what is made into the
    cache. Returns ``{"made": [[step, record], …]}`` or ``{"failure": …, "log": …}``.

    Raises Lost where this worker has become another one since it was examined, or the process of
    the work was gone; then another worker, or this one, gets the work again.
    """
    from distributed import get_worker

    worker, asked, mine = get_worker(), _asked[run], fingerprint()
    if _forked and _forked != mine:
        forget_forks()
    _forked.clear()
    _forked.update(mine)
    trouble = differences(asked.fingerprint, mine)
    if trouble:
        worker.loop.add_callback(worker.set_resources, **{run: 0})
        about = {"worker": worker.address, "threads": 0, "name": worker.address}
        worker.log_event(run, {"kind": "worker", **about, "trouble": trouble})
        raise Lost(f"worker {worker.name}: {trouble}")
    said_by_cache: list[str] = []
    with (
        Workspace(Path(worker.local_directory) / "lecture") as space,
        Cache.open(CacheChoice(asked.store, True, None), said_by_cache.append) as shared,
    ):
        work = _here(Work.from_json(said), files, space, shared)
        outcome = _outcome(work, space, worker, run)
        if "failure" in outcome:
            return outcome
        made = dict(outcome["made"])
        for what in filter(None, (work, work.also)):
            if what.step in made:
                paths = {role: Path(path) for role, path in made[what.step].paths.items()}
                shared.put(what, made[what.step], paths)
        if said_by_cache:
            return {"failure": {"line": said_by_cache[0], "mistake": True}, "log": ""}
        return {"made": [[step, each.to_json()] for step, each in made.items()]}


def _here(work: Work, files: Mapping[str, bytes], space: Workspace, shared: Cache) -> Work:
    """The work as it is to be done on this machine. Raises LectureError where a need is missing."""
    settings = dict(work.settings)
    for name, data in files.items():
        path = space.fresh_folder("weights") / Path(settings[name]).name
        path.write_bytes(data)
        settings[name] = str(path)
    needs: dict[str, Made] = {}
    for role, made in work.needs.items():
        needs[role] = made
        if made.paths:
            borrowed = shared.borrow(made, space.fresh_folder("needs"))
            if borrowed is None:
                raise Lost(f"the store does not have the {role}")
            needs[role] = borrowed
    folder = space.fresh_folder(Path(work.folder).name)
    spoken = work.spoken
    if spoken and "kept" in spoken:
        spoken = {**spoken, "kept": str(folder / "sounds")}
    also = replace(work.also, settings=settings, folder=str(folder)) if work.also else None
    own = replace(work, settings=settings, needs=needs, folder=str(folder))
    return replace(own, spoken=spoken, also=also, threads=1)


def _outcome(work: Work, space: Workspace, worker: Any, run: str) -> dict[str, Any]:
    """Do a work in a process. Raises Unwanted where the cluster has forgotten or cancelled it, and
    Lost where its process was gone."""
    key = worker.get_current_task()

    def tell(kind: str, **more: Any) -> None:
        worker.log_event(run, {"kind": kind, "key": key, **more})

    tell("started")
    made, last = [], time.monotonic()
    with LocalPool(1, space.lock) as pool:
        pool.submit(work)
        while not pool.is_idle:
            for event in pool.events(timeout=0.5):
                if event.kind == "frames" and time.monotonic() > last + _TELL_EVERY:
                    last = time.monotonic()
                    tell("frames", frames=event.frames)
                elif event.made is not None:
                    made.append((event.step, event.made))
                elif event.kind == "failed" and event.failure:
                    return {"failure": asdict(event.failure), "log": _log(work)}
                elif event.failure:
                    line = f"worker {worker.name}: {event.failure.line}"
                    tell("lost", line=line)
                    raise Lost(line)
            state = worker.state.tasks.get(key)
            if state is None or state.state == "cancelled":
                raise Unwanted
    return {"made": made}


def _log(work: Work) -> str:
    with contextlib.suppress(OSError):
        return work.log.read_text(encoding="utf-8", errors="replace")[-_LONGEST_LOG:]
    return ""
