"""Where what belongs to a video lies beside it: captions, chapters, cover, description."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from engine.errors import LectureError
from render.base.reader import Reader

LANGUAGES = ("zh", "en")
CAPTION_FORMS = ("vtt", "srt")


class Description(TypedDict):
    """What a platform asks for when a video is uploaded; ``description`` has lines."""

    title: str
    description: str
    tags: list[str]


@dataclass(frozen=True)
class SideFiles:
    """Those of a scene's video or of a film, whether they are there or not:
    ``SideFiles(out / "lecture.mp4").captions("en")``.

    Captions, chapters and descriptions are there in both languages for every video; the cover is
    in the video's own. Only films have chapters.
    """

    video: Path

    def captions(self, language: str, form: str = "vtt") -> Path:
        """``08_attention_scores_zh.en.vtt``: what is said, in ``language``; or ``srt``."""
        return self.video.with_suffix(f".{language}.{form}")

    def chapters(self, language: str) -> Path:
        """``lecture.chapters.en.vtt``: a cue per scene, for ``<track kind="chapters">``."""
        return self.video.with_suffix(f".chapters.{language}.vtt")

    @property
    def cover(self) -> Path:
        """``08_attention_scores_zh.cover.png``: 1280x720, under 2 MB."""
        return self.video.with_suffix(".cover.png")

    def description(self, language: str) -> Path:
        """``08_attention_scores_zh.about.en.txt``: title, description with chapters, tags, ready
        to be pasted into a form."""
        return self.video.with_suffix(f".about.{language}.txt")

    @property
    def about(self) -> Path:
        """``08_attention_scores_zh.about.json``: the same for programs, see :meth:`read_about`."""
        return self.video.with_suffix(".about.json")

    def read_about(self) -> dict[str, Description]:
        """A :class:`Description` by language. Raises LectureError where there is none."""
        found = Reader().json(self.about, dict[str, Description])
        for language in LANGUAGES:
            if language not in found:
                expected = f"a description in {language}"
                raise LectureError(where=self.about, expected=expected, found="none")
        return found
