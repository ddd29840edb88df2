"""Uploads to YouTube, against a stand-in on this computer that speaks the same HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.errors import LectureError
from render.platforms import youtube, youtube_service
from render.platforms.upload import Retry, UploadState, read
from render.platforms.youtube_service import new_client

from . import published as made
from .standin_server import unknown
from .standin_youtube import ACCESS, CLIENT, REFRESH, SECRET, YouTubeStandIn

pytest.importorskip("googleapiclient")

PIECE = 4096


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[YouTubeStandIn]:
    standin = YouTubeStandIn()
    monkeypatch.setenv("YOUTUBE_API_URL", standin.url)
    monkeypatch.setattr(youtube_service, "PIECE", PIECE)
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
    return made.published(video, "youtube", tmp_path / "youtube_full")


class Sender:
    """Uploads the folder and keeps every line that was said."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said: list[str] = []

    def __call__(self, *, replace: bool = False, refresh: str = REFRESH, privacy: str = "") -> None:
        found = read(self.folder, "youtube")
        retry = Retry(4, 0.001, 0.001, self.said.append, lambda _: None)
        client, secrets = new_client(CLIENT, SECRET, refresh), (SECRET, refresh)
        channel = youtube.YouTube(client, secrets, retry, privacy, replace)
        channel.upload(found, UploadState(self.folder))

    def refused(self, **how: Any) -> str:
        with pytest.raises(LectureError) as caught:
            self(**how)
        return str(caught.value)


@pytest.fixture
def send(folder: Path, server: YouTubeStandIn) -> Sender:
    return Sender(folder)


def whole(server: YouTubeStandIn, video: Path) -> dict[str, Any]:
    """The one video there is, which must be the film, with captions and a cover."""
    (found,) = server.videos.values()
    assert found["content"] == video.read_bytes()
    assert len(server.captions) == 2
    assert found["id"] in server.covers
    return found


def test_everything_arrives(send: Sender, server: YouTubeStandIn, video: Path) -> None:
    send()
    found = whole(server, video)
    assert server.count("PUT /session") > 2, "sent in pieces"
    assert found["snippet"]["title"] == "Transformer: 我爱水课"
    assert found["snippet"]["tags"][:3] == ["Transformer", "deep learning", "水课"]
    assert found["status"]["privacyStatus"] == "private"
    tracks = {t["snippet"]["language"]: t["content"] for t in server.captions.values()}
    assert made.WORDS["en"].encode() in tracks["en"]
    assert made.WORDS["zh"].encode() in tracks["zh-Hans"]


def test_again_changes_texts_in_place(send: Sender, server: YouTubeStandIn, video: Path) -> None:
    send()
    sent = server.received
    for _ in range(2):
        send()
    assert server.received == sent
    assert server.count("POST /upload/youtube/v3/captions") == 2
    whole(server, video)


@pytest.mark.parametrize("memory", ["lost", "nonsense"])
def test_it_is_found_again_without_our_notes(
    memory: str, send: Sender, server: YouTubeStandIn, video: Path
) -> None:
    server.videos |= {
        f"other{n}": {"id": f"other{n}", "snippet": {"tags": ["tfl-x"]}, "status": {}}
        for n in range(5)
    }
    send()
    kept = UploadState(send.folder).path
    if memory == "lost":
        kept.unlink()
    else:
        kept.write_text("[1]")
    send()
    assert len(server.videos) == 6
    assert len(server.captions) == 2


def test_new_captions_take_the_place_of_the_old(send: Sender, server: YouTubeStandIn) -> None:
    send()
    captions = send.folder / "transformer_lecture_zh.en.srt"
    captions.write_text(made.SRT.format("mended"), encoding="utf-8")
    send()
    assert len(server.captions) == 2
    assert any(b"mended" in track["content"] for track in server.captions.values())


