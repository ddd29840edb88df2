"""YouTube: a video with its texts, captions and cover.

A video carries a tag that tells which lecture it is and a digest of its file, by which it is found
again. YouTube cannot exchange the file of a video: texts, captions and cover of a video whose file
is the same are replaced in place; a changed file needs ``replace``, which uploads it anew and, when
YouTube has processed that, deletes the old video.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import partial
from typing import Any

from engine.reader import refuse
from render.base.reads import sha256
from render.platforms import upload
from render.platforms.rules import named
from render.platforms.upload import Note, Passing, Published, Refusal, Retry, UploadState, Video
from render.platforms.youtube_service import Item, Service, State, is_own, new_client

NAMES = ("YOUTUBE_CLIENT_ID", "YOUTUBE_CLIENT_SECRET", "YOUTUBE_REFRESH_TOKEN")
PRIVACY = ("private", "unlisted", "public")
LANGUAGES = {"zh": "zh-Hans", "en": "en"}
_EDUCATION = "27"  # the category's number
_MARK = "tfl"  # begins the tag by which a video is found again
_DIGITS = 10  # of each digest in it
_LOST = ("failed", "rejected", "deleted", "terminated")
_GONE = (404, 410)  # a session that YouTube has forgotten, after about a week
_PROCESSING_TRIES = 16  # doubling from a second up to a minute: about ten minutes


@dataclass(frozen=True)
class _Listed:
    """A place in the list of all videos."""

    contentDetails: dict[str, str]


@dataclass
class YouTube(Service):
    """The channel that the credentials belong to."""

    privacy: str = ""  # as that of the video that is replaced, or else private
    replace: bool = False

    def upload(self, published: Published, state: UploadState) -> None:
        """Send what is new or has changed. Raises LectureError where YouTube refuses."""
        channels = self.all("channels", Item, part="id,snippet,contentDetails", mine=True)
        if not channels:
            refuse("YouTube", None, "an account with a channel", "one without")
        (channel, *_), self._state = channels, state
        lists = channel.contentDetails.get("relatedPlaylists")
        if not isinstance(lists, dict):
            self.malformed("channels", "lists of videos")
        self._uploads = lists.get("uploads", "")
        self.say(f"YouTube: channel {channel.snippet.title}")
        for video in published.videos:
            note = state.of(f"youtube {channel.id}", video.stem)
            self._video(published, video, note)
            self._captions(video, note)
            self._cover(video, note)
            self._remove_old(video, note)
            self.say(f"{video.video}: https://youtu.be/{note.id}")

    def _found(self, published: Published, video: Video, note: Note) -> list[Item]:
        """The videos of this lecture on the channel, those with the same file first."""
        marked = mark(published, video)
        ours = self._videos(note.id) if note.id else []
        if not ours:
            # a channel that never had a video has no list of them
            query = {"part": "contentDetails", "playlistId": self._uploads, "maxResults": 50}
            there = self.all("playlistItems", _Listed, missing="playlistNotFound", **query)
            ids = [one.contentDetails.get("videoId", "") for one in there]
            for start in range(0, len(ids), 50):
                ours += self._videos(",".join(ids[start : start + 50]))
            ours = [one for one in ours if _mark_of(one).startswith(marked[:-_DIGITS])]
        return sorted(ours, key=lambda one: _mark_of(one) != marked)

    def _videos(self, ids: str) -> list[Item]:
        return self.all("videos", Item, part="snippet,status,processingDetails", id=ids)

    def _video(self, published: Published, video: Video, note: Note) -> None:
        """Leaves in ``note`` the id of the video as it is to be."""
        marked = mark(published, video)
        found = self._found(published, video, note)
        language = LANGUAGES[published.language]
        snippet = {
            "title": video.title,
            "description": video.description,
            "tags": named("youtube").tags(video.tags, marked),
            "categoryId": _EDUCATION,
            "defaultLanguage": language,
            "defaultAudioLanguage": language,
        }
        body: dict[str, Any] = {"snippet": snippet}
        old = [one.id for one in found]
        if found and _mark_of(found[0]) == marked:
            note.id, note.old = old[0], sorted({*note.old, *old[1:]})
            note.session = ""
            self._state.save()
            body["id"] = note.id
            self.call(video.video, "videos", "update", part="snippet", body=body)
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
        note.id, note.old = self._sent(video, body, note), old
        note.session, note.captions, note.cover = "", {}, ""
        self._state.save()

    def _sent(self, video: Video, body: dict[str, Any], note: Note) -> str:
        """The id of a video that is sent; a session that was begun is gone on with."""

        def keep(session: str) -> None:
            note.session, note.session_of = session, video.sha256
            self._state.save()

        if note.session_of == video.sha256 and is_own(note.session):
            self.say(f"{video.video}: resuming an interrupted upload")
            try:
                return self.send(video, body, note.session, keep)
            except Refusal as error:
                if error.status not in _GONE:
                    raise
        self.say(f"{video.video}: sending {video.megabytes}")
        return self.send(video, body, "", keep)

    def _captions(self, video: Video, note: Note) -> None:
        """One track for each language, in place of the one that was there."""
        for language, name in video.captions.items():
            data, digest = video.file(name).read_bytes(), sha256(video.file(name))
            send = partial(self._track, note, LANGUAGES[language], data, digest)
            if self.retry(f"YouTube: captions {language}", send):
                note.captions[LANGUAGES[language]] = digest
                self._state.save()
                self.say(f"{video.video}: captions {language}")

    def _track(self, note: Note, language: str, data: bytes, digest: str) -> bool:
        """Send a track, unless it is there: when an answer is lost, it may have come. Returns
        whether it was sent. Tracks with a name of their own are others'."""
        tracks = {
            track.snippet.language: track.id
            for track in self.all("captions", Item, part="snippet", videoId=note.id)
            if track.snippet.trackKind.lower() == "standard" and not track.snippet.name
        }
        captions, body = self.client.captions(), dict[str, Any]()
        if language not in tracks:
            told = {"videoId": note.id, "language": language, "name": ""}
            method, body = captions.insert, {"snippet": told}
        elif note.captions.get(language) != digest:
            method, body = captions.update, {"id": tracks[language], "snippet": {"isDraft": False}}
        else:
            return False
        self.send_file(f"captions {language}", method, data, part="snippet", body=body)
        return True

    def _cover(self, video: Video, note: Note) -> None:
        cover = video.file(video.cover)
        digest = sha256(cover)
        if note.cover != digest:
            method, data = self.client.thumbnails().set, cover.read_bytes()
            send = partial(self.send_file, "cover", method, data, "image/png", videoId=note.id)
            self.retry("YouTube: cover", send)
            note.cover = digest
            self._state.save()
            self.say(f"{video.video}: cover")

    def _remove_old(self, video: Video, note: Note) -> None:
        """Delete the videos that this one replaces, when YouTube can show it."""
        old = list(note.old) if self.replace else []
        if old:
            look = partial(self._check_processed, video, note)
            self.retry(f"YouTube: {video.video}", look, _PROCESSING_TRIES)
        for one in old:
            if self._videos(one):
                self.call("the old video", "videos", "delete", id=one)
            note.old.remove(one)
            self._state.save()
            self.say(f"https://youtu.be/{one}: deleted, replaced by {note.id}")

    def _check_processed(self, video: Video, note: Note) -> None:
        """Raises Passing while YouTube is processing a new video, LectureError where it never will
        show it."""
        (found, *_) = self._videos(note.id) or [Item(note.id, status=State(uploadStatus="deleted"))]
        status, details = found.status, found.processingDetails
        said = status.uploadStatus, details.processingStatus
        if lost := next((one for one in said if one in _LOST), ""):
            reasons = status.failureReason, status.rejectionReason, details.processingFailureReason
            why = f"{lost} {next(filter(None, reasons), '')}".strip()
            kept = ", ".join(f"https://youtu.be/{one}" for one in note.old)
            expected = f"an accepted video before {kept} is deleted"
            refuse("YouTube", video.video, expected, f"https://youtu.be/{note.id}: {why}")
        if said[0] != "processed" or said[1] not in ("", "succeeded"):
            raise Passing("YouTube is still processing the new video, the old one is kept")


