"""The pool of this machine: events, what is lost, what is cancelled, how all ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from render.base.files import STATE, Workspace
from render.base.reads import Input
from render.build.product import Work, key_of
from render.build.workers.pool import Event, LocalPool

from .conftest import ROOT
from .test_process import alive, until

MAKER = "tests.render.makers:make"


def work(folder: Path, name: str, do: str = "", *, heavy: bool = True, **more: Any) -> Work:
    told = {"name": name, "do": do, "seconds": 60}
    told |= {key: more.pop(key) for key in ("seconds", "other") if key in more}
    spec = Input("spec", "", None, name)
    fields: dict[str, Any] = {
        "step": name,
        "kind": "text",
        "maker": MAKER,
        "spec": told,
        "needs": {},
        "checker": "tests.render.makers:check",
        "settings": {},
        "modules": (),
        "inputs": (spec,),
        "aside": (),
        "folder": str(folder / name),
        "heavy": heavy,
    }
    return Work(**{**fields, **more})


def all_events(pool: LocalPool, steps: int, seconds: float = 60) -> list[Event]:
    """Until so many steps are over."""
    found: list[Event] = []
    end = time.monotonic() + seconds
    while sum(event.kind in ("made", "failed", "lost") for event in found) < steps:
        assert time.monotonic() < end, found
        found += pool.events(timeout=1)
    return found


def last(events: list[Event], step: str) -> Event:
    return next(event for event in reversed(events) if event.step == step)


@pytest.fixture(autouse=True)
def no_manim(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Workers of these tests draw nothing: what they are forked from need not import Manim."""
    import multiprocessing

    monkeypatch.setattr(multiprocessing, "set_forkserver_preload", lambda _: None)
    yield


@pytest.mark.parametrize("heavy", [True, False])
class TestOneStep:
    def test_what_was_made_is_described(self, heavy: bool, tmp_path: Path) -> None:
        with LocalPool(1) as pool:
            pool.submit(work(tmp_path, "a", heavy=heavy))
            events = all_events(pool, 1)
        assert [event.kind for event in events] == ["started", "frames", "made"]
        assert events[1].frames == 3
        made = events[2].made
        assert made is not None
        assert made.path("text").read_text() == "made of a"
        assert made.files["text"].holds(tmp_path / "a" / "text")
        assert made.facts == {"frames": 5, "threads": "1"}
        assert made.key == key_of("text", made.inputs)
        assert "facts" not in made.files

    @pytest.mark.parametrize(
        ("do", "line", "mistake"),
        [
            ("mistake", "w.json: found nonsense", True),
            ("bad", "a: expected good, found made of a", True),
            ("bug", "ZeroDivisionError: in\\nthe code (", False),
        ],
    )
    def test_a_failure_is_a_line(
        self, do: str, line: str, mistake: bool, heavy: bool, tmp_path: Path
    ) -> None:
        with LocalPool(1) as pool:
            pool.submit(work(tmp_path, "a", do, heavy=heavy))
            event = all_events(pool, 1)[-1]
        assert event.kind == "failed"
        assert event.failure is not None
        assert event.failure.line.startswith(line)
        assert event.failure.mistake == mistake
        log = tmp_path / "a" / "log.txt"
        assert ("Traceback" in (log.read_text() if log.exists() else "")) != mistake

    def test_a_maker_that_is_not_there(self, heavy: bool, tmp_path: Path) -> None:
        with LocalPool(1) as pool:
            pool.submit(work(tmp_path, "a", heavy=heavy, maker="tests.render.nothing:make"))
            event = all_events(pool, 1)[-1]
        assert event.failure is not None
        assert "No module named" in event.failure.line

    @pytest.mark.parametrize("do", ["exit", "killed"])
    def test_a_worker_that_is_gone_is_told_as_lost(
        self, do: str, heavy: bool, tmp_path: Path
    ) -> None:
        with LocalPool(1) as pool:
            pool.submit(work(tmp_path, "a", do, heavy=heavy))
            event = all_events(pool, 1)[-1]
            pool.submit(work(tmp_path, "b", heavy=heavy))
            assert all_events(pool, 1)[-1].kind == "made"
        assert event.kind == "lost"
        assert event.failure is not None
        assert ("out of memory" if do == "killed" else "code 3") in event.failure.line

    def test_one_without_memory_is_lost_too(self, heavy: bool, tmp_path: Path) -> None:
        with LocalPool(1) as pool:
            pool.submit(work(tmp_path, "a", "out of memory", heavy=heavy))
            event = all_events(pool, 1)[-1]
        assert event.kind == "lost"
        assert event.failure is not None
        assert event.failure.line == "the worker ran out of memory"

    def test_no_message_can_be_cut_in_two_by_a_stop(self, heavy: bool, tmp_path: Path) -> None:
        with LocalPool(1, patience=5) as pool:
            pool.submit(work(tmp_path, "a", "large", heavy=heavy))
            made = all_events(pool, 1)[-1].made
        assert made is not None
        assert len(made.facts["large"]) == 200_000

    def test_a_stopped_worker_is_noticed_and_killed(self, heavy: bool, tmp_path: Path) -> None:
        with LocalPool(1, patience=5) as pool:
            pool.submit(work(tmp_path, "a", "stop", heavy=heavy))
            event = all_events(pool, 1)[-1]
            assert event.kind == "lost"
            assert event.failure is not None
            assert "did not respond" in event.failure.line
            assert not alive(int((tmp_path / "a" / "pid").read_text()))

    def test_one_that_works_for_long_is_not(self, heavy: bool, tmp_path: Path) -> None:
        with LocalPool(1, patience=5) as pool:
            pool.submit(work(tmp_path, "a", "sleep", seconds=7, heavy=heavy))
            assert all_events(pool, 1)[-1].kind == "made"

    def test_nothing_is_left_when_it_is_left_by_an_exception(
        self, heavy: bool, tmp_path: Path
    ) -> None:
        with pytest.raises(KeyboardInterrupt), LocalPool(1) as pool:
            pool.submit(work(tmp_path, "a", "child", heavy=heavy))
            until((tmp_path / "a" / "child").exists)
            until(lambda: (tmp_path / "a" / "child").read_text())
            raise KeyboardInterrupt
        for name in ("pid", "child"):
            number = int((tmp_path / "a" / name).read_text())
            until(lambda number=number: not alive(number))


