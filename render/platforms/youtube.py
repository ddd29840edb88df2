"""YouTube: a video with its texts, captions and cover.

A video carries a tag that tells which lecture it is and a digest of its file, by which it is found
again. YouTube cannot exchange the file of a video: texts, captions and cover of a video whose file
is the same are replaced in place; a changed file needs ``replace``, which uploads it anew and, when
YouTube has processed that, deletes the old video.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from engine.reader import refuse
from render.base.reads import sha256
from render.platforms import upload
from render.platforms.rules import named
from render.platforms.upload import Note, Passing, Published, Retry, UploadState, Video
from render.platforms.youtube_service import Item, Service, new_client, small

NAMES = ("YOUTUBE_CLIENT_ID", "YOUTUBE_CLIENT_SECRET", "YOUTUBE_REFRESH_TOKEN")
PRIVACY = ("private", "unlisted", "public")
LANGUAGES = {"zh": "zh-Hans", "en": "en"}
_EDUCATION = "27"  # the category's number
_MARK = "tfl"  # begins the tag by which a video is found again
_DIGITS = 10  # of each digest in it
_LOST = ("failed", "rejected", "deleted", "terminated")
_PROCESSING_TRIES = 16  # doubling from a second up to a minute: about ten minutes


@dataclass(frozen=True)
class _Channel:
    id: str
    snippet: dict[str, Any]
    contentDetails: dict[str, dict[str, str]]


@dataclass(frozen=True)
class _Listed:
    """A place in the list of all videos."""

    contentDetails: dict[str, str]


@dataclass
class YouTube:
    """The channel that the credentials belong to. ``say`` gets one line per thing done."""

    service: Service
    privacy: str = ""  # as that of the video that is replaced, or else private
    replace: bool = False
    say: Callable[[str], None] = print

    def upload(self, published: Published, state: UploadState) -> None:
        """Send what is new or has changed. Raises LectureError where YouTube refuses."""
        parts = "id,snippet,contentDetails"
        channels = self.service.all("channels", _Channel, part=parts, mine=True)
        if not channels:
            refuse("YouTube", None, "an account with a channel", "one without")
        channel = channels[0]
        self._uploads = channel.contentDetails.get("relatedPlaylists", {}).get("uploads", "")
        self.say(f"YouTube: channel {channel.snippet.get('title')}")
        for video in published.videos:
            note = state.of(f"youtube {channel.id}", video.stem)
            self._video(published, video, note)
            self._captions(video, note)
            self._cover(video, note)
            self._remove_old(video, note)
            self.say(f"{video.video}: https://youtu.be/{note['id']}")

    def _found(self, published: Published, video: Video, note: Note) -> list[Item]:
        """The videos of this lecture on the channel, those with the same file first."""
        marked = mark(published, video)
        ours = self._videos(note["id"]) if isinstance(note.get("id"), str) else []
        if not ours:
            # a channel that never had a video has no list of them
            query = {"part": "contentDetails", "playlistId": self._uploads, "maxResults": 50}
            there = self.service.all("playlistItems", _Listed, missing="playlistNotFound", **query)
            ids = [one.contentDetails.get("videoId", "") for one in there]
            for start in range(0, len(ids), 50):
                ours += self._videos(",".join(ids[start : start + 50]))
            ours = [one for one in ours if _mark_of(one).startswith(marked[:-_DIGITS])]
        return sorted(ours, key=lambda one: _mark_of(one) != marked)

    def _videos(self, ids: str) -> list[Item]:
        return self.service.all("videos", Item, part="snippet,status,processingDetails", id=ids)

    def _video(self, published: Published, video: Video, note: Note) -> None:
        """Leaves in ``note`` the id of the video as it is to be."""
        marked = mark(published, video)
        found = self._found(published, video, note)
        body: dict[str, Any] = {"snippet": snippet(published, video, marked)}
        old = [one.id for one in found]
        if found and _mark_of(found[0]) == marked:
            others = sorted({*note.get("old", []), *old[1:]})
            note.save(id=old[0], old=others, session=None, session_of=None)
            body["id"] = old[0]
            self.service.call(video.video, "videos", "update", part="snippet", body=body)
            self.say(f"{video.video}: already uploaded, unchanged; title, description, tags")
            return
        if old and not self.replace:
            expected = (
                "the file that was uploaded (--replace uploads another one, at a new address, "
                "and deletes the old one)"
            )
            found_there = f"another one than at https://youtu.be/{old[0]}"
            refuse(f"YouTube: {video.video}", None, expected, found_there)
        before = found[0].status.privacyStatus if found else "private"
        body["status"] = {
            "privacyStatus": self.privacy or before,
            "selfDeclaredMadeForKids": False,
            "embeddable": True,
        }
        sent = self.service.send(video, body, note, self.say)
        note.save(id=sent, old=old, session=None, session_of=None, captions=None, cover=None)

    def _captions(self, video: Video, note: Note) -> None:
        """One track for each language, in place of the one that was there."""
        there = self._tracks(note["id"])
        sent: dict[str, str] = note.get("captions", {})
        for language, name in video.captions.items():
            tag, digest = LANGUAGES[language], sha256(video.file(name))
            if tag in there and sent.get(tag) == digest:
                continue
            self._track(note["id"], language, video.file(name).read_bytes(), there)
            note.save(captions=sent | {tag: digest})
            sent = note["captions"]
            self.say(f"{video.video}: captions {language}")

    def _tracks(self, identity: str) -> dict[str, str]:
        """The ids of the tracks without a name of their own, by language."""
        return {
            track.snippet.language: track.id
            for track in self.service.all("captions", Item, part="snippet", videoId=identity)
            if track.snippet.trackKind.lower() == "standard" and not track.snippet.name
        }

    def _track(self, identity: str, language: str, data: bytes, there: dict[str, str]) -> None:
        """Send one track. When the answer was lost it may have come: so it looks again first."""
        tag, known = LANGUAGES[language], [there]
        captions = self.service.client.captions()

        def work() -> Any:
            tracks = known.pop() if known else self._tracks(identity)
            if tag in tracks:
                method, body = captions.update, {"id": tracks[tag], "snippet": {"isDraft": False}}
            else:
                told = {"videoId": identity, "language": tag, "name": ""}
                method, body = captions.insert, {"snippet": told}
            return small(method, data, part="snippet", body=body).execute()

        self.service.ask(f"captions {language}", work)

    def _cover(self, video: Video, note: Note) -> None:
        cover = video.file(video.cover)
        digest = sha256(cover)
        if note.get("cover") != digest:
            method = self.service.client.thumbnails().set
            request = small(method, cover.read_bytes(), "image/png", videoId=note["id"])
            self.service.ask("cover", request.execute)
            note.save(cover=digest)
            self.say(f"{video.video}: cover")

    def _remove_old(self, video: Video, note: Note) -> None:
        """Delete the videos that this one replaces, when YouTube can show it."""
        old = list(note.get("old", [])) if self.replace else []
        if old:
            self._wait(video, note["id"], old)
        for one in old:
            if self._videos(one):
                self.service.call("the old video", "videos", "delete", id=one)
            note.save(old=[other for other in note["old"] if other != one])
            self.say(f"https://youtu.be/{one}: deleted, replaced by {note['id']}")

    def _wait(self, video: Video, identity: str, old: list[str]) -> None:
        """Until YouTube has processed a video. Raises LectureError where it does not in time, or
        never will."""

        def look() -> None:
            found = self._videos(identity)
            lost = _lost(found[0]) if found else "deleted"
            if lost:
                kept = ", ".join(f"https://youtu.be/{one}" for one in old)
                expected = f"an accepted video before {kept} is deleted"
                refuse("YouTube", video.video, expected, f"https://youtu.be/{identity}: {lost}")
            done = found[0].processingDetails.processingStatus in ("", "succeeded")
            if not done or found[0].status.uploadStatus != "processed":
                raise Passing("YouTube is still processing the new video, the old one is kept")

        self.service.retry(f"YouTube: {video.video}", look, _PROCESSING_TRIES)


def _lost(video: Item) -> str:
    """Why YouTube will never show a video; empty where it may."""
    status, details = video.status, video.processingDetails
    for said in (status.uploadStatus, details.processingStatus):
        if said in _LOST:
            reasons = status.failureReason, status.rejectionReason, details.processingFailureReason
            return f"{said} {next(filter(None, reasons), '')}".strip()
    return ""


def _mark_of(video: Item) -> str:
    return next((tag for tag in video.snippet.tags if tag.startswith(f"{_MARK}-")), "")


def mark(published: Published, video: Video) -> str:
    """The tag that tells which lecture a video is, whatever its quality, and which file."""
    which = hashlib.sha256(f"{published.item}/{video.stem}".encode()).hexdigest()[:_DIGITS]
    return f"{_MARK}-{which}-{video.sha256[:_DIGITS]}"


def snippet(published: Published, video: Video, marked: str) -> dict[str, Any]:
    """What YouTube is told of a video."""
    language = LANGUAGES[published.language]
    return {
        "title": video.title,
        "description": video.description,
        "tags": named("youtube").tags(video.tags, marked),
        "categoryId": _EDUCATION,
        "defaultLanguage": language,
        "defaultAudioLanguage": language,
    }


def connect(privacy: str, replace: bool, retry: Retry, say: Callable[[str], None]) -> YouTube:
    """With credentials from the environment."""
    if privacy and privacy not in PRIVACY:
        refuse(None, "--privacy", ", ".join(PRIVACY), repr(privacy))
    client, secret, refresh = upload.credentials(NAMES)
    service = Service(new_client(client, secret, refresh), (secret, refresh), retry)
    return YouTube(service, privacy, replace, say)


def plan(published: Published, privacy: str) -> list[str]:
    """What an upload would send, without asking YouTube anything."""
    lines = []
    for video in published.videos:
        tags = named("youtube").tags(video.tags, mark(published, video))
        lines += [
            f"video: {video.video}, {video.size / 1e6:.1f} MB, {privacy}; if it is on the "
            "channel already, only texts, captions and cover",
            f"  title: {video.title}",
            f"  description: {len(video.description)} characters",
            f"  tags: {', '.join(tags)}",
            f"  captions: {', '.join(video.captions.values())}",
            f"  cover: {video.cover}",
        ]
    return lines
