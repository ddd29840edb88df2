"""Gives the workers of a cluster scenes to render, the longest first, one for each free thread.

The list of jobs stays here: a worker gets a scene only when it has a thread for it, and only after
it was examined. So workers may come and go, those that came late are examined as well, and a scene
is looked up in the store right before it begins.
"""

from __future__ import annotations

import dataclasses
import pickle
import queue
import secrets
import time
from asyncio import CancelledError
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

from engine.errors import LectureError, one_line
from render.base.cores import usable_cores
from render.build.backlog import Backlog, Job
from render.build.cluster import work
from render.build.cluster.fingerprint import differences, fingerprint, short
from render.build.pool import Listener
from render.build.task import Failure, Task

TRIES = 3  # of a scene, as long as nothing but its worker is to blame
_LOOK_EVERY = 1.0  # seconds, at who is there
_PATIENCE = 60.0  # seconds for the workers that are there at the start to be examined
_FILES = ("weights", "inference_weights")


class Client(Listener, Protocol):
    """Is told what happens, in the main thread, task by task."""

    def has_slots(self, slots: int) -> None:
        """So many scenes are rendered at a time from now on."""

    def stored(self, task: Task) -> bool:
        """The scene was rendered and is in the store: fetch it. False if it is not there. Called in
        a thread, for several tasks at once; raises LectureError where it cannot be put in place."""
        ...

    def fetched(self, task: Task) -> None:
        """The scene has been fetched."""


@dataclasses.dataclass
class _Worker:
    """``slots``: scenes at a time, 0 before it is examined and if it is refused."""

    name: str
    threads: int
    slots: int = 0
    examined: bool = False


@dataclasses.dataclass(frozen=True)
class _Running:
    job: Job
    worker: str
    future: Any


