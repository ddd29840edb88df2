"""YouTube's interface: refusals in our words, videos in pieces that a lost connection spares."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from engine.errors import LectureError
from engine.reader import refuse
from render.base.failure import need
from render.base.reader import parsed
from render.platforms import upload
from render.platforms.upload import Passing, Refusal, Retry, Video

T = TypeVar("T")
EXTRA = ("youtube", "./render.sh upload youtube")
SERVER = "YOUTUBE_API_URL"  # another address than Google's, for a stand-in or a gateway
PIECE = 8 * 1024 * 1024  # bytes; YouTube wants a multiple of 256 KiB
_TOKENS = "https://oauth2.googleapis.com/token"
_TIMEOUT = 120  # seconds without a byte
_BUSY = ("rateLimitExceeded", "userRateLimitExceeded", "backendError", "internalError")
_THERE = "captionExists"  # sent before, the answer was lost
_QUOTA = "", "quota left (it is renewed at midnight Pacific time; docs/publish.md)"
_DAILY = ("quotaExceeded", "dailyLimitExceeded", "uploadLimitExceeded")
_REFUSALS: dict[int | str, tuple[str, str]] = {
    401: ("YOUTUBE_REFRESH_TOKEN", "credentials that YouTube accepts"),
    403: ("", "an account that may do this (docs/publish.md)"),
    404: ("", "something that exists"),
    "odd": ("", "an answer as YouTube gives it"),
    **dict.fromkeys(_DAILY, _QUOTA),
}


@dataclass(frozen=True)
class Snippet:
    """What is looked at of a video (tags), a track of captions, or a channel (title)."""

    tags: tuple[str, ...] = ()
    language: str = ""
    trackKind: str = "standard"
    name: str = ""
    title: str = ""


@dataclass(frozen=True)
class State:
    """How far YouTube is with a video."""

    privacyStatus: str = "private"
    uploadStatus: str = ""
    failureReason: str = ""
    rejectionReason: str = ""
    processingStatus: str = ""
    processingFailureReason: str = ""


@dataclass(frozen=True)
class Item:
    """A video, a track of captions, or a channel with its lists of videos."""

    id: str
    snippet: Snippet = Snippet()
    status: State = State()
    processingDetails: State = State()
    contentDetails: dict[str, Any] = field(default_factory=dict)


def is_own(url: str) -> bool:
    """Whether the access token may go to an address: the service's own, and nobody on the way can
    read it."""
    if os.environ.get(SERVER):
        return upload.origin(url) == upload.origin(os.environ[SERVER])
    return upload.is_safe(url) and (urlsplit(url).hostname or "").endswith(".googleapis.com")


def new_client(client: str, secret: str, refresh: str) -> Any:
    """The YouTube client with these credentials; asks nothing yet."""
    need("googleapiclient", *EXTRA)
    need("google_auth_httplib2", *EXTRA)
    import httplib2
    from google.oauth2.credentials import Credentials
    from google_auth_httplib2 import AuthorizedHttp
    from googleapiclient.discovery import build_from_document
    from googleapiclient.discovery_cache import get_static_doc

    class Own(AuthorizedHttp):  # type: ignore[misc]
        """Sends the token to nobody but YouTube, wherever an answer may lead."""

        def request(self, uri: str, *positional: Any, **how: Any) -> Any:
            if not is_own(uri):
                expected = "an address of its own, with https"
                refuse("YouTube", None, expected, "another in its answer")
            return super().request(uri, *positional, **how)

    document = parsed(get_static_doc("youtube", "v3").encode(), dict[str, Any], Path("YouTube"))
    tokens = _TOKENS
    if os.environ.get(SERVER):
        root = upload.address(SERVER, os.environ[SERVER])
        document |= {"rootUrl": f"{root}/", "baseUrl": f"{root}/", "mtlsRootUrl": f"{root}/"}
        tokens = f"{root}/token"
    known = Credentials(  # type: ignore[no-untyped-call]
        None, refresh_token=refresh, token_uri=tokens, client_id=client, client_secret=secret
    )
    http = httplib2.Http(timeout=_TIMEOUT)
    http.redirect_codes = frozenset()  # 308 means: go on sending; no other is expected
    return build_from_document(document, http=Own(known, http=http))


@dataclass
class Service(upload.Service):
    """Asks, and asks again."""

    name = "YouTube"
    server = SERVER
    refusals = _REFUSALS
    client: Any
    secrets: Sequence[str]
    retry: Retry

    def ask(self, what: str, work: Callable[[], T]) -> T:
        """``work()``, tried again where that may help. Raises LectureError."""
        return self.retry(f"YouTube: {what}", lambda: self._once(what, work))

    def call(self, what: str, kind: str, method: str, **query: Any) -> Any:
        """The answer to a method of a kind of resource, such as ``videos`` and ``delete``."""
        return self.ask(what, getattr(getattr(self.client, kind)(), method)(**query).execute)

    def all(self, kind: str, shape: type[T], missing: str = "", **query: Any) -> list[T]:
        """All items of a list, page by page. ``missing``: the reason of a refusal that means that
        there is none."""
        items: list[T] = []
        method = getattr(self.client, kind)()
        request = method.list(**query)
        while request is not None:
            try:
                answer = self.decoded(self.ask(kind, request.execute), dict[str, Any], kind)
            except Refusal as error:
                if missing and error.reason == missing:
                    return items
                raise
            items += self.decoded(answer.get("items", []), list[shape], kind)  # type: ignore[valid-type]
            request = method.list_next(request, answer) if "nextPageToken" in answer else None
        return items

    def send_file(
        self, what: str, method: Callable[..., Any], data: bytes, kind: str = "", **query: Any
    ) -> Any:
        """Send a file that goes at once, captions or a cover, through ``method``, tried once."""
        from googleapiclient.http import MediaInMemoryUpload

        body = MediaInMemoryUpload(data, mimetype=kind or "application/octet-stream")
        return self._once(what, method(media_body=body, **query).execute)

    def send(
        self, video: Video, body: dict[str, Any], session: str, keep: Callable[[str], None]
    ) -> str:
        """Send a video, or what is missing of it in a ``session`` that was begun; its id. ``keep``
        is told the session that YouTube opens for it, so that the next run can go on where this
        one was cut off."""
        name = video.video
        request = self.client.videos().insert(
            part="snippet,status",
            body=body,
            notifySubscribers=False,
            media_body=_media(video.path),
        )
        request.resumable_uri = session or None
        request._in_error_state = bool(session)  # asks first how much has arrived
        done = None

        def send_piece() -> Any:
            """What YouTube says of the video, after the last piece. Raises Passing where nothing
            arrived."""
            before, known = request.resumable_progress, request.resumable_uri
            try:
                _, done = self._once(name, request.next_chunk)
                if done is None and request.resumable_progress <= before:
                    raise Passing("YouTube accepts no more of the video")
                return done
            except Passing:  # the session may have been opened, or a part have come, before that
                request._in_error_state = request.resumable_uri is not None
                if request.resumable_progress <= before:
                    raise
                return None
            finally:
                if request.resumable_uri and request.resumable_uri != known:
                    keep(request.resumable_uri)

        while done is None:
            before = request.resumable_progress
            done = self.retry(f"YouTube: {name}", send_piece)
            if done is None:
                self.progress(name, before, request.resumable_progress, max(1, video.size))
        return self.decoded(done, Item, name).id

    def _once(self, what: str, work: Callable[[], T]) -> T:
        """Raises Passing for what may be over soon, LectureError for what is not."""
        import httplib2
        from google.auth.exceptions import RefreshError, TransportError
        from googleapiclient.errors import HttpError

        try:
            return work()
        except HttpError as error:
            raise self._refused(error, what) from error
        except RefreshError as error:
            if getattr(error, "retryable", False):
                raise Passing("Google's log-in is busy") from error
            expected = (
                "credentials that Google accepts (tokens of a project in testing end after 7 days; "
                "docs/publish.md)"
            )
            said = upload.hidden(str(error.args[0] if error.args else "a refusal"), self.secrets)
            refuse("YouTube", "YOUTUBE_REFRESH_TOKEN", expected, said)
        except (TransportError, httplib2.HttpLib2Error, OSError, EOFError) as error:
            if getattr(error, "filename", None):
                raise  # a file of ours, not the network
            raise self.lost(error) from error
        except (ValueError, LookupError, TypeError):
            self.malformed(what, "an answer as YouTube gives it", "another")

    def _refused(self, error: Any, what: str) -> Exception:
        status, reason = int(error.resp.status), ""
        with suppress(LectureError, LookupError, TypeError):  # it may give none
            told = parsed(error.content, dict[str, Any], Path("YouTube"))["error"]
            reason = str(told["errors"][0]["reason"])
        if status in upload.PASSING or reason in (*_BUSY, _THERE):
            return Passing(f"status {status}", error.resp.get("retry-after", 0))
        return self.refusal(status, what, reason, reason if status >= 400 else "odd")


def _media(path: Path) -> Any:
    """The file, read a piece at a time: a piece in memory can be sent again whole, which a stream
    that was read half cannot."""
    from googleapiclient.http import MediaFileUpload

    class Pieces(MediaFileUpload):  # type: ignore[misc]
        def has_stream(self) -> bool:
            return False

    return Pieces(str(path), mimetype="video/mp4", chunksize=PIECE, resumable=True)
