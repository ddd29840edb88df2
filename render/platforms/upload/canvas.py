"""Canvas: a video as a file of a course, and its captions as media tracks.

The file goes to the folder ``transformer-lecture/ITEM`` of the course's files. A second upload
overwrites the file of that name there, or wherever the file has been moved to since.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from engine.errors import LectureError
from render.base.extras import need
from render.platforms.upload.canvas_answers import COURSE, EXTRA, Answers, new_session
from render.platforms.upload.canvas_send import Storage
from render.platforms.upload.credentials import address, credentials
from render.platforms.upload.kept import Kept
from render.platforms.upload.patience import Passing, Patience
from render.platforms.upload.published import Published, Video

NAMES = ("CANVAS_URL", "CANVAS_TOKEN")
_NOT_YET = (None, "", "maybe")  # what Canvas says for the media of a file it is still looking at
_MEDIA_TRIES = 9  # doubling from a second: about four minutes


@dataclass
class Canvas:
    """A course of a Canvas. ``say`` gets one line for each thing that is done."""

    url: str
    token: str
    course: str
    patience: Patience
    say: Callable[[str], None] = print

    def __post_init__(self) -> None:
        self.url = address("CANVAS_URL", self.url)
        if not self.course.isdigit():
            raise LectureError(
                field=COURSE,
                expected="the number in the course's address, as in …/courses/1234",
                found=repr(self.course),
            )
        need("canvasapi", *EXTRA)
        need("requests_toolbelt", *EXTRA)
        from canvasapi.requester import Requester

        self._answers = Answers(self.token, self.course, self.patience)
        self._session = new_session()
        self._requester = Requester(self.url, self.token)
        self._requester._session = self._session  # one with time-outs
        self._storage = Storage(
            self._requester, self._session, self._answers, self.url, self.course, self.say
        )

    @property
    def account(self) -> str:
        return f"canvas {self.url} course {self.course}"

    def upload(self, published: Published, kept: Kept) -> None:
        """Send what is new or has changed. Raises LectureError where Canvas refuses."""
        self._course = self._open_course()
        self.say(f"Canvas: course {self.course}, {getattr(self._course, 'name', 'no name')}")
        for video in published.videos:
            file = self._video(published, video, kept)
            self._captions(video, file)
            self.say(f"{video.path.name}: {self.url}/courses/{self.course}/files/{file.id}")

    def _open_course(self) -> Any:
        from canvasapi.course import Course

        answer = self._answers.ask(
            "course", lambda: self._requester.request("GET", f"courses/{self.course}").json()
        )
        return Course(self._requester, answer)

    def _video(self, published: Published, video: Video, kept: Kept) -> Any:
        """The file on Canvas, sent if need be."""
        note = kept.of(self.account, video.stem)
        file = self._known(note) or self._named(published, video)
        if file and note.get("sha256") == video.sha256 and file.size == video.size:
            self.say(f"{video.path.name}: is there already, unchanged")
        else:
            where = (
                {"parent_folder_id": file.folder_id}
                if file
                else {"parent_folder_path": _folder(published)}
            )
            name = file.display_name if file else video.path.name
            self.say(f"{video.path.name}: {'replacing' if file else 'sending'} {_mb(video.size)}")
            answer = self._answers.ask(
                video.path.name, lambda: self._storage.send(video, name, where)
            )
            file = self._answers.ask(video.path.name, lambda: self._course.get_file(answer["id"]))
        kept.put(self.account, video.stem, {"file": file.id, "sha256": video.sha256})
        return file

    def _known(self, note: dict[str, Any]) -> Any:
        """The file that was sent last time, if it is still there."""
        if not isinstance(note.get("file"), int):
            return None
        return self._answers.ask("files", lambda: self._course.get_file(note["file"]), missing=True)

    def _named(self, published: Published, video: Video) -> Any:
        """The file of that name in our folder, if there is one."""

        def look() -> Any:
            folder = list(self._course.resolve_path(_folder(published)))[-1]
            return [f for f in folder.get_files() if f.display_name == video.path.name]

        found = self._answers.ask("files", look, missing=True)
        return found[0] if found else None

    def _captions(self, video: Video, file: Any) -> None:
        """Put all tracks; Canvas takes away those that are not among them."""
        media = self._media(video, file)
        tracks = [
            {"locale": language, "kind": "subtitles", "content": path.read_text(encoding="utf-8")}
            for language, path in video.captions.items()
        ]

        def put() -> None:
            answer = self._session.put(
                f"{self.url}/api/v1/media_objects/{media}/media_tracks",
                json=tracks,
                headers=self._answers.authorization,
            )
            self._answers.heed(answer, "captions")

        self._answers.ask("captions", put)
        self.say(f"{video.path.name}: captions {', '.join(video.captions)}")

    def _media(self, video: Video, file: Any) -> str:
        """The media object of a file: Canvas makes it a while after the file has come."""

        def look() -> str:
            found = self._course.get_file(file.id)
            media = getattr(found, "media_entry_id", None)
            if media in _NOT_YET:
                raise Passing("Canvas is still converting the video")
            return str(media)

        patience = Patience(
            _MEDIA_TRIES, self.patience.first, self.patience.longest, self.say, self.patience.sleep
        )
        return str(self._answers.ask(f"{video.path.name}: captions", look, patience=patience))


def connect(course: str | None, patience: Patience, say: Callable[[str], None]) -> Canvas:
    """With credentials from the environment; ``course`` from there, too, if it is None."""
    if course is None:
        url, token, course = credentials((*NAMES, COURSE))
    else:
        url, token = credentials(NAMES)
    return Canvas(url, token, course, patience, say)


def plan(published: Published, course: str | None) -> list[str]:
    """What an upload would send, without asking Canvas anything."""
    lines = [f"course: {course or f'as {COURSE} says'}", f"folder: {_folder(published)}"]
    for video in published.videos:
        lines += [
            f"file: {video.path.name}, {_mb(video.size)}; one of that name is replaced",
            f"  captions: {', '.join(path.name for path in video.captions.values())}",
        ]
    return lines


def _folder(published: Published) -> str:
    return f"transformer-lecture/{published.item}"


def _mb(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
