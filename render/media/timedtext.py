"""Timed text: cues on the frames of a video, their tracks, and the files that hold them."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from render.base.reader import Reader
from render.base.reads import Json
from render.media.mp4 import LANGUAGE_CODES, Chapter

NAMES = {"zh": "中文", "en": "English"}
#: frames a second of cues that :func:`read` returns
READ_FPS = 1000
LEAST_SECONDS = 10  # shorter chapters make platforms ignore them all

_VTT = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
#: SRT has no escapes: players drop what looks like a tag, readers stumble over an arrow
_SRT = {"-->": "→", "<": "＜", ">": "＞"}
#: line breaks and blanks to pysubs2
_BREAKS = {"\\n": "＼n", "\\N": "＼N", "\\h": "＼h"}
#: what stands for something in the format that ffmpeg makes tracks from
_TRACK = {"\\": "＼", "{": "｛", "}": "｝"}
#: what Bilibili's own editor writes beside the sentences: the look of the captions
_BCC_LOOK = {
    "font_size": 0.4,
    "font_color": "#FFFFFF",
    "background_alpha": 0.5,
    "background_color": "#9C27B0",
    "Stroke": "none",
}
_BOTTOM = 2  # of the picture, in BCC


class Cue(msgspec.Struct, frozen=True, array_like=True):
    """Lines of text; ``start`` is the first frame with them, ``end`` the first without."""

    start: int
    end: int
    lines: tuple[str, ...]

    def moved(self, frames: int) -> Cue:
        """The same cue as many frames later."""
        return Cue(self.start + frames, self.end + frames, self.lines)

    def milliseconds(self, fps: int) -> tuple[int, int]:
        """Start and end as caption files have them, never outside the cue's frames."""
        return -(-self.start * 1000 // fps), self.end * 1000 // fps


@dataclass(frozen=True)
class Track:
    """The captions of a video in one language."""

    language: str
    cues: tuple[Cue, ...]
    fps: int

    @property
    def code(self) -> str:
        return LANGUAGE_CODES[self.language]

    @property
    def name(self) -> str:
        return NAMES[self.language]

    def shown(self) -> list[tuple[int, int, str]]:
        """Start and end in milliseconds and text of each cue, as they stand in the MP4."""
        return [
            (*cue.milliseconds(self.fps), _replaced("\n".join(cue.lines), _TRACK))
            for cue in self.cues
        ]

    def vtt(self) -> str:
        """The WebVTT from which ffmpeg makes a track that shows :meth:`shown`."""
        return _written(self.cues, self.fps, "vtt", {**_TRACK, **_VTT})


def joined(parts: Iterable[tuple[int, Json]], language: str, fps: int) -> Track:
    """The track of a video from its scenes' cues, which are plain data, each with the frame at
    which the scene begins."""
    cues = [
        cue.moved(start) for start, said in parts for cue in msgspec.convert(said, tuple[Cue, ...])
    ]
    return Track(language, tuple(cues), fps)


def vtt(cues: Sequence[Cue], fps: int) -> str:
    """The text of a WebVTT file."""
    return _written(cues, fps, "vtt", {**_BREAKS, **_VTT})


def srt(cues: Sequence[Cue], fps: int) -> str:
    """The text of an SRT file."""
    return _written(cues, fps, "srt", {**_BREAKS, **_SRT})


def bcc(cues: Sequence[Cue], fps: int) -> str:
    """The text of a BCC file, the captions of Bilibili."""
    body = []
    for cue in cues:
        start, end = (time / 1000 for time in cue.milliseconds(fps))
        said = {"from": start, "to": end, "location": _BOTTOM, "content": "\n".join(cue.lines)}
        body.append(said)
    return json.dumps({**_BCC_LOOK, "body": body}, ensure_ascii=False, indent=1) + "\n"


class _BccCue(msgspec.Struct):
    to: float
    content: str
    start: float = msgspec.field(name="from")


class _Bcc(msgspec.Struct):
    body: list[_BccCue]


def read(path: Path) -> tuple[Cue, ...]:
    """The cues of a WebVTT, SRT or BCC file, at :data:`READ_FPS`. Raises LectureError where it
    cannot be read."""
    import pysubs2

    said = []
    if path.suffix == ".bcc":
        body = Reader().json(path, _Bcc).body
        said = [(round(1000 * each.start), round(1000 * each.to), each.content) for each in body]
    else:
        document = Reader().text(path)
        form = "vtt" if document.startswith("WEBVTT") else "srt"
        for each in pysubs2.SSAFile.from_string(document, form, keep_html_tags=True):
            text = html.unescape(each.text) if form == "vtt" else each.text
            said.append((each.start, each.end, text.replace("\\N", "\n")))
    return tuple(Cue(start, end, tuple(text.split("\n"))) for start, end, text in said)


def chapters_vtt(chapters: Sequence[Chapter], fps: int) -> str:
    """A WebVTT file with a cue per chapter, its title."""
    return vtt([Cue(c.start, c.end, (" ".join(c.title.split()),)) for c in chapters], fps)


def chapter_lines(chapters: Sequence[Chapter], fps: int) -> list[str]:
    """``0:00 Title`` and so on: the form that platforms find in a description. None is shorter
    than ten seconds: one that is becomes a part of the next, the last one of the one before."""
    return [f"{clock(c.start // fps)} {' '.join(c.title.split())}" for c in _merged(chapters, fps)]


def clock(seconds: int) -> str:
    """``0:05``, ``12:34``, ``1:02:03``."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _merged(chapters: Sequence[Chapter], fps: int) -> list[Chapter]:
    found: list[Chapter] = []
    start = 0
    for chapter in chapters:
        # as whole seconds are written, both ends must be far enough apart when cut off
        if chapter.end // fps - start // fps >= LEAST_SECONDS:
            found.append(Chapter(chapter.title, start, chapter.end))
            start = chapter.end
    if found and start < chapters[-1].end:
        found[-1] = Chapter(found[-1].title, found[-1].start, chapters[-1].end)
    return found


def _written(cues: Sequence[Cue], fps: int, form: str, replaced: Mapping[str, str]) -> str:
    import pysubs2

    file = pysubs2.SSAFile()
    for cue in cues:
        start, end = cue.milliseconds(fps)
        text = "\\N".join(_replaced(line, replaced) for line in cue.lines)
        file.append(pysubs2.SSAEvent(start=start, end=end, text=text))
    return file.to_string(form, keep_ssa_tags=True)


def _replaced(text: str, replaced: Mapping[str, str]) -> str:
    for old, new in replaced.items():
        text = text.replace(old, new)
    return text
