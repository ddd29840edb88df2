"""Runs that are stopped, run twice at once, or run out of disk: what they leave behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import av
import pytest

from .conftest import FrontDoor, command, environment, leftovers, one_line

#: a sitecustomize.py for an account that is in no list
_NO_HOME = """import pwd
def unknown(number): raise KeyError(number)
pwd.getpwuid = unknown
"""


def start_long(tmp_path: Path) -> tuple[subprocess.Popen[str], list[int]]:
    """A run in the middle of a long scene; its process, and the ids of its workers' groups."""
    process = subprocess.Popen(
        command("4", "--quality", "draft", "--out", "o"),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # a background job of a shell ignores Ctrl-C, and so would its children
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    end = time.monotonic() + 180
    while time.monotonic() < end:
        started = list((tmp_path / "o").glob(".render/run-*/04_long_*/pictures.mp4"))
        if started and started[0].stat().st_size > 0:
            break
        time.sleep(0.05)
        assert process.poll() is None
    tasks = Path(f"/proc/{process.pid}/task").glob("*/children")
    return process, [int(child) for task in tasks for child in task.read_text().split()]


def group_alive(leader: int) -> bool:
    """Whether any process of the group is more than a zombie."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if fields[2] == str(leader) and fields[0] != "Z":
            return True
    return False


def all_gone(leaders: list[int]) -> bool:
    end = time.monotonic() + 60
    while any(map(group_alive, leaders)) and time.monotonic() < end:
        time.sleep(0.05)
    return not any(map(group_alive, leaders))


needs_proc = pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="looks for processes in /proc"
)


@needs_proc
@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGKILL, -9),
        pytest.param(signal.SIGINT, 130, marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, 143, marks=pytest.mark.slow),
    ],
)
def test_a_run_that_is_stopped(
    number: signal.Signals, code: int, tmp_path: Path, front_door: FrontDoor
) -> None:
    """Workers and encoders end with it, finished videos stay, the next run cleans and works."""
    out = tmp_path / "o"
    out.mkdir()
    kept = {"04_long_zh.mp4": b"an earlier video", "lecture.mp4": b"an earlier film"}
    for name, data in kept.items():
        (out / name).write_bytes(data)
    process, workers = start_long(tmp_path)
    assert workers
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == code
    assert all_gone(workers)
    if number != signal.SIGKILL:
        assert said == "render: stopped; finished videos are unchanged\n"
        assert leftovers(out) == []
    assert {name: (out / name).read_bytes() for name in kept} == kept
    assert front_door("2", "--quality", "draft", "--out", "o").returncode == 0
    assert leftovers(out) == []
    assert (out / "02_circle_zh.mp4").stat().st_size > 1000


def test_an_account_without_a_home(
    tmp_path: Path, front_door: FrontDoor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also: what makers leave among the temporary files goes with the run."""
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name in ("site", "temporary"):
        (tmp_path / name).mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(_NO_HOME)
    path = os.pathsep.join([str(tmp_path / "site"), environment()["PYTHONPATH"]])
    more = {"PYTHONPATH": path, "TMPDIR": str(tmp_path / "temporary"), "LECTURE_STORE": ""}
    result = front_door("2", "--quality", "draft", "--out", "o", **more)
    assert (result.returncode, result.stderr) == (0, ""), result
    assert len(result.stdout.splitlines()) == 2
    assert list((tmp_path / "temporary").iterdir()) == []


@contextlib.contextmanager
def mounted(disk: Path, size: str) -> Iterator[Path]:
    """A file system of that size; skips the test where none may be mounted."""
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "lecture-test", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("may not mount a file system here")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.slow
def test_two_runs_on_one_folder(tmp_path: Path) -> None:
    runs = [
        subprocess.Popen(
            command("--quality", "draft", "--out", "o", "--jobs", "1"),
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for run in runs:
        run.communicate(timeout=120)
        assert run.returncode == 0
    out = tmp_path / "o"
    assert leftovers(out) == []
    with av.open(str(out / "lecture.mp4")) as container:
        assert sum(1 for _ in container.decode(video=0)) == 18 + 15


@pytest.mark.parametrize("size", ["30k", "110k"])
def test_a_full_disk_is_that_of_the_output_folder(
    size: str, tmp_path: Path, front_door: FrontDoor
) -> None:
    """Wherever it fills up: while something is drawn, joined or put in place."""
    with mounted(tmp_path / "disk", size) as disk:
        (disk / ".render").mkdir()
        remembered = '{"facts": {"frames": 1, "fps": 15}}'  # so that it is begun
        for name in ("01_square", "02_circle"):
            (disk / ".render" / f"{name}_zh.json").write_text(remembered)
        result = front_door("1", "2", "--quality", "draft", "--out", disk, "--store", "s")
        assert result.returncode == 2
        failures = [line for line in result.stdout.splitlines() if "no space left" in line]
        assert failures, result
        assert all(f": {disk}" in line and "run-" not in line for line in failures), failures
        assert leftovers(disk) == []


def test_a_full_store_is_named_and_costs_no_video(tmp_path: Path, front_door: FrontDoor) -> None:
    with mounted(tmp_path / "disk", "40k") as disk:
        result = front_door("1", "2", "--quality", "draft", "--out", "o", "--store", disk / "s")
    assert result.returncode == 2
    (told,) = [line for line in result.stdout.splitlines() if "no space left" in line]
    assert f": {disk / 's'}: store: " in told
    assert (tmp_path / "o" / "lecture.mp4").exists()


@pytest.mark.slow
def test_a_disk_that_fills_up(tmp_path: Path, front_door: FrontDoor) -> None:
    """On a file system of 900 kB; needs to mount one."""
    with mounted(tmp_path / "disk", "900k") as disk:
        (disk / "05_noise_zh.mp4").write_bytes(b"an earlier video")
        (disk / ".render").mkdir()
        remembered = (
            '{"facts": {"frames": 1, "fps": 15}}'  # so that it is not refused before it starts
        )
        (disk / ".render" / "05_noise_zh.json").write_text(remembered)
        result = front_door("5", "--quality", "draft", "--out", disk)
        assert result.returncode == 2
        assert f"05_noise: no video: {disk}: " in result.stdout
        assert "no space left on the disk" in result.stdout
        assert (disk / "05_noise_zh.mp4").read_bytes() == b"an earlier video"
        assert leftovers(disk) == []
        assert "MB free" in one_line(front_door("1", "2", "--quality", "4k", "--out", disk))
        (disk / ".render" / "02_circle_zh.json").write_text(remembered)
        assert front_door("2", "--quality", "draft", "--out", disk).returncode == 0