class TestChangedVideo:
    @pytest.fixture(autouse=True)
    def changed(self, send: Sender, other: Path) -> None:
        send()
        made.published(other, "youtube", send.folder)

    def test_is_not_uploaded_beside_the_old_one(
        self, send: Sender, server: YouTubeStandIn, video: Path
    ) -> None:
        assert "--replace" in send.refused()
        whole(server, video)

    @pytest.mark.parametrize("memory", ["kept", "lost"])
    def test_replaces_it_when_asked_to(
        self, memory: str, other: Path, send: Sender, server: YouTubeStandIn
    ) -> None:
        if memory == "lost":
            UploadState(send.folder).path.unlink()
        (old,) = server.videos
        server.videos[old]["status"]["privacyStatus"] = "public"
        send(replace=True)
        (new,) = server.videos
        assert new != old
        assert server.videos[new]["status"]["privacyStatus"] == "public"
        assert server.videos[new]["content"] == other.read_bytes()
        assert new in server.covers

    def test_may_be_seen_by_others_than_before(self, send: Sender, server: YouTubeStandIn) -> None:
        send(replace=True, privacy="unlisted")
        (video,) = server.videos.values()
        assert video["status"]["privacyStatus"] == "unlisted"

    def test_the_old_one_stays_until_the_new_one_is_complete(
        self, send: Sender, server: YouTubeStandIn
    ) -> None:
        (old,) = server.videos
        server.faults = [("thumbnails", 403, "forbidden")]
        assert "403 forbidden" in send.refused(replace=True)
        assert old in server.videos
        send(replace=True)
        assert old not in server.videos
        assert len(server.videos) == 1

    @pytest.mark.parametrize("polls", [1, 5])
    def test_the_old_one_stays_until_the_new_one_is_processed(
        self, polls: int, send: Sender, server: YouTubeStandIn
    ) -> None:
        (old,) = server.videos
        server.processing = polls
        send(replace=True)
        waited = [line for line in send.said if "still processing" in line]
        assert len(waited) == polls
        assert old not in server.videos
        assert len(server.videos) == 1

    def test_the_old_one_stays_where_processing_takes_too_long(
        self, send: Sender, server: YouTubeStandIn
    ) -> None:
        (old,) = server.videos
        server.processing = 10**6
        assert "still processing" in send.refused(replace=True)
        assert old in server.videos
        new = list(server.videos)[-1]
        server.videos[new]["work"]["polls"] = 0
        sent = server.received
        send(replace=True)
        assert server.received == sent
        assert old not in server.videos

    @pytest.mark.parametrize(
        ("verdict", "details", "said"),
        [
            (
                {"uploadStatus": "rejected", "rejectionReason": "duplicate"},
                {},
                "rejected duplicate",
            ),
            ({"uploadStatus": "failed", "failureReason": "codec"}, {}, "failed codec"),
            ({"uploadStatus": "deleted"}, {}, "deleted"),
            (
                {"uploadStatus": "uploaded"},
                {"processingStatus": "failed", "processingFailureReason": "transcodeFailed"},
                "failed transcodeFailed",
            ),
        ],
    )
    def test_the_old_one_stays_where_the_new_one_is_not_taken(
        self,
        verdict: dict[str, str],
        details: dict[str, str],
        said: str,
        send: Sender,
        server: YouTubeStandIn,
    ) -> None:
        (old,) = server.videos
        server.processing, server.verdict, server.details = 2, verdict, details
        line = send.refused(replace=True)
        assert said in line
        assert f"before https://youtu.be/{old} is deleted" in line
        assert old in server.videos
        assert said in send.refused(replace=True)
        assert old in server.videos


@pytest.mark.parametrize("fault", ["drop", "lost", 500, 503, 429])
@pytest.mark.parametrize("skipped", [0, 1, 3])
def test_a_failure_half_way_is_gone_on_from(
    fault: int | str, skipped: int, send: Sender, server: YouTubeStandIn, video: Path
) -> None:
    server.faults = [("PUT /session", "skip", "")] * skipped + [("PUT /session", fault, "busy")]
    send()
    whole(server, video)
    assert not server.faults
    assert server.received == video.stat().st_size, "no byte was sent twice"


def test_an_upload_that_was_killed_goes_on_the_next_time(
    send: Sender, server: YouTubeStandIn, video: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: Any) -> None:
        if server.received >= 2 * PIECE:
            raise KeyboardInterrupt

    monkeypatch.setattr(youtube.YouTube, "progress", killed)
    with pytest.raises(KeyboardInterrupt):
        send()
    monkeypatch.undo()
    monkeypatch.setenv("YOUTUBE_API_URL", server.url)
    send()
    whole(server, video)
    assert server.received == video.stat().st_size
    assert any("resuming an interrupted upload" in line for line in send.said)


def test_a_session_that_youtube_forgot_is_begun_anew(
    send: Sender, server: YouTubeStandIn, video: Path
) -> None:
    server.faults = [("PUT /session", "skip", "")] * 2 + [("PUT /session", 400, "bad")]
    send.refused()
    server.sessions.clear()
    send()
    whole(server, video)


@pytest.mark.parametrize(
    "where", ["POST /upload/youtube/v3/videos", "captions", "thumbnails", "channels", "POST /token"]
)
@pytest.mark.parametrize("fault", ["drop", "lost", 503])
def test_every_other_request_is_tried_again_too(
    where: str, fault: int | str, send: Sender, server: YouTubeStandIn, video: Path
) -> None:
    server.faults = [(where, fault, "backendError")]
    send()
    whole(server, video)
    assert not server.faults


def test_refusals_are_one_line_and_name_what_to_mend(send: Sender, server: YouTubeStandIn) -> None:
    for status, reason, word in (
        (403, "quotaExceeded", "midnight Pacific time"),
        (400, "uploadLimitExceeded", "quota"),
        (403, "forbidden", "an account that may do this"),
        (401, "authError", "YOUTUBE_REFRESH_TOKEN"),
        (404, "channelNotFound", "status 404 channelNotFound"),
    ):
        # an answer of 401 makes the library log in anew and ask once more
        server.faults = [("channels", status, reason)] * 3
        line = send.refused()
        assert word in line
        assert "\n" not in line
    server.faults = []
    server.refuses_login = True
    assert "7 days" in send.refused()
    assert not server.videos


