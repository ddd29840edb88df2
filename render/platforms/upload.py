"""What every upload needs: the published folder read back, credentials, notes, retries, answers.

One retry for both services: requests has none that pauses as Canvas asks, and Google's own would
ask seven times in silence where a certificate or a host is wrong."""

from __future__ import annotations

import os
import random
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, NoReturn, TypeVar
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct, structs

from engine.errors import LectureError
from engine.reader import refuse
from render.base import files
from render.base.reader import Reader, parsed, shaped
from render.platforms.folder import FORM, MANIFEST

T = TypeVar("T")
PASSING = (408, 425, 429, 500, 502, 503, 504)  # of HTTP
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
#: the other side went away in the middle of something; every other failure of TLS stays
_CUT = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)


class Video(Struct, frozen=True):
    """A video to upload and what goes with it, as the manifest has it: names of files in
    ``folder``, those of the captions by language."""

    video: str
    size: int
    sha256: str
    title: str
    description: str
    tags: tuple[str, ...]
    cover: str
    captions: dict[str, str]
    folder: str = ""

    @property
    def path(self) -> Path:
        return self.file(self.video)

    @property
    def stem(self) -> str:
        return self.path.stem

    @property
    def megabytes(self) -> str:
        return f"{self.size / 1e6:.1f} MB"

    def file(self, name: str) -> Path:
        return Path(self.folder, name)


class Published(Struct, frozen=True):
    """A folder made by ``publish`` for ``platform``; ``item`` is what it is called there."""

    form: int
    platform: str
    item: str
    language: str
    videos: tuple[Video, ...] = msgspec.field(name="pieces")


def read(folder: Path, platform: str) -> Published:
    """Raises LectureError for a folder that was not published, was published for another
    platform, or has lost files since."""
    path = folder / MANIFEST
    if not path.exists():
        expected = f"a folder made by ./render.sh publish --for {platform}"
        refuse(folder, None, expected, f"no {MANIFEST} in it")
    said = Reader().json(path, Published)
    if said.form != FORM:
        refuse(path, "form", f"{FORM}, as ./render.sh publish writes it", str(said.form))
    if said.platform != platform:
        refuse(folder, None, f"a folder published for {platform}", f"one for {said.platform}")
    videos = tuple(structs.replace(video, folder=str(folder)) for video in said.videos)
    for video in videos:
        _check_files(video, path)
    return structs.replace(said, videos=videos)


def _check_files(video: Video, manifest: Path) -> None:
    for name in (video.video, video.cover, *video.captions.values()):
        if Path(name).name != name:
            found = f"{name!r}, which is not a file name"
            refuse(manifest, None, "names of files beside it", found)
        if not video.file(name).is_file():
            refuse(video.file(name), None, "a file (publish again)", "nothing")
    size = video.path.stat().st_size
    if size != video.size:
        expected = f"{video.size} bytes, as published (publish again)"
        refuse(video.path, "size", expected, f"{size}")


def find(root: Path, platform: str) -> Path:
    """The folder published for ``platform`` under the output folder ``root``, where there is just
    one. Raises LectureError otherwise."""
    found = sorted(path.parent for path in root.glob(f"*/publish/{platform}_*/{MANIFEST}"))
    if len(found) == 1:
        return found[0]
    made = f"one made by ./render.sh publish --for {platform}"
    expected = "the published folder to be named" if found else made
    refuse(None, "folder", expected, ", ".join(map(str, found)) or "none")


class Note(Struct):
    """What is remembered of a video in an account: its ``file`` on Canvas, its ``id`` on YouTube
    and the ``old`` ones that it replaces, and digests of what was sent."""

    file: int = 0
    sha256: str = ""
    id: str = ""
    old: list[str] = []
    session: str = ""
    session_of: str = ""
    captions: dict[str, str] = {}
    cover: str = ""


class UploadState:
    """A :class:`Note` for each account and video, in a small file beside the published folder.

    It outlives the folder, which each publication replaces, and makes a second upload replace the
    first. Sessions in it let whoever has them send bytes, so only its owner can read it. An
    unreadable file counts as none: everything is then found again on the platform itself.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder.with_name(f"{folder.name}.uploads.json")
        self._notes: dict[str, Note] = {}
        with suppress(LectureError):
            self._notes = Reader().json(self.path, dict[str, Note])

    def of(self, account: str, stem: str) -> Note:
        return self._notes.setdefault(f"{account} {stem}", Note())

    def save(self) -> None:
        """All notes are on the disk before this returns. Raises LectureError where that fails."""
        text = msgspec.json.format(msgspec.json.encode(self._notes), indent=1)
        files.write(self.path, text, durable=True, mode=0o600)


def credentials(names: Sequence[str], environment: Mapping[str, str] = os.environ) -> list[str]:
    """The values of these variables. Raises LectureError, naming variables but no values."""
    values = {name: environment.get(name, "").strip() for name in names}
    if missing := [name for name, value in values.items() if not value]:
        expected = "to be set in the environment (docs/publish.md says where to get them)"
        refuse(None, " and ".join(missing), expected, "nothing")
    for name, value in values.items():
        if not (value.isascii() and value.isprintable()) or " " in value:
            refuse(None, name, "one word of ASCII characters", "something else")
    return list(values.values())


def are_set(names: Sequence[str], environment: Mapping[str, str] = os.environ) -> str:
    """Which of the variables are set, for people; no values."""
    there = {name: "set" if environment.get(name, "").strip() else "not set" for name in names}
    return ", ".join(f"{name} is {said}" for name, said in there.items())


def hidden(text: str, secrets: Sequence[str]) -> str:
    """The text with every secret replaced, should a library have put one into a message."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= 4:
            text = text.replace(secret, "…")
    return text


