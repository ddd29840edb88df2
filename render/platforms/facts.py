"""What there is to know of the files of a publication, each as a :class:`Fact`.

Videos are looked at with PyAV, from their index: nothing is decoded, so the size of a file does
not matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import gcd
from pathlib import Path
from typing import Any

from engine.errors import LectureError
from engine.reader import refuse
from render.media import mp4, timedtext

_BY_UNIT = {
    "bytes": ("video size", "caption size", "cover size", "description bytes"),
    "seconds": (
        *("video length", "keyframe distance", "end of the captions"),
        *("start of the first chapter", "length of a chapter"),
    ),
    "frames a second": ("frame rate",),
    "pixels": ("video width", "video height", "cover width", "cover height"),
    "Mb/s": ("bit rate", "sound bit rate"),
    "Hz": ("sound rate",),
    "characters": ("title length", "description length", "tags together", "chapter title length"),
    "": (
        *("video file name", "container", "index in front", "edit lists", "video codec"),
        *("video profile", "pixel format", "video shape", "sound codec", "sound channels"),
        *("caption format", "caption language", "cover file name", "cover format", "cover shape"),
        *("title", "description", "number of tags", "number of chapters"),
    ),
}
#: every fact that a rule can be about, and the unit of its value
WHAT = {what: unit for unit, names in _BY_UNIT.items() for what in names}

_CHAPTER = re.compile(r"^(?:(\d+):)?(\d{1,2}):(\d{2})\s+(\S.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Fact:
    """``value`` of ``what`` (a key of :data:`WHAT`), found in the file ``where``."""

    where: str
    what: str
    value: Any


def of_video(path: Path, name: str) -> list[Fact]:
    """``name`` is what the file will be called. Raises LectureError where it is no video."""
    import av

    try:
        with av.open(str(path.absolute())) as container:
            found = dict(_of_container(container))
        names = mp4.top_level(path)
    except (av.FFmpegError, OSError, LookupError) as error:
        raise LectureError(where=path, expected="a video", found=str(error)) from error
    if "moov" in names and "mdat" in names:
        found["index in front"] = names.index("moov") < names.index("mdat")
        found["edit lists"] = mp4.edit_lists(path)
    found["video size"] = path.stat().st_size
    found["bit rate"] = found["video size"] * 8 / 1e6 / max(0.001, found["video length"])
    found["video file name"] = name
    return _listed(name, found)


def _of_container(container: Any) -> Iterator[tuple[str, Any]]:
    video = container.streams.video[0]
    codec = video.codec_context
    whole = (container.duration or 0) / 1_000_000  # where the stream does not say
    seconds = float(video.duration * video.time_base) if video.duration else whole
    yield "video length", seconds
    formats, ending = container.format.name.split(","), container.name.rpartition(".")[2].lower()
    yield "container", ending if ending in formats else formats[0]  # they share a reader
    yield "video codec", codec.name
    yield "video profile", video.profile or ""
    yield "pixel format", codec.pix_fmt
    yield "frame rate", float(video.average_rate or 0)
    yield "video width", codec.width
    yield "video height", codec.height
    yield "video shape", _shape(codec.width, codec.height)
    keys = [entry.timestamp for entry in video.index_entries if entry.is_keyframe]
    ends = [*keys, keys[0] + (video.duration or 0)] if keys else []
    distances = [float((b - a) * video.time_base) for a, b in pairwise(ends)]
    yield "keyframe distance", max(distances, default=seconds)
    for sound in container.streams.audio[:1]:
        yield "sound codec", sound.codec_context.name
        yield "sound rate", sound.codec_context.sample_rate
        yield "sound channels", sound.codec_context.layout.nb_channels
        yield "sound bit rate", (sound.bit_rate or 0) / 1e6
    if not container.streams.audio:
        yield "sound codec", "no sound"


def _shape(width: int, height: int) -> str:
    """``16:9`` for anything within one pixel of it, else reduced."""
    if abs(width * 9 - height * 16) <= 16:
        return "16:9"
    divisor = gcd(width, height) or 1
    return f"{width // divisor}:{height // divisor}"


def of_captions(path: Path, name: str, language: str) -> list[Fact]:
    """``name`` is what the file will be called. Raises LectureError for captions that cannot be
    read or are empty."""
    cues = timedtext.read(path)
    if not cues:
        refuse(path, None, "captions", "none")
    facts = {
        "caption format": name.rpartition(".")[2],
        "caption size": path.stat().st_size,
        "caption language": language,
        "end of the captions": max(cue.end for cue in cues) / timedtext.READ_FPS,
    }
    return _listed(name, facts)


def of_cover(path: Path, name: str) -> list[Fact]:
    """``name`` is what the file will be called. Raises LectureError where it is no picture."""
    from PIL import Image

    try:
        with Image.open(path) as picture:
            picture.verify()
            kind, (width, height) = (picture.format or "").lower(), picture.size
    except (OSError, SyntaxError, ValueError) as error:
        raise LectureError(where=path, expected="a picture", found=str(error)) from error
    facts = {
        "cover file name": name,
        "cover format": kind,
        "cover size": path.stat().st_size,
        "cover width": width,
        "cover height": height,
        "cover shape": _shape(width, height),
    }
    return _listed(name, facts)


def together(tags: Sequence[str]) -> int:
    """Characters of all tags, as platforms count them: with the commas between them, and quotes
    around those of several words."""
    return sum(len(tag) + 2 * (" " in tag) for tag in tags) + max(0, len(tags) - 1)


def of_texts(where: str, title: str, description: str, tags: Sequence[str]) -> list[Fact]:
    """Lengths of what is to be pasted into a form."""
    facts: dict[str, Any] = {
        "title": title,
        "title length": len(title),
        "description": description,
        "description length": len(description),
        "description bytes": len(description.encode()),
        "number of tags": len(tags),
        "tags together": together(tags),
    }
    return _listed(where, facts)


def chapters_in(description: str) -> list[tuple[int, str]]:
    """The lines ``1:05 Title`` of a description, as platforms read them: seconds and titles."""
    return [
        (int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds), title)
        for hours, minutes, seconds, title in _CHAPTER.findall(description)
    ]


def of_chapters(where: str, description: str, seconds: float) -> list[Fact]:
    """Of the chapters in the description of a video that lasts ``seconds``; none: no facts."""
    chapters = chapters_in(description)
    if not chapters:
        return []
    starts = [start for start, _ in chapters]
    facts = {
        "start of the first chapter": starts[0],
        "number of chapters": len(chapters),
        "length of a chapter": min(b - a for a, b in pairwise([*starts, seconds])),
        "chapter title length": max(len(title) for _, title in chapters),
    }
    return _listed(where, facts)


def _listed(where: str, facts: Mapping[str, Any]) -> list[Fact]:
    return [Fact(where, what, value) for what, value in facts.items()]
