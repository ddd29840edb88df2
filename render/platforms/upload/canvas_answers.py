"""How Canvas answers: refusals in our words, passing failures tried again."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from engine.errors import LectureError
from render.base.extras import need
from render.platforms.upload.credentials import hidden
from render.platforms.upload.patience import Passing, Patience

EXTRA = ("canvas", "./render.sh upload canvas")
COURSE = "CANVAS_COURSE"
_TIMEOUT = (15, 120)  # seconds to connect, and without a byte
_PASSING = (408, 425, 429, 500, 502, 503, 504)
_KINDS = {"Forbidden": 403, "BadRequest": 400, "Conflict": 409, "UnprocessableEntity": 422}


@dataclass(frozen=True)
class Answers:
    """Asks with patience, for a course; ``token`` is kept out of every message."""

    token: str
    course: str
    patience: Patience

    @property
    def authorization(self) -> dict[str, str]:
        """The header that lets us in."""
        return {"Authorization": f"Bearer {self.token}"}

    def ask(
        self,
        what: str,
        work: Callable[[], Any],
        *,
        missing: bool = False,
        patience: Patience | None = None,
    ) -> Any:
        """``work()`` with patience; failures of canvasapi and requests in our words. ``missing``:
        None for what is not there."""
        import requests
        from canvasapi import exceptions

        def once() -> Any:
            try:
                return work()
            except exceptions.ResourceDoesNotExist as error:
                if missing:
                    return None
                raise self.refusal(404, "", what) from error
            except (exceptions.InvalidAccessToken, exceptions.Unauthorized) as error:
                raise self.refusal(401, "", what) from error
            except exceptions.RateLimitExceeded as error:
                raise Passing("status 429") from error
            except exceptions.CanvasException as error:
                raise self._told(error, what) from error
            except requests.exceptions.JSONDecodeError as error:
                raise LectureError(
                    where="Canvas", field="CANVAS_URL", expected="a Canvas", found="another page"
                ) from error
            except requests.exceptions.RequestException as error:
                raise Passing(_dropped(error)) from error

        return (patience or self.patience)(f"Canvas: {what}", once)

    def heed(self, answer: Any, what: str) -> None:
        """Raise for an answer that is a refusal."""
        if answer.status_code < 400:
            return
        text = answer.text[:400]
        if answer.status_code in _PASSING or "Rate Limit Exceeded" in text:
            raise Passing(f"status {answer.status_code}", _after(answer))
        raise self.refusal(answer.status_code, text, what)

    def refusal(self, status: int, text: str, what: str) -> LectureError:
        """What is to be done about a refusal of Canvas."""
        field = what
        if status == 401:
            field, expected = "CANVAS_TOKEN", "a token that Canvas takes (docs/publish.md)"
        elif status == 403:
            expected = f"a token that may change the files of course {self.course}"
        elif status == 404:
            expected = f"something that is there ({COURSE} is {self.course})"
        elif "quota" in text.lower():
            expected = "room in the course's file quota (ask an administrator)"
        else:
            expected = "Canvas to take it"
        said = hidden(_plain(text), [self.token])
        return LectureError(
            where="Canvas", field=field, expected=expected, found=f"status {status} {said}".strip()
        )

    def _told(self, error: Any, what: str) -> Exception:
        text = str(error)
        if "Rate Limit Exceeded" in text:
            return Passing("too many requests")
        status = re.search(r"status code (\d+)", text)
        if status and int(status[1]) in _PASSING:
            return Passing(f"status {status[1]}")
        code = int(status[1]) if status else _KINDS.get(type(error).__name__, 400)
        return self.refusal(code, "" if status else text, what)


def new_session() -> Any:
    """A session of requests whose every request has a time-out, and which takes no password from
    a .netrc in place of the token."""
    requests = need("requests", *EXTRA)
    from requests.adapters import HTTPAdapter

    class Adapter(HTTPAdapter):
        def send(self, request: Any, *positional: Any, **how: Any) -> Any:
            how["timeout"] = how.get("timeout") or _TIMEOUT
            return super().send(request, *positional, **how)

    session = requests.Session()
    session.auth = lambda request: request
    for scheme in ("https://", "http://"):
        session.mount(scheme, Adapter())
    return session


def same_host(one: str, other: str) -> bool:
    """Whether two addresses have scheme, host and port in common."""
    return urlsplit(one)[:2] == urlsplit(other)[:2]


def _after(answer: Any) -> float:
    try:
        return float(answer.headers.get("Retry-After", 0))
    except ValueError:
        return 0.0


def _dropped(error: Exception) -> str:
    """A broken connection in a few words; the library's own text may hold addresses with keys."""
    name = type(error).__name__.lower()
    return "no answer in time" if "timeout" in name else "the connection was lost"


def _plain(text: str) -> str:
    """The message in a JSON answer, or the beginning of any other."""
    found = re.search(r'"message"\s*:\s*"([^"]{1,200})"', text)
    return found[1] if found else " ".join(text.split())[:200]
