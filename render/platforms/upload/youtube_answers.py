"""How YouTube answers: the service, refusals in our words, passing failures tried again."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from engine.errors import LectureError
from render.base.extras import need
from render.platforms.upload.credentials import address, hidden
from render.platforms.upload.patience import Passing, Patience

Done = TypeVar("Done")

EXTRA = ("youtube", "./render.sh upload youtube")
SERVER = "YOUTUBE_API_URL"  # another address than Google's, for a stand-in or a gateway
_TOKENS = "https://oauth2.googleapis.com/token"
_TIMEOUT = 120  # seconds without a byte
_PASSING = (408, 425, 429, 500, 502, 503, 504)
_BUSY = ("rateLimitExceeded", "userRateLimitExceeded", "backendError", "internalError")
_THERE = "captionExists"  # sent before, the answer was lost
_DAILY = ("quotaExceeded", "dailyLimitExceeded", "uploadLimitExceeded")


def new_service(client: str, secret: str, refresh: str) -> Any:
    """The YouTube service with these credentials; asks nothing yet."""
    need("googleapiclient", *EXTRA)
    need("google_auth_httplib2", *EXTRA)
    import httplib2
    from google.oauth2.credentials import Credentials
    from google_auth_httplib2 import AuthorizedHttp
    from googleapiclient.discovery import build_from_document
    from googleapiclient.discovery_cache import get_static_doc

    document = json.loads(get_static_doc("youtube", "v3"))
    tokens = _TOKENS
    if os.environ.get(SERVER):
        root = address(SERVER, os.environ[SERVER])
        document |= {"rootUrl": f"{root}/", "baseUrl": f"{root}/", "mtlsRootUrl": f"{root}/"}
        tokens = f"{root}/token"
    credentials = Credentials(  # type: ignore[no-untyped-call]
        None, refresh_token=refresh, token_uri=tokens, client_id=client, client_secret=secret
    )
    http = httplib2.Http(timeout=_TIMEOUT)
    http.redirect_codes = http.redirect_codes - {308}  # here 308 means: go on sending
    return build_from_document(document, http=AuthorizedHttp(credentials, http=http))


@dataclass(frozen=True)
class Answers:
    """Asks with patience; ``secrets`` are kept out of every message."""

    secrets: Sequence[str]
    patience: Patience

    def ask(self, what: str, work: Callable[[], Done]) -> Done:
        """``work()`` with patience, and failures in our words."""
        return self.patience(f"YouTube: {what}", lambda: self.once(what, work))

    def once(self, what: str, work: Callable[[], Done]) -> Done:
        """Raises Passing for what may be over soon, LectureError for what is not."""
        import google.auth.exceptions
        import httplib2
        from googleapiclient.errors import HttpError

        try:
            return work()
        except HttpError as error:
            raise self._told(error, what) from error
        except google.auth.exceptions.RefreshError as error:
            if getattr(error, "retryable", False):
                raise Passing("Google's log-in is busy") from error
            raise LectureError(
                where="YouTube",
                field="YOUTUBE_REFRESH_TOKEN",
                expected="credentials that Google takes (tokens of a project in testing end "
                "after 7 days; docs/publish.md)",
                found=hidden(str(error.args[0] if error.args else "a refusal"), self.secrets),
            ) from error
        except (google.auth.exceptions.TransportError, httplib2.HttpLib2Error) as error:
            raise Passing("the connection was lost") from error
        except TimeoutError as error:
            raise Passing("no answer in time") from error
        except (OSError, EOFError) as error:
            if getattr(error, "filename", None):
                raise  # a file of ours, not the network
            raise Passing("the connection was lost") from error

    def _told(self, error: Any, what: str) -> Exception:
        status, reason = int(error.resp.status), reason_of(error)
        if status in _PASSING or reason in (*_BUSY, _THERE):
            try:
                after = float(error.resp.get("retry-after", 0))
            except ValueError:
                after = 0.0
            return Passing(f"status {status}", after)
        field = what
        if status == 401:
            field, expected = "YOUTUBE_REFRESH_TOKEN", "credentials that YouTube takes"
        elif reason in _DAILY:
            expected = "quota left (it is renewed at midnight Pacific time; docs/publish.md)"
        elif status == 403:
            expected = "an account that may do this (docs/publish.md)"
        elif status == 404:
            expected = "something that is there"
        else:
            expected = "YouTube to take it"
        found = hidden(f"status {status} {reason}".strip(), self.secrets)
        return LectureError(where="YouTube", field=field, expected=expected, found=found)


def reason_of(error: Any) -> str:
    """The reason that YouTube gives, one word of its own; empty without one."""
    try:
        told = json.loads(error.content)["error"]
        return str(told["errors"][0]["reason"])
    except (ValueError, LookupError, TypeError):
        return ""


def status_of(error: BaseException | None) -> int:
    """The HTTP status behind an error of ours; 0 without one."""
    status = getattr(getattr(error, "resp", None), "status", 0)
    return int(status or 0)
