"""Products that are videos, and what lies beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from render.base.files import STATE
from render.base.reads import Json
from render.build.job import LANGUAGES, Job
from render.build.product import Product
from render.media.mp4 import LECTURE_TITLES
from render.media.sidecars import CAPTION_FORMS, SideFiles
from scenes.registry import SceneInfo

if TYPE_CHECKING:
    from render.build.lecture import Lecture


@dataclass(frozen=True)
class Video(Product):
    """The video of one scene, or with ``of_film`` the film of a track: pictures, sound, captions,
    names and chapters in one MP4."""

    lecture: Lecture = field(repr=False)
    scenes: tuple[SceneInfo, ...]
    of_film: bool

    maker: ClassVar[str] = "render.media.mux:make"
    checker: ClassVar[str | None] = "render.media.check:check"
    opens: ClassVar[frozenset[str]] = frozenset({"pictures", "sound"})
    kind: ClassVar[str] = "video"

    @property
    def job(self) -> Job:
        return self.lecture.job

    @property
    def name(self) -> str:
        return f"{self.path.stem}_video"

    @property
    def path(self) -> Path:
        """Its final name."""
        return self.job.out / self.job.film_name if self.of_film else self.job.video(self.scenes[0])

    @property
    def record(self) -> Path:
        return self.job.out / STATE / f"{self.path.stem}.video.json"

    @property
    def languages(self) -> list[str]:
        """Of its captions, its own first."""
        own = self.job.language
        return [own, *(other for other in LANGUAGES if other != own)]

    def spec(self) -> dict[str, Json]:
        job, titles = self.job, [self.job.title(scene) for scene in self.scenes]
        return {
            "title": LECTURE_TITLES[job.language] if self.of_film else titles[0],
            "language": job.language,
            "quality": asdict(job.quality),
            "parts": [scene.slug for scene in self.scenes],
            "titles": titles if self.of_film else [],
            "languages": self.languages,
            "spoken": job.voice is not None,
        }

    def needs(self) -> Mapping[str, Product]:
        found: dict[str, Product] = {}
        for scene in self.scenes:
            found[f"pictures {scene.slug}"] = self.lecture.shown(scene)
            for language in self.languages:
                found[f"cues {scene.slug} {language}"] = self.lecture.cues(scene, language)
            for beat, sound in self.lecture.sounds(scene).items():
                found[f"sound {scene.slug} {beat}"] = sound
        return found

    def asks(self) -> tuple[Product, ...]:
        """A film is not joined where a scene that was asked for could not be drawn."""
        scenes = self.job.scenes if self.of_film else ()
        return tuple(self.lecture.pictures(scene) for scene in scenes)

    def optional(self, role: str) -> bool:
        return role.startswith(("cues ", "sound "))

    def targets(self) -> Mapping[str, Path]:
        return {"video": self.path}

    def settings(self) -> Mapping[str, str]:
        return self.job.values()


@dataclass(frozen=True)
class Sides(Product):
    """What lies beside a video: captions, chapters, descriptions."""

    of: Video

    kind: ClassVar[str] = "sides"
    maker: ClassVar[str] = "render.documents.about:make"
    cached: ClassVar[bool] = False

    @property
    def job(self) -> Job:
        return self.of.job

    @property
    def name(self) -> str:
        return f"{self.of.path.stem}_sides"

    @property
    def record(self) -> Path:
        return self.job.out / STATE / f"{self.of.path.stem}.sides.json"

    def spec(self) -> dict[str, Json]:
        of = self.of
        return {
            "language": of.job.language,
            "fps": of.job.quality.fps,
            "languages": of.languages,
            "track": of.job.settings.track if of.of_film else "",  # scenes are alike in all tracks
            "film": of.of_film,
            "scenes": [[one.slug, one.number, list(one.steps)] for one in of.scenes],
            "source": self.job.settings.source,
            "target": self.job.settings.target,
        }

    def needs(self) -> Mapping[str, Product]:
        return {
            role: need for role, need in self.of.needs().items() if not role.startswith("sound ")
        }

    def targets(self) -> Mapping[str, Path]:
        side = SideFiles(self.of.path)
        found = {"about.json": side.about}
        for language in LANGUAGES:
            for form in CAPTION_FORMS:
                found[f"{language}.{form}"] = side.captions(language, form)
            found[f"about.{language}.txt"] = side.description(language)
            if self.of.of_film:
                found[f"chapters.{language}.vtt"] = side.chapters(language)
        return found

    def settings(self) -> Mapping[str, str]:
        return self.job.values()


@dataclass(frozen=True)
class FilmCover(Product):
    """The film's cover: that of its first scene."""

    of: Video

    kind: ClassVar[str] = "film cover"
    maker: ClassVar[str] = "render.documents.about:copy_cover"
    cached: ClassVar[bool] = False
    opens: ClassVar[frozenset[str]] = frozenset({"cover"})

    @property
    def job(self) -> Job:
        return self.of.job

    @property
    def name(self) -> str:
        return f"{self.of.path.stem}_cover"

    @property
    def record(self) -> Path:
        return self.job.out / STATE / f"{self.of.path.stem}.cover.json"

    def spec(self) -> dict[str, Json]:
        return {}

    def needs(self) -> Mapping[str, Product]:
        return {"cover": self.of.lecture.cover(self.of.scenes[0])}

    def targets(self) -> Mapping[str, Path]:
        return {"cover": SideFiles(self.of.path).cover}
