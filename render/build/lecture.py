"""The products of a lecture's videos. Records: ``.render/NAME.json`` is that of a scene's pictures,
``.render/NAME.KIND.json`` that of everything else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from render.base.files import STATE
from render.base.reader import read_state
from render.base.reads import Input, Json, pause
from render.build.job import LANGUAGES, Job
from render.build.product import ASKS, Product
from render.media.mp4 import LECTURE_TITLES
from render.media.sidecars import CAPTION_FORMS, SideFiles
from scenes.registry import SceneInfo

if TYPE_CHECKING:
    from render.build.inputs import Now
    from render.voice.choice import Voice

GUESSED_SECONDS = 45.0  # of a scene never rendered before: the middle of what scenes last
#: time that a frame takes, in frames of draft quality (scene 9: 3.6 ms, in standard 5.2 ms)
_WEIGHTS = {"draft": 1.0, "standard": 1.5, "high": 1.5, "4k": 4.0}
_PICTURES = frozenset({"pictures"})


class Lecture:
    """The products of one job, each once. Of a video's products, ``None`` in the place of a scene
    means the film's. Raises LectureError where the voice cannot speak."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.voice: Voice | None = None
        self.languages = [job.language, *(each for each in LANGUAGES if each != job.language)]
        #: the scenes of the film, without the title card
        self.numbered = tuple(scene for scene in job.film if scene.number)
        self._settings, self._quality = job.values(), asdict(job.quality)
        self._sounds = job.out / STATE / "voice"
        if job.voice is not None:
            from render.voice.choice import Voice

            self.voice = Voice(job.voice, job.language, self._sounds)
        for name in ("pictures", "cover", "cues", "burned", "sounds", "video", "sides", "length"):
            setattr(self, name, cache(getattr(self, name)))  # each product is made once

    def path(self, scene: SceneInfo | None) -> Path:
        return self.job.video(scene) if scene else self.job.out / self.job.film_name

    def _record(self, scene: SceneInfo | None, ending: str) -> Path:
        return self.job.out / STATE / f"{self.path(scene).stem}{ending}.json"

    def _product(
        self, kind: str, scene: SceneInfo | None, ending: str | None = None, **more: Any
    ) -> Product:
        """A video, what it consists of, or what lies beside it."""
        return Product(
            kind=kind,
            record=self._record(scene, f".{kind}" if ending is None else ending),
            job=self.job,
            settings=self._settings,
            scene=scene,
            path=self.path(scene),
            **more,
        )

    def _told(self, scene: SceneInfo) -> dict[str, Json]:
        track = self.job.settings.track if scene.number == 0 else ""
        return {"slug": scene.slug, "language": self.job.language, "track": track}

    def pictures(self, scene: SceneInfo) -> Product:
        """What is drawn, encoded, without sound; carried by the scene's video."""
        job, voice, path = self.job, self.voice, self.job.video(scene)
        targets = {"numbers": path.with_suffix(".numbers.json")}
        if voice and voice.recordings is None:
            targets["sound"] = self._sounds / f"{path.stem}.wav"
        return self._product(
            "pictures",
            scene,
            "",
            maker="render.draw.scene:make",
            checker="render.media.check:check_pictures",
            spec={
                **self._told(scene),
                "title": job.title(scene),
                "module": scene.module,
                "class_name": scene.class_name,
                "quality": self._quality,
                "renderer": job.renderer.value,
                **({"voice": voice.who} if voice else {}),
            },
            asks=tuple(self.sounds(scene).values()),
            optional=(ASKS,),  # a beat without a sound is silent
            targets=targets,
            carriers={} if job.burn else {"pictures": path},
            carried_by=str(self._record(scene, ".video")),
            yields=str(self._record(scene, ".cover")),
            modules=(scene.module, *(voice.modules if voice else ())),
            heavy=True,
            aside=frozenset({"pictures", "numbers"}),
            frames=lambda: self.length(scene),
            weight=_WEIGHTS[job.quality.name],
            pause=lambda asked, now: self._pause(scene, asked, now),
            spoken=lambda now: voice.spoken(self._seconds(scene, now)) if voice else None,
        )

    def _pause(self, scene: SceneInfo, asked: Input, now: Now) -> Input | None:
        if self.voice is None or self.voice.recordings is None:
            return asked if self.voice else None  # a synthetic voice is named in the spec
        busy, quiet, fps = asked.arg
        seconds = self._seconds(scene, now).get(asked.name.rpartition("/")[2], 0.0)
        return asked._replace(digest=str(pause(busy, quiet, seconds, fps)))

    def _seconds(self, scene: SceneInfo, now: Now) -> dict[str, float]:
        made = {beat: now.made.get(sound.id) for beat, sound in self.sounds(scene).items()}
        return {beat: each.facts["seconds"] if each else 0.0 for beat, each in made.items()}

    def cover(self, scene: SceneInfo | None) -> Product:
        """The picture for lists of videos; the play that draws the pictures yields it as well. The
        film has that of its first scene."""
        targets = {"cover": SideFiles(self.path(scene)).cover}
        if scene is None:
            return self._product(
                "cover",
                scene,
                maker="render.documents.about:copy_cover",
                spec={},
                needs={"cover": self.cover(self.job.film[0])},
                opens=frozenset(targets),
                targets=targets,
                cached=False,
            )
        return self._product(
            "cover",
            scene,
            maker="render.draw.cover:make",
            spec={**self._told(scene), "number": scene.number},
            asks=(self.pictures(scene),),
            targets=targets,
            modules=(scene.module,),
            heavy=True,
        )

    def cues(self, scene: SceneInfo, language: str) -> Product:
        """What is said in a scene in one language, in lines, by frames."""
        return self._product(
            "cues",
            scene,
            f".cues.{language}",
            maker="render.media.captions.write:make",
            spec={"slug": scene.slug, "language": language, "fps": self.job.quality.fps},
            needs={"pictures": self.pictures(scene)},
            cached=False,
        )

    def burned(self, scene: SceneInfo) -> Product:
        """Pictures with captions drawn into them; carried by the scene's video."""
        language = self.job.burn
        return self._product(
            "burned",
            scene,
            maker="render.media.burn:make",
            checker="render.media.check:check_pictures",
            spec={"slug": scene.slug, "language": language, "quality": self._quality},
            needs={"pictures": self.pictures(scene), "cues": self.cues(scene, language)},
            opens=_PICTURES,
            aside=_PICTURES,
            carriers={"pictures": self.path(scene)},
            carried_by=str(self._record(scene, ".video")),
            heavy=True,
            frames=lambda: self.length(scene),
            weight=_WEIGHTS[self.job.quality.name] / 2,
        )

    def shown(self, scene: SceneInfo) -> Product:
        """The pictures that are in the scene's video."""
        return self.burned(scene) if self.job.burn else self.pictures(scene)

    def sounds(self, scene: SceneInfo) -> Mapping[str, Product]:
        """The recordings that there are for a scene, prepared, by beat."""
        if self.voice is None or self.voice.recordings is None:
            return {}
        files = self.voice.recordings.files(scene.slug).items()
        return {beat: self.sound(scene.slug, beat, path) for beat, path in files}

    def sound(self, slug: str, beat: str, path: Path) -> Product:
        """A recording, prepared."""
        return Product(
            kind="sound",
            maker="render.voice.audio:make",
            record=self.job.out / STATE / f"{slug}.{beat}.sound.json",
            job=self.job,
            spec={"file": str(path.absolute())},
            targets={"sound": self._sounds / f"{slug}.{beat}.wav"},
            may_lack=frozenset({"sound"}),
            cached=False,
        )

    def video(self, scene: SceneInfo | None) -> Product:
        """Pictures, sound, captions and names in one MP4; the film has chapters. It is not joined
        where a scene that was asked for could not be drawn."""
        job, scenes = self.job, self._scenes(scene)
        sounds = {
            f"sound {each.slug} {beat}": sound
            for each in scenes
            for beat, sound in self.sounds(each).items()
        }
        return self._product(
            "video",
            scene,
            maker="render.media.mux:make",
            checker="render.media.check:check",
            spec={
                "title": job.title(scene) if scene else LECTURE_TITLES[job.language],
                "language": job.language,
                "quality": self._quality,
                "parts": [each.slug for each in scenes],
                "titles": [] if scene else [job.title(each) for each in scenes],
                "languages": self.languages,
                "spoken": job.voice is not None,
            },
            needs={**self._contents(scenes), **sounds},
            asks=() if scene else tuple(map(self.pictures, job.scenes)),
            optional=("cues ", "sound "),
            opens=frozenset({"pictures", "sound"}),
            targets={"video": self.path(scene)},
        )

    def _scenes(self, scene: SceneInfo | None) -> tuple[SceneInfo, ...]:
        return (scene,) if scene else self.job.film

    def _contents(self, scenes: tuple[SceneInfo, ...]) -> dict[str, Product]:
        """What is seen and read of scenes, by role."""
        seen = {f"pictures {scene.slug}": self.shown(scene) for scene in scenes}
        return seen | {
            f"cues {scene.slug} {language}": self.cues(scene, language)
            for scene in scenes
            for language in self.languages
        }

    def sides(self, scene: SceneInfo | None) -> Product:
        """What lies beside a video: captions, descriptions, and chapters of the film."""
        side, own, scenes = SideFiles(self.path(scene)), self.job.settings, self._scenes(scene)
        targets = {"about.json": side.about}
        for language in LANGUAGES:
            for form in CAPTION_FORMS:
                targets[f"{language}.{form}"] = side.captions(language, form)
            targets[f"about.{language}.txt"] = side.description(language)
            if scene is None:
                targets[f"chapters.{language}.vtt"] = side.chapters(language)
        return self._product(
            "sides",
            scene,
            maker="render.documents.about:make",
            spec={
                "language": self.job.language,
                "fps": self.job.quality.fps,
                "languages": self.languages,
                "track": "" if scene else own.track,  # a scene is alike in all tracks
                "film": scene is None,
                "scenes": [[one.slug, one.number, list(one.steps)] for one in scenes],
                "source": own.source,
                "target": own.target,
            },
            needs=self._contents(scenes),
            targets=targets,
            cached=False,
        )

    def of(self, scene: SceneInfo | None) -> tuple[Product, ...]:
        """Everything that belongs to a scene, its pictures first, or to the film, itself first."""
        if scene is None:
            return self.video(None), self.sides(None), self.cover(None)
        drawn = dict.fromkeys((self.pictures(scene), self.shown(scene)))
        return (*drawn, self.cover(scene), self.video(scene), self.sides(scene))

    def products(self) -> Iterator[Product]:
        """Everything that was asked for."""
        for scene in (*self.job.scenes, None):
            yield from self.of(scene)

    def length(self, scene: SceneInfo) -> float:
        """Frames that a scene will have: as remembered in any folder beside, or a guess."""
        name = f"{self.path(scene).stem}.json"
        for folder in (self.job.out, *sorted(self.job.out.parent.glob("*/"))):
            said = read_state(folder / STATE / name)
            try:
                seconds = float(said["facts"]["frames"] / said["facts"]["fps"])
                return max(1.0, seconds * self.job.quality.fps)
            except (TypeError, KeyError, ZeroDivisionError):
                continue
        return GUESSED_SECONDS * self.job.quality.fps