def test_light_works_wait_for_no_heavy_one(tmp_path: Path) -> None:
    with LocalPool(1) as pool:
        pool.submit(work(tmp_path, "a", "wait for other", other="light"))
        pool.submit(work(tmp_path, "light", heavy=False))
        events = all_events(pool, 2)
    assert {event.step for event in events if event.kind == "made"} == {"a", "light"}


def test_light_works_are_made_at_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LocalPool(1) as pool:
        pool.submit(work(tmp_path, "a", "wait for other", other="b", heavy=False))
        pool.submit(work(tmp_path, "b", "wait for other", other="a", heavy=False))
        events = all_events(pool, 2)
    assert {event.step for event in events if event.kind == "made"} == {"a", "b"}


def test_the_log_has_what_was_printed(tmp_path: Path) -> None:
    with LocalPool(1) as pool:
        pool.submit(work(tmp_path, "a", "print"))
        assert all_events(pool, 1)[-1].kind == "made"
    assert (tmp_path / "a" / "log.txt").read_text() == "printed\nby a child\n"


def test_needs_come_with_their_files(tmp_path: Path) -> None:
    with LocalPool(1) as pool:
        pool.submit(work(tmp_path, "a", heavy=False))
        made = all_events(pool, 1)[-1].made
        assert made is not None
        pool.submit(work(tmp_path, "b", needs={"text": made}))
        assert all_events(pool, 1)[-1].kind == "made"


def test_what_the_same_play_yields_is_made_too(tmp_path: Path) -> None:
    cover = work(tmp_path, "cover")
    with LocalPool(1) as pool:
        pool.submit(work(tmp_path, "a", also=cover))
        events = all_events(pool, 2)
    made = last(events, "cover").made
    assert made is not None
    assert made.path("cover").read_text() == "cover of a scene"
    assert made.key == key_of("text", cover.inputs)


def test_the_folder_of_the_run_is_kept_while_a_worker_lives(tmp_path: Path) -> None:
    space = Workspace(tmp_path)
    with LocalPool(1, space.lock) as pool:
        pool.submit(work(space.folder, "a", "sleep", seconds=60))
        until((space.folder / "a" / "pid").exists)
        os.close(space.lock)  # as the end of our process would
        with Workspace(tmp_path):
            assert space.folder.is_dir()
    with Workspace(tmp_path):
        assert not space.folder.exists()
    assert list((tmp_path / STATE).glob("run-*")) == []


@pytest.mark.parametrize("heavy", [True, False])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_workers_end_when_the_parent_is_killed(
    heavy: bool, how: signal.Signals, tmp_path: Path
) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from tests.render.test_pool import *\n"
        "import multiprocessing; multiprocessing.set_forkserver_preload = lambda _: None\n"
        "if __name__ == '__main__':\n"
        "    with LocalPool(1) as pool:\n"
        f"        pool.submit(work(Path({str(tmp_path)!r}), 'a', 'child', heavy={heavy}))\n"
        "        while True: list(pool.events())\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
    try:
        until(
            lambda: (tmp_path / "a" / "child").exists() and (tmp_path / "a" / "child").read_text()
        )
    finally:
        parent.send_signal(how)
        parent.wait()
    for name in ("pid", "child"):
        number = int((tmp_path / "a" / name).read_text())
        until(lambda number=number: not alive(number))


def test_files_where_the_run_was_started_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json.py", "render.py", "manim.py", "sitecustomize.py"):
        (tmp_path / name).write_text("raise SystemExit('imported')")
    monkeypatch.chdir(tmp_path)
    for heavy in (True, False):
        with LocalPool(1) as pool:
            pool.submit(work(tmp_path, f"a{heavy}", heavy=heavy))
            assert all_events(pool, 1)[-1].kind == "made"
