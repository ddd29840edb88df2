"""One scene with old and new weights: whether it would be rendered anew, and its beats in both."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from render.base.differences import entries_moved
from render.base.failure import Failure
from render.review.audit.provenance import describe
from render.review.compare.pairs import Change, Shown, changed, changes
from render.review.compare.weights import passes_of
from scenes import onscreen, playthrough
from scenes.base import LectureScene
from scenes.registry import SceneInfo
from scenes.settings import Settings

_FRAME_WIDTH, _FRAME_HEIGHT = 14.222, 8.0  # Manim's units
_MARGIN = 0.06
_QUALITY = 90  # of WebP


@dataclass(frozen=True)
class Job:
    """A scene to be compared; ``height``: of its pictures."""

    scene: SceneInfo
    old: Settings
    new: Settings
    height: int


@dataclass(frozen=True)
class Moment:
    """The end of a beat: its sentence and which variant of it, the picture (WebP), and the numbers
    on it that are otherwise with the other weights."""

    text: str
    variant: str
    picture: bytes
    marked: tuple[Shown, ...]


@dataclass(frozen=True)
class BeatPair:
    """A beat that looks or reads otherwise."""

    name: str
    steps: tuple[int, int]
    old: Moment
    new: Moment
    numbers: tuple[Change, ...]

    @property
    def other_sentence(self) -> bool:
        return self.old.text != self.new.text


@dataclass(frozen=True)
class Compared:
    """A scene: why it would be rendered anew (no reasons: it would not), what of it differs."""

    scene: SceneInfo
    title: str
    reasons: tuple[str, ...] = ()
    beats: tuple[BeatPair, ...] = ()
    all_beats: int = 0
    numbers: tuple[Change, ...] = ()
    seconds: tuple[float, float] = (0.0, 0.0)

    @property
    def because(self) -> str:
        """The first reason that is a number rather than a place."""
        numbers = (line for line in self.reasons if not re.match(r"[\w ]+ arg(max|min):", line))
        return next(numbers, self.reasons[0])

    @property
    def sentences(self) -> int:
        return sum(beat.other_sentence for beat in self.beats)

    @property
    def variants(self) -> int:
        """Sentences of which the new weights call for another wording."""
        return sum(beat.old.variant != beat.new.variant for beat in self.beats)


def attempt(job: Job) -> Compared | tuple[SceneInfo, Failure]:
    """As :func:`compare`; why it could not be done is returned, so that others go on."""
    try:
        return compare(job)
    except Exception as error:
        return job.scene, Failure.of(error)


def compare(job: Job) -> Compared:
    """Say everything with the old weights, see whether anything that was read is another now, and
    only then draw both."""
    from scenes import texts

    said = playthrough.play(job.scene, job.old, words_only=True)
    title = str(texts.entry(job.old.language, job.scene.slug, "title"))
    reasons = entries_moved(said.reads.document()["values"], passes_of(job.new))
    if not reasons:
        return Compared(job.scene, title)
    old, new = _Played(job, job.old), _Played(job, job.new)
    return Compared(
        job.scene,
        title,
        tuple(reasons),
        tuple(_beats(old, new)),
        len(new.scene.timeline),
        tuple(changes(old.numbers, new.numbers)),
        (old.scene.clock, new.scene.clock),
    )


class _Played:
    """A scene that was played: pictures and numbers at the end of each beat."""

    def __init__(self, job: Job, settings: Settings) -> None:
        self.frames: list[np.ndarray[Any, Any]] = []
        self.shown: list[list[Shown]] = []
        self.scene: LectureScene = playthrough.play(
            job.scene, settings, at_beat=self._keep, draw=True, height=job.height
        )
        self.numbers = [
            Shown(f"{describe(entry['source'])} .{entry['decimals']}", _bare(entry["shown"]))
            for entry in self.scene.record.numbers()
        ]

    def _keep(self, scene: LectureScene, frame: Any) -> None:
        self.frames.append(frame[:, :, :3].copy())
        self.shown.append(
            [
                Shown(
                    f"{describe(number.scalar.recipe())} .{number.decimals}",
                    _bare(number.text),
                    _place(onscreen.box_of(number)),
                )
                for item in onscreen.items(scene.mobjects)
                if isinstance(item, onscreen.TextItem)
                for number in onscreen.numbers_of(item)
            ]
        )


def _bare(shown: str) -> str:
    """Without the brackets that a negative number has in an equation."""
    return shown.strip("()")


def _beats(old: _Played, new: _Played) -> list[BeatPair]:
    found = []
    both = zip(old.scene.timeline, new.scene.timeline, strict=True)
    for index, (before, after) in enumerate(both):
        frames = old.frames[index], new.frames[index]
        if before.text == after.text and np.array_equal(*frames):
            continue
        shown = old.shown[index], new.shown[index]
        found.append(
            BeatPair(
                after.name,
                (after.step, after.last_step),
                _moment(before, frames[0], changed(shown[0], shown[1])),
                _moment(after, frames[1], changed(shown[1], shown[0])),
                tuple(changes(*shown)),
            )
        )
    return found


def _moment(beat: Any, frame: np.ndarray[Any, Any], marked: Sequence[Shown]) -> Moment:
    target = io.BytesIO()
    Image.fromarray(frame).save(target, "webp", quality=_QUALITY, method=4)
    return Moment(beat.text, beat.variant, target.getvalue(), tuple(marked))


def _place(box: onscreen.Box) -> tuple[float, float, float, float]:
    """A box of the frame in percent from its left and top, with some room around it."""
    left, bottom, right, top = box
    return (
        round((left - _MARGIN + _FRAME_WIDTH / 2) / _FRAME_WIDTH * 100, 2),
        round((_FRAME_HEIGHT / 2 - top - _MARGIN) / _FRAME_HEIGHT * 100, 2),
        round((right - left + 2 * _MARGIN) / _FRAME_WIDTH * 100, 2),
        round((top - bottom + 2 * _MARGIN) / _FRAME_HEIGHT * 100, 2),
    )
