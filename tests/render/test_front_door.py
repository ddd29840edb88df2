"""The command line as a person uses it, on stand-in scenes of a second, in 480p15."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import av
import pytest

import engine
from engine.errors import LectureError
from render import session
from render.cli import default_folder
from render.quality import QUALITIES

from .conftest import ROOT, command, environment

FrontDoor = Callable[..., subprocess.CompletedProcess[str]]
Finished = subprocess.CompletedProcess[str]


def one_line(result: Finished, code: int = 2) -> str:
    """The single line that the front door complained with."""
    assert result.returncode == code, result
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert "Traceback" not in result.stdout
    return lines[0]


def leftovers(out: Path) -> list[str]:
    return [path.name for path in (out / ".render").glob("run-*")]


class TestMistakes:
    def test_unknown_scene(self, front_door: FrontDoor) -> None:
        assert "'nonsense'" in one_line(front_door("nonsense"))

    def test_unknown_option_quality_and_number_of_jobs(self, front_door: FrontDoor) -> None:
        assert "--nope" in one_line(front_door("--nope"))
        assert "'draft'" in one_line(front_door("--quality", "best"))
        one_line(front_door("--jobs", "0"))
        one_line(front_door("--lang", "fr"))

    @pytest.mark.parametrize("text", [None, "", "{", "[]", '{"a": NaN}'])
    def test_bad_weights(self, text: str | None, front_door: FrontDoor, tmp_path: Path) -> None:
        file = tmp_path / "我的 weights.json"
        if text is not None:
            file.write_text(text)
        line = one_line(front_door("--weights", file, "--out", "o"))
        assert "我的 weights.json" in line
        assert not (tmp_path / "o").exists()

    def test_out_is_a_file(self, front_door: FrontDoor, tmp_path: Path) -> None:
        (tmp_path / "o").write_text("mine")
        assert "output folder" in one_line(front_door("--out", "o"))
        assert (tmp_path / "o").read_text() == "mine"

    @pytest.mark.skipif(not Path("/proc/self").exists(), reason="/proc is a read-only folder")
    def test_out_cannot_be_written_to(self, front_door: FrontDoor) -> None:
        assert "can be written to" in one_line(front_door("--out", "/proc/self/x"))

    def test_no_usable_ffmpeg(self, front_door: FrontDoor) -> None:
        assert "ffmpeg" in one_line(front_door(LECTURE_FFMPEG="/nowhere/ffmpeg"))

    def test_no_room_on_the_disk(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        usage = shutil.disk_usage(tmp_path)._replace(free=1_000_000)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
        order = session.Order((), (), QUALITIES["draft"], "zh", tmp_path, tmp_path, 1)
        with pytest.raises(LectureError, match=r"disk: expected about \d+ MB free, found 1 MB"):
            session._check_free_space(order, frames=900)


def test_help_and_list_load_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from render import cli, listing\n"
        "list(listing.lines())\n"
        "try: cli._run(cli.default_app, ['--help'], 'x')\n"
        "except SystemExit: pass\n"
        "heavy = {'manim', 'av', 'ffmpeg', 'PIL', 'scipy'} & set(sys.modules)\n"
        "sys.exit(f'loaded: {heavy}' if heavy else 0)"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    for word in ("draft", "--weights", "list", "test", "lecture.mp4"):
        assert word in result.stdout


def test_list_names_every_scene(front_door: FrontDoor) -> None:
    result = front_door("list")
    assert result.returncode == 0
    assert "square" in result.stdout
    assert "0-1" in result.stdout


def test_default_folders_keep_kinds_apart() -> None:
    out = ROOT / "out"
    assert default_folder("zh", "standard", None) == out / "zh_standard"
    assert default_folder("en", "4k", Path("/x/my weights.json")) == out / "en_4k_my weights"


def test_all_scenes_and_the_film(front_door: FrontDoor, tmp_path: Path) -> None:
    """Everything at once, in a folder with an odd name, as a pipe sees it."""
    out = tmp_path / "-o '周' \"3\"\n#?%d"
    result = front_door("--quality", "draft", "--lang", "en", f"--out={out}")
    assert result.returncode == 0, result
    assert result.stderr == ""
    assert len(result.stdout.splitlines()) == 3
    names = {path.name for path in out.iterdir()}
    assert names == {".render", "01_square_en.mp4", "02_circle_en.mp4", "lecture.mp4"}
    assert leftovers(out) == []
    with av.open(str(out / "lecture.mp4")) as container:
        titles = [chapter["metadata"]["title"] for chapter in container.chapters()]
        assert titles == ["方 = square; #1 \\ en", "[CHAPTER]\nTIMEBASE=1/1"]
        assert container.streams.video[0].frames == 18 + 15
        assert container.streams.audio[0].metadata["language"] == "eng"
    record = json.loads((out / ".render" / "01_square_en.json").read_text())
    assert record["frames"] == 18
    assert record["beats"][0]["text"] == "文 en"
    assert 0 < record["memory"] < 1e9


def test_a_broken_scene_leaves_the_others_alone(front_door: FrontDoor, tmp_path: Path) -> None:
    result = front_door("--quality", "draft", "--out", "o", "1", "3", "6")
    assert result.returncode == 1
    out = tmp_path / "o"
    assert (out / "01_square_zh.mp4").is_file()
    assert not list(out.glob("03*"))
    told = {line.split(":")[0]: line for line in result.stdout.splitlines()}
    assert "ZeroDivisionError: a bug in the scene" in told["03_broken"]
    log = out / "logs" / "03_broken_zh.txt"
    assert str(log) in told["03_broken"]
    assert "Traceback" in log.read_text()
    assert told["06_mistaken"].endswith("w.json: WQ: expected 4 rows, found 3")
    assert "not all scenes could be rendered" in told["lecture.mp4 not made"]


def test_a_mistake_in_the_input_alone_is_exit_2(front_door: FrontDoor) -> None:
    result = front_door("--quality", "draft", "--out", "o", "6")
    assert result.returncode == 2
    assert "log" not in result.stdout


def test_other_weights_in_the_same_folder_are_not_mixed_in(
    front_door: FrontDoor, tmp_path: Path
) -> None:
    assert front_door("--quality", "draft", "--out", "o").returncode == 0
    before = (tmp_path / "o" / "lecture.mp4").read_bytes()
    other = tmp_path / "other.json"
    other.write_bytes(engine.TUTORIAL.read_bytes() + b"\n")
    result = front_door("1", "--quality", "draft", "--weights", other, "--out", "o")
    assert result.returncode == 0
    assert "lecture.mp4 left as it was: 02_circle_zh.mp4 was made with another" in result.stdout
    assert (tmp_path / "o" / "lecture.mp4").read_bytes() == before


def start_long(tmp_path: Path) -> tuple[subprocess.Popen[str], list[int]]:
    """A run in the middle of a long scene; its process, and the ids of its workers' groups."""
    process = subprocess.Popen(
        command("4", "--quality", "draft", "--out", "o"),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + 60
    while time.monotonic() < end:
        started = list((tmp_path / "o").glob(".render/run-*/04_long/pictures.mp4"))
        if started and started[0].stat().st_size > 0:
            break
        time.sleep(0.05)
        assert process.poll() is None
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return process, [int(child) for child in children]


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
    end = time.monotonic() + 15
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
        assert said == "render: stopped; finished videos are as they were\n"
        assert leftovers(out) == []
    assert {name: (out / name).read_bytes() for name in kept} == kept
    assert front_door("2", "--quality", "draft", "--out", "o").returncode == 0
    assert leftovers(out) == []
    assert (out / "02_circle_zh.mp4").stat().st_size > 1000


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


@pytest.mark.slow
def test_a_disk_that_fills_up(tmp_path: Path, front_door: FrontDoor) -> None:
    """On a file system of 900 kB; needs to mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=900k", "lecture-test", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("may not mount a file system here")
    try:
        (disk / "05_noise_zh.mp4").write_bytes(b"an earlier video")
        (disk / ".render").mkdir()
        remembered = '{"frames": 1, "fps": 15}'  # so that it is not refused before it starts
        (disk / ".render" / "05_noise_zh.json").write_text(remembered)
        result = front_door("5", "--quality", "draft", "--out", disk)
        assert result.returncode == 2
        assert "no space left on the disk" in result.stdout
        assert (disk / "05_noise_zh.mp4").read_bytes() == b"an earlier video"
        assert leftovers(disk) == []
        assert "MB free" in one_line(front_door("1", "2", "--quality", "4k", "--out", disk))
        (disk / ".render" / "02_circle_zh.json").write_text(remembered)
        assert front_door("2", "--quality", "draft", "--out", disk).returncode == 0
    finally:
        subprocess.run(["umount", str(disk)], check=True)
