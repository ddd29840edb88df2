"""Every product of a lecture, and which of them make up a job.

Records: ``.render/NAME.json`` is that of a scene's pictures, ``.render/NAME.KIND.json`` that of
everything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from render.base.files import STATE
from render.base.reader import read_state
from render.base.reads import Input, Json, Made, pause
from render.build.job import LANGUAGES, Job
from render.build.product import Product
from render.media.mp4 import LECTURE_TITLES
from render.media.sidecars import CAPTION_FORMS, SideFiles
from scenes import texts
from scenes.registry import SceneInfo

if TYPE_CHECKING:
    from render.build.plan import Plan
    from render.voice.choice import Voice

#: time that a frame takes, in frames of draft quality (scene 9: 3.6 ms, in standard 5.2 ms)
_WEIGHTS = {"draft": 1.0, "standard": 1.5, "high": 1.5, "4k": 4.0}
GUESSED_SECONDS = 45.0  # of a scene never rendered before: the middle of what scenes last


@dataclass(frozen=True)
class OfScene(Product):
    """A product of one scene of a job."""

    lecture: Lecture = field(repr=False)
    scene: SceneInfo

    @property
    def job(self) -> Job:
        return self.lecture.job

    @property
    def name(self) -> str:
        return self.scene.slug if self.kind == "pictures" else f"{self.scene.slug}_{self.kind}"

    @property
    def video(self) -> Path:
        return self.job.video(self.scene)

    def _record(self, kind: str) -> Path:
        ending = f"{kind}.json" if kind else "json"
        return self.job.out / STATE / f"{self.video.stem}.{ending}"

    def settings(self) -> Mapping[str, str]:
        return self.job.values()

    def _scene_spec(self) -> dict[str, Json]:
        track = self.job.settings.track if self.scene.number == 0 else ""
        return {"slug": self.scene.slug, "language": self.job.language, "track": track}


@dataclass(frozen=True)
class Pictures(OfScene):
    """What is drawn, encoded, without sound; carried by the scene's video."""

    kind: ClassVar[str] = "pictures"
    maker: ClassVar[str] = "render.draw.scene:make"
    heavy: ClassVar[bool] = True
    aside: ClassVar[frozenset[str]] = frozenset({"pictures", "numbers"})

    @property
    def record(self) -> Path:
        return self._record("")

    def spec(self) -> dict[str, Json]:
        job = self.job
        voice = self.lecture.voice
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
        found = {"numbers": self.video.with_suffix(".numbers.json")}
        if self.lecture.is_synthetic:
            found["sound"] = self.lecture.voice_folder / f"{self.video.stem}.wav"
        return found

    def carriers(self) -> Mapping[str, Path]:
        return {} if self.job.burn else {"pictures": self.video}

    def modules(self) -> tuple[str, ...]:
        return (self.scene.module,)

    def asks(self) -> tuple[Product, ...]:
        return tuple(self.lecture.sounds(self.scene).values())

    def pause(self, asked: Input) -> Input | None:
        voice = self.lecture.voice
        if voice is None:
            return None
        if voice.recordings is None:
            return asked  # of a synthetic voice, whose name is told
        busy, quiet, fps = asked.arg
        sound = self.lecture.sounds(self.scene).get(asked.name.rpartition("/")[2])
        spoken = self.lecture.seconds.get(sound.id, 0.0) if sound else 0.0
        return Input("pause", asked.name, asked.arg, str(pause(busy, quiet, spoken, fps)))

    def spoken(self) -> Mapping[str, Json] | None:
        voice = self.lecture.voice
        sounds = self.lecture.sounds(self.scene).items()
        seconds = {beat: self.lecture.seconds.get(sound.id, 0.0) for beat, sound in sounds}
        return voice.spoken(seconds) if voice else None

    def frames(self) -> float:
        return self.lecture.length(self.scene)

    @property
    def weight(self) -> float:
        return _WEIGHTS[self.job.quality.name]


