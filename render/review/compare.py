"""One scene with old and new weights: whether it would be rendered again, its beats in both, and
what belongs together in an old and a new list: numbers by their source, sentences by words."""

from __future__ import annotations

import difflib
import io
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from render.base.differences import entries_moved
from render.review.numbers import describe
from render.review.weights import passes_of
from scenes import onscreen, playthrough
from scenes.base import LectureScene
from scenes.registry import SceneInfo
from scenes.settings import Settings

_FRAME_WIDTH, _FRAME_HEIGHT = 14.222, 8.0  # Manim's units
_MARGIN = 0.06
_QUALITY = 90  # of WebP
#: a number, a word, or a single character
_WORD = re.compile(r"[−-]?\d+(?:\.\d+)?|[A-Za-z']+|\s+|.", re.DOTALL)


@dataclass(frozen=True)
class Shown:
    """A number on screen: where it comes from, its digits without the brackets of an equation, and
    its place, if it is known, in percent of the picture: left, top, width, height."""

    source: str
    text: str
    box: tuple[float, float, float, float] | None = None


@dataclass(frozen=True)
class Change:
    """A number whose shown digits have changed; None: it is not shown there."""

    source: str
    old: str | None
    new: str | None


def differing(
    old: Iterable[Shown], new: Iterable[Shown]
) -> list[tuple[Shown | None, Shown | None]]:
    """The numbers that are shown otherwise, in the order of the new list, those that are gone
    last. Those of one source are matched in order."""
    waiting: dict[str, list[Shown]] = defaultdict(list)
    for number in old:
        waiting[number.source].append(number)
    pairs: list[tuple[Shown | None, Shown | None]] = []
    for number in new:
        partners = waiting[number.source]
        pairs.append((partners.pop(0) if partners else None, number))
    pairs += [(number, None) for rest in waiting.values() for number in rest]
    return [(a, b) for a, b in pairs if a is None or b is None or a.text != b.text]


def changes(pairs: Iterable[tuple[Shown | None, Shown | None]]) -> tuple[Change, ...]:
    """What has become of numbers that are shown otherwise, each kind once."""
    found: dict[Change, None] = {}
    for a, b in pairs:
        source = a.source if a else b.source if b else ""
        found[Change(source, a.text if a else None, b.text if b else None)] = None
    return tuple(found)


@dataclass(frozen=True)
class Piece:
    """A stretch of a sentence: in both, only in the old, or only in the new."""

    text: str
    kind: str  # "same", "old" or "new"


def sentence(old: str, new: str) -> list[Piece]:
    """Both sentences in one, word by word."""
    first, second = _WORD.findall(old), _WORD.findall(new)
    matcher = difflib.SequenceMatcher(None, first, second, autojunk=False)
    pieces: list[Piece] = []
    for kind, a, b, c, d in matcher.get_opcodes():
        before, after = "".join(first[a:b]), "".join(second[c:d])
        if kind == "equal":
            pieces.append(Piece(before, "same"))
        else:
            pieces += [Piece(before, "old")] * (b > a) + [Piece(after, "new")] * (d > c)
    return pieces


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

    @property
    def sentence(self) -> list[Piece]:
        return sentence(self.old.text, self.new.text)


@dataclass(frozen=True)
class Compared:
    """A scene: why it needs rendering (no reasons: it does not), and what differs."""

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
    def elsewhere(self) -> bool:
        """Whether numbers change that are on no picture at the end of a beat."""
        return bool(set(self.numbers) - {change for beat in self.beats for change in beat.numbers})

    @property
    def sentences(self) -> int:
        return sum(beat.other_sentence for beat in self.beats)

    @property
    def variants(self) -> int:
        """Sentences of which the new weights call for another wording."""
        return sum(beat.old.variant != beat.new.variant for beat in self.beats)


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
        changes(differing(old.numbers, new.numbers)),
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
            Shown(f"{describe(entry['source'])} .{entry['decimals']}", entry["shown"].strip("()"))
            for entry in self.scene.record.numbers()
        ]

    def _keep(self, scene: LectureScene, frame: Any) -> None:
        self.frames.append(frame[:, :, :3].copy())
        self.shown.append(
            [
                Shown(
                    f"{describe(number.scalar.recipe())} .{number.decimals}",
                    number.text.strip("()"),
                    _place(onscreen.box_of(number)),
                )
                for item in onscreen.items(scene.mobjects)
                if isinstance(item, onscreen.TextItem)
                for number in onscreen.numbers_of(item)
            ]
        )


def _beats(old: _Played, new: _Played) -> list[BeatPair]:
    found = []
    both = zip(old.scene.timeline, new.scene.timeline, strict=True)
    for index, (before, after) in enumerate(both):
        frames = old.frames[index], new.frames[index]
        if before.text == after.text and np.array_equal(*frames):
            continue
        pairs = differing(old.shown[index], new.shown[index])
        found.append(
            BeatPair(
                after.name,
                (after.step, after.last_step),
                _moment(before, frames[0], [a for a, _ in pairs if a]),
                _moment(after, frames[1], [b for _, b in pairs if b]),
                changes(pairs),
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
