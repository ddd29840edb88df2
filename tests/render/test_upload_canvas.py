"""Uploads to Canvas, against a stand-in on this computer that speaks the same HTTP."""

from __future__ import annotations

import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.errors import LectureError
from render.platforms import canvas
from render.platforms.upload import Retry, UploadState, read

from . import published as made
from .standin_canvas import TOKEN, CanvasStandIn
from .standin_server import unknown

pytest.importorskip("requests_toolbelt")


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
        found = read(self.folder, "canvas")
        retry = Retry(tries, 0.001, 0.001, self.said.append, lambda _: None)
        canvas.Canvas(self.server.url, token, course, retry).upload(found, UploadState(self.folder))

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


@pytest.mark.parametrize(
    "how", ["303", "201 and a way", "201 at once", "a way and another", "201 behind while(1);"]
)
def test_every_way_in_which_canvas_confirms(
    how: str, send: Sender, server: CanvasStandIn, video: Path
) -> None:
    server.confirms = how
    send()
    assert [file["content"] for file in server.files.values()] == [video.read_bytes()]
    assert server.count("POST /storage") == 1


def test_a_confirmation_that_never_comes_costs_the_bytes_once(
    send: Sender, server: CanvasStandIn
) -> None:
    server.confirms = "nothing"
    assert "expected a confirmation of the file, found none" in send.refused()
    assert server.count("POST /storage") == 1


def test_a_confirmation_whose_answer_is_lost_is_looked_up(
    send: Sender, server: CanvasStandIn, other: Path
) -> None:
    for _ in range(2):  # the second time, a file of that name is there already
        server.faults = [("GET /finish", "lost", "")]
        send()
        made.published(other, "canvas", send.folder)
    (file,) = server.files.values()
    assert file["content"] == other.read_bytes()
    assert server.count("POST /storage") == 2


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
        UploadState(send.folder).path.unlink()
    elif memory == "nonsense":
        UploadState(send.folder).path.write_text('{"x": [}')
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
    kept = UploadState(send.folder).path
    everything = [*send.said, said, told.out, told.err, kept.read_text(encoding="utf-8")]
    assert TOKEN not in "\n".join(everything)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "url",
    [
        "http://canvas.example.edu",
        "canvas.example.edu",
        "https://me:pw@canvas.example.edu",
        "https://[::1",
        "https://canvas.example.edu:port",
        "",
    ],
)
def test_the_token_goes_only_where_it_is_safe(url: str) -> None:
    with pytest.raises(LectureError) as caught:
        canvas.Canvas(url, TOKEN, "7", Retry())
    assert "CANVAS_URL" in str(caught.value)
    assert "pw" not in str(caught.value)


HTML = "<!doctype html><title>Log in</title>"


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("GET /api/v1/courses/7$", HTML),
        ("GET /api/v1/courses/7$", ""),
        ("GET /api/v1/courses/7$", "[]"),
        ("GET /api/v1/courses/7$", '{"name": 7}'),
        ("by_path", '{"id": 1}'),
        ("by_path", '[{"id": "one"}]'),
        ("GET /api/v1/folders", '[{"id": 1, "display_name": null}]'),
        ("POST /api/v1/courses/7/files", "{}"),
        ("POST /api/v1/courses/7/files", '{"upload_url": 1, "upload_params": {}}'),
        ("POST /api/v1/courses/7/files", '{"upload_url": "https://[::1", "upload_params": {}}'),
        ("POST /api/v1/courses/7/files", '{"upload_url": "'),
        ("GET /api/v1/courses/7/files/", "[" * 100_000),
    ],
)
def test_a_malformed_answer_is_told_in_one_line(
    where: str, text: str, send: Sender, server: CanvasStandIn
) -> None:
    server.folder("transformer-lecture/transformer-lecture-full-zh")
    server.faults = [(where, "says", text)]
    line = send.refused()
    assert line.startswith("Canvas: ")
    assert "\n" not in line
    assert len(line) <= 200
    assert not server.faults
    assert not any("again in" in line for line in send.said)


def test_an_address_that_leads_to_another_host_is_named(
    send: Sender, server: CanvasStandIn
) -> None:
    server.vanity = "https://courses.example.edu"
    line = send.refused()
    assert "CANVAS_URL" in line
    assert "https://courses.example.edu" in line
    assert "CANVAS_TOKEN" not in line
    server.vanity = server.url
    assert "CANVAS_URL" in send.refused()


def test_the_film_goes_to_no_store_that_others_can_overhear(
    send: Sender, server: CanvasStandIn
) -> None:
    server.store = "http://store.example.edu/x"
    assert "expected an https address" in send.refused()
    assert not server.count("POST /storage")


class TestWrongServers:
    """What is wrong for good is told at once, and as what it is."""

    @staticmethod
    def refused(send: Sender, url: str) -> str:
        send.server.url = url
        line = send.refused()
        assert "CANVAS_URL" in line
        assert not any("again in" in line for line in send.said)
        return line

    def test_a_certificate_that_nobody_vouches_for(self, send: Sender, certificate: Path) -> None:
        own = CanvasStandIn(certificate)
        assert "certificate" in self.refused(send, own.url)
        own.close()

    def test_no_tls(self, send: Sender, server: CanvasStandIn) -> None:
        assert "speaks TLS" in self.refused(send, server.url.replace("http:", "https:"))

    def test_no_such_host(self, send: Sender, monkeypatch: pytest.MonkeyPatch) -> None:
        unknown(monkeypatch)
        assert "an unknown one" in self.refused(send, "https://canvas.example.edu")

    def test_no_network(self, send: Sender, monkeypatch: pytest.MonkeyPatch) -> None:
        unknown(monkeypatch, socket.EAI_AGAIN)
        send.server.url = "https://canvas.example.edu"
        assert "is there a network?" in send.refused()
        assert sum("again in" in line for line in send.said) == 3
