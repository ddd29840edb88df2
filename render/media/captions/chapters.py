"""Chapters as a WebVTT file, and as lines in a description."""

from __future__ import annotations

from collections.abc import Sequence

from render.media.captions.cues import Cue
from render.media.captions.files import vtt
from render.media.metadata import Chapter

LEAST_SECONDS = 10  # shorter chapters make platforms ignore them all


def webvtt(chapters: Sequence[Chapter], fps: int) -> str:
    """A cue per chapter, named by its title."""
    cues = [Cue(c.start, c.end, (" ".join(c.title.split()),)) for c in chapters]
    return vtt(cues, fps)


def lines(chapters: Sequence[Chapter], fps: int) -> list[str]:
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
