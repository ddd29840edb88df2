"""The products of a lecture's videos. Records: ``.render/NAME.json`` is that of a scene's pictures,
``.render/NAME.KIND.json`` that of everything else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from render.base.files import STATE
from render.base.reads import Input, Json, pause
from render.build.job import LANGUAGES, Job
from render.build.product import Product
from render.media.mp4 import LECTURE_TITLES
from render.media.sidecars import CAPTION_FORMS, SideFiles
from scenes.registry import SceneInfo

if TYPE_CHECKING:
    from render.build.inputs import Now
    from render.build.lecture import Lecture

#: time that a frame takes, in frames of draft quality (scene 9: 3.6 ms, in standard 5.2 ms)
_WEIGHTS = {"draft": 1.0, "standard": 1.5, "high": 1.5, "4k": 4.0}


@dataclass(frozen=True, eq=False)
class OfVideo(Product):
    """What a scene's video or the film consists of, itself, or what lies beside it. ``path``: the
    video's final name; ``scenes``: what it shows."""

    lecture: Lecture = field(repr=False)
    path: Path
    scenes: tuple[SceneInfo, ...]

    @property
    def job(self) -> Job:
        return self.lecture.job

    @property
    def name(self) -> str:
        return f"{self.path.stem}_{self.kind}"

    @property
    def ending(self) -> str:
        return f".{self.kind}.json"

    @cached_property
    def record(self) -> Path:
        return self.job.out / STATE / f"{self.path.stem}{self.ending}"

    @property
    def scene(self) -> SceneInfo:
        """The only one, or the film's first."""
        return self.scenes[0]

    @property
    def of_film(self) -> bool:
        return self.path.name == self.job.film_name

    @property
    def languages(self) -> list[str]:
        """Of captions, the video's own first."""
        own = self.job.language
        return [own, *(other for other in LANGUAGES if other != own)]

    def settings(self) -> Mapping[str, str]:
        return self.lecture.values

    def _scene_spec(self) -> dict[str, Json]:
        track = self.job.settings.track if self.scene.number == 0 else ""
        return {"slug": self.scene.slug, "language": self.job.language, "track": track}


class Pictures(OfVideo):
    """What is drawn, encoded, without sound; carried by the scene's video."""

    kind: ClassVar[str] = "pictures"
    maker: ClassVar[str] = "render.draw.scene:make"
    checker: ClassVar[str | None] = "render.media.check:check_pictures"
    heavy: ClassVar[bool] = True
    aside: ClassVar[frozenset[str]] = frozenset({"pictures", "numbers"})
    ending: ClassVar[str] = ".json"

    @property
    def name(self) -> str:
        return str(self.scene.slug)

    def spec(self) -> dict[str, Json]:
        job, voice = self.job, self.lecture.voice
        return {
            **self._scene_spec(),
            "title": job.title(self.scene),
            "module": self.scene.module,
            "class_name": self.scene.class_name,
            "quality": asdict(job.quality),
            "renderer": job.renderer.value,
            **({"voice": voice.who} if voice else {}),
        }

    def targets(self) -> Mapping[str, Path]:
        found = {"numbers": self.path.with_suffix(".numbers.json")}
        if self.lecture.is_synthetic:
            found["sound"] = self.lecture.voice_folder / f"{self.path.stem}.wav"
        return found

    def carriers(self) -> Mapping[str, Path]:
        return {} if self.job.burn else {"pictures": self.path}

    def modules(self) -> tuple[str, ...]:
        voice = self.lecture.voice
        return (self.scene.module, *(voice.modules if voice else ()))

    def asks(self) -> tuple[Product, ...]:
        return tuple(self.lecture.sounds(self.scene).values())

    def optional(self, role: str) -> bool:
        return True  # of sounds: a beat without one is silent

    def pause(self, asked: Input, now: Now) -> Input | None:
        voice = self.lecture.voice
        if voice is None or voice.recordings is None:
            return asked if voice else None  # a synthetic voice is named in the spec
        busy, quiet, fps = asked.arg
        seconds = self._seconds(now).get(asked.name.rpartition("/")[2], 0.0)
        return asked._replace(digest=str(pause(busy, quiet, seconds, fps)))

    def spoken(self, now: Now) -> Mapping[str, Json] | None:
        voice = self.lecture.voice
        return voice.spoken(self._seconds(now)) if voice else None

    def _seconds(self, now: Now) -> dict[str, float]:
        """How long beats must last for their recordings."""
        sounds = self.lecture.sounds(self.scene).items()
        made = {beat: now.made.get(sound.id) for beat, sound in sounds}
        return {beat: each.facts["seconds"] if each else 0.0 for beat, each in made.items()}

    def frames(self) -> float:
        return self.lecture.length(self.scene)

    @property
    def weight(self) -> float:
        return _WEIGHTS[self.job.quality.name]


class Cover(OfVideo):
    """The picture for lists of videos; the play that draws the pictures yields it as well."""

    kind: ClassVar[str] = "cover"
    maker: ClassVar[str] = "render.draw.cover:make"
    heavy: ClassVar[bool] = True

    def spec(self) -> dict[str, Json]:
        return {**self._scene_spec(), "number": self.scene.number}

    def targets(self) -> Mapping[str, Path]:
        return {"cover": SideFiles(self.path).cover}

    def asks(self) -> tuple[Product, ...]:
        return (self.lecture.pictures(self.scene),)

    def modules(self) -> tuple[str, ...]:
        return (self.scene.module,)