@dataclass(frozen=True)
class Cover(OfScene):
    """The picture for lists of videos; the play that draws the pictures yields it as well."""

    kind: ClassVar[str] = "cover"
    maker: ClassVar[str] = "render.draw.cover:make"
    heavy: ClassVar[bool] = True

    @property
    def record(self) -> Path:
        return self._record("cover")

    def spec(self) -> dict[str, Json]:
        return {**self._scene_spec(), "number": self.scene.number}

    def targets(self) -> Mapping[str, Path]:
        return {"cover": SideFiles(self.video).cover}

    def modules(self) -> tuple[str, ...]:
        return (self.scene.module,)


@dataclass(frozen=True)
class Cues(OfScene):
    """What is said in a scene in one language, in lines, by frames."""

    caption_language: str

    kind: ClassVar[str] = "cues"
    maker: ClassVar[str] = "render.media.captions.write:make"
    cached: ClassVar[bool] = False

    @property
    def record(self) -> Path:
        return self._record(f"cues.{self.caption_language}")

    def spec(self) -> dict[str, Json]:
        fps = self.job.quality.fps
        return {"slug": self.scene.slug, "language": self.caption_language, "fps": fps}

    def needs(self) -> Mapping[str, Product]:
        return {"pictures": self.lecture.pictures(self.scene)}


@dataclass(frozen=True)
class Burned(OfScene):
    """Pictures with captions drawn into them; carried by the scene's video."""

    kind: ClassVar[str] = "burned"
    maker: ClassVar[str] = "render.media.burn:make"
    heavy: ClassVar[bool] = True
    aside: ClassVar[frozenset[str]] = frozenset({"pictures"})
    opens: ClassVar[frozenset[str]] = frozenset({"pictures"})

    @property
    def record(self) -> Path:
        return self._record("burned")

    def spec(self) -> dict[str, Json]:
        quality = asdict(self.job.quality)
        return {"slug": self.scene.slug, "language": self.job.burn, "quality": quality}

    def needs(self) -> Mapping[str, Product]:
        cues = self.lecture.cues(self.scene, self.job.burn)
        return {"pictures": self.lecture.pictures(self.scene), "cues": cues}

    def carriers(self) -> Mapping[str, Path]:
        return {"pictures": self.video}

    def frames(self) -> float:
        return self.lecture.length(self.scene)

    @property
    def weight(self) -> float:
        return _WEIGHTS[self.job.quality.name] / 2


@dataclass(frozen=True)
class Sound(Product):
    """A recording of a beat, made ready; kept beside the videos of its folder."""

    lecture: Lecture = field(repr=False)
    source: Path
    slug: str
    beat: str

    @property
    def job(self) -> Job:
        return self.lecture.job

    @property
    def name(self) -> str:
        return f"{self.slug}_{self.beat}_sound"

    kind: ClassVar[str] = "sound"
    maker: ClassVar[str] = "render.voice.audio:make"
    may_lack: ClassVar[frozenset[str]] = frozenset({"sound"})
    cached: ClassVar[bool] = False

    @property
    def record(self) -> Path:
        return self.lecture.job.out / STATE / f"{self.slug}.{self.beat}.sound.json"

    def spec(self) -> dict[str, Json]:
        return {"file": str(self.source.absolute())}

    def targets(self) -> Mapping[str, Path]:
        return {"sound": self.lecture.voice_folder / f"{self.slug}.{self.beat}.wav"}

    def settled(self, made: Made) -> None:
        self.lecture.seconds[self.id] = made.facts["seconds"]


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


