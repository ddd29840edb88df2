"""What YouTube is told of a video, and the tag by which it is found again."""

from __future__ import annotations

import hashlib
from typing import Any

from render.platforms.facts import of_texts
from render.platforms.rules import named
from render.platforms.upload.published import Published, Video

LANGUAGES = {"zh": "zh-Hans", "en": "en"}
_EDUCATION = "27"  # the category's number
_MARK = "tfl"  # begins the tag by which a video is found again


def mark(published: Published, video: Video) -> str:
    """The tag that tells which lecture a video is, whatever its quality, and which file."""
    which = hashlib.sha256(f"{published.item}/{video.stem}".encode()).hexdigest()[:10]
    return f"{_MARK}-{which}-{video.sha256[:10]}"


def mark_of(found: Any) -> str:
    tags = found["snippet"].get("tags", [])
    return next((tag for tag in tags if tag.startswith(f"{_MARK}-")), "")


def snippet(published: Published, video: Video, marked: str) -> dict[str, Any]:
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
    while tags and limit is not None:
        facts = of_texts("", "", "", [*tags, marked])
        if next(fact.value for fact in facts if fact.what == "tags together") <= limit:
            break
        tags.pop()
    return [*tags, marked]


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
