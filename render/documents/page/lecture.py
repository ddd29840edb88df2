"""What a course page shows: scenes with their videos, what is said in them and when."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engine.errors import LectureError
from render.base.files import STATE
from render.base.reader import read_state
from render.media.captions.write import sentences
from render.media.sidecars import LANGUAGES, SideFiles
from render.media.timedtext import READ_FPS, read


@dataclass(frozen=True)
class Beat:
    """A sentence of a scene: when it is said, which steps it tells, its text by language."""

    start: float
    end: float
    step: int
    last: int
    text: Mapping[str, str]


@dataclass(frozen=True)
class Cue:
    start: float
    end: float
    text: str


@dataclass(frozen=True)
class Scene:
    """``part`` is the part of the model that it tells of; times are in seconds of its video."""

    number: int
    slug: str
    title: str
    part: str
    steps: tuple[int, int]
    video: str
    poster: str
    seconds: float
    beats: tuple[Beat, ...]
    captions: Mapping[str, tuple[Cue, ...]]

    def plain(self) -> dict[str, Any]:
        """For the page's script."""
        return asdict(self)


@dataclass(frozen=True)
class Source:
    """A scene of the plan and where its video lies."""

    number: int
    slug: str
    title: str
    part: str
    steps: tuple[int, int]
    video: Path

    @property
    def record(self) -> Path:
        """That of its pictures."""
        return self.video.parent / STATE / f"{self.video.stem}.json"


def scene(source: Source, language: str) -> Scene:
    """A scene with all that lies beside its video. Raises LectureError without a record."""
    try:
        facts = read_state(source.record)["facts"]
        beats = _beats(source, facts["beats"], language)
        seconds = facts["frames"] / facts["fps"]
    except (KeyError, TypeError, ZeroDivisionError, ValueError) as error:
        raise LectureError(
            where=source.record,
            expected="the record of a rendered scene",
            found=f"{type(error).__name__}: {error}",
        ) from error
    sides = SideFiles(source.video)
    return Scene(
        number=source.number,
        slug=source.slug,
        title=source.title,
        part=source.part,
        steps=source.steps,
        video=f"videos/{source.video.name}",
        poster=f"videos/{sides.cover.name}" if sides.cover.is_file() else "",
        seconds=round(seconds, 3),
        beats=beats,
        captions={name: _captions(sides, name, beats) for name in LANGUAGES},
    )


def _beats(source: Source, beats: Sequence[Mapping[str, Any]], language: str) -> tuple[Beat, ...]:
    """The sentences in both languages; only as shown on screen where the record is too old to say
    what they were filled with."""
    by_language: dict[str, list[str]] = {}
    if all("variant" in beat and "facts" in beat for beat in beats):
        for name in LANGUAGES:
            by_language[name] = [said.text for said in sentences(source.slug, beats, name)]
    else:
        shown = [
            re.sub(r"\s*\n\s*", "" if language == "zh" else " ", beat["text"]) for beat in beats
        ]
        by_language[language] = shown
    return tuple(
        Beat(
            start=round(beat["start"], 3),
            end=round(beat["end"], 3),
            step=beat["step"],
            last=beat["last_step"],
            text={name: texts[n] for name, texts in by_language.items()},
        )
        for n, beat in enumerate(beats)
    )


def _captions(sides: SideFiles, language: str, beats: Sequence[Beat]) -> tuple[Cue, ...]:
    """The cues beside the video; without that file, a cue for each sentence."""
    file = sides.captions(language)
    if file.is_file():
        return tuple(
            Cue(cue.start / READ_FPS, cue.end / READ_FPS, "\n".join(cue.lines))
            for cue in read(file)
        )
    return tuple(
        Cue(beat.start, beat.end, beat.text[language]) for beat in beats if language in beat.text
    )
