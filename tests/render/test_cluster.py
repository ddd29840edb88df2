"""The pool of a Dask cluster of threads of this process, with small makers; addresses, trust."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.errors import LectureError
from render.build.storage.cache import Cache
from render.build.storage.places import NO_CACHE, CacheChoice
from render.build.workers import cluster, remote
from render.build.workers.cluster import ClusterPool, cache_for, check

from .conftest import ROOT, FrontDoor, one_line
from .test_pool import all_events, last, work

LIKE_ME = {"manim": "0.22.0", "scenes/base.py": "0123"}


@pytest.fixture(autouse=True)
def light(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers of these tests draw nothing, and are what they are said to be."""
    monkeypatch.setattr(multiprocessing, "set_forkserver_preload", lambda _: None)
    monkeypatch.setattr(remote, "fingerprint", lambda: dict(LIKE_ME))
    monkeypatch.setattr(cluster, "_LOOK_EVERY", 0.1)
    monkeypatch.setattr(cluster, "_WAITS", (0.0, 0.1))


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[Any]:
    """A cluster of two workers, threads of this process."""
    from distributed import LocalCluster

    options = {"threads_per_worker": 1, "processes": False, "protocol": "tcp", "memory_limit": 0}
    with LocalCluster(
        n_workers=2,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        local_directory=str(tmp_path / "dask"),
        **options,
    ) as started:
        yield started


class Run:
    """A pool with its cache, and what it says."""

    def __init__(self, folder: Path, address: str) -> None:
        self.said: list[str] = []
        self.folder = folder / "run"
        self.folder.mkdir()
        self.cache = Cache(CacheChoice(str(folder / "store"), True, None), self.said.append)
        scratch = self.folder / "scratch"
        self.pool = ClusterPool(address, self.cache, scratch, self.said.append)


@pytest.fixture
def run(tmp_path: Path, scheduler: Any) -> Run:
    return Run(tmp_path, scheduler.scheduler_address)


def test_works_are_done_and_come_back_through_the_cache(run: Run, tmp_path: Path) -> None:
    weights = tmp_path / "w.json"
    weights.write_text("{}")
    cover = work(run.folder, "cover")
    with run.pool as pool:
        assert pool.slots == 2
        pool.submit(work(run.folder, "a", also=cover, settings={"weights": str(weights)}))
        pool.submit(work(run.folder, "b", "mistake"))
        pool.submit(work(run.folder, "light", heavy=False))
        events = all_events(pool, 4)
        made = last(events, "a").made
        assert made is not None
        pool.submit(work(run.folder, "c", needs={"text": made}))
        assert all_events(pool, 1)[-1].kind == "made"
    assert made.path("text").read_text() == "made of a"
    assert made.path("text").parent == run.folder / "a"
    assert {event.kind for event in events if event.step == "a"} >= {"started", "made"}
    covered = last(events, "cover").made
    assert covered is not None
    assert covered.path("cover").read_text() == "cover of a scene"
    failure = last(events, "b").failure
    assert failure is not None
    assert (failure.line, failure.mistake) == ("w.json: found nonsense", True)
    assert last(events, "light").kind == "made"
    assert [line for line in run.said if "not encrypted" not in line] == []
    assert sum("not encrypted" in line for line in run.said) == 1


def test_a_work_whose_process_is_lost_is_tried_again(run: Run) -> None:
    with run.pool as pool:
        pool.submit(work(run.folder, "a", "killed"))
        event = all_events(pool, 1)[-1]
    assert event.kind == "failed"
    assert event.failure is not None
    assert event.failure.line.startswith("given up after 3 tries; the last time Lost: worker ")
    assert "out of memory" in event.failure.line
    assert sum("a: will be repeated: worker " in line for line in run.said) == 3