def test_no_output_and_no_file_has_a_secret(
    send: Sender, server: YouTubeStandIn, capfd: pytest.CaptureFixture[str]
) -> None:
    server.faults = [
        ("PUT /session", "drop", ""),
        ("captions", 500, f"{SECRET} {REFRESH}"),
        ("thumbnails", 403, f"{SECRET}{REFRESH}"),
    ]
    said = send.refused()
    send.said.append(send.refused(refresh="refresh-token-that-is-wrong"))
    send()
    told = capfd.readouterr()
    kept = UploadState(send.folder).path.read_text(encoding="utf-8")
    everything = "\n".join([*send.said, said, told.out, told.err])
    for secret in (SECRET, REFRESH, ACCESS, "secret-session", "token-that-is-wrong"):
        assert secret not in everything
    for secret in (SECRET, REFRESH, ACCESS):
        assert secret not in kept


def test_a_server_that_takes_no_more_is_not_asked_for_ever(
    send: Sender, server: YouTubeStandIn
) -> None:
    server.stuck = True
    assert "accepts no more of the video, 4 times" in send.refused()
    assert sum("again in" in line for line in send.said) == 3
    assert server.count("PUT /session") < 12


class TestSessions:
    """The access token goes to no other server, whoever names it."""

    def test_one_in_our_notes_that_leads_elsewhere_is_not_used(
        self, send: Sender, server: YouTubeStandIn, video: Path
    ) -> None:
        other = YouTubeStandIn()
        found = read(send.folder, "youtube").videos[0]
        state = UploadState(send.folder)
        note = state.of("youtube UC1", found.stem)
        note.session, note.session_of = f"{other.url}/session/s1", found.sha256
        state.save()
        send()
        assert other.requests == []
        whole(server, video)
        other.close()

    def test_one_in_an_answer_that_leads_elsewhere_is_not_used(
        self, send: Sender, server: YouTubeStandIn
    ) -> None:
        other = YouTubeStandIn()
        server.sends_elsewhere = other.url
        assert "expected an address of its own, with https" in send.refused()
        assert other.requests == []
        other.close()

    @pytest.mark.parametrize(
        ("url", "own"),
        [
            ("https://www.googleapis.com/upload/x?upload_id=1", True),
            ("https://youtube.googleapis.com:443/upload", True),
            ("http://www.googleapis.com/upload", False),
            ("https://googleapis.com.example.edu/upload", False),
            ("https://examplegoogleapis.com/upload", False),
            ("https://127.0.0.1/upload", False),
            ("https://[::1", False),
            ("", False),
        ],
    )
    def test_of_google(self, url: str, own: bool, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("YOUTUBE_API_URL", raising=False)
        assert youtube_service.is_own(url) is own


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("channels", "<!doctype html><title>Log in</title>"),
        ("channels", ""),
        ("channels", "[]"),
        ("channels", '{"items": [{"id": "UC1", "snippet": {}}]}'),
        ("channels", '{"items": {"id": "UC1"}}'),
        ("playlistItems", '{"items": [{}]}'),
        ("POST /upload/youtube/v3/videos", "{}"),
        ("PUT /session", "<html>thank you</html>"),
        ("PUT /session", '{"kind": "video"}'),
        ("GET /youtube/v3/captions", '{"items": [{"id": "c", "snippet": "en"}]}'),
        ("POST /token", "<html>who are you?</html>"),
    ],
)
def test_a_malformed_answer_is_told_in_one_line(
    where: str, text: str, send: Sender, server: YouTubeStandIn
) -> None:
    server.faults = [(where, "says", text)]
    line = send.refused()
    assert line.startswith("YouTube: ")
    assert "\n" not in line
    assert len(line) <= 200
    assert not server.faults


class TestWrongServers:
    """What is wrong for good is told at once, and as what it is."""

    @staticmethod
    def refused(send: Sender, url: str, monkeypatch: pytest.MonkeyPatch) -> str:
        monkeypatch.setenv("YOUTUBE_API_URL", url)
        line = send.refused()
        assert "YOUTUBE_API_URL" in line
        assert not any("again in" in line for line in send.said)
        return line

    def test_a_certificate_that_nobody_vouches_for(
        self, send: Sender, certificate: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        own = YouTubeStandIn(certificate)
        assert "certificate" in self.refused(send, own.url, monkeypatch)
        own.close()

    def test_no_tls(
        self, send: Sender, server: YouTubeStandIn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        url = server.url.replace("http:", "https:")
        assert "speaks TLS" in self.refused(send, url, monkeypatch)

    def test_no_such_host(self, send: Sender, monkeypatch: pytest.MonkeyPatch) -> None:
        unknown(monkeypatch)
        assert "an unknown one" in self.refused(send, "https://gateway.example.edu", monkeypatch)
