"""YouTube: a video with its texts, captions and cover.

A video carries a tag that tells which lecture it is and a digest of its file, by which it is found
again. YouTube cannot exchange the file of a video: texts, captions and cover of a video whose file
is the same are replaced in place; a changed file needs ``replace``, which uploads it anew and, when
YouTube has processed that, deletes the old video.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.errors import LectureError
from render.base.reads import sha256
from render.platforms.facts import together
from render.platforms.rules import named
from render.platforms.upload import Passing, Published, Retry, UploadState, Video, credentials
from render.platforms.youtube_service import Service, new_client, small

NAMES = ("YOUTUBE_CLIENT_ID", "YOUTUBE_CLIENT_SECRET", "YOUTUBE_REFRESH_TOKEN")
PRIVACY = ("private", "unlisted", "public")
LANGUAGES = {"zh": "zh-Hans", "en": "en"}
_EDUCATION = "27"  # the category's number
_MARK = "tfl"  # begins the tag by which a video is found again
_DIGITS = 10  # of each digest in it
_LOST = ("failed", "rejected", "deleted", "terminated")
_PROCESSING_TRIES = 16  # doubling from a second up to a minute: about ten minutes


@dataclass(frozen=True)
class _Titled:
    title: str


@dataclass(frozen=True)
class _Channel:
    id: str
    snippet: _Titled
    contentDetails: dict[str, dict[str, str]]


@dataclass(frozen=True)
class _InPlaylist:
    videoId: str


@dataclass(frozen=True)
class _Entry:
    contentDetails: _InPlaylist


@dataclass(frozen=True)
class _Snippet:
    tags: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Status:
    privacyStatus: str = "private"
    uploadStatus: str = ""
    failureReason: str = ""
    rejectionReason: str = ""


@dataclass(frozen=True)
class _Processing:
    processingStatus: str = ""
    processingFailureReason: str = ""


@dataclass(frozen=True)
class _Found:
    """A video on the channel."""

    id: str
    snippet: _Snippet = field(default_factory=_Snippet)
    status: _Status = field(default_factory=_Status)
    processingDetails: _Processing = field(default_factory=_Processing)

    @property
    def mark(self) -> str:
        return next((tag for tag in self.snippet.tags if tag.startswith(f"{_MARK}-")), "")

    @property
    def lost(self) -> str:
        """Why YouTube will never show it; empty where it may."""
        status, details = self.status, self.processingDetails
        for said in (status.uploadStatus, details.processingStatus):
            if said in _LOST:
                reasons = (status.failureReason, status.rejectionReason)
                reason = next(filter(None, (*reasons, details.processingFailureReason)), "")
                return f"{said} {reason}".strip()
        return ""

    @property
    def ready(self) -> bool:
        done = self.processingDetails.processingStatus in ("", "succeeded")
        return self.status.uploadStatus == "processed" and done


@dataclass(frozen=True)
class _TrackTexts:
    language: str
    trackKind: str = "standard"
    name: str = ""


@dataclass(frozen=True)
class _Track:
    id: str
    snippet: _TrackTexts


@dataclass
class YouTube:
    """The channel that the credentials belong to. ``say`` gets one line per thing done."""

    service: Service
    privacy: str = ""  # as that of the video that is replaced, or else private
    replace: bool = False
    say: Callable[[str], None] = print

    def upload(self, published: Published, state: UploadState) -> None:
        """Send what is new or has changed. Raises LectureError where YouTube refuses."""
        channels = self.service.all(
            "channels", _Channel, part="id,snippet,contentDetails", mine=True
        )
        if not channels:
            expected, found = "an account with a channel", "one without"
            raise LectureError(where="YouTube", expected=expected, found=found)
        channel = channels[0]
        self._uploads = channel.contentDetails.get("relatedPlaylists", {}).get("uploads", "")
        self.say(f"YouTube: channel {channel.snippet.title}")
        account = f"youtube {channel.id}"
        for video in published.videos:
            note = state.of(account, video.stem)

            def keep(stem: str = video.stem, note: dict[str, Any] = note) -> None:
                state.put(account, stem, note)

            self._video(published, video, note, keep)
            self._captions(video, note, keep)
            self._cover(video, note, keep)
            self._remove_old(video, note, keep)
            self.say(f"{video.path.name}: https://youtu.be/{note['id']}")

    def _found(self, published: Published, video: Video, note: dict[str, Any]) -> list[_Found]:
        """The videos of this lecture on the channel, those with the same file first."""
        ours: list[_Found] = []
        if isinstance(note.get("id"), str):
            ours = self._videos(note["id"])
        if not ours:
            # a channel that never had a video has no list of them
            query = {"part": "contentDetails", "playlistId": self._uploads, "maxResults": 50}
            entries = self.service.all("playlistItems", _Entry, missing="playlistNotFound", **query)
            ids = [entry.contentDetails.videoId for entry in entries]
            for start in range(0, len(ids), 50):
                ours += self._videos(",".join(ids[start : start + 50]))
            which = mark(published, video)[:-_DIGITS]
            ours = [one for one in ours if one.mark.startswith(which)]
        return sorted(ours, key=lambda one: one.mark != mark(published, video))

    def _videos(self, ids: str) -> list[_Found]:
        return self.service.all("videos", _Found, part="snippet,status,processingDetails", id=ids)

    def _video(
        self, published: Published, video: Video, note: dict[str, Any], keep: Callable[[], None]
    ) -> None:
        """Leaves in ``note`` the id of the video as it is to be."""
        marked = mark(published, video)
        found = self._found(published, video, note)
        body: dict[str, Any] = {"snippet": snippet(published, video, marked)}
        if found and found[0].mark == marked:
            _forget(note, "session", "session_of")
            others = {*note.get("old", []), *(one.id for one in found[1:])}
            note |= {"id": found[0].id, "old": sorted(others)}
            keep()
            self.service.call(
                video.path.name, "videos", "update", part="snippet", body={**body, "id": note["id"]}
            )
            self.say(f"{video.path.name}: already uploaded, unchanged; title, description, tags")
            return
        old = [one.id for one in found]
        if old and not self.replace:
            raise LectureError(
                where=f"YouTube: {video.path.name}",
                expected="the file that was uploaded (--replace uploads another one, at a new "
                "address, and deletes the old one)",
                found=f"another one than at https://youtu.be/{old[0]}",
            )
        body["status"] = {
            "privacyStatus": self.privacy
            or (found[0].status.privacyStatus if found else "private"),
            "selfDeclaredMadeForKids": False,
            "embeddable": True,
        }
        sent = self.service.send(video, body, note, keep, self.say)
        _forget(note, "session", "session_of", "captions", "cover")
        note |= {"id": sent, "old": old}
        keep()

    def _captions(self, video: Video, note: dict[str, Any], keep: Callable[[], None]) -> None:
        """One track for each language, in place of the one that was there."""
        there = self._tracks(note["id"])
        sent: dict[str, str] = note.setdefault("captions", {})
        for language, path in video.captions.items():
            tag, digest = LANGUAGES[language], sha256(path)
            if tag in there and sent.get(tag) == digest:
                continue
            self._track(note["id"], language, path, there)
            sent[tag] = digest
            keep()
            self.say(f"{video.path.name}: captions {language}")

    def _tracks(self, identity: str) -> dict[str, str]:
        """The ids of the tracks without a name of their own, by language."""
        return {
            track.snippet.language: track.id
            for track in self.service.all("captions", _Track, part="snippet", videoId=identity)
            if track.snippet.trackKind.lower() == "standard" and not track.snippet.name
        }

    def _track(self, identity: str, language: str, path: Path, there: dict[str, str]) -> None:
        """Send one track. When the answer was lost it may have come: so it looks again first."""
        tag, tracks, tried = LANGUAGES[language], dict(there), False
        captions = self.service.client.captions()

        def work() -> Any:
            nonlocal tracks, tried
            if tried:
                tracks = self._tracks(identity)
            tried = True
            if tag in tracks:
                body: dict[str, Any] = {"id": tracks[tag], "snippet": {"isDraft": False}}
                return small(captions.update, path, part="snippet", body=body).execute()
            body = {"snippet": {"videoId": identity, "language": tag, "name": ""}}
            return small(captions.insert, path, part="snippet", body=body).execute()

        self.service.ask(f"captions {language}", work)

    def _cover(self, video: Video, note: dict[str, Any], keep: Callable[[], None]) -> None:
        digest = sha256(video.cover)
        if note.get("cover") == digest:
            return
        request = small(self.service.client.thumbnails().set, video.cover, videoId=note["id"])
        self.service.ask("cover", request.execute)
        note["cover"] = digest
        keep()
        self.say(f"{video.path.name}: cover")

    def _remove_old(self, video: Video, note: dict[str, Any], keep: Callable[[], None]) -> None:
        """Delete the videos that this one replaces, when YouTube can show it."""
        old = list(note.get("old", [])) if self.replace else []
        if old:
            self._wait(video, note["id"], old)
        for one in old:
            if self._videos(one):
                self.service.call("the old video", "videos", "delete", id=one)
            note["old"].remove(one)
            keep()
            self.say(f"https://youtu.be/{one}: deleted, replaced by {note['id']}")

    def _wait(self, video: Video, identity: str, old: list[str]) -> None:
        """Until YouTube has processed a video. Raises LectureError where it does not in time, or
        never will."""

        def look() -> None:
            found = self._videos(identity)
            lost = found[0].lost if found else "deleted"
            if lost:
                kept = ", ".join(f"https://youtu.be/{one}" for one in old)
                raise LectureError(
                    where="YouTube",
                    field=video.path.name,
                    expected=f"an accepted video before {kept} is deleted",
                    found=f"https://youtu.be/{identity}: {lost}",
                )
            if not found[0].ready:
                raise Passing("YouTube is still processing the new video, the old one is kept")

        self.service.retry.patient(_PROCESSING_TRIES)(f"YouTube: {video.path.name}", look)


def _forget(note: dict[str, Any], *names: str) -> None:
    for name in names:
        note.pop(name, None)


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
        "tags": _tags(video, marked),
        "categoryId": _EDUCATION,
        "defaultLanguage": language,
        "defaultAudioLanguage": language,
    }


def _tags(video: Video, marked: str) -> list[str]:
    """The tags and the mark, as many as YouTube takes together."""
    tags, limit = list(video.tags), named("youtube").limit("tags together")
    while tags and limit is not None and together([*tags, marked]) > limit:
        tags.pop()
    return [*tags, marked]


def connect(privacy: str, replace: bool, retry: Retry, say: Callable[[str], None]) -> YouTube:
    """With credentials from the environment."""
    if privacy and privacy not in PRIVACY:
        raise LectureError(field="--privacy", expected=", ".join(PRIVACY), found=repr(privacy))
    client, secret, refresh = credentials(NAMES)
    service = Service(new_client(client, secret, refresh), (secret, refresh), retry)
    return YouTube(service, privacy, replace, say)


def plan(published: Published, privacy: str) -> list[str]:
    """What an upload would send, without asking YouTube anything."""
    lines = []
    for video in published.videos:
        lines += [
            f"video: {video.path.name}, {video.size / 1e6:.1f} MB, {privacy}; if it is on the "
            "channel already, only texts, captions and cover",
            f"  title: {video.title}",
            f"  description: {len(video.description)} characters",
            f"  tags: {', '.join(_tags(video, mark(published, video)))}",
            f"  captions: {', '.join(path.name for path in video.captions.values())}",
            f"  cover: {video.cover.name}",
        ]
    return lines
