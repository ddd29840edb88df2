"""Real clusters, with stand-in scenes: several processes, killed, refused and interrupted."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from .conftest import STANDIN, FrontDoor, command, environment, leftovers

pytestmark = pytest.mark.slow
DRAFT = ("--quality", "draft")


def until(true: Callable[[], object], seconds: float = 180) -> None:
    """Wait for something; fails if it does not come."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, true
        time.sleep(0.05)


def drawing(root: int, scene: str) -> psutil.Process:
    """The process below ``root`` that draws a scene: it prints to the log in its folder."""
    for process in psutil.Process(root).children(recursive=True):
        with contextlib.suppress(psutil.Error):
            printed = [Path(file.path) for file in process.open_files()]
            if any(each.parent.name.startswith(scene) for each in printed):
                return process
    raise AssertionError(scene)


def started(
    *arguments: str | Path, cwd: Path, start_new_session: bool = False
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(*arguments),
        cwd=cwd,
        env=environment(),
        start_new_session=start_new_session,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


class Cluster:
    """A scheduler and workers, started by the commands that a user would type."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        self._start("scheduler", "--host", "127.0.0.1", "--port", str(port), PYTHONPATH="")

    def worker(self, name: str, *, path: str = "") -> psutil.Process:
        """One with a single thread; ``path`` comes first on its import path."""
        own = ("--name", name, "--nthreads", "1", "--memory-limit", "0")
        known = environment()["PYTHONPATH"]
        python = os.pathsep.join(filter(None, [path, known]))
        local = ("--local-directory", str(self.folder / name))
        return self._start("worker", self.address, *own, *local, PYTHONPATH=python)

    def _start(self, kind: str, *arguments: str, **more: str) -> psutil.Process:
        log = (self.folder / f"{kind}-{len(self.processes)}.log").open("wb")
        process = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_" + kind, *arguments, "--no-dashboard"],
            env=environment(**more),
            cwd=self.folder,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        self.processes.append(process)
        return psutil.Process(process.pid)

    def end(self) -> None:
        for process in self.processes:
            with contextlib.suppress(psutil.Error):
                for child in psutil.Process(process.pid).children(recursive=True):
                    child.kill()
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    folder = tmp_path / "cluster"
    folder.mkdir()
    made = Cluster(folder)
    yield made
    made.end()


def test_one_of_several_processes_is_killed_in_the_middle(tmp_path: Path) -> None:
    """Its scene is done again; the result is as if nothing had been."""
    run = started("1", "2", "5", *DRAFT, "--cluster", "local:2", "--out", "o", cwd=tmp_path)
    until(lambda: any(tmp_path.glob("o/.render/run-*/cluster-*/**/05_noise_*/pictures.mp4")))
    noise = drawing(run.pid, "05_noise_")
    worker = next(p for p in noise.parents() if "multiprocessing.spawn" in " ".join(p.cmdline()))
    worker.kill()
    out, err = run.communicate(timeout=300)
    assert (run.returncode, err) == (0, ""), out
    assert "is gone; its work will be repeated" in out
    assert not noise.is_running()
    names = {path.name for path in (tmp_path / "o").glob("0*.mp4")}
    assert names == {"01_square_zh.mp4", "02_circle_zh.mp4", "05_noise_zh.mp4"}
    assert leftovers(tmp_path / "o") == []


def test_the_same_as_without_a_cluster(tmp_path: Path, front_door: FrontDoor) -> None:
    """Byte by byte, and a run without a cluster finds it up to date."""
    here = front_door(*DRAFT, "--out", "here")
    there = front_door(*DRAFT, "--cluster", "local:1", "--out", "there")
    assert (here.returncode, there.returncode) == (0, 0), there
    for path in (tmp_path / "here").glob("*.mp4"):
        assert path.read_bytes() == (tmp_path / "there" / path.name).read_bytes(), path.name
    again = front_door(*DRAFT, "--out", "there")
    assert again.stdout.count("up to date") == 3


def test_threads_and_a_store_in_memory(tmp_path: Path) -> None:
    code = (
        "from distributed import LocalCluster\n"
        "from pathlib import Path\n"
        "from render.build.job import BuildOptions, jobs_of\n"
        "from render.build.storage.places import choose\n"
        "from render.build.run import How, Run\n"
        "with LocalCluster(n_workers=1, threads_per_worker=2, processes=False, protocol='tcp',\n"
        "        host='127.0.0.1', dashboard_address='127.0.0.1:0', memory_limit=0) as cluster:\n"
        "    jobs = jobs_of(BuildOptions(quality='draft', out=Path('o')))\n"
        "    cache = choose('memory://lecture', '1GB')\n"
        "    code = Run(jobs, How(2, cache=cache, cluster=cluster.scheduler_address)).make()\n"
        "raise SystemExit(code)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result
    assert "lecture.mp4: the whole lecture" in result.stdout


def test_a_cluster_of_others_and_who_may_work_there(cluster: Cluster, tmp_path: Path) -> None:
    """One worker has other scenes, one comes later with another Manim; one renders."""
    other = tmp_path / "other"
    (other / "scenes").mkdir(parents=True)
    for path in (STANDIN / "scenes").glob("*.py"):
        more = "\nMORE = 1\n" if path.name == "tiny.py" else ""
        (other / "scenes" / path.name).write_text(path.read_text() + more)
    old = tmp_path / "old" / "manim-0.19.0.dist-info"
    old.mkdir(parents=True)
    (old / "METADATA").write_text("Metadata-Version: 2.1\nName: manim\nVersion: 0.19.0\n")
    cluster.worker("edited", path=str(other))
    options = ("--cluster", cluster.address, "--store", tmp_path / "s", "--out", "o")
    alone = started("1", *DRAFT, *options, cwd=tmp_path)
    out, err = alone.communicate(timeout=300)
    while "waiting for one" in out:  # the worker was not there yet
        alone = started("1", *DRAFT, *options, cwd=tmp_path)
        out, err = alone.communicate(timeout=300)
    assert alone.returncode == 2, out
    assert "worker edited at tcp://" in out
    assert "differs in scenes/tiny.py" in out
    assert "expected a worker compatible with this machine" in err
    assert not list((tmp_path / "o").glob("*.mp4"))

    cluster.worker("good")
    run = started("5", *DRAFT, *options, cwd=tmp_path)
    until(lambda: any(cluster.folder.glob("good/**/05_noise_*/pictures.mp4")))
    cluster.worker("old", path=str(old.parent))
    out, err = run.communicate(timeout=300)
    assert (run.returncode, err) == (0, ""), out
    assert "worker edited at tcp://" in out
    assert "05_noise_zh.mp4" in out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_stopped_stops_its_workers(
    number: signal.Signals, cluster: Cluster, tmp_path: Path, front_door: FrontDoor
) -> None:
    """And leaves them to others."""
    worker = cluster.worker("good")
    options = (*DRAFT, "--cluster", cluster.address, "--store", tmp_path / "s", "--out", "o")
    run = started("4", *options, cwd=tmp_path)
    until(lambda: any(cluster.folder.glob("good/**/04_long_*/pictures.mp4")))
    drawn = drawing(worker.pid, "04_long_")
    run.send_signal(number)
    run.communicate(timeout=60)
    assert run.returncode == (130 if number == signal.SIGINT else -9)
    until(lambda: not drawn.is_running(), 20)
    until(lambda: not any(cluster.folder.glob("good/**/04_long_*")), 20)
    assert front_door("2", *options).returncode == 0


def test_ctrl_c_in_a_terminal_reaches_only_the_front_door(tmp_path: Path) -> None:
    """There, all processes get it; no worker has anything to say about it."""
    run = started(
        "4", *DRAFT, "--cluster", "local:2", "--out", "o", cwd=tmp_path, start_new_session=True
    )
    until(lambda: any(tmp_path.glob("o/.render/run-*/cluster-*/**/04_long_*/pictures.mp4")))
    drawn = drawing(run.pid, "04_long_")
    os.killpg(run.pid, signal.SIGINT)
    out, err = run.communicate(timeout=60)
    assert (run.returncode, out) == (130, "")
    assert err == "render: stopped; finished videos are unchanged\n"
    until(lambda: not drawn.is_running(), 20)
    assert leftovers(tmp_path / "o") == []


def test_a_store_that_the_workers_do_not_share(cluster: Cluster, tmp_path: Path) -> None:
    worker = cluster.worker("good")
    until(lambda: worker.children())
    run = started("1", *DRAFT, "--cluster", cluster.address, "--store", "memory://x", cwd=tmp_path)
    out, err = run.communicate(timeout=300)
    assert run.returncode == 2, (out, err)
    assert "is it shared with this worker?" in out