@dataclass(frozen=True, eq=False)
class Cues(OfVideo):
    """What is said in a scene in one language, in lines, by frames."""

    language: str

    kind: ClassVar[str] = "cues"
    maker: ClassVar[str] = "render.media.captions.write:make"
    cached: ClassVar[bool] = False

    @property
    def ending(self) -> str:
        return f".cues.{self.language}.json"

    def spec(self) -> dict[str, Json]:
        fps = self.job.quality.fps
        return {"slug": self.scene.slug, "language": self.language, "fps": fps}

    def needs(self) -> Mapping[str, Product]:
        return {"pictures": self.lecture.pictures(self.scene)}


class Burned(OfVideo):
    """Pictures with captions drawn into them; carried by the scene's video."""

    kind: ClassVar[str] = "burned"
    maker: ClassVar[str] = "render.media.burn:make"
    checker: ClassVar[str | None] = "render.media.check:check_pictures"
    heavy: ClassVar[bool] = True
    aside: ClassVar[frozenset[str]] = frozenset({"pictures"})
    opens: ClassVar[frozenset[str] | None] = frozenset({"pictures"})

    def spec(self) -> dict[str, Json]:
        quality = asdict(self.job.quality)
        return {"slug": self.scene.slug, "language": self.job.burn, "quality": quality}

    def needs(self) -> Mapping[str, Product]:
        cues = self.lecture.cues(self.scene, self.job.burn)
        return {"pictures": self.lecture.pictures(self.scene), "cues": cues}

    def carriers(self) -> Mapping[str, Path]:
        return {"pictures": self.path}

    def frames(self) -> float:
        return self.lecture.length(self.scene)

    @property
    def weight(self) -> float:
        return _WEIGHTS[self.job.quality.name] / 2


@dataclass(frozen=True, eq=False)
class Sound(Product):
    """A recording of a beat, prepared; kept beside the videos of its folder."""

    lecture: Lecture = field(repr=False)
    source: Path
    slug: str
    beat: str

    kind: ClassVar[str] = "sound"
    maker: ClassVar[str] = "render.voice.audio:make"
    may_lack: ClassVar[frozenset[str]] = frozenset({"sound"})
    cached: ClassVar[bool] = False

    @property
    def job(self) -> Job:
        return self.lecture.job

    @property
    def name(self) -> str:
        return f"{self.slug}_{self.beat}_sound"

    @cached_property
    def record(self) -> Path:
        return self.job.out / STATE / f"{self.slug}.{self.beat}.sound.json"

    def spec(self) -> dict[str, Json]:
        return {"file": str(self.source.absolute())}

    def targets(self) -> Mapping[str, Path]:
        return {"sound": self.lecture.voice_folder / f"{self.slug}.{self.beat}.wav"}


class Video(OfVideo):
    """The video of one scene, or the film of a track: pictures, sound, captions, names and chapters
    in one MP4."""

    kind: ClassVar[str] = "video"
    maker: ClassVar[str] = "render.media.mux:make"
    checker: ClassVar[str | None] = "render.media.check:check"
    opens: ClassVar[frozenset[str] | None] = frozenset({"pictures", "sound"})

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


class Sides(OfVideo):
    """What lies beside a video: captions, chapters, descriptions."""

    kind: ClassVar[str] = "sides"
    maker: ClassVar[str] = "render.documents.about:make"
    cached: ClassVar[bool] = False

    def spec(self) -> dict[str, Json]:
        return {
            "language": self.job.language,
            "fps": self.job.quality.fps,
            "languages": self.languages,
            # scenes are alike in all tracks
            "track": self.job.settings.track if self.of_film else "",
            "film": self.of_film,
            "scenes": [[one.slug, one.number, list(one.steps)] for one in self.scenes],
            "source": self.job.settings.source,
            "target": self.job.settings.target,
        }

    def needs(self) -> Mapping[str, Product]:
        video = self.lecture.film if self.of_film else self.lecture.video(self.scene)
        needs = video.needs().items()
        return {role: need for role, need in needs if not role.startswith("sound ")}

    def targets(self) -> Mapping[str, Path]:
        side = SideFiles(self.path)
        found = {"about.json": side.about}
        for language in LANGUAGES:
            for form in CAPTION_FORMS:
                found[f"{language}.{form}"] = side.captions(language, form)
            found[f"about.{language}.txt"] = side.description(language)
            if self.of_film:
                found[f"chapters.{language}.vtt"] = side.chapters(language)
        return found


class FilmCover(OfVideo):
    """The film's cover: that of its first scene."""

    kind: ClassVar[str] = "film_cover"
    maker: ClassVar[str] = "render.documents.about:copy_cover"
    cached: ClassVar[bool] = False
    opens: ClassVar[frozenset[str] | None] = frozenset({"cover"})

    def spec(self) -> dict[str, Json]:
        return {}

    def needs(self) -> Mapping[str, Product]:
        return {"cover": self.lecture.cover(self.scene)}

    def targets(self) -> Mapping[str, Path]:
        return {"cover": SideFiles(self.path).cover}
