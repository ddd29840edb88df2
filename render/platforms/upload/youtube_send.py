"""Sending bytes to YouTube: videos in pieces that a lost connection cannot spoil."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import LectureError
from render.platforms.upload.patience import Passing
from render.platforms.upload.published import Video
from render.platforms.upload.youtube_answers import Answers, status_of

PIECE = 8 * 1024 * 1024  # bytes; YouTube wants a multiple of 256 KiB
_FIRST = 256 * 1024  # of the first piece, after which the session is known and kept
_GONE = (404, 410)  # a session that YouTube has forgotten, after about a week
_TENTHS = 4  # of a video, and another line is said


@dataclass
class Sending:
    """Sends one video. The session that YouTube opens for it is kept in ``note``, so that the
    next run goes on where this one was cut off."""

    service: Any
    answers: Answers
    video: Video
    body: dict[str, Any]
    note: dict[str, Any]
    keep: Callable[[], None]
    say: Callable[[str], None] = print

    def run(self) -> dict[str, Any]:
        """The finished video, as YouTube describes it."""
        begun = self.note.get("session") if self.note.get("session_of") == self.video.sha256 else ""
        if begun:
            self.say(f"{self.video.path.name}: going on with an upload that was cut off")
            try:
                return self._send(str(begun))
            except LectureError as error:
                if status_of(error.__cause__) not in _GONE:
                    raise
        self.say(f"{self.video.path.name}: sending {self.video.size / 1e6:.1f} MB")
        return self._send("")

    def _send(self, session: str) -> dict[str, Any]:
        media = _media(self.video.path, "video/mp4")
        request = self.service.videos().insert(
            part="snippet,status", body=self.body, notifySubscribers=False, media_body=media
        )
        if session:
            request.resumable_uri = session
            request._in_error_state = True  # asks first how much has arrived
        failures = 0
        while True:
            before = request.resumable_progress
            try:
                status, done = self.answers.once(self.video.path.name, request.next_chunk)
            except Passing as error:
                # The session may have been opened before the connection was lost.
                self._keep(request)
                failures = 1 if request.resumable_progress > before else failures + 1
                self.answers.patience.wait(f"YouTube: {self.video.path.name}", error, failures)
                request._in_error_state = request.resumable_uri is not None
                continue
            failures = 0
            self._keep(request)
            media.begun = True
            if done is not None:
                return dict(done)
            if status is not None:
                self._tell(before, request.resumable_progress)

    def _keep(self, request: Any) -> None:
        if request.resumable_uri and self.note.get("session") != request.resumable_uri:
            self.note |= {"session": request.resumable_uri, "session_of": self.video.sha256}
            self.keep()

    def _tell(self, before: int, now: int) -> None:
        size = max(1, self.video.size)
        if before * _TENTHS // size != now * _TENTHS // size:
            self.say(f"{self.video.path.name}: {now * 100 // size} %")


def small(method: Callable[..., Any], path: Path, **query: Any) -> Any:
    """The request of a file that goes at once: captions, a cover."""
    from googleapiclient.http import MediaInMemoryUpload

    kind = "image/png" if path.suffix == ".png" else "application/octet-stream"
    return method(media_body=MediaInMemoryUpload(path.read_bytes(), mimetype=kind), **query)


def _media(path: Path, kind: str) -> Any:
    """The file, read a piece at a time: a piece in memory can be sent again whole, which a stream
    that was read half cannot."""
    from googleapiclient.http import MediaFileUpload

    class Pieces(MediaFileUpload):  # type: ignore[misc]
        begun = False

        def has_stream(self) -> bool:
            return False

        def chunksize(self) -> int:
            return PIECE if self.begun else min(PIECE, _FIRST)

    return Pieces(str(path), mimetype=kind, chunksize=PIECE, resumable=True)
