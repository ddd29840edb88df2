"""The command line as a person uses it, on stand-in scenes of a second, in 480p15."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import IO, cast

import av
import pytest

import engine
from engine.errors import LectureError
from engine.errors import one_line as one_line_of
from render.base.files import check_free_space
from render.build.folders import Kind, folders_of
from render.build.job import BuildOptions, Job
from render.cli.make import closing_lines
from render.media.quality import QUALITIES

from .conftest import ROOT, FrontDoor, command, environment, leftovers, one_line
from .rendered import Rendered


class TestMistakes:
    def test_unknown_scene(self, front_door: FrontDoor) -> None:
        assert "'nonsense'" in one_line(front_door("nonsense"))
        assert "'cirlce' (did you mean circle?)" in one_line(front_door("cirlce"))

    def test_mistyped_commands_and_options(self, front_door: FrontDoor) -> None:
        assert "'adit' (did you mean audit?)" in one_line(front_door("adit"))
        assert "did you mean publish?" in one_line(front_door("publsh", "--for", "x"))
        assert "--lang" in one_line(front_door("--lnag", "en"))
        assert front_door("--version").stdout.startswith("transformer-lecture ")

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
        with pytest.raises(LectureError, match=r"disk: expected about \d+ MB free, found 1 MB"):
            check_free_space({tmp_path: 3_600_000})


def test_help_and_list_load_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from render.cli import app, look\n"
        "look.list_scenes()\n"
        "app.run(['--help'])\n"
        "heavy = {'manim', 'av', 'ffmpeg', 'PIL', 'scipy'} & set(sys.modules)\n"
        "sys.exit(f'loaded: {heavy}' if heavy else 0)"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    for word in ("draft", "--weights", "list", "test", "lecture.mp4"):
        assert word in result.stdout


def test_help_has_whole_lines_in_80_columns(front_door: FrontDoor) -> None:
    """No line of running text is left short but the last of its paragraph."""
    for name in ("", "script", "publish", "upload", "page", "handout", "compare", "audit", "sheet"):
        shown = front_door(*name.split(), "--help", COLUMNS="80", TERMINAL_WIDTH="80").stdout
        lines = [line.strip() for line in shown.split("╭")[0].splitlines()]
        for line, following in itertools.pairwise(lines):
            if line and following:
                assert len(line) + 1 + len(following.split()[0]) > 78, f"{name}: {line}"
        epilog = [line.rstrip() for line in shown.rpartition("╯")[2].splitlines()]
        assert all(len(line) < 80 for line in epilog)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_cannot_be_written_is_one_line(unbuffered: str) -> None:
    def listed(stdout: IO[str]) -> tuple[int, str]:
        more = environment(PYTHONUNBUFFERED=unbuffered)
        done = subprocess.run(command("list"), stdout=stdout, stderr=-1, text=True, env=more)
        return done.returncode, done.stderr

    with Path("/dev/full").open("w") as full:
        code, said = listed(full)
    assert (code, said.count("\n")) == (2, 1)
    assert said.endswith(": found no space left on device\n")
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe:
        assert listed(pipe) == (141, "")


def test_list_names_every_scene(front_door: FrontDoor) -> None:
    result = front_door("list")
    assert result.returncode == 0
    assert "square" in result.stdout
    assert "0-1" in result.stdout


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (Kind(None, "tutorial", "zh", "standard"), "zh_standard"),
        (Kind(Path("/w/my.json"), "tutorial", "en", "4k"), "en_4k_my"),
        (Kind(None, "consistent", "zh", "draft"), "zh_draft_consistent"),
        (Kind(Path("/w/my.json"), "/l/a.toml", "zh", "draft"), "zh_draft_a_my"),
    ],
)
def test_default_folders_keep_kinds_apart(kind: Kind, name: str) -> None:
    assert folders_of([kind], None) == {kind: ROOT / "out" / name}


KINDS = ("mp4", "numbers.json")
CAPTIONS = tuple(f"{language}.{form}" for language in ("zh", "en") for form in ("vtt", "srt"))
SIDES = (*CAPTIONS, "cover.png", "about.json", "about.zh.txt", "about.en.txt")
CHAPTERS = ("chapters.zh.vtt", "chapters.en.vtt")


def test_all_scenes_and_the_film(front_door: FrontDoor, binary: str, tmp_path: Path) -> None:
    """Everything at once, in a folder with an odd name, as a pipe sees it."""
    out = tmp_path / "-o '周' \"3\"\n#?%d"
    result = front_door("--quality", "draft", "--lang", "en", f"--out={out}", LECTURE_FFMPEG=binary)
    assert result.returncode == 0, result
    assert result.stderr == ""
    *_, film, upload, following = result.stdout.splitlines()
    assert len(result.stdout.splitlines()) == 5
    shown = one_line_of(str(out))
    assert film.startswith(f"{shown}/lecture.mp4: the whole lecture, 2 s")
    assert upload == (
        "to upload: lecture.mp4, captions lecture.zh.vtt and lecture.en.vtt, cover "
        f"lecture.cover.png, title and description lecture.about.en.txt, all in {shown}"
    )
    draft = "next: this is a draft; ./render.sh publish --for youtube --lang en renders it in 1080p"
    assert following.startswith(draft)
    names = {path.name for path in out.iterdir()}
    videos = "01_square_en", "02_circle_en"
    scenes = {f"{name}.{kind}" for name in videos for kind in (*KINDS, *SIDES)}
    film = {f"lecture.{kind}" for kind in ("mp4", *SIDES, *CHAPTERS)}
    assert names == {".render", *film, *scenes}
    assert leftovers(out) == []
    with av.open(str(out / "lecture.mp4")) as container:
        titles = [chapter["metadata"]["title"] for chapter in container.chapters()]
        assert titles == ["方 = square; #1 \\ en", "[CHAPTER]\nTIMEBASE=1/1"]
        assert container.streams.video[0].frames == 18 + 15
        assert container.streams.audio[0].metadata["language"] == "eng"
        captions = [stream.metadata["language"] for stream in container.streams.subtitles]
        assert captions == ["eng", "zho"]
    record = json.loads((out / ".render" / "01_square_en.json").read_text())
    assert record["facts"]["frames"] == 18
    assert record["facts"]["beats"][0]["text"] == "文 en"
    assert 0 < record["facts"]["cost"]["memory"] < 1e9


def test_what_ci_looks_at_is_there_and_what_is_wrong_is_named(house: Rendered) -> None:
    def look() -> subprocess.CompletedProcess[str]:
        films = [sys.executable, ROOT / ".ci" / "films.py", house.out]
        return subprocess.run(films, env=environment(), capture_output=True, text=True)

    good = look()
    assert (good.returncode, good.stderr) == (0, ""), good
    assert "2 scenes, a film of 0.0 min with 2 chapters" in good.stdout
    captions = house.out / "lecture.en.vtt"
    captions.write_text(captions.read_text().rstrip() + " and more\n")
    bad = look()
    assert (bad.returncode, bad.stderr.count("\n")) == (1, 1)
    assert bad.stderr.startswith("lecture.mp4: captions in en: expected ")
    assert bad.stderr.count("and more") == 1
    (house.out / "lecture.mp4").unlink()
    assert look().stderr == "lecture.mp4: file: expected there, found missing\n"


def test_after_the_first_scene_nothing_reads_like_a_mistake(front_door: FrontDoor) -> None:
    result = front_door("1", "--quality", "draft", "--out", "o")
    assert (result.returncode, result.stderr) == (0, "")
    scene, film = result.stdout.splitlines()
    assert "01_square_zh.mp4: 1.2 s of film" in scene
    assert film == (
        "lecture.mp4: 1 of its 2 scenes are there; the same command without scene numbers makes "
        "the others and joins all"
    )


def test_the_command_that_comes_next_is_about_the_same_videos(tmp_path: Path) -> None:
    options = BuildOptions(
        quality="high", lang="en", track="training", weights=["a b.json"], out=tmp_path
    )
    job = SimpleNamespace(
        out=tmp_path, film_name="lecture_training.mp4", language="en", quality=QUALITIES["high"]
    )
    upload, following = closing_lines(options, cast(Job, job))
    assert "lecture_training.en.vtt" in upload
    command = (
        "next: ./render.sh publish --for youtube --quality high --lang en --track training "
        f"--weights 'a b.json' --videos {tmp_path} checks it"
    )
    assert following.startswith(command)
    assert following.endswith("canvas, moodle, edx, generic, scorm)")


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
    engine.save_weights(engine.random_weights(engine.load_weights(engine.TUTORIAL), 1), other)
    result = front_door("1", "--quality", "draft", "--weights", other, "--out", "o")
    assert result.returncode == 0
    assert "lecture.mp4 kept unchanged: 02_circle_zh.mp4 is out of date" in result.stdout
    assert (tmp_path / "o" / "lecture.mp4").read_bytes() == before
