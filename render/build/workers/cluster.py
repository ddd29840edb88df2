"""The pool whose workers are those of a Dask cluster (docs/cluster.md): the extra ``cluster``.

Works that draw are Dask's to distribute, and to try again where a worker is lost; everything light
is made here. Results come back through the cache. Each worker is asked, whenever it comes, whether
it would draw just what this machine would; those that would get a resource of this run's own, one
for each thread, which works ask for. So the others get nothing, and stay as they are.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import pickle
import re
import secrets
import signal
import time
from asyncio import CancelledError
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from engine.errors import LectureError, one_line
from engine.reader import WEIGHT_BYTES, read_bytes
from render.base.failure import Failure, need
from render.build.product import Work
from render.build.storage.cache import Cache
from render.build.storage.places import CacheChoice
from render.build.workers import remote
from render.build.workers.pool import Event, LocalPool

RETRIES = 2  # of a work, as long as nothing but its worker is to blame
_EXPECTED = "tcp://HOST:PORT, tls://HOST:PORT or local:NUMBER"
_ANSWER = 30.0  # seconds for the scheduler to answer
_LOOK_EVERY = 1.0  # seconds, at who is there
_PATIENCE = 60.0  # seconds without a worker that can be used, where some are there
#: seconds until a shared folder shows what another machine has just written
_WAITS = (0.0, 0.5, 1.0, 2.0, 4.0)
_MOST = 256  # workers on this machine
_WEIGHTS = ("weights", "inference_weights")


def check(address: str, cache: CacheChoice) -> None:
    """Raise LectureError for an invalid address, for a cache that workers elsewhere cannot reach,
    and where packages are missing."""
    number = _workers_here(address)
    for module in ("distributed", "cryptography"):
        need(module, "cluster", "--cluster")
    if number is None and not cache.named:
        raise LectureError(
            where="--cluster",
            expected="a --store that its workers reach too: a shared folder or a URL such as s3://…",
            found="none" if cache.url is None else "only the cache folder of this machine",
        )


def cache_for(choice: CacheChoice, scratch: Path) -> CacheChoice:
    """The cache that results come back through; only workers on this machine can do without one
    that the user knows of. It is needed, so that it is an error if it cannot be used."""
    url = choice.address if choice.url else str(scratch / "store")
    return CacheChoice(url, named=True, limit=choice.limit if choice.url else None)


def _workers_here(address: str) -> int | None:
    """The number of workers that ``local:N`` means, None for the address of a scheduler."""
    local = re.fullmatch(r"local:(\d{1,9})", address)
    number = int(local[1]) if local else None
    known = re.fullmatch(r"(tcp|tls|ucx|ws|wss)://\S+:\d+", address)
    if not (1 <= number <= _MOST if number is not None else known):
        raise LectureError(where="--cluster", expected=_EXPECTED, found=repr(address))
    return number


@contextlib.contextmanager
def client(address: str, scratch: Path, say: Callable[[str], None]) -> Iterator[Any]:
    """A client; a cluster of this machine ends with it, and only this process can talk to it.
    ``scratch``: a private folder for its workers. Raises LectureError where nobody answers."""
    import distributed

    dask: Any = distributed
    # What users must know we say ourselves; of Dask's messages only critical ones.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    number, reached, security = _workers_here(address), address, None
    with contextlib.ExitStack() as stack:
        if number is not None:
            security = dask.Security.temporary()
            with _without_interrupts():
                reached = dask.LocalCluster(
                    n_workers=number,
                    threads_per_worker=1,
                    protocol="tls://",
                    security=security,
                    host="127.0.0.1",
                    dashboard_address="127.0.0.1:0",  # there is none, but None is port 8787
                    memory_limit=0,  # the drawing processes are not the worker's own memory
                    silence_logs=logging.CRITICAL,
                    local_directory=str(scratch),
                )
            stack.enter_context(reached)
        elif not address.startswith(("tls:", "wss:")):
            say(f"{address}: traffic is not encrypted; use tls:// (docs/cluster.md)")
        try:
            made = dask.Client(reached, timeout=_ANSWER, security=security, set_as_default=False)
        except (OSError, TimeoutError, ValueError, TypeError) as error:
            raise LectureError(
                where=f"--cluster {address}",
                expected="a Dask scheduler that answers",
                found=one_line(str(error) or type(error).__name__),
            ) from error
        yield stack.enter_context(made)


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Threads and processes begun meanwhile, and theirs, never get Ctrl-C: the terminal sends it to
    all, but only this process is to act on it. It gets one that came meanwhile at the end."""
    resource_tracker.ensure_running()  # else it is begun meanwhile, and takes the block away
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class ClusterPool(LocalPool):
    """``with ClusterPool(address, cache, scratch, say) as pool``. ``cache``: that of this run, see
    :func:`cache_for`; ``scratch``: a private folder; ``say`` takes a line for the user.

    Entering it waits for a worker that can be used. Raises LectureError where all are refused, and
    from :meth:`events` where the scheduler is gone.
    """

    def __init__(
        self, address: str, cache: Cache, scratch: Path, say: Callable[[str], None]
    ) -> None:
        super().__init__(0)
        self._address, self._cache, self._scratch, self._say = address, cache, scratch, say
        self._run = f"lecture-{secrets.token_hex(8)}"  # names the resource and the topic
        self._threads: dict[str, int] = {}  # by worker, 0 for one that is refused
        self._works: dict[str, tuple[Work, Any]] = {}  # and future, by key
        self._alone_since = self._looked = 0.0
        self._asked_for = remote.fingerprint()

    def __enter__(self) -> ClusterPool:
        store, mark = self._cache.address, self._cache.mark
        self._asked = remote.Asked(store, mark, self._asked_for, self._run)
        with contextlib.ExitStack() as stack:
            stack.push(super().__exit__)
            self._client = stack.enter_context(client(self._address, self._scratch, self._say))
            self._client.subscribe_topic(self._run, lambda event: self._said.put(event[1]))
            stack.callback(self._leave)
            while not any(self._threads.values()):
                list(self.events(timeout=0))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _leave(self) -> None:
        with contextlib.suppress(Exception):  # of a scheduler that is gone
            self._client.cancel([future for _, future in self._works.values()], force=True)
            self._give(0, [address for address, threads in self._threads.items() if threads])

    def _give(self, share: int, workers: Sequence[str]) -> None:
        """A share of 1: workers may be given works; 0: no longer."""
        if workers:
            self._client.run(remote.take_part, self._run, share, workers=workers, on_error="ignore")

    def _examine(self, new: Mapping[str, Any]) -> None:
        """Ask workers whether they would draw just what this machine would."""
        asks = pickle.dumps(_Call(remote.examine, self._asked))
        found = self._client.run(pickle.loads, asks, workers=[*new], on_error="return")
        for address, answer in found.items():
            failed = isinstance(answer, Exception)
            trouble = one_line(f"{type(answer).__name__}: {answer}") if failed else answer
            self._threads[address] = 0 if trouble else new[address]["nthreads"]
            name = str(new[address]["name"])
            shown = address if name in ("", address) else f"{name} at {address}"
            if trouble:
                self._say(f"worker {shown} is refused: {trouble}")
        self._give(1, [address for address in new if self._threads.get(address)])

    def submit(self, work: Work) -> None:
        """Make a product: one that is drawn on the cluster, any other here."""
        if not work.heavy:
            super().submit(work)
            return
        for made in work.needs.values():
            self._cache.lend(made)
        named = {name: Path(work.settings[name]) for name in _WEIGHTS if name in work.settings}
        files = {name: read_bytes(path, WEIGHT_BYTES) for name, path in named.items()}
        key = f"{self._run}-{secrets.token_hex(8)}"
        future = self._client.submit(
            pickle.loads,
            pickle.dumps(_Call(remote.render, work, files, self._asked)),
            key=key,
            resources={self._run: 1},
            retries=RETRIES,
            pure=False,
        )
        self._works[key] = work, future
        future.add_done_callback(lambda _: self._said.put({"kind": "done", "key": key}))

    def events(self, timeout: float | None = None) -> Iterator[Event]:
        """What has happened since the last call; waits for the first, at most ``timeout``
        seconds. Raises LectureError where nobody can go on."""
        end = None if timeout is None else time.monotonic() + timeout
        found: list[Event] = []
        while not found:
            self._look()
            found = list(super().events(timeout=_LOOK_EVERY / 4))
            if end is not None and time.monotonic() >= end:
                break
        yield from found

    def _look(self) -> None:
        """Who is gone; raises LectureError where nobody can be waited for."""
        now = time.monotonic()
        if now < self._looked + _LOOK_EVERY:
            return
        try:
            there = self._client.scheduler_info(n_workers=-1)["workers"]
        except Exception as error:  # of many kinds: what is closed can no longer be asked
            raise LectureError(
                where="--cluster",
                expected="a running scheduler (run again to continue: finished scenes are kept)",
                found=one_line(f"{type(error).__name__}: {error}"),
            ) from error
        self._looked = now
        for address in self._threads.keys() - there.keys():
            if self._threads.pop(address) and self._works:
                self._say(f"worker {address} is gone; its work will be repeated")
        new = {address: each for address, each in there.items() if address not in self._threads}
        if new:
            self._examine(new)
        self.slots = max(1, sum(self._threads.values()))  # a work may wait for a worker
        is_patient = self._works and now <= self._alone_since + _PATIENCE
        if any(self._threads.values()):
            self._alone_since = 0.0
        elif not self._alone_since:
            self._alone_since = now
            if not there:
                self._say("no usable worker; waiting for one (Ctrl-C stops)")
        elif there and not is_patient:
            raise LectureError(
                where="--cluster",
                expected="a worker compatible with this machine",
                found="none; the reasons are above",
            )

    def _understood(self, said: Any) -> list[Event]:
        if isinstance(said, Event):
            return [said]
        kind: Any = said["kind"]
        work, future = self._works.get(said.get("key", ""), (None, None))
        if kind == "refused":
            self._threads[said["address"]] = 0
            self._say(f"worker {said['address']} is refused: {said['trouble']}")
        elif work and kind == "done":
            del self._works[said["key"]]
            return self._finished(work, future)
        elif work and kind == "lost":
            self._say(f"{Path(work.step).stem}: will be repeated: {said['line']}")
        elif work:
            return [Event(work.step, kind, said.get("frames", 0))]
        return []

    def _finished(self, work: Work, future: Any) -> list[Event]:
        folder = Path(work.folder)
        folder.mkdir(exist_ok=True)
        try:
            found, log = pickle.loads(future.result(timeout=_ANSWER))
            if log:
                work.log.write_text(log, encoding="utf-8")
            return [self._fetched(event, folder) if event.made else event for event in found]
        except LectureError as error:
            failure = Failure.of(error)
        except (Exception, CancelledError) as error:  # whatever the worker raised, or Dask
            told = one_line(f"{type(error).__name__}: {error}")
            line = f"given up after {RETRIES + 1} tries; the last time {told}"
            failure = Failure(line, mistake=False)
        return [Event(work.step, "failed", failure=failure)]

    def _fetched(self, event: Event, folder: Path) -> Event:
        """Take what was made from the cache. Raises LectureError where it is not there."""
        assert event.made
        for seconds in _WAITS:
            time.sleep(seconds)
            made = self._cache.borrow(event.made, folder)
            if made:
                return replace(event, made=made)
            if self._cache.failed:
                break
        name, expected = Path(event.step).stem, "what was just made"
        raise LectureError(where=name, field="store", expected=expected, found="nothing")


class _Call(functools.partial[Any]):
    """Becomes what the call returns where it is unpickled: the scheduler needs nothing of the
    lecture, and a worker without it can say so."""

    def __reduce__(self) -> tuple[Any, ...]:
        return self.func, self.args