class _Call:
    """Becomes the function's result where it is unpickled. So Dask handles bytes only: its
    scheduler needs nothing of the lecture, and a worker without the lecture can say so."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self._call = function, arguments

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self._call


class Farm:
    """``client``: a Dask client. ``store``: where results go; ``mark``: what was left there, so
    that workers can tell that it is the same. ``say`` takes a line for the user. ``code_kept``: see
    :func:`fingerprint`."""

    def __init__(
        self,
        client: Any,
        store: str,
        mark: str,
        say: Callable[[str], None],
        code_kept: Path | None = None,
    ) -> None:
        self._client, self._store, self._mark, self._say = client, store, mark, say
        self._mine = fingerprint(code_kept)
        self._topic = f"lecture-{secrets.token_hex(8)}"
        self._events: queue.SimpleQueue[tuple[str, str, Any]] = queue.SimpleQueue()
        self._workers: dict[str, _Worker] = {}
        self._running: dict[str, _Running] = {}
        self._fetching: dict[str, tuple[_Running, Future[bool]]] = {}
        self._exams: dict[str, tuple[str, Any]] = {}  # by key: the worker's address
        self._tries: Counter[str] = Counter()
        self._looked = 0.0
        self._alone_since: float | None = None  # since when no worker can be used
        self._number = 0

    def run(self, jobs: Sequence[Job], listener: Client) -> None:
        """Do all jobs. A failed one does not stop the others.

        Raises LectureError where every worker is refused or the scheduler is gone. If this is left
        by an exception, all that runs on the cluster is cancelled.
        """
        self._backlog, self._listener = Backlog(jobs), listener
        self._threads = ThreadPoolExecutor(usable_cores())
        self._client.subscribe_topic(self._topic, self._heard)
        try:
            self._meet()
            while self._backlog or self._running or self._fetching:
                self._look()
                while self._backlog and (worker := self._free()):
                    self._start(worker)
                self._attend(_LOOK_EVERY)
        finally:
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._cancel([running.future for running in self._running.values()])
            self._cancel([future for _, future in self._exams.values()])

    def _meet(self) -> None:
        """Examine the workers that are there, before any work starts."""
        end = time.monotonic() + _PATIENCE
        self._look()
        while self._exams and time.monotonic() < end:
            self._attend(_LOOK_EVERY)
            self._look()
        if self._workers and not self._usable():
            raise _nobody("see above what each is refused for")

    def _usable(self) -> bool:
        """Whether any worker may be given scenes, or may yet turn out to be one."""
        return any(w.slots or not w.examined for w in self._workers.values())

    def _look(self) -> None:
        """Who is there now, who is new, who is gone."""
        if time.monotonic() < self._looked + _LOOK_EVERY:
            return
        try:
            there = self._client.scheduler_info(n_workers=-1)["workers"]
        except Exception as error:  # of many kinds: what is closed can no longer be asked
            raise LectureError(
                where="--cluster",
                expected="the scheduler still there (run again to go on: finished scenes are kept)",
                found=one_line(f"{type(error).__name__}: {error}"),
            ) from error
        self._looked = time.monotonic()
        for address in [address for address in self._workers if address not in there]:
            self._gone(address)
        for address, said in there.items():
            if address not in self._workers:
                self._workers[address] = _Worker(str(said.get("name", "")), int(said["nthreads"]))
                self._examine(address)
        self._tell_slots()
        if self._usable():
            self._alone_since = None
            return
        if self._alone_since is None:
            self._alone_since = time.monotonic()
            self._say("no worker is there that can be used; waiting for one (Ctrl-C ends this)")
        if self._workers and time.monotonic() > self._alone_since + _PATIENCE:
            raise _nobody("was a file of the project edited meanwhile? Run again to go on")

    def _examine(self, address: str) -> None:
        future = self._submit(address, work.examine, self._store, self._mark)
        self._exams[future.key] = address, future
        self._watch(future)

    def _gone(self, address: str) -> None:
        """A worker is no longer there: what it did is to be done by another."""
        worker = self._workers.pop(address)
        for key in [key for key, exam in self._exams.items() if exam[0] == address]:
            self._cancel([self._exams.pop(key)[1]])
        for key in [key for key, running in self._running.items() if running.worker == address]:
            self._lost(key, f"{_shown(address, worker)} is gone")

    def _lost(self, key: str, why: str) -> None:
        """A scene ended without a result and without fault of its own."""
        running = self._running.pop(key)
        self._cancel([running.future])
        self._again(running.job, why)

    def _again(self, job: Job, why: str) -> None:
        """Do it again, if it has not been tried too often."""
        task = job.task
        self._tries[task.folder] += 1
        if self._tries[task.folder] < TRIES:
            self._say(f"{task.slug}: to be done again: {why}")
            self._backlog.put_back(job)
            return
        line = f"given up after {TRIES} tries; the last time {why}"
        self._end(job, Failure(line, mistake=False))

    def _free(self) -> str | None:
        """The worker with the most threads to spare."""
        busy = Counter(running.worker for running in self._running.values())
        spare = {address: w.slots - busy[address] for address, w in self._workers.items()}
        best = max(spare, key=spare.__getitem__, default=None)
        return best if best is not None and spare[best] > 0 else None

    def _start(self, address: str) -> None:
        job = self._backlog.take()
        task = job.task
        if not self._listener.wanted(task):
            self._backlog.ended(job)
            return
        files = {name: Path(getattr(task, name)).read_bytes() for name in _FILES}
        arguments = files, self._store, short(self._mine), self._topic
        future = self._submit(address, work.render, dataclasses.asdict(task), *arguments)
        self._running[future.key] = _Running(job, address, future)
        self._listener.started(task)
        self._watch(future)

    def _submit(self, address: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function on that worker and on no other."""
        self._number += 1
        return self._client.submit(
            pickle.loads,
            pickle.dumps(_Call(function, arguments)),
            key=f"{self._topic}-{self._number}",
            workers=[address],
            allow_other_workers=False,
            pure=False,
        )

    def _watch(self, future: Any) -> None:
        future.add_done_callback(lambda done: self._events.put(("done", done.key, None)))

    def _heard(self, event: tuple[float, Any]) -> None:
        """Called in a thread of the client."""
        said = event[1]
        self._events.put(("frames", said["key"], said["frames"]))

    def _attend(self, seconds: float) -> None:
        """Wait for something to happen, for a while; deal with all that has."""
        try:
            event = self._events.get(timeout=seconds)
            while True:
                self._deal(*event)
                event = self._events.get_nowait()
        except queue.Empty:
            return

    def _deal(self, kind: str, key: str, said: Any) -> None:
        if kind == "frames" and key in self._running:
            self._listener.advanced(self._running[key].job.task, int(said))
        elif kind == "done" and key in self._exams:
            address, future = self._exams.pop(key)
            self._admit(address, *_outcome(future))
        elif kind == "done" and key in self._running:
            self._finished(key, *_outcome(self._running[key].future))
        elif kind == "fetched":
            self._fetched(key, str(said))

    def _admit(self, address: str, said: dict[str, Any], trouble: str) -> None:
        worker = self._workers.get(address)
        if worker is None:
            return
        worker.examined = True
        trouble = trouble or said.get("trouble", "")
        trouble = trouble or differences(self._mine, said["fingerprint"])
        if trouble:
            worker.slots = 0
            self._say(f"{_shown(address, worker)} is refused: {trouble}")
        else:
            worker.slots = worker.threads
        self._tell_slots()

    def _tell_slots(self) -> None:
        self._listener.has_slots(sum(worker.slots for worker in self._workers.values()))

    def _finished(self, key: str, said: dict[str, Any], trouble: str) -> None:
        running = self._running[key]
        task = running.job.task
        worker = self._workers.get(running.worker)
        where = _shown(running.worker, worker)
        if trouble:
            self._lost(key, f"{where}: {trouble}")
        elif "refused" in said:
            self._admit(running.worker, {"fingerprint": said["refused"]}, "")
            self._running.pop(key)
            self._backlog.put_back(running.job)
        elif "failure" in said:
            failure = Failure(**said["failure"])
            if failure.lost:
                self._lost(key, f"{where}: {failure.line}")
                return
            self._running.pop(key)
            _keep_log(task, said["log"])
            self._end(running.job, failure)
        else:
            self._running.pop(key)
            fetch = self._threads.submit(self._listener.stored, task)
            self._fetching[key] = running, fetch
            fetch.add_done_callback(lambda _: self._events.put(("fetched", key, where)))

    def _fetched(self, key: str, where: str) -> None:
        running, fetch = self._fetching.pop(key)
        try:
            there = fetch.result()
        except LectureError as error:
            self._end(running.job, Failure(str(error), mistake=True))
            return
        except Exception as error:  # a mistake of ours costs this scene, not the run
            line = one_line(f"{type(error).__name__}: {error}")
            self._end(running.job, Failure(line, mistake=False))
            return
        if there:
            self._backlog.ended(running.job)
            self._listener.fetched(running.job.task)
        else:
            self._again(running.job, f"{where} has rendered it, but the store does not have it")

    def _end(self, job: Job, failure: Failure) -> None:
        self._backlog.ended(job)
        self._listener.ended(job.task, failure)

    def _cancel(self, futures: list[Any]) -> None:
        if futures:
            self._client.cancel(futures, force=True)


def _nobody(why: str) -> LectureError:
    expected = "a worker like this machine"
    return LectureError(where="--cluster", expected=expected, found=f"none; {why}")


def _outcome(future: Any) -> tuple[dict[str, Any], str]:
    """What a call returned, or why it did not."""
    try:
        return future.result(timeout=_PATIENCE), ""
    except (Exception, CancelledError) as error:  # whatever the worker raised, or Dask
        return {}, one_line(f"{type(error).__name__}: {error}")


def _shown(address: str, worker: _Worker | None) -> str:
    named = worker.name if worker else ""
    return f"worker {address}" if named in ("", address) else f"worker {named} at {address}"


def _keep_log(task: Task, text: str) -> None:
    """Where a worker of this machine would have left it."""
    folder = Path(task.folder)
    folder.mkdir(exist_ok=True)
    task.log.write_text(text, encoding="utf-8")
