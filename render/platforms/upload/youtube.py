"""YouTube: a video with its texts, captions and cover.

A video carries a tag that tells which lecture it is and a digest of its file, by which it is found
again. YouTube cannot exchange the file of a video: texts, captions and cover of a video whose file
is the same are replaced in place; a changed file needs ``replace``, which uploads it anew and then
deletes the old video.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import LectureError
from render.platforms.upload.credentials import credentials
from render.platforms.upload.kept import Kept
from render.platforms.upload.patience import Patience
from render.platforms.upload.published import Published, Video
from render.platforms.upload.youtube_answers import Answers, new_service
from render.platforms.upload.youtube_send import Sending, small
from render.platforms.upload.youtube_texts import LANGUAGES, mark, mark_of, snippet

NAMES = ("YOUTUBE_CLIENT_ID", "YOUTUBE_CLIENT_SECRET", "YOUTUBE_REFRESH_TOKEN")
PRIVACY = ("private", "unlisted", "public")


@dataclass
class YouTube:
    """The channel that the credentials belong to. ``say`` gets one line per thing done."""

    service: Any
    answers: Answers
    privacy: str = ""  # as that of the video that is replaced, or else private
    replace: bool = False
    say: Callable[[str], None] = print

    def upload(self, published: Published, kept: Kept) -> None:
        """Send what is new or has changed. Raises LectureError where YouTube refuses."""
        channel = self._list("channels", part="id,snippet,contentDetails", mine=True)
        if not channel:
            raise LectureError(
                where="YouTube", expected="an account with a channel", found="one without"
            )
        self._uploads = channel[0]["contentDetails"]["relatedPlaylists"]["uploads"]
        self.say(f"YouTube: channel {channel[0]['snippet']['title']}")
        account = f"youtube {channel[0]['id']}"
        for video in published.videos:
            note = kept.of(account, video.stem)

            def keep(stem: str = video.stem, note: dict[str, Any] = note) -> None:
                kept.put(account, stem, note)

            self._video(published, video, note, keep)
            self._captions(video, note, keep)
            self._cover(video, note, keep)
            self._remove_old(note, keep)
            self.say(f"{video.path.name}: https://youtu.be/{note['id']}")

    def _list(self, kind: str, **query: Any) -> list[dict[str, Any]]:
        """All items of a list, page by page."""
        items: list[dict[str, Any]] = []
        method = getattr(self.service, kind)()
        request = method.list(**query)
        while request is not None:
            answer = self.answers.ask(kind, request.execute)
            items += answer.get("items", [])
            request = method.list_next(request, answer) if "nextPageToken" in answer else None
        return items

    def _found(self, published: Published, video: Video, note: dict[str, Any]) -> list[Any]:
        """The videos of this lecture on the channel, those with the same file first."""
        ours = []
        if isinstance(note.get("id"), str):
            ours = self._list("videos", part="snippet,status", id=note["id"])
        if not ours:
            entries = self._list(
                "playlistItems", part="contentDetails", playlistId=self._uploads, maxResults=50
            )
            ids = [entry["contentDetails"]["videoId"] for entry in entries]
            for start in range(0, len(ids), 50):
                chunk = ",".join(ids[start : start + 50])
                ours += self._list("videos", part="snippet,status", id=chunk)
            ours = [one for one in ours if mark_of(one).startswith(mark(published, video)[:-10])]
        return sorted(ours, key=lambda one: mark_of(one) != mark(published, video))

    def _video(
        self, published: Published, video: Video, note: dict[str, Any], keep: Callable[[], None]
    ) -> None:
        """Leaves in ``note`` the id of the video as it is to be."""
        marked = mark(published, video)
        found = self._found(published, video, note)
        body: dict[str, Any] = {"snippet": snippet(published, video, marked)}
        if found and mark_of(found[0]) == marked:
            _forget(note, "session", "session_of")
            others = {*note.get("old", []), *(one["id"] for one in found[1:])}
            note |= {"id": found[0]["id"], "old": sorted(others)}
            keep()
            update = self.service.videos().update(part="snippet", body={**body, "id": note["id"]})
            self.answers.ask(video.path.name, update.execute)
            self.say(f"{video.path.name}: is there already, unchanged; title, description, tags")
            return
        old = [one["id"] for one in found]
        if old and not self.replace:
            raise LectureError(
                where="YouTube",
                field=video.path.name,
                expected="the file that was uploaded (--replace sends this one, to a new address, "
                "and deletes the old)",
                found=f"another one than at https://youtu.be/{old[0]}",
            )
        before = found[0]["status"]["privacyStatus"] if found else "private"
        body["status"] = {
            "privacyStatus": self.privacy or before,
            "selfDeclaredMadeForKids": False,
            "embeddable": True,
        }
        sent = Sending(self.service, self.answers, video, body, note, keep, self.say).run()
        _forget(note, "session", "session_of", "captions", "cover")
        note |= {"id": sent["id"], "old": old}
        keep()

    def _captions(self, video: Video, note: dict[str, Any], keep: Callable[[], None]) -> None:
        """One track for each language, in place of the one that was there."""
        there = self._tracks(note["id"])
        sent: dict[str, str] = note.setdefault("captions", {})
        for language, path in video.captions.items():
            tag = LANGUAGES[language]
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            if tag in there and sent.get(tag) == digest:
                continue
            self._track(note["id"], language, path, there)
            sent[tag] = digest
            keep()
            self.say(f"{video.path.name}: captions {language}")

    def _tracks(self, identity: str) -> dict[str, str]:
        """The ids of the tracks without a name of their own, by language."""
        return {
            item["snippet"]["language"]: item["id"]
            for item in self._list("captions", part="snippet", videoId=identity)
            if item["snippet"].get("trackKind", "standard").lower() == "standard"
            and not item["snippet"].get("name")
        }

    def _track(self, identity: str, language: str, path: Path, there: dict[str, str]) -> None:
        """Send one track. When the answer was lost it may have come: so it looks again first."""
        tag, tracks, tried = LANGUAGES[language], dict(there), False

        def work() -> Any:
            nonlocal tracks, tried
            if tried:
                tracks = self._tracks(identity)
            tried = True
            captions = self.service.captions()
            if tag in tracks:
                body: dict[str, Any] = {"id": tracks[tag], "snippet": {"isDraft": False}}
                return small(captions.update, path, part="snippet", body=body).execute()
            body = {"snippet": {"videoId": identity, "language": tag, "name": ""}}
            return small(captions.insert, path, part="snippet", body=body).execute()

        self.answers.ask(f"captions {language}", work)

    def _cover(self, video: Video, note: dict[str, Any], keep: Callable[[], None]) -> None:
        digest = hashlib.sha256(video.cover.read_bytes()).hexdigest()
        if note.get("cover") == digest:
            return
        method = self.service.thumbnails().set
        request = small(method, video.cover, videoId=note["id"])
        self.answers.ask("cover", request.execute)
        note["cover"] = digest
        keep()
        self.say(f"{video.path.name}: cover")

    def _remove_old(self, note: dict[str, Any], keep: Callable[[], None]) -> None:
        """Delete the videos that this one replaces; only when all of it is there."""
        for old in list(note.get("old", [])) if self.replace else []:
            if self._list("videos", part="id", id=old):
                self.answers.ask("the old video", self.service.videos().delete(id=old).execute)
            note["old"].remove(old)
            keep()
            self.say(f"https://youtu.be/{old}: deleted, replaced by {note['id']}")


def _forget(note: dict[str, Any], *names: str) -> None:
    for name in names:
        note.pop(name, None)


def connect(privacy: str, replace: bool, patience: Patience, say: Callable[[str], None]) -> YouTube:
    """With credentials from the environment."""
    client, secret, refresh = credentials(NAMES)
    answers = Answers((secret, refresh), patience)
    return YouTube(new_service(client, secret, refresh), answers, privacy, replace, say)
