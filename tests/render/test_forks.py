"""Workers as forks of a nursery: real processes, which find no scene of their name."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from render.build import forks
from render.build.incremental import made
from render.build.task import Task

from .test_pool import gone_soon

pytestmark = pytest.mark.skipif(not forks.can_fork(), reason="forks are for Linux")


def task(folder: Path) -> Task:
    folder.mkdir()
    return Task("x", "no.such.module", "X", "", "zh", "draft", *[""] * 5, "", str(folder), "", 1)


class Worker:
    """A worker started by ``start`` and the pipes to it."""

    def __init__(self, start: forks.Start, folder: Path) -> None:
        self.task = task(folder)
        self.messages, theirs = os.pipe()
        stdin, self.stdin = os.pipe()
        lock = os.open(os.devnull, os.O_RDONLY)
        self.process = start(self.task, theirs, stdin, lock)
        for descriptor in (theirs, stdin, lock):
            os.close(descriptor)

    def said(self) -> list[dict[str, object]]:
        """All messages, to the end of the worker."""
        data = b""
        while more := os.read(self.messages, 1 << 16):
            data += more
        return [json.loads(line) for line in data.splitlines()]


@pytest.fixture
def nursery(tmp_path: Path):
    started = forks.Forked(str(tmp_path / "code.json"))
    yield started
    started.close()


def test_a_fork_reports_ends_and_has_nothing_of_the_others(nursery, tmp_path: Path) -> None:
    workers = [Worker(nursery, tmp_path / name) for name in ("a", "b")]
    for worker in workers:
        (said,) = worker.said()
        assert "No module named 'no'" in str(said["failure"])
        assert worker.process.wait(20) == 0
        assert worker.task.log.exists()
        assert isinstance(worker.process, forks._Fork)
    assert workers[0].process.pid != workers[1].process.pid


def test_without_the_nursery_workers_start_from_nothing(nursery, tmp_path: Path) -> None:
    os.kill(nursery._process.pid, signal.SIGKILL)
    worker = Worker(nursery, tmp_path / "a")
    assert len(worker.said()) == 1
    assert worker.process.wait(20) == 0


def test_a_worker_whose_nursery_dies_lives_on_and_its_end_is_seen(nursery, tmp_path: Path) -> None:
    worker = Worker(nursery, tmp_path / "a")
    os.kill(nursery._process.pid, signal.SIGKILL)
    assert len(worker.said()) == 1
    assert worker.process.wait(20) is None  # nobody knows


def test_edits_made_after_the_import_are_noticed(tmp_path: Path, monkeypatch) -> None:
    """A worker that was forked from older code says that it does not know what it drew with."""
    notes = made.Notes("scenes.s02_decoder_inputs", tmp_path / "code.json")
    assert notes._code["scenes/base.py"]
    monkeypatch.setitem(made.IMPORTED, "scenes/base.py", "as it was before")
    again = made.Notes("scenes.s02_decoder_inputs", tmp_path / "code.json")
    assert again._code["scenes/base.py"] == ""
    assert {**again._code, "scenes/base.py": notes._code["scenes/base.py"]} == notes._code


def test_the_nursery_imports_what_workers_need_and_no_threads(nursery) -> None:
    """Or else every worker would import it again, or the fork would be refused."""
    end = time.monotonic() + 60
    tasks = Path(f"/proc/{nursery._process.pid}/task")
    maps = Path(f"/proc/{nursery._process.pid}/maps")
    while "lecture_native" not in maps.read_text() and time.monotonic() < end:
        time.sleep(0.1)
    assert "cairo" in maps.read_text()
    assert len(list(tasks.iterdir())) == 1


def test_all_are_gone_when_the_pool_is(tmp_path: Path) -> None:
    """The pool is killed: its pipes end, and workers and nursery with them."""
    code = (
        "import os, sys, time\n"
        "from pathlib import Path\n"
        "from tests.render.test_forks import Worker\n"
        "from render import forks\n"
        f"nursery = forks.Forked({str(tmp_path / 'code.json')!r})\n"
        f"worker = Worker(nursery, Path({str(tmp_path / 'a')!r}))\n"
        "print(nursery._process.pid, flush=True)\n"
        "time.sleep(100)\n"
    )
    root = Path(__file__).resolve().parents[2]
    pool = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=root)
    assert pool.stdout is not None
    timer = threading.Timer(60, pool.kill)
    timer.start()
    nursery = int(pool.stdout.readline())
    timer.cancel()
    pool.kill()
    pool.wait()
    assert gone_soon([nursery])
