"""``--cluster tcp://HOST:PORT`` or ``local:N``: a client of a Dask scheduler."""

from __future__ import annotations

import contextlib
import logging
import re
import signal
import sys
from collections.abc import Iterator
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from engine.errors import LectureError, one_line
from render.base.extras import need
from render.build.store.choice import StoreChoice

_EXPECTED = "tcp://HOST:PORT, tls://HOST:PORT or local:NUMBER"
_PATIENCE = 30.0  # seconds for the scheduler to answer
_MOST = 256  # workers on this machine


def check(address: str, store: StoreChoice, voice: str = "none", burned: str = "none") -> None:
    """Raise LectureError for what is no address, for a store that workers elsewhere cannot reach,
    for a voice and for burned captions, whose scenes no store keeps, and where packages are
    missing."""
    number = _workers_here(address)
    need("distributed", "cluster", "--cluster")
    if voice != "none":
        raise LectureError(where="--cluster", expected="--voice none", found=f"--voice {voice}")
    if burned != "none":
        raise LectureError(
            where="--cluster", expected="no --burn-captions", found=f"--burn-captions {burned}"
        )
    if number is None and not store.named:
        raise LectureError(
            where="--cluster",
            expected="a --store that its workers reach, too: a shared folder or a URL like s3://…",
            found="none" if store.url is None else "only the cache folder of this machine",
        )


def store_for(store: StoreChoice, scratch: Path) -> StoreChoice:
    """The store that results come back through; only workers on this machine can do without one
    that the user knows of. It is needed, so that it is an error if it cannot be used."""
    url = store.address if store.url else str(scratch / "store")
    return StoreChoice(url, named=True, limit=store.limit if store.url else sys.maxsize)


def _workers_here(address: str) -> int | None:
    """The number of workers that ``local:N`` means, None for the address of a scheduler."""
    local = re.fullmatch(r"local:(\d+)", address)
    number = int(local[1]) if local else None
    if not (1 <= number <= _MOST if number is not None else _is_address(address)):
        raise LectureError(where="--cluster", expected=_EXPECTED, found=repr(address))
    return number


def _is_address(address: str) -> bool:
    return re.fullmatch(r"(tcp|tls|ucx|ws|wss)://\S+:\d+", address) is not None


@contextlib.contextmanager
def client(address: str, scratch: Path) -> Iterator[Any]:
    """A client; a cluster of this machine ends with it. ``scratch``: a private folder for its
    workers. Raises LectureError where nobody answers at the address."""
    number = _workers_here(address)
    import dask
    from distributed import Client, LocalCluster

    # What a user has to know comes as lines of ours; of Dask only disasters.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    quiet = {"distributed.worker.profile.enabled": False, "distributed.admin.tick.limit": "1h"}
    with contextlib.ExitStack() as stack, dask.config.set(quiet):
        if number is not None:
            with _without_interrupts():
                here = LocalCluster(  # type: ignore[no-untyped-call]
                    n_workers=number,
                    threads_per_worker=1,
                    processes=True,
                    host="127.0.0.1",
                    dashboard_address="127.0.0.1:0",  # there is none, but None is port 8787
                    memory_limit=0,  # the drawing processes are not the worker's own memory
                    silence_logs=logging.CRITICAL,
                    local_directory=str(scratch),
                )
            address = stack.enter_context(here)
        try:
            made = Client(  # type: ignore[no-untyped-call]
                address, timeout=_PATIENCE, set_as_default=False
            )
        except (OSError, TimeoutError, ValueError) as error:
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
