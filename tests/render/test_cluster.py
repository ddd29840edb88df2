"""What the front door makes of a cluster, with a stand-in for Dask whose workers do as told."""

from __future__ import annotations

import dataclasses
import io
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from engine.errors import LectureError
from render.build.backlog import Job
from render.build.cluster import connect, farm, fingerprint
from render.build.store.choice import NO_STORE, StoreChoice
from render.build.store.store import Store
from render.build.task import Failure, Result, Task

from .conftest import FrontDoor, one_line

RESULT = Result(5, 1.0, 9)
LOST = Failure("the worker was killed", mistake=False, lost=True)
Answer = Callable[[str, tuple[Any, ...]], Any]


@cache
def mine() -> dict[str, Any]:
    return fingerprint.fingerprint()


class Future:
    def __init__(self, key: str) -> None:
        self.key, self.answer = key, None
        self.told: list[Callable[[Any], None]] = []

    def result(self, timeout: float) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def add_done_callback(self, function: Callable[[Any], None]) -> None:
        self.told.append(function)
        if self.answer is not None:
            function(self)


class Unpickler(pickle.Unpickler):
    """Tells which function of :mod:`render.build.cluster.work` would be called."""

    def __init__(self, pickled: bytes) -> None:
        super().__init__(io.BytesIO(pickled))

    def find_class(self, module: str, name: str) -> Any:
        assert module == "render.build.cluster.work"
        return lambda *arguments: (name, arguments)


class Dask:
    """Workers by address, with a function that answers what they are asked to render."""

    def __init__(self, **workers: Answer) -> None:
        self.workers = workers
        self.prints = dict.fromkeys(workers, mine())
        self.asked: list[tuple[str, str]] = []
        self.cancelled: list[str] = []
        self.at_look: list[Callable[[], None]] = []

    def scheduler_info(self, n_workers: int) -> Any:
        if self.at_look:
            self.at_look.pop(0)()
        return {"workers": {name: {"name": name, "nthreads": 1} for name in self.workers}}

    def submit(self, function: Any, pickled: bytes, **options: Any) -> Any:
        (worker,) = options["workers"]
        assert (function, options["allow_other_workers"]) == (pickle.loads, False)
        future = Future(options["key"])
        name, arguments = Unpickler(pickled).load()
        if name == "examine":
            future.answer = {"fingerprint": self.prints[worker]}
        else:
            self.asked.append((worker, arguments[0]["slug"]))
            future.answer = self.workers[worker](arguments[0]["slug"], arguments)
        return future

    def subscribe_topic(self, topic: str, handler: Callable[[Any], None]) -> None:
        self.handler = handler

    def cancel(self, futures: list[Future], force: bool) -> None:
        self.cancelled += [future.key for future in futures]


def does(slug: str, arguments: tuple[Any, ...]) -> Any:
    return {"result": dataclasses.asdict(RESULT)}


def fails(failure: Failure) -> Answer:
    return lambda *_: {"failure": dataclasses.asdict(failure), "log": "its log"}


def never(slug: str, arguments: tuple[Any, ...]) -> Any:
    return None


class Story:
    """A listener that writes down what it is told."""

    def __init__(self) -> None:
        self.outcomes: dict[str, Any] = {}
        self.started_: list[str] = []
        self.has: bool | Exception = True  # the store

    def wanted(self, task: Task) -> bool:
        return task.slug != "unwanted"

    def started(self, task: Task) -> None:
        self.started_.append(task.slug)

    def advanced(self, task: Task, frames: int) -> None:
        pass

    def has_slots(self, slots: int) -> None:
        self.slots = slots

    def ended(self, task: Task, outcome: Any) -> None:
        self.outcomes[task.slug] = outcome

    def stored(self, task: Task) -> bool:
        if isinstance(self.has, Exception):
            raise self.has
        return self.has

    def fetched(self, task: Task) -> None:
        self.outcomes[task.slug] = RESULT


