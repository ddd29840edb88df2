"""Canvas: a video as a file of a course, and its captions as media tracks.

The file goes to the folder ``transformer-lecture/ITEM`` of the course's files. A second upload
overwrites the file of that name there, or wherever the file has been moved to since.

Over requests, not canvasapi: that reads a video into memory whole, follows redirects that lose the
token, never tries again, and drops what a refusal says about when to.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn
from urllib.parse import quote, urljoin

from engine.errors import LectureError
from engine.reader import read_text, refuse
from render.base.failure import need
from render.platforms import upload
from render.platforms.upload import Passing, Published, Refusal, Retry, UploadState, Video

URL, COURSE = "CANVAS_URL", "CANVAS_COURSE"
_EXTRA = ("canvas", "./render.sh upload canvas")
_NOT_YET = (None, "", "maybe")  # what Canvas says for the media of a file it is still looking at
_MEDIA_TRIES = 9  # doubling from a second: about four minutes
_TIMEOUT = (15, 120)  # seconds to connect, and without a byte
_HOPS = 5  # of a confirmation from address to address


@dataclass(frozen=True)
class _Place:
    """A course, or a folder."""

    id: int = 0
    name: str = "no name"


@dataclass(frozen=True)
class _File:
    id: int
    display_name: str
    folder_id: int
    size: int
    media_entry_id: str | None = None


@dataclass(frozen=True)
class _Ticket:
    """Where Canvas wants the bytes of a file, and what must go with them."""

    upload_url: str
    upload_params: dict[str, Any]


@dataclass
class Canvas(upload.Service):
    """A course of a Canvas."""

    name = "Canvas"
    server = URL
    url: str
    token: str
    course: str
    retry: Retry

    def __post_init__(self) -> None:
        self.url = upload.address(URL, self.url)
        if not self.course.isdigit():
            expected = "the number in the course's address, as in …/courses/1234"
            refuse(None, COURSE, expected, repr(self.course))
        self.secrets = [self.token]
        self.refusals = {
            401: ("CANVAS_TOKEN", "a token that Canvas accepts (docs/publish.md)"),
            403: ("", f"a token that may change the files of course {self.course}"),
            404: ("", f"something that exists ({COURSE} is {self.course})"),
            "quota": ("", "space in the course's file quota (ask an administrator)"),
        }
        need("requests_toolbelt", *_EXTRA)
        self._session = need("requests", *_EXTRA).Session()
        self._session.auth = lambda request: request  # no password from a .netrc

    def upload(self, published: Published, state: UploadState) -> None:
        """Send what is new or has changed. Raises LectureError where Canvas refuses."""
        of_course = f"courses/{self.course}"
        course = self._get("course", of_course, _Place)
        self.say(f"Canvas: course {self.course}, {course.name}")
        for video in published.videos:
            note = state.of(f"canvas {self.url} course {self.course}", video.stem)
            folder = _folder(published)
            file = self._find(f"{of_course}/files/{note.file}", _File) if note.file else None
            file = file or self._in_folder(folder, video.video)
            if file and note.sha256 == video.sha256 and file.size == video.size:
                self.say(f"{video.video}: already uploaded, unchanged")
            else:
                self.say(f"{video.video}: {'replacing' if file else 'sending'} {video.megabytes}")
                file = self._send(video, file, folder)
            note.file, note.sha256 = file.id, video.sha256
            state.save()
            self._captions(video, file)
            self.say(f"{video.video}: {self.url}/{of_course}/files/{file.id}")

    def _in_folder(self, folder: str | int, name: str) -> _File | None:
        """The file of that name in a folder of the course, named by its path or number."""
        if isinstance(folder, str):
            path = f"courses/{self.course}/folders/by_path/{quote(folder)}"
            way = self._find(path, list[_Place])
            if not way:
                return None
            folder = way[-1].id
        page = f"folders/{folder}/files?per_page=100"
        while page:
            answer = self._asked("files", "GET", page)
            for file in self.decoded(answer.content, list[_File], "files"):
                if file.display_name == name:
                    return file
            page = answer.links.get("next", {}).get("url", "")
            if page and upload.origin(page) != upload.origin(self.url):
                self._elsewhere(page)
        return None

    def _send(self, video: Video, old: _File | None, path: str) -> _File:
        """Canvas names a place, takes the bytes there, and is told; the file appears only after the
        last step, so that one that is cut short leaves nothing behind. Each step is tried again by
        itself: a confirmation that is lost does not cost the bytes."""
        name = video.video
        shown = old.display_name if old else name
        where = {"parent_folder_id": old.folder_id} if old else {"parent_folder_path": path}
        asked = {"name": shown, "size": video.size, "content_type": "video/mp4"}
        data = {**asked, "on_duplicate": "overwrite", **where}

        def send() -> Any:
            answer = self._once(name, "POST", f"courses/{self.course}/files", data=data)
            return self._send_bytes(video, self.decoded(answer.content, _Ticket, name))

        answer = self.retry(f"Canvas: {name}", send)
        try:
            return self._confirmed(name, answer)
        except LectureError:  # perhaps only the answer was lost, and cannot be had twice
            found = self._in_folder(old.folder_id if old else path, shown)
            if found and found.size == video.size and (old is None or found.id != old.id):
                return found
            raise

    def _send_bytes(self, video: Video, ticket: _Ticket) -> Any:
        """The answer of the store, to which the token does not go."""
        from requests_toolbelt import MultipartEncoder, MultipartEncoderMonitor

        name, sent = video.video, 0
        if not upload.is_safe(ticket.upload_url):
            self.malformed(name, "an https address for the data")

        def tell(body: Any) -> None:
            nonlocal sent
            self.progress(name, sent, body.bytes_read, body.len)
            sent = body.bytes_read

        with video.path.open("rb") as file:
            fields: dict[str, Any] = {k: str(v) for k, v in ticket.upload_params.items()}
            fields["file"] = (name, file, "video/mp4")  # must come last
            body = MultipartEncoderMonitor(MultipartEncoder(fields), tell)  # reads bit by bit
            kind = {"Content-Type": body.content_type}
            return self._sent(name, "POST", ticket.upload_url, data=body, headers=kind)

    def _confirmed(self, name: str, answer: Any) -> _File:
        """The file, which the answer to its bytes describes or leads to, by one or more steps."""
        for _ in range(_HOPS):
            with suppress(LectureError):
                return self.decoded(answer.content, _File, name)
            location = answer.headers.get("Location", "")
            with suppress(ValueError):
                location = location and urljoin(answer.url, location)
            if not upload.is_safe(location):
                break
            answer = self._asked(name, "GET", location, redirected=True)
        self.malformed(name, "a confirmation of the file")

    def _captions(self, video: Video, file: _File) -> None:
        """Put all tracks; Canvas takes away those that are not among them. It makes the media
        object that they belong to a while after the file has come."""

        def look() -> str:
            found = self._get("files", f"courses/{self.course}/files/{file.id}", _File)
            if found.media_entry_id in _NOT_YET:
                raise Passing("Canvas is still converting the video")
            return str(found.media_entry_id)

        media = self.retry(f"Canvas: {video.video}: captions", look, _MEDIA_TRIES)
        tracks = [
            {"locale": language, "kind": "subtitles", "content": read_text(video.file(name))}
            for language, name in video.captions.items()
        ]
        path = f"media_objects/{quote(media, safe='')}/media_tracks"
        self._asked("captions", "PUT", path, json=tracks)
        self.say(f"{video.video}: captions {', '.join(video.captions)}")

    def _get(self, what: str, path: str, shape: type[Any]) -> Any:
        """What is at a path. Raises LectureError where nothing is."""
        return self.decoded(self._asked(what, "GET", path).content, shape, what)

    def _find(self, path: str, shape: type[Any]) -> Any:
        """The same of files; None where nothing is."""
        try:
            return self._get("files", path, shape)
        except Refusal as error:
            if error.status != 404:
                raise
            return None

    def _asked(self, what: str, method: str, path: str, **how: Any) -> Any:
        """The answer to a request, tried again where that may help."""
        return self.retry(f"Canvas: {what}", lambda: self._once(what, method, path, **how))

    def _once(self, what: str, method: str, path: str, redirected: bool = False, **how: Any) -> Any:
        """The same, tried once; with the token, unless the address is that of another server.
        Raises LectureError for an answer that leads elsewhere, unless that is expected: requests
        would follow without the token, and make a GET of a POST."""
        url = urljoin(f"{self.url}/api/v1/", path)
        own = upload.origin(url) == upload.origin(self.url)
        headers = {"Authorization": f"Bearer {self.token}"} if own else {}
        answer = self._sent(what, method, url, headers=headers, **how)
        if answer.status_code >= 300 and not redirected:
            self._elsewhere(answer.headers.get("Location", ""))
        return answer

    def _sent(self, what: str, method: str, url: str, **how: Any) -> Any:
        """The answer to a request, unless it is a refusal."""
        import requests

        how |= {"allow_redirects": False, "timeout": _TIMEOUT}
        try:
            answer = self._session.request(method, url, **how)
        except requests.exceptions.RequestException as error:
            if isinstance(error, ValueError):
                self.malformed(what, "an address")
            raise self.lost(error) from error
        if answer.status_code < 400:
            return answer
        text = answer.text[:400]
        if answer.status_code in upload.PASSING or "Rate Limit Exceeded" in text:
            raise Passing(f"status {answer.status_code}", answer.headers.get("Retry-After", 0))
        if answer.status_code == 401 and upload.origin(url) != upload.origin(self.url):
            self._elsewhere(url)
        found = re.search(r'"message"\s*:\s*"([^"]{1,200})"', text)
        said = found[1] if found else " ".join(text.split())[:200]
        about_quota = "quota" in text.lower() and answer.status_code not in self.refusals
        raise self.refusal(answer.status_code, what, said, "quota" if about_quota else "")

    def _elsewhere(self, url: str) -> NoReturn:
        """Canvas is at another address than we were told."""
        there = upload.origin(url)
        if there and there[1] and there != upload.origin(self.url):
            expected = f"the address that Canvas redirects to, {there[0]}://{there[1]}"
            refuse("Canvas", URL, expected, f"{self.url}, where the token is not valid")
        redirected = "a server that redirects to another page"
        refuse("Canvas", URL, "the address of a Canvas", redirected)


def names(course: str | None) -> tuple[str, ...]:
    """The variables of the environment that an upload needs."""
    return (URL, "CANVAS_TOKEN") if course else (URL, "CANVAS_TOKEN", COURSE)


def connect(course: str | None, retry: Retry) -> Canvas:
    """With credentials from the environment; ``course`` from there, too, if it is None."""
    url, token, *named = upload.credentials(names(course))
    return Canvas(url, token, course or named[0], retry)


def plan(published: Published, course: str | None) -> list[str]:
    """What an upload would send, without asking Canvas anything."""
    lines = [f"course: {course or f'as {COURSE} says'}", f"folder: {_folder(published)}"]
    for video in published.videos:
        lines += [
            f"file: {video.video}, {video.megabytes}; an existing one of that name is replaced",
            f"  captions: {', '.join(video.captions.values())}",
        ]
    return lines


def _folder(published: Published) -> str:
    return f"transformer-lecture/{published.item}"