def address(name: str, value: str) -> str:
    """A server's address, without a slash at its end. Raises LectureError for one to which
    credentials must not be sent."""
    parts = urlsplit(value) if is_safe(value) else None
    if parts is None or parts.username or parts.query or parts.fragment:
        refuse(None, name, "an address such as https://canvas.example.edu", "another")
    return value.rstrip("/")


def is_safe(url: str) -> bool:
    """Whether nobody on the way can read what is sent: https, or this computer itself."""
    scheme, host, _ = origin(url) or ("", "", None)
    return bool(host) and (scheme == "https" or (scheme == "http" and host in _LOOPBACK))


def origin(url: str) -> tuple[str, str, int | None] | None:
    """Scheme, host and port of an address; None for what is none."""
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname or "", parts.port
    except ValueError:
        return None


class Refusal(LectureError):
    """A service has said no; ``status`` of HTTP and ``reason``, one word of its own."""

    status = 0
    reason = ""


class Passing(Exception):
    """A failure that may be over soon: a dropped connection, a busy server. ``after``: seconds
    that the server asks to wait."""

    def __init__(self, reason: str, after: str | float = 0.0) -> None:
        super().__init__(reason)
        try:
            self.after = float(after)
        except ValueError:  # a date
            self.after = 0.0


@dataclass
class Retry:
    """``first``: seconds of the first pause, doubled each time up to ``longest``; after ``tries``
    failures it gives up. ``say`` gets a line for each; ``reached``: somebody has answered."""

    tries: int = 7
    first: float = 1.0
    longest: float = 60.0
    say: Callable[[str], None] = print
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)
    reached: bool = False

    def __call__(self, what: str, work: Callable[[], T], tries: int = 0) -> T:
        """``work()``, again while it fails with :class:`Passing`; ``tries``: another number of
        them. Raises LectureError at last."""
        tries = tries or self.tries
        for attempt in count():
            try:
                found = work()
                break
            except Passing as error:
                if attempt == tries - 1:
                    said = f"{error}, {tries} times (what was sent is kept; try again later)"
                    raise LectureError(where=what, expected="an answer", found=said) from error
                pause = min(self.longest, self.first * 2.0**attempt) * random.uniform(0.7, 1.3)
                pause = max(pause, min(error.after, 10 * self.longest))
                self.say(f"{what}: {error}; again in {pause:.0f} s")
                self.sleep(pause)
        self.reached = True
        return found


class Service:
    """A service that is asked. ``server``: the variable that says where it is; ``refusals``: by
    its reason or the status, the field to mend, or "" for what was asked, and what is expected;
    ``secrets`` are kept out of every message."""

    name: ClassVar[str]
    server: ClassVar[str]
    refusals: Mapping[int | str, tuple[str, str]]
    secrets: Sequence[str]
    retry: Retry

    def say(self, line: str) -> None:
        self.retry.say(line)

    def progress(self, video: str, before: int, now: int, size: int) -> None:
        """Say how much of a video has been sent, at every quarter."""
        if before * 4 // size != now * 4 // size:
            self.say(f"{video}: {now * 100 // size} %")

    def refusal(self, status: int, what: str, said: str, reason: str = "") -> Refusal:
        """What is to be done about a refusal of ``what``."""
        default = self.refusals.get(status, ("", f"{self.name} to accept it"))
        field, expected = self.refusals.get(reason, default)
        found = hidden(f"status {status} {said}".strip(), self.secrets)
        made = Refusal(where=self.name, field=field or what, expected=expected, found=found)
        made.status, made.reason = status, reason
        return made

    def malformed(self, what: str, expected: str, found: str = "none in the answer") -> NoReturn:
        """Raise LectureError for an answer that cannot be understood."""
        refuse(f"{self.name}: {what}", None, expected, found)

    def decoded(self, said: Any, shape: type[T], what: str) -> T:
        """An answer as a shape: JSON in bytes, perhaps behind ``while(1);``, or what a client has
        made of it. Raises LectureError, in a line, with the place of the first misfit."""
        where = Path(f"{self.name}: {what}")
        if not isinstance(said, bytes):
            return shaped(said, shape, where)
        body = said.removeprefix(b"while(1);").strip()
        if not body or body.startswith(b"<"):
            self.malformed(what, "an answer in JSON", "a web page" if body else "nothing")
        return parsed(body, shape, where)

    def lost(self, error: BaseException) -> LectureError | Passing:
        """What it means that a request got no answer. Who has answered before must be at the right
        address."""
        causes = list(_causes(error))
        for cause in causes:
            match cause:
                case ssl.SSLCertVerificationError():
                    expected = "a server whose certificate this computer trusts"
                    found = cause.verify_message or "another"
                case ssl.SSLError() if not isinstance(cause, _CUT):
                    expected = "a server that speaks TLS (https)"
                    found = (cause.reason or "another").replace("_", " ").lower()
                case socket.gaierror(errno=socket.EAI_NONAME) if not self.retry.reached:
                    expected, found = "the name of a server that exists", "an unknown one"
                case socket.gaierror():
                    return Passing("the server's name cannot be looked up (is there a network?)")
                case ConnectionRefusedError():
                    return Passing("the server refuses connections")
                case _:
                    continue
            return LectureError(where=self.name, field=self.server, expected=expected, found=found)
        if any("timeout" in type(cause).__name__.lower() for cause in causes):
            return Passing("no answer in time")
        return Passing("the connection was lost")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An exception and all that led to it."""
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        seen.append(error)
        yield error
        inside = next((arg for arg in error.args if isinstance(arg, BaseException)), None)
        error = error.__cause__ or error.__context__ or inside