class Field:
    """A farm, what it says, and its jobs."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(farm, "_LOOK_EVERY", 0.01)
        monkeypatch.setattr(farm, "fingerprint", lambda code_kept: mine())
        self.folder, self.said, self.story = folder, list[str](), Story()
        (folder / "w.json").write_text("{}")

    def job(self, slug: str, frames: int = 1) -> Job:
        task = Task(slug, "m", "C", "t", "zh", "draft", *[""] * 5, "", "", "", 1)
        weights = str(self.folder / "w.json")
        folder = str(self.folder / slug)
        return Job(
            dataclasses.replace(task, weights=weights, inference_weights=weights, folder=folder),
            frames,
        )

    def run(self, dask: Dask, *jobs: Job) -> dict[str, Any]:
        farm.Farm(dask, "/store", "mark", self.said.append).run(jobs, self.story)
        return self.story.outcomes


@pytest.fixture
def field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Field:
    return Field(tmp_path, monkeypatch)


def test_the_longest_first_on_every_worker(field: Field) -> None:
    dask = Dask(one=does, two=does)
    jobs = [field.job("a", 1), field.job("b", 9), field.job("c", 5), field.job("unwanted")]
    assert field.run(dask, *jobs) == dict.fromkeys("abc", RESULT)
    assert field.story.started_ == ["b", "c", "a"]
    assert {worker for worker, _ in dask.asked} == {"one", "two"}
    assert field.story.slots == 2
    assert field.said == []


def test_weights_travel_as_bytes(field: Field) -> None:
    seen: list[Any] = []

    def looks(slug: str, arguments: tuple[Any, ...]) -> Any:
        seen.append(arguments[1])
        return does(slug, arguments)

    field.run(Dask(one=looks), field.job("a"))
    assert seen == [{"weights": b"{}", "inference_weights": b"{}"}]


def test_a_failure_is_the_scenes_own(field: Field) -> None:
    failure = Failure("a bug", mistake=False)
    assert field.run(Dask(one=fails(failure)), field.job("a")) == {"a": failure}
    assert (field.folder / "a" / "log.txt").read_text() == "its log"


def test_what_is_lost_is_done_again_but_not_for_ever(field: Field) -> None:
    dask = Dask(one=fails(LOST))
    outcome = field.run(dask, field.job("a"))["a"]
    assert outcome.line == (
        "given up after 3 tries; the last time worker one: the worker was killed"
    )
    assert len(dask.asked) == 3
    assert field.said == ["a: to be done again: worker one: the worker was killed"] * 2


def test_a_worker_that_is_gone(field: Field) -> None:
    dask = Dask(one=never)

    def goes() -> None:
        dask.workers = {"two": does}
        dask.prints["two"] = dask.prints["one"]

    dask.at_look = [lambda: None, lambda: None, goes]
    assert field.run(dask, field.job("a")) == {"a": RESULT}
    assert dask.asked == [("one", "a"), ("two", "a")]
    assert field.said == ["a: to be done again: worker one is gone"]
    assert len(dask.cancelled) == 1


def test_without_any_worker_it_waits(field: Field) -> None:
    dask = Dask(one=does)
    workers = dask.workers
    dask.workers = {}

    def comes() -> None:
        dask.workers = workers

    dask.at_look = [lambda: None] * 3 + [comes]
    assert field.run(dask, field.job("a")) == {"a": RESULT}
    assert field.said == ["no worker is there that can be used; waiting for one (Ctrl-C ends this)"]


def other(**versions: str) -> dict[str, Any]:
    return {"versions": {**mine()["versions"], **versions}, "files": mine()["files"]}


def test_a_worker_of_another_kind_is_refused_the_others_work(field: Field) -> None:
    dask = Dask(one=does, two=does)
    dask.prints["one"] = other(manim="0.19.0", font="f00")
    field.run(dask, field.job("a"), field.job("b"))
    assert {worker for worker, _ in dask.asked} == {"two"}
    known = mine()["versions"]
    assert field.said == [
        f"worker one is refused: manim: expected {known['manim']}, found 0.19.0; "
        f"font: expected {known['font']}, found f00"
    ]


def test_if_all_are_refused_nothing_starts(field: Field) -> None:
    dask = Dask(one=does)
    dask.prints["one"] = other(cairo="1.14.0")
    with pytest.raises(LectureError, match="like this machine, found none; see above"):
        field.run(dask, field.job("a"))
    assert dask.asked == []


def test_one_that_comes_later_is_examined_too(field: Field) -> None:
    dask = Dask(one=does)

    def slow(slug: str, arguments: tuple[Any, ...]) -> Any:
        return does(slug, arguments) if "bad" in dask.workers else None

    dask.workers = {"one": never}

    def comes() -> None:
        dask.workers = {"bad": does, "two": does}
        dask.prints = {"bad": other(pycairo="1.0"), "two": other()}

    dask.at_look = [lambda: None, comes]
    field.run(dask, field.job("a"))
    assert ("bad", "a") not in dask.asked
    assert any(line.startswith("worker bad is refused: pycairo") for line in field.said)


def test_one_that_has_become_another_is_refused(field: Field) -> None:
    changed = {"refused": other(numpy="1.0")}
    dask = Dask(one=lambda *_: changed)
    dask.at_look = [lambda: None] * 3 + [lambda: dask.workers.update(two=does)]
    dask.prints["two"] = other()
    assert field.run(dask, field.job("a")) == {"a": RESULT}
    assert field.said[0].startswith("worker one is refused: numpy: expected")


def test_a_worker_without_the_lecture(field: Field) -> None:
    dask = Dask(one=does)

    class Missing(Future):
        answer = ModuleNotFoundError("No module named 'render'")

    future = Missing("x")
    future.answer = Missing.answer
    said, trouble = farm._outcome(future)
    assert (said, trouble) == ({}, "ModuleNotFoundError: No module named 'render'")
    assert field.run(dask, field.job("a")) == {"a": RESULT}


def test_rendered_but_not_in_the_store(field: Field) -> None:
    field.story.has = False
    outcome = field.run(Dask(one=does), field.job("a"))["a"]
    assert "the store does not have it" in outcome.line


def test_what_cannot_be_put_in_place(field: Field) -> None:
    field.story.has = LectureError(where="o", field="file", found="no space left")
    outcome = field.run(Dask(one=does), field.job("a"))["a"]
    assert outcome == Failure("o: file: found no space left", mistake=True)
    field.story.has = ZeroDivisionError("a bug")
    outcome = field.run(Dask(one=does), field.job("a"))["a"]
    assert outcome == Failure("ZeroDivisionError: a bug", mistake=False)


def test_when_all_have_become_others_the_run_ends(
    field: Field, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(farm, "_PATIENCE", 0.2)
    changed = {"refused": other(numpy="1.0")}
    with pytest.raises(LectureError, match=r"edited meanwhile\? Run again to go on"):
        field.run(Dask(one=lambda *_: changed), field.job("a"))
    assert field.said[-1].startswith("no worker is there that can be used")


def test_a_scheduler_that_is_gone(field: Field) -> None:
    dask = Dask(one=never)

    def breaks() -> None:
        raise OSError("closed")

    dask.at_look = [lambda: None, lambda: None, breaks]
    with pytest.raises(LectureError, match=r"scheduler still there .*, found OSError: closed"):
        field.run(dask, field.job("a"))
    assert len(dask.cancelled) == 1


def test_ctrl_c_cancels_what_runs(field: Field) -> None:
    dask = Dask(one=never, two=never)

    def interrupts() -> None:
        raise KeyboardInterrupt

    dask.at_look = [lambda: None, lambda: None, interrupts]
    with pytest.raises(KeyboardInterrupt):
        field.run(dask, field.job("a"), field.job("b"), field.job("c"))
    assert len(dask.cancelled) == 2


class TestFingerprint:
    def test_it_is_the_same_twice_and_small(self) -> None:
        one, two = mine(), fingerprint.fingerprint()
        assert fingerprint.differences(one, two) == ""
        assert fingerprint.short(one) == fingerprint.short(two)
        assert {"manim", "cairo", "font", "ffmpeg", "python"} <= set(one["versions"])
        assert {"render/draw/worker.py", "engine/model.py", "assets/text/zh.toml"} <= set(
            one["files"]
        )

    def test_files_that_differ_are_named(self) -> None:
        files = dict.fromkeys(mine()["files"], "0")
        told = fingerprint.differences(mine(), {**mine(), "files": files})
        assert told.startswith("project code: expected that of this machine, found other ")
        assert told.endswith(f" and {len(files) - 3} more files")
        assert "render/build/cluster/farm.py" not in mine()["files"]  # draws nothing
        less = {k: v for k, v in mine()["files"].items() if k != "render/draw/worker.py"}
        assert "render/draw/worker.py" in fingerprint.differences(mine(), {**mine(), "files": less})


class TestAddress:
    @pytest.mark.parametrize(
        "address",
        ["", "local", "local:", "local:0", "local:999", "local:-1", "host:8786", "tcp://h"],
    )
    def test_what_is_none_is_told(self, address: str) -> None:
        with pytest.raises(LectureError, match=r"^--cluster: expected tcp://HOST:PORT"):
            connect.check(address, NO_STORE)

    def test_workers_elsewhere_need_a_store_that_they_reach(self) -> None:
        connect.check("local:2", NO_STORE)
        connect.check("tcp://h:1", StoreChoice("s3://b/x", True, 1))
        for choice in (NO_STORE, StoreChoice("/home/me/.cache/x", False, 1)):
            with pytest.raises(LectureError, match="expected a --store that its workers reach"):
                connect.check("tcp://h:1", choice)

    def test_scenes_that_no_store_keeps_are_refused(self) -> None:
        with pytest.raises(LectureError, match="expected --voice none, found --voice draft"):
            connect.check("local:2", NO_STORE, voice="draft")
        with pytest.raises(LectureError, match="found --burn-captions en"):
            connect.check("local:2", NO_STORE, burned="en")

    def test_the_front_door_tells_before_it_does_anything(
        self, front_door: FrontDoor, tmp_path: Path
    ) -> None:
        assert "tcp://HOST:PORT" in one_line(front_door("--cluster", "h:1", "--out", "o"))
        assert not (tmp_path / "o").exists()


def test_a_store_knows_its_mark(tmp_path: Path) -> None:
    store = Store.open(str(tmp_path / "s"))
    store.begin()
    assert Store.open(str(tmp_path / "s")).sees(store.mark)
    assert not Store.open(str(tmp_path / "other")).sees(store.mark)
