"""Can the captions of a scene be read, in both languages, whatever the frame rate?"""

from __future__ import annotations

from typing import Any

from render.media.captions.lint import faults
from render.media.captions.write import cues, sentences
from render.media.quality import QUALITIES
from render.media.sidecars import LANGUAGES
from render.review.audit.fault import Fault
from scenes import texts, theme
from scenes.base import LectureScene
from scenes.record import Beat


def check_captions(scene: LectureScene) -> list[Fault]:
    """Faults of the captions of a scene that has been played through."""
    rates = sorted({quality.fps for quality in QUALITIES.values()})
    return _check(scene.info.slug, _beats(scene.timeline), rates)


def check_in_the_shortest_time(scene: LectureScene) -> list[Fault]:
    """The same, as if every sentence were shown, in either language, only as long as it must be at
    the least, whatever is animated meanwhile. Only what was said is looked at, not when."""
    found, slug = [], scene.info.slug
    for language in LANGUAGES:
        now, beats = 0.0, []
        for beat in _beats(scene.timeline):
            (shown,) = sentences(slug, [beat], language)
            least = now + texts.reading_time(shown.text, language) + theme.FADE
            beats.append({**beat, "start": now, "end": least})
            now = least
        slowest = [min(quality.fps for quality in QUALITIES.values())]  # its gaps are the longest
        faults_there = _check(slug, beats, slowest)
        found += [Fault(each.kind, f"{language} video, {each.what}") for each in faults_there]
    return found


def _beats(timeline: list[Beat]) -> list[dict[str, Any]]:
    return [
        {**vars(beat), "facts": {name: str(fact) for name, fact in beat.facts.items()}}
        for beat in timeline
    ]


def _check(slug: str, beats: list[dict[str, Any]], rates: list[int]) -> list[Fault]:
    found: dict[str, Fault] = {}
    for language in LANGUAGES:
        said = sentences(slug, beats, language)
        for fps in rates:
            for fault in faults(said, cues(said, language, fps), language, fps):
                found.setdefault(fault, Fault("captions", f"{language} captions: {fault}"))
    return list(found.values())
