"""Every product of a lecture, and which of them make up a job.

Records: ``.render/NAME.json`` is that of a scene's pictures, ``.render/NAME.KIND.json`` that of
everything else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from render.base.files import STATE
from render.base.reads import Input, Json, Made, pause
from render.build.job import Job
from render.build.product import Product
from render.media.sidecars import SideFiles
from scenes.registry import SceneInfo

if TYPE_CHECKING:
    from render.build.lecture import Lecture

#: time that a frame takes, in frames of draft quality (scene 9: 3.6 ms, in standard 5.2 ms)
_WEIGHTS = {"draft": 1.0, "standard": 1.5, "high": 1.5, "4k": 4.0}


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
        voice = self.lecture.voice
        return (self.scene.module, *(voice.modules if voice else ()))

    def asks(self) -> tuple[Product, ...]:
        return tuple(self.lecture.sounds(self.scene).values())

    def optional(self, role: str) -> bool:
        return True  # of sounds: a beat without one is silent

    def pause(self, asked: Input) -> Input | None:
        voice = self.lecture.voice
        if voice is None:
            return None
        if voice.recordings is None:
            return asked  # of a synthetic voice, whose name is in the spec
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

    def asks(self) -> tuple[Product, ...]:
        return (self.lecture.pictures(self.scene),)

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
    """A recording of a beat, prepared; kept beside the videos of its folder."""

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
