"""Can sentences be captioned where the pictures leave them the least time?"""

from __future__ import annotations

from render.media.captions.write import sentences
from render.media.quality import QUALITIES
from render.media.sidecars import LANGUAGES
from render.review.audit import beats_of, check_captions_of
from scenes import texts, theme
from scenes.base import LectureScene

SLOWEST = [min(quality.fps for quality in QUALITIES.values())]  # its gaps are the longest


def faults_in_the_shortest_time(scene: LectureScene) -> list[str]:
    """What is wrong with the captions of a scene that has been played, in either language, if every
    sentence is shown only as long as it must be at the least, whatever is animated meanwhile."""
    found, slug = [], scene.info.slug
    for language in LANGUAGES:
        now, beats = 0.0, []
        for beat in beats_of(scene.timeline):
            (said,) = sentences(slug, [beat], language)
            least = now + texts.reading_time(said.text, language) + theme.FADE
            beats.append({**beat, "start": now, "end": least})
            now = least
        faults = check_captions_of(slug, beats, SLOWEST)
        found += [f"{language} video, {fault.what}" for fault in faults]
    return found
