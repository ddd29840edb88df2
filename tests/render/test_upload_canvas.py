"""Uploads to Canvas, against a stand-in on this computer that speaks the same HTTP."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.errors import LectureError
from render.platforms.upload import canvas, published
from render.platforms.upload.kept import Kept
from render.platforms.upload.patience import Patience

from . import published as made
from .standin_canvas import TOKEN, CanvasStandIn

pytest.importorskip("canvasapi")


@pytest.fixture
def server() -> Iterator[CanvasStandIn]:
    standin = CanvasStandIn()
    yield standin
    standin.close()


@pytest.fixture(scope="module")
def video(ffmpeg_tool: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made.film(ffmpeg_tool, tmp_path_factory.mktemp("film"))


@pytest.fixture(scope="module")
def other(ffmpeg_tool: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made.film(ffmpeg_tool, tmp_path_factory.mktemp("other"), frames=20)


@pytest.fixture
def folder(video: Path, tmp_path: Path) -> Path:
    return made.published(video, "canvas", tmp_path / "本周 课件" / "canvas_full")


class Sender:
    """Uploads the folder and keeps every line that was said."""

    def __init__(self, folder: Path, server: CanvasStandIn) -> None:
        self.folder, self.server = folder, server
        self.said: list[str] = []

    def __call__(self, *, token: str = TOKEN, course: str = "7", tries: int = 4) -> None:
        found = published.read(self.folder, "canvas")
        patience = Patience(tries, 0.001, 0.001, self.said.append, lambda _: None)
        canvas.Canvas(self.server.url, token, course, patience, self.said.append).upload(
            found, Kept(self.folder)
        )

    def refused(self, **how: Any) -> str:
        with pytest.raises(LectureError) as caught:
            self(**how)
        return str(caught.value)


@pytest.fixture
def send(folder: Path, server: CanvasStandIn) -> Sender:
    return Sender(folder, server)


def names(server: CanvasStandIn) -> list[str]:
    return [file["display_name"] for file in server.files.values()]


def test_file_and_captions_arrive_whole(send: Sender, server: CanvasStandIn, video: Path) -> None:
    send()
    assert names(server) == ["transformer_lecture_zh.mp4"]
    (file,) = server.files.values()
    assert file["content"] == video.read_bytes()
    assert server.folders == {"transformer-lecture/transformer-lecture-full-zh": file["folder_id"]}
    tracks = server.tracks[f"m-{file['id']}"]
    assert [track["locale"] for track in tracks] == ["zh", "en"]
    assert made.WORDS["en"] in tracks[1]["content"]


@pytest.mark.parametrize("how", ["303", "201 and a way", "201 at once"])
def test_every_way_in_which_canvas_confirms(
    how: str, send: Sender, server: CanvasStandIn, video: Path
) -> None:
    server.confirms = how
    send()
    assert [file["content"] for file in server.files.values()] == [video.read_bytes()]


def test_again_sends_no_second_file_and_no_bytes(send: Sender, server: CanvasStandIn) -> None:
    send()
    (before,) = server.files
    send()
    assert list(server.files) == [before]
    assert server.count("POST /storage") == 1
    assert any("unchanged" in line for line in send.said)


@pytest.mark.parametrize("memory", ["kept", "lost", "nonsense"])
def test_a_changed_video_replaces_the_old_one(
    memory: str, send: Sender, server: CanvasStandIn, other: Path
) -> None:
    send()
    if memory == "lost":
        Kept(send.folder).path.unlink()
    elif memory == "nonsense":
        Kept(send.folder).path.write_text('{"x": [}')
    made.published(other, "canvas", send.folder)
    send()
    assert names(server) == ["transformer_lecture_zh.mp4"]
    (file,) = server.files.values()
    assert file["content"] == other.read_bytes()
    assert f"m-{file['id']}" in server.tracks


def test_a_file_that_was_moved_is_replaced_where_it_is(
    send: Sender, server: CanvasStandIn, other: Path
) -> None:
    send()
    (file,) = server.files.values()
    file["folder_id"] = server.folder("week 3")
    file["display_name"] = "第三周.mp4"
    made.published(other, "canvas", send.folder)
    send()
    (file,) = server.files.values()
    assert (file["display_name"], file["folder_id"]) == ("第三周.mp4", server.folders["week 3"])


@pytest.mark.parametrize("fault", ["drop", "lost", 500, 503, 429])
@pytest.mark.parametrize("where", ["POST /storage", "GET /finish", "POST /api/v1/courses/7/files"])
def test_a_failure_half_way_ends_in_one_whole_file(
    fault: int | str, where: str, send: Sender, server: CanvasStandIn, video: Path
) -> None:
    server.faults = [(where, fault, "busy")]
    send()
    assert [file["content"] for file in server.files.values()] == [video.read_bytes()]
    assert server.tracks
    assert not server.faults


@pytest.mark.parametrize("where", ["GET /api/v1/courses/7$", "media_tracks", "by_path"])
def test_a_busy_server_is_asked_again(where: str, send: Sender, server: CanvasStandIn) -> None:
    server.faults = [(where, 403, "403 Forbidden (Rate Limit Exceeded)"), (where, "drop", "")]
    send()
    assert len(server.files) == len(server.tracks) == 1
    assert sum("again in" in line for line in send.said) == 2


def test_captions_wait_for_canvas_to_convert(send: Sender, server: CanvasStandIn) -> None:
    server.converting = 4
    send()
    assert server.tracks
    assert any("still converting" in line for line in send.said)


def test_captions_that_cannot_come_yet_come_the_next_time(
    send: Sender, server: CanvasStandIn
) -> None:
    server.converting = 10**6
    assert "still converting" in send.refused()
    server.converting = 0
    send()
    assert len(server.files) == len(server.tracks) == 1
    assert server.count("POST /storage") == 1


def test_refusals_are_one_line_and_name_what_to_mend(send: Sender, server: CanvasStandIn) -> None:
    assert "CANVAS_TOKEN" in send.refused(token="wrong-token")
    assert "CANVAS_COURSE" in send.refused(course="8")
    assert "courses/1234" in send.refused(course="水课")
    server.faults = [("POST /api/v1/courses/7/files", 403, '{"message": "not yours"}')]
    assert "status 403 not yours" in send.refused()
    server.quota = 10
    line = send.refused()
    assert "quota" in line
    assert "\n" not in line
    assert not server.files


def test_it_gives_up_at_last_and_says_so(send: Sender, server: CanvasStandIn) -> None:
    server.faults = [("POST /storage", 503, "busy")] * 9
    assert "status 503, 4 times" in send.refused()
    server.faults = []
    send()
    assert len(server.files) == 1


def test_no_output_and_no_file_has_the_token(
    send: Sender, server: CanvasStandIn, capfd: pytest.CaptureFixture[str]
) -> None:
    server.faults = [
        ("POST /storage", "drop", ""),
        ("by_path", 500, f"trace {TOKEN}"),
        ("media_tracks", 422, f'{{"message": "bad {TOKEN}"}}'),
    ]
    said = send.refused()
    send()
    told = capfd.readouterr()
    kept = Kept(send.folder).path
    everything = [*send.said, said, told.out, told.err, kept.read_text(encoding="utf-8")]
    assert TOKEN not in "\n".join(everything)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "url",
    ["http://canvas.example.edu", "canvas.example.edu", "https://me:pw@canvas.example.edu", ""],
)
def test_the_token_goes_only_where_it_is_safe(url: str) -> None:
    with pytest.raises(LectureError) as caught:
        canvas.Canvas(url, TOKEN, "7", Patience())
    assert "CANVAS_URL" in str(caught.value)
    assert "pw" not in str(caught.value)
