"""Can the captions of a scene be read, in both languages, whatever the frame rate?"""

from __future__ import annotations

from render.captions.lint import faults
from render.captions.sentences import sentences
from render.captions.timing import cues
from render.quality import QUALITIES
from render.sidefiles import LANGUAGES
from scenes.base import LectureScene

from .fault import Fault


def check_captions(scene: LectureScene) -> list[Fault]:
    """Faults of the captions of a scene that has been played through."""
    beats = [
        {**vars(beat), "facts": {name: str(fact) for name, fact in beat.facts.items()}}
        for beat in scene.timeline
    ]
    found: dict[str, Fault] = {}
    for language in LANGUAGES:
        said = sentences(scene.info.slug, beats, language)
        for fps in sorted({quality.fps for quality in QUALITIES.values()}):
            for fault in faults(said, cues(said, language, fps), language, fps):
                found.setdefault(fault, Fault("captions", f"{language} captions: {fault}"))
    return list(found.values())
