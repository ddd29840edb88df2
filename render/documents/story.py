"""What is told in a video, scene by scene: all that its side files are made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from render.media.captions.sentences import sentences
from render.media.captions.timing import cues
from render.media.captions.tracks import Track, joined
from render.media.metadata import Chapter
from scenes import texts

LANGUAGES = ("zh", "en")


@dataclass(frozen=True)
class Told:
    """A scene as it was rendered. ``beats`` as in its record; ``steps`` of the tutorial."""

    slug: str
    number: int
    steps: tuple[int, int]
    frames: int
    beats: Sequence[Mapping[str, Any]]

    def title(self, language: str) -> str:
        """Raises LectureError where there is none."""
        return str(texts.entry(language, self.slug, "title"))


@dataclass(frozen=True)
class Story:
    """A scene's video, or the film of a ``track``. ``sizes``: what is known of the model."""

    language: str
    fps: int
    told: tuple[Told, ...]
    track: str
    film: bool
    sizes: Mapping[str, str]

    @property
    def seconds(self) -> float:
        return sum(part.frames for part in self.told) / self.fps

    @property
    def languages(self) -> tuple[str, ...]:
        """The video's own first."""
        return (self.language, *(other for other in LANGUAGES if other != self.language))

    def captions(self) -> tuple[Track, ...]:
        """A track for each language. Raises LectureError where a sentence is missing."""
        return tuple(self._captions(language) for language in self.languages)

    def _captions(self, language: str) -> Track:
        parts, start = [], 0
        for part in self.told:
            said = sentences(part.slug, part.beats, language)
            own = Track(language, tuple(cues(said, language, self.fps)), self.fps)
            parts.append((start, own))
            start += part.frames
        return joined(parts, language, self.fps)

    def chapters(self, language: str) -> tuple[Chapter, ...]:
        """A chapter per scene, end to end; none for the video of one scene."""
        found, start = [], 0
        for part in self.told if self.film else ():
            found.append(Chapter(part.title(language), start, start + part.frames))
            start += part.frames
        return tuple(found)
