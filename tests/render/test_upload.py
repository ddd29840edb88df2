"""The command line of uploads: dry runs, what is refused, and real runs against the stand-ins."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import LectureError
from render.platforms import upload
from render.platforms.upload import Passing, Retry

from . import published as made
from .conftest import ROOT, STANDIN, FrontDoor, one_line
from .standin_canvas import TOKEN, CanvasStandIn
from .standin_youtube import CLIENT, REFRESH, SECRET, YouTubeStandIn

CANVAS = ("CANVAS_URL", "CANVAS_TOKEN", "CANVAS_COURSE")
YOUTUBE = ("YOUTUBE_CLIENT_ID", "YOUTUBE_CLIENT_SECRET", "YOUTUBE_REFRESH_TOKEN")
NONE = dict.fromkeys((*CANVAS, *YOUTUBE), "")


@pytest.fixture(scope="module")
def video(ffmpeg_tool: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made.film(ffmpeg_tool, tmp_path_factory.mktemp("film"))


@pytest.fixture
def servers() -> Iterator[tuple[CanvasStandIn, YouTubeStandIn]]:
    canvas, youtube = CanvasStandIn(), YouTubeStandIn()
    yield canvas, youtube
    canvas.close()
    youtube.close()


def without_packages(folder: Path) -> str:
    """A PYTHONPATH on which the packages of the extras cannot be imported."""
    for name in ("canvasapi", "googleapiclient", "requests", "requests_toolbelt"):
        stub = f"raise ModuleNotFoundError('no {name}', name={name!r})\n"
        (folder / f"{name}.py").write_text(stub)
    return os.pathsep.join([str(folder), str(STANDIN), str(ROOT)])


@pytest.mark.parametrize("platform", ["canvas", "youtube"])
def test_a_dry_run_needs_nothing_and_sends_nothing(
    platform: str,
    video: Path,
    tmp_path: Path,
    front_door: FrontDoor,
    servers: tuple[CanvasStandIn, YouTubeStandIn],
) -> None:
    folder = made.published(video, platform, tmp_path / "x")
    path = without_packages(tmp_path)
    where = {"YOUTUBE_API_URL": servers[1].url, "CANVAS_URL": servers[0].url}
    result = front_door("upload", platform, folder, "--dry-run", PYTHONPATH=path, **(NONE | where))
    assert result.returncode == 0, result
    for said in ("nothing is sent", "transformer_lecture_zh.mp4", ".zh.", ".en.", "is not set"):
        assert said in result.stdout
    assert servers[0].requests == servers[1].requests == []
    assert not (tmp_path / "x.uploads.json").exists()
    line = one_line(front_door("upload", platform, folder, PYTHONPATH=path, **NONE))
    assert "to be set in the environment" in line
    given = dict.fromkeys(YOUTUBE, "t")
    given |= {"CANVAS_TOKEN": "t", "CANVAS_COURSE": "7", "CANVAS_URL": servers[0].url}
    line = one_line(front_door("upload", platform, folder, PYTHONPATH=path, **given))
    assert f"./render.sh install {platform}" in line


def test_both_for_real(
    video: Path,
    tmp_path: Path,
    front_door: FrontDoor,
    servers: tuple[CanvasStandIn, YouTubeStandIn],
) -> None:
    canvas, youtube = servers
    environment = {
        "CANVAS_URL": canvas.url,
        "CANVAS_TOKEN": TOKEN,
        "CANVAS_COURSE": "7",
        "YOUTUBE_API_URL": youtube.url,
        "YOUTUBE_CLIENT_ID": CLIENT,
        "YOUTUBE_CLIENT_SECRET": SECRET,
        "YOUTUBE_REFRESH_TOKEN": REFRESH,
    }
    said = ""
    for platform in ("canvas", "youtube"):
        folder = made.published(video, platform, tmp_path / platform)
        result = front_door("upload", platform, folder, **environment)
        assert result.returncode == 0, result
        said += result.stdout + result.stderr
    assert len(canvas.files) == len(youtube.videos) == 1
    for secret in (TOKEN, SECRET, REFRESH):
        assert secret not in said


class TestFolder:
    def test_must_be_complete_and_for_that_platform(self, video: Path, tmp_path: Path) -> None:
        folder = made.published(video, "canvas", tmp_path / "x")
        with pytest.raises(LectureError, match="published for youtube"):
            upload.read(folder, "youtube")
        (folder / "transformer_lecture_zh.zh.vtt").unlink()
        with pytest.raises(LectureError, match=r"zh\.vtt"):
            upload.read(folder, "canvas")

    @pytest.mark.parametrize("text", ["", "[]", "{}", '{"form": 9}'])
    def test_with_a_manifest_that_is_none(self, text: str, tmp_path: Path) -> None:
        (tmp_path / "publish.json").write_text(text)
        with pytest.raises(LectureError, match="publish"):
            upload.read(tmp_path, "canvas")

    def test_cannot_lead_to_files_elsewhere(self, video: Path, tmp_path: Path) -> None:
        folder = made.published(video, "canvas", tmp_path / "x")
        manifest = json.loads((folder / "publish.json").read_text(encoding="utf-8"))
        manifest["pieces"][0]["captions"]["zh"] = "../../etc/passwd"
        (folder / "publish.json").write_text(json.dumps(manifest))
        with pytest.raises(LectureError, match="not a file name"):
            upload.read(folder, "canvas")

    def test_a_video_that_was_changed_since(self, video: Path, tmp_path: Path) -> None:
        folder = made.published(video, "canvas", tmp_path / "x")
        published_video = folder / "transformer_lecture_zh.mp4"
        published_video.unlink()
        published_video.write_bytes(b"shorter")
        with pytest.raises(LectureError, match="publish again"):
            upload.read(folder, "canvas")

    def test_is_uploaded_once_at_a_time(
        self, video: Path, tmp_path: Path, front_door: FrontDoor
    ) -> None:
        folder = made.published(video, "canvas", tmp_path / "x")
        descriptor = os.open(folder, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        assert "another one in progress" in one_line(front_door("upload", "canvas", folder))
        os.close(descriptor)

    def test_need_not_be_named_where_there_is_one(self, video: Path, tmp_path: Path) -> None:
        with pytest.raises(LectureError, match="found none"):
            upload.find(tmp_path, "canvas")
        one = made.published(video, "canvas", tmp_path / "zh_draft" / "publish" / "canvas_full")
        assert upload.find(tmp_path, "canvas") == one
        made.published(video, "canvas", tmp_path / "en_draft" / "publish" / "canvas_full")
        with pytest.raises(LectureError, match="to be named"):
            upload.find(tmp_path, "canvas")


class TestCredentials:
    def test_are_named_but_never_shown(self) -> None:
        for value in ("two words", "line\nbreak", "密码", "", "   "):
            with pytest.raises(LectureError) as caught:
                upload.credentials(["CANVAS_TOKEN"], {"CANVAS_TOKEN": value})
            assert "CANVAS_TOKEN" in str(caught.value)
            assert not value.strip() or value not in str(caught.value)
        assert upload.credentials(["A"], {"A": " secret\n"}) == ["secret"]
        assert upload.are_set(["A", "B"], {"A": "secret"}) == "A is set, B is not set"

    def test_are_taken_out_of_texts(self) -> None:
        assert upload.hidden("a secret, secret-2", ["secret", "secret-2"]) == "a …, …"


def test_pauses_grow_and_end() -> None:
    pauses: list[float] = []
    retry = Retry(tries=5, first=1, longest=4, say=lambda _: None, sleep=pauses.append)

    def work() -> None:
        raise Passing("busy", after=3)

    with pytest.raises(LectureError, match="busy, 5 times"):
        retry("server", work)
    assert len(pauses) == 4
    assert all(pause >= 3 for pause in pauses), "as long as the server asks for"
    assert pauses[-1] <= 4 * 1.3
