"""The bytes of a video on their way to Canvas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from render.platforms.upload.canvas_answers import Answers, same_host
from render.platforms.upload.patience import Passing
from render.platforms.upload.published import Video


@dataclass(frozen=True)
class Storage:
    """Where a course's files go: Canvas names a place, takes the bytes there, and is told."""

    requester: Any
    session: Any
    answers: Answers
    url: str
    course: str
    say: Callable[[str], None]

    def send(self, video: Video, name: str, where: dict[str, Any]) -> dict[str, Any]:
        """The three steps of an upload; the file appears only after the last, so one that is cut
        short leaves nothing behind."""
        told = self.requester.request(
            "POST",
            f"courses/{self.course}/files",
            name=name,
            size=video.size,
            content_type="video/mp4",
            on_duplicate="overwrite",
            **where,
        ).json()
        answer = self._send_bytes(video.path, told)
        found = _file_in(answer)
        if found is None and "Location" in answer.headers:
            target = urljoin(answer.url, answer.headers["Location"])
            headers = self.answers.authorization if same_host(target, self.url) else {}
            answer = self.session.get(target, headers=headers, allow_redirects=False)
            self.answers.heed(answer, video.path.name)
            found = _file_in(answer)
        if found is None:
            raise Passing("Canvas did not confirm the file")
        return found

    def _send_bytes(self, path: Path, announced: dict[str, Any]) -> Any:
        from requests_toolbelt import MultipartEncoder, MultipartEncoderMonitor

        told = 0

        def tell(body: Any) -> None:
            nonlocal told
            quarter = body.bytes_read * 4 // body.len
            if quarter != told:
                told = quarter
                self.say(f"{path.name}: {quarter * 25} %")

        with path.open("rb") as file:
            fields: dict[str, Any] = {
                key: str(value) for key, value in announced["upload_params"].items()
            }
            fields["file"] = (path.name, file, "video/mp4")
            # reads the file bit by bit; "file" must come last
            body = MultipartEncoderMonitor(MultipartEncoder(fields), tell)
            answer = self.session.post(
                announced["upload_url"],
                data=body,
                headers={"Content-Type": body.content_type},
                allow_redirects=False,
            )
        if answer.status_code >= 400:
            self.answers.heed(answer, path.name)
        return answer


def _file_in(answer: Any) -> dict[str, Any] | None:
    """The file that an answer tells of, if it tells of one."""
    try:
        found = answer.json()
    except ValueError:
        return None
    return found if isinstance(found, dict) and "id" in found else None