class Lecture:
    """The products of one job. ``voice``: who speaks, with the sounds kept in the job's folder."""

    def __init__(self, job: Job, voice: Voice | None = None) -> None:
        self.job = job
        self.voice = voice
        #: how long beats must last for their recordings, by the sound's id
        self.seconds: dict[str, float] = {}
        self._lengths: dict[str, float] = {}

    @property
    def is_synthetic(self) -> bool:
        """Whether a program speaks."""
        return self.voice is not None and self.voice.recordings is None

    @property
    def voice_folder(self) -> Path:
        """Where sounds are kept."""
        return self.job.out / STATE / "voice"

    @classmethod
    def of(cls, job: Job) -> Lecture:
        """Raises LectureError where the voice cannot speak."""
        if job.voice is None:
            return cls(job)
        from render.voice.choice import Voice

        return cls(job, Voice(job.voice, job.language, job.out / STATE / "voice"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Lecture) and self.job == other.job

    def __hash__(self) -> int:
        return hash(self.job)

    def pictures(self, scene: SceneInfo) -> Pictures:
        return Pictures(self, scene)

    def shown(self, scene: SceneInfo) -> Product:
        """The pictures that are in the scene's video."""
        return Burned(self, scene) if self.job.burn else self.pictures(scene)

    def cues(self, scene: SceneInfo, language: str) -> Cues:
        return Cues(self, scene, language)

    def cover(self, scene: SceneInfo) -> Cover:
        return Cover(self, scene)

    def sounds(self, scene: SceneInfo) -> Mapping[str, Sound]:
        """The recordings that there are for a scene, by beat."""
        if self.voice is None or self.voice.recordings is None:
            return {}
        files = self.voice.recordings.files(scene.slug)
        return {beat: Sound(self, path, scene.slug, beat) for beat, path in files.items()}

    def video(self, scene: SceneInfo) -> Video:
        return Video(self, (scene,), False)

    @cached_property
    def film(self) -> Video:
        return Video(self, self.job.film, True)

    def of_scene(self, scene: SceneInfo) -> Iterator[Product]:
        """Everything that belongs to a scene, its pictures first."""
        yield self.pictures(scene)
        if self.job.burn:
            yield self.shown(scene)
        video = self.video(scene)
        yield from (self.cover(scene), video, Sides(video))

    def of_film(self) -> Iterator[Product]:
        """Everything that belongs to the film, itself first."""
        yield from (self.film, Sides(self.film), FilmCover(self.film))

    def products(self) -> Iterator[Product]:
        """Everything that was asked for."""
        for scene in self.job.scenes:
            yield from self.of_scene(scene)
        yield from self.of_film()

    def length(self, scene: SceneInfo) -> float:
        """Frames that a scene will have: as remembered in any folder beside, or a guess."""
        name = self.job.video_name(scene)
        if name not in self._lengths:
            out, seconds = self.job.out, GUESSED_SECONDS
            for folder in (out, *sorted(out.parent.glob("*/"))):
                said = read_state(folder / STATE / f"{Path(name).stem}.json")
                try:
                    seconds = said["facts"]["frames"] / said["facts"]["fps"]
                    break
                except (TypeError, KeyError, ZeroDivisionError):
                    continue
            self._lengths[name] = max(1.0, seconds * self.job.quality.fps)
        return self._lengths[name]

    def complaints(self, plan: Plan) -> list[str]:
        """A line for each recording that is missing, cannot be used, or says something else."""
        if self.voice is None or self.voice.recordings is None:
            return []
        recordings, lines, said = self.voice.recordings, list[str](), dict[str, str]()
        for scene in self.job.scenes:
            sounds = self.sounds(scene)
            made = {beat: plan.steps[sound.id].made for beat, sound in sounds.items()}
            lines += [each.facts["bad"] for each in made.values() if each and "bad" in each.facts]
            drawn = plan.steps[self.pictures(scene).id].made
            beats = drawn.facts["beats"] if drawn else ()
            fit = {beat for beat, each in made.items() if each and "bad" not in each.facts}
            good = [beat for beat in beats if beat["key"] in fit]
            silent = [beat["key"] for beat in beats if beat not in good]
            lines += recordings.missing(scene.slug, silent, len(good))
            for beat in good:
                said[f"{scene.slug}/{beat['key']}"] = self._sentence(scene, beat)
        from render.voice.script import changed

        return [*recordings.complaints, *lines, *changed(said, recordings.folder)]

    def _sentence(self, scene: SceneInfo, beat: Mapping[str, Json]) -> str:
        """What is to be said in a beat of a record."""
        from render.voice import spoken

        language, key = self.job.language, beat["key"]
        template = texts.entry(language, scene.slug, "beats", key)
        facts = {name: Shown(fact) for name, fact in beat["facts"].items()}
        return spoken.sentence(language, scene.slug, key, template, facts)


@dataclass(frozen=True)
class Shown:
    """A fact as it was shown; whether it was a word or a number is not remembered."""

    text: str

    def __str__(self) -> str:
        return self.text