def _mark_of(video: Item) -> str:
    return next((tag for tag in video.snippet.tags if tag.startswith(f"{_MARK}-")), "")


def mark(published: Published, video: Video) -> str:
    """The tag that tells which lecture a video is, whatever its quality, and which file."""
    which = hashlib.sha256(f"{published.item}/{video.stem}".encode()).hexdigest()[:_DIGITS]
    return f"{_MARK}-{which}-{video.sha256[:_DIGITS]}"


def connect(privacy: str, replace: bool, retry: Retry) -> YouTube:
    """With credentials from the environment."""
    if privacy and privacy not in PRIVACY:
        refuse(None, "--privacy", ", ".join(PRIVACY), repr(privacy))
    client, secret, refresh = upload.credentials(NAMES)
    return YouTube(new_client(client, secret, refresh), (secret, refresh), retry, privacy, replace)


def plan(published: Published, privacy: str) -> list[str]:
    """What an upload would send, without asking YouTube anything."""
    lines = []
    for video in published.videos:
        tags = named("youtube").tags(video.tags, mark(published, video))
        lines += [
            f"video: {video.video}, {video.megabytes}, {privacy or 'private'}; if it is on the "
            "channel already, only texts, captions and cover",
            f"  title: {video.title}",
            f"  description: {len(video.description)} characters",
            f"  tags: {', '.join(tags)}",
            f"  captions: {', '.join(video.captions.values())}",
            f"  cover: {video.cover}",
        ]
    return lines
