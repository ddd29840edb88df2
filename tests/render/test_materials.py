"""Course page, package and publication as products: made once, known to be up to date, put in place
whole; of videos as they are, which nobody has drawn here."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import LectureError
from render.base.reads import Made, Stamp
from render.build.making import put_whole
from render.cli.app import run

from .made_up import made_up

Say = Callable[..., tuple[int, list[str], list[str]]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("made") / "o"
    made_up(out, "inference")
    return out


@pytest.fixture
def say(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Say:
    """Runs a command on a copy of the videos: its exit code and its lines."""
    shutil.copytree(made, tmp_path / "o")

    def command(*arguments: str) -> tuple[int, list[str], list[str]]:
        options = ("--track", "inference", "--quality", "draft", "--store", "none")
        code = run([*arguments, *options, "--no-render", "--videos", str(tmp_path / "o")])
        said = capsys.readouterr()
        return code, said.out.splitlines(), said.err.splitlines()

    return command


def test_a_page_is_made_once(say: Say, tmp_path: Path) -> None:
    page = tmp_path / "o" / "page_inference"
    told = [f"{page}/index.html: open it in a browser"]
    assert say("page", "--explain")[1] == [f"{page}: to be made", "    it has no record"]
    assert not page.exists()
    assert say("page") == (0, told, [])
    assert len(list((page / "videos").glob("*.mp4"))) == 5
    before = {path: path.stat().st_mtime_ns for path in (page, *page.rglob("*"))}
    assert say("page", "--explain")[1] == [f"{page}: up to date"]
    assert say("page") == (0, told, [])
    assert before == {path: path.stat().st_mtime_ns for path in (page, *page.rglob("*"))}
    (page / "handout.pdf").unlink()
    assert say("page", "--explain")[1] == [f"{page}: to be made", "    there is no handout.pdf"]
    shutil.rmtree(page)
    assert say("page") == (0, told, [])
    assert (page / "lecture.js").is_file()


@pytest.mark.slow
def test_a_video_that_was_changed_by_hand_is_taken_as_it_is(say: Say, tmp_path: Path) -> None:
    (video,) = (tmp_path / "o").glob("16_*_zh.mp4")
    video.write_bytes(b"cut by hand")
    code, lines, _ = say("page")
    assert code == 0
    assert lines[0].startswith(f"note: {tmp_path / 'o'}: 16_inference_step_1")
    assert "taken as it is (to render: ./render.sh --quality draft --track inference" in lines[0]
    page = tmp_path / "o" / "page_inference"
    assert (page / "videos" / video.name).read_bytes() == b"cut by hand"


def test_a_video_that_is_missing_is_named_with_the_command(say: Say, tmp_path: Path) -> None:
    (video,) = (tmp_path / "o").glob("17_*_zh.mp4")
    video.unlink()
    code, lines, (line,) = say("page")
    assert (code, lines) == (2, [])
    assert f"{video.name[-12:]}: expected a video (type: ./render.sh" in line


def test_a_page_becomes_a_package_and_leaves_nothing_else(say: Say, tmp_path: Path) -> None:
    target = tmp_path / "x.zip"
    asked = ("publish", "--for", "scorm", "--out", str(target), "--title", "Lecture <1>")
    code, lines, faults = say(*asked)
    assert (code, faults) == (0, [])
    advice, package = lines[:2]
    assert advice.startswith("advice: all videos: video height: expected at least 1080 pixels")
    assert package.startswith(f"{target}: SCORM 1.2 package, ")
    with zipfile.ZipFile(target) as archive:
        names = archive.namelist()
        manifest = archive.read("imsmanifest.xml").decode()
    assert sum(name.endswith(".mp4") for name in names) == 5
    assert "<title>Lecture &lt;1&gt;</title>" in manifest
    assert 'identifier="transformer-lecture-inference-zh"' in manifest
    assert not list((tmp_path / "o").glob("*page*"))
    before = target.stat().st_mtime_ns
    assert say(*asked)[:2] == (0, lines)
    assert target.stat().st_mtime_ns == before
    target.write_text("mine")
    assert say(*asked)[0] == 2
    assert target.read_text() == "mine"


@pytest.mark.parametrize("role", ["../out", "/tmp/out", "a/../../out"])
def test_no_file_is_put_outside_of_its_folder(role: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("x")
    made = Made("", (), {role: Stamp.of(path)}, "", {}, {role: str(path)})
    with pytest.raises(LectureError, match="the name of a file within"):
        put_whole(made, tmp_path / "page")
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