def test_a_worker_of_another_kind_is_refused_and_the_others_work(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [{"manim": "0.19.0", "scenes/base.py": "9"}]
    mine = remote.fingerprint()
    monkeypatch.setattr(remote, "fingerprint", lambda: answers.pop() if answers else mine)
    run.pool._asked_for = mine
    with run.pool as pool:
        pool.submit(work(run.folder, "a"))
        assert all_events(pool, 1)[-1].kind == "made"
        assert pool.slots == 1
    (line,) = (line for line in run.said if "refused" in line)
    assert "manim: expected 0.22.0, found 0.19.0" in line
    assert "differs in scenes/base.py" in line


def test_if_all_are_refused_nothing_starts(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "fingerprint", lambda: {"manim": "0.19.0"})
    run.pool._asked_for = dict(LIKE_ME)
    with (
        pytest.raises(LectureError, match="a worker compatible with this machine, found none"),
        run.pool,
    ):
        pass
    assert sum("refused" in line for line in run.said) == 2


def test_one_that_does_not_see_the_cache_is_refused(tmp_path: Path, scheduler: Any) -> None:
    run = Run(tmp_path, scheduler.scheduler_address)
    run.cache.mark = "runs/0-00"
    with pytest.raises(LectureError, match="a worker compatible with this machine"), run.pool:
        pass
    assert "is it shared with this worker?" in run.said[-1]


def test_leaving_ends_what_is_under_way(run: Run, scheduler: Any) -> None:
    with pytest.raises(KeyboardInterrupt), run.pool as pool:
        pool.submit(work(run.folder, "a", "sleep", seconds=60))
        while not any(event.kind == "started" for event in pool.events(timeout=1)):
            pass
        raise KeyboardInterrupt
    end = time.monotonic() + 30
    while any(w.state.executing_count for w in scheduler.workers.values()):
        assert time.monotonic() < end
        time.sleep(0.1)


def test_a_worker_without_the_lecture_says_so(scheduler: Any, tmp_path: Path) -> None:
    """And it goes on working for others."""
    code = (
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in ('render', 'engine', 'scenes'):\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}')\n"
        "sys.meta_path.insert(0, Missing())\n"
        "from distributed.cli.dask_worker import main; main()\n"
    )
    options = ["--name", "bare", "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    bare = subprocess.Popen(
        [sys.executable, "-c", code, scheduler.scheduler_address, *options],
        cwd="/",
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    run = Run(tmp_path, scheduler.scheduler_address)
    try:
        scheduler.wait_for_workers(3, timeout=60)
        with run.pool as pool:
            pool.submit(work(run.folder, "a"))
            assert all_events(pool, 1)[-1].kind == "made"
            end = time.monotonic() + 30
            while not any("bare" in line for line in run.said):
                assert time.monotonic() < end
                list(pool.events(timeout=0.2))
            with cluster.client(scheduler.scheduler_address, tmp_path, print) as client:
                assert client.submit(sum, [1, 2], workers=["bare"]).result(timeout=30) == 3
    finally:
        bare.kill()
        bare.wait()
    (line,) = (line for line in run.said if "bare" in line)
    assert "ModuleNotFoundError: No module named" in line


def test_a_cluster_of_this_machine_lets_no_one_else_in(tmp_path: Path) -> None:
    from distributed import Client, Security

    with cluster.client("local:1", tmp_path, print) as mine:
        address = mine.scheduler.address
        assert address.startswith("tls://")
        assert mine.submit(sum, [1, 2]).result(timeout=60) == 3
        for other, security in [
            (address.replace("tls:", "tcp:"), None),
            (address, Security.temporary()),
        ]:
            with pytest.raises((OSError, TimeoutError, TypeError)):
                Client(other, security=security, timeout=2, set_as_default=False)


def test_tls_with_certificates_of_ones_own(tmp_path: Path) -> None:
    """Those in Dask's settings are used; without them nobody gets in."""
    import dask
    from distributed import LocalCluster, Security

    made = Security.temporary()
    files = {}
    for name in ("ca_file", "scheduler_cert", "scheduler_key", "client_cert", "client_key"):
        files[name] = tmp_path / f"{name}.pem"
        files[name].write_text(getattr(made, f"tls_{name}"))
    settings = {"distributed.comm.tls.ca-file": str(files["ca_file"])}
    for who in ("scheduler", "client"):
        for what in ("cert", "key"):
            settings[f"distributed.comm.tls.{who}.{what}"] = str(files[f"{who}_{what}"])
    with LocalCluster(
        n_workers=0,
        protocol="tls",
        security=made,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
    ) as started:
        address, said = started.scheduler_address, list[str]()
        with dask.config.set(settings), cluster.client(address, tmp_path, said.append) as client:
            assert client.scheduler_info()["address"] == address
        assert said == []
        refused = cluster.client(address, tmp_path, said.append)
        with pytest.raises(LectureError, match="a Dask scheduler that answers"), refused:
            pass


def test_nobody_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_ANSWER", 0.5)
    unanswered = cluster.client("tcp://127.0.0.1:1", tmp_path, print)
    with pytest.raises(LectureError, match="a Dask scheduler that answers"), unanswered:
        pass


class TestFingerprint:
    def test_files_that_differ_are_named_and_counted(self) -> None:
        files = {f"scenes/s{number}.py": "0" for number in range(5)}
        told = remote.differences(files, {})
        assert told == (
            "project code: expected the same as on this machine, differs in scenes/s0.py, "
            "scenes/s1.py, scenes/s2.py and 2 more files"
        )
        assert remote.differences(files, dict(files)) == ""

    def test_it_has_what_draws_and_nothing_that_only_runs_it(self) -> None:
        code = "from render.build.workers import remote; print(*remote.fingerprint())"
        said = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120
        )
        names = set(said.stdout.split())
        assert {"manim", "cairo", "font", "ffmpeg", "python", "distributed"} <= names, said.stderr
        assert {"render/draw/scene.py", "engine/model.py", "assets/text/zh.toml"} <= names
        assert not [name for name in names if name.startswith(("render/build", "render/cli"))]


class TestAddress:
    @pytest.mark.parametrize(
        "address",
        ["", "local", "local:", "local:0", "local:999", "local:-1", "host:8786", "tcp://h"],
    )
    def test_what_is_none_is_told(self, address: str) -> None:
        with pytest.raises(LectureError, match=r"^--cluster: expected tcp://HOST:PORT"):
            check(address, NO_CACHE)

    def test_workers_elsewhere_need_a_store_that_they_reach(self, tmp_path: Path) -> None:
        check("local:2", NO_CACHE)
        check("tcp://h:1", CacheChoice("s3://b/x", True, 1))
        for choice in (NO_CACHE, CacheChoice("/home/me/.cache/x", False, 1)):
            with pytest.raises(LectureError, match="expected a --store that its workers reach"):
                check("tcp://h:1", choice)
        assert cache_for(NO_CACHE, tmp_path).url == str(tmp_path / "store")

    def test_the_front_door_tells_before_it_does_anything(
        self, front_door: FrontDoor, tmp_path: Path
    ) -> None:
        assert "tcp://HOST:PORT" in one_line(front_door("--cluster", "h:1", "--out", "o"))
        assert not (tmp_path / "o").exists()
