"""The products of a lecture's videos. Records: ``.render/NAME.json`` is that of a scene's pictures,
``.render/NAME.KIND.json`` that of everything else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import cache, cached_property
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
    """The products of one job, each once. ``voice``: who speaks, with the sounds kept in the job's
    folder."""

    def __init__(self, job: Job, voice: Voice | None = None) -> None:
        self.job = job
        self.voice = voice
        self.languages = [job.language, *(each for each in LANGUAGES if each != job.language)]
        self._values = job.values()
        self._quality = asdict(job.quality)
        self._sounds = job.out / STATE / "voice"
        for name in ("pictures", "cover", "cues", "burned", "sounds", "video", "sides", "length"):
            setattr(self, name, cache(getattr(self, name)))  # each product is made once

    @classmethod
    def of(cls, job: Job) -> Lecture:
        """Raises LectureError where the voice cannot speak."""
        if job.voice is None:
            return cls(job)
        from render.voice.choice import Voice

        return cls(job, Voice(job.voice, job.language, job.out / STATE / "voice"))

    def _record(self, path: Path, ending: str) -> Path:
        return self.job.out / STATE / f"{path.stem}{ending}.json"

    def _product(self, kind: str, path: Path, ending: str | None = None, **more: Any) -> Product:
        """What a video consists of, itself, or what lies beside it; ``path``: the video's name."""
        return Product(
            kind=kind,
            record=self._record(path, f".{kind}" if ending is None else ending),
            name=f"{path.stem}_{kind}",
            job=self.job,
            settings=self._values,
            path=path,
            **more,
        )

    def _of_scene(
        self, kind: str, scene: SceneInfo, ending: str | None = None, **more: Any
    ) -> Product:
        return self._product(kind, self.job.video(scene), ending, scene=scene, **more)

    def _told(self, scene: SceneInfo) -> dict[str, Json]:
        track = self.job.settings.track if scene.number == 0 else ""
        return {"slug": scene.slug, "language": self.job.language, "track": track}

    def pictures(self, scene: SceneInfo) -> Product:
        """What is drawn, encoded, without sound; carried by the scene's video."""
        job, voice, path = self.job, self.voice, self.job.video(scene)
        targets = {"numbers": path.with_suffix(".numbers.json")}
        if voice and voice.recordings is None:
            targets["sound"] = self._sounds / f"{path.stem}.wav"
        return self._of_scene(
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
            carried_by=str(self._record(path, ".video")),
            yields=str(self._record(path, ".cover")),
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
        """How long beats must last for their recordings."""
        made = {beat: now.made.get(sound.id) for beat, sound in self.sounds(scene).items()}
        return {beat: each.facts["seconds"] if each else 0.0 for beat, each in made.items()}

    def cover(self, scene: SceneInfo) -> Product:
        """The picture for lists of videos; the play that draws the pictures yields it as well."""
        return self._of_scene(
            "cover",
            scene,
            maker="render.draw.cover:make",
            spec={**self._told(scene), "number": scene.number},
            asks=(self.pictures(scene),),
            targets={"cover": SideFiles(self.job.video(scene)).cover},
            modules=(scene.module,),
            heavy=True,
        )

    def cues(self, scene: SceneInfo, language: str) -> Product:
        """What is said in a scene in one language, in lines, by frames."""
        return self._of_scene(
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
        path, language = self.job.video(scene), self.job.burn
        return self._of_scene(
            "burned",
            scene,
            maker="render.media.burn:make",
            checker="render.media.check:check_pictures",
            spec={"slug": scene.slug, "language": language, "quality": self._quality},
            needs={"pictures": self.pictures(scene), "cues": self.cues(scene, language)},
            opens=_PICTURES,
            aside=_PICTURES,
            carriers={"pictures": path},
            carried_by=str(self._record(path, ".video")),
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
            name=f"{slug}_{beat}_sound",
            job=self.job,
            spec={"file": str(path.absolute())},
            targets={"sound": self._sounds / f"{slug}.{beat}.wav"},
            may_lack=frozenset({"sound"}),
            cached=False,
        )

    def video(self, scene: SceneInfo) -> Product:
        """Pictures, sound, captions and names in one MP4."""
        return self._video(self.job.video(scene), (scene,), self.job.title(scene), scene=scene)

    @cached_property
    def film(self) -> Product:
        """The same of all scenes of the track, with chapters. It is not joined where a scene that
        was asked for could not be drawn."""
        job = self.job
        asks = tuple(self.pictures(scene) for scene in job.scenes)
        path, title = job.out / job.film_name, LECTURE_TITLES[job.language]
        return self._video(path, job.film, title, asks=asks)

    def _video(self, path: Path, scenes: tuple[SceneInfo, ...], title: str, **more: Any) -> Product:
        job = self.job
        needs = self._shown(scenes)
        for scene in scenes:
            for beat, sound in self.sounds(scene).items():
                needs[f"sound {scene.slug} {beat}"] = sound
        return self._product(
            "video",
            path,
            maker="render.media.mux:make",
            checker="render.media.check:check",
            spec={
                "title": title,
                "language": job.language,
                "quality": self._quality,
                "parts": [scene.slug for scene in scenes],
                "titles": [] if "scene" in more else [job.title(scene) for scene in scenes],
                "languages": self.languages,
                "spoken": job.voice is not None,
            },
            needs=needs,
            optional=("cues ", "sound "),
            opens=frozenset({"pictures", "sound"}),
            targets={"video": path},
            **more,
        )

    def _shown(self, scenes: tuple[SceneInfo, ...]) -> dict[str, Product]:
        """What is seen and read of scenes, by role."""
        found = {f"pictures {scene.slug}": self.shown(scene) for scene in scenes}
        for scene in scenes:
            for language in self.languages:
                found[f"cues {scene.slug} {language}"] = self.cues(scene, language)
        return found

    def sides(self, scene: SceneInfo) -> Product:
        """What lies beside a video: captions, descriptions."""
        return self._sides(self.job.video(scene), (scene,), "", scene=scene)

    @cached_property
    def film_sides(self) -> Product:
        """The same of the film, with chapters."""
        path, track = self.job.out / self.job.film_name, self.job.settings.track
        return self._sides(path, self.job.film, track)

    def _sides(self, path: Path, scenes: tuple[SceneInfo, ...], track: str, **more: Any) -> Product:
        """``track``: of the film; empty for a scene, which is alike in all tracks."""
        side, own = SideFiles(path), self.job.settings
        targets = {"about.json": side.about}
        for language in LANGUAGES:
            for form in CAPTION_FORMS:
                targets[f"{language}.{form}"] = side.captions(language, form)
            targets[f"about.{language}.txt"] = side.description(language)
            if track:
                targets[f"chapters.{language}.vtt"] = side.chapters(language)
        return self._product(
            "sides",
            path,
            maker="render.documents.about:make",
            spec={
                "language": self.job.language,
                "fps": self.job.quality.fps,
                "languages": self.languages,
                "track": track,
                "film": bool(track),
                "scenes": [[one.slug, one.number, list(one.steps)] for one in scenes],
                "source": own.source,
                "target": own.target,
            },
            needs=self._shown(scenes),
            targets=targets,
            cached=False,
            **more,
        )

    @cached_property
    def film_cover(self) -> Product:
        """The film's cover: that of its first scene."""
        path = self.job.out / self.job.film_name
        return self._product(
            "cover",
            path,
            maker="render.documents.about:copy_cover",
            spec={},
            needs={"cover": self.cover(self.job.film[0])},
            opens=frozenset({"cover"}),
            targets={"cover": SideFiles(path).cover},
            cached=False,
        )

    @cached_property
    def numbered(self) -> tuple[SceneInfo, ...]:
        """The scenes of the film, without the title card."""
        return tuple(scene for scene in self.job.film if scene.number)

    def of_scene(self, scene: SceneInfo) -> Iterator[Product]:
        """Everything that belongs to a scene, its pictures first."""
        yield self.pictures(scene)
        if self.job.burn:
            yield self.burned(scene)
        yield from (self.cover(scene), self.video(scene), self.sides(scene))

    def of_film(self) -> Iterator[Product]:
        """Everything that belongs to the film, itself first."""
        yield from (self.film, self.film_sides, self.film_cover)

    def products(self) -> Iterator[Product]:
        """Everything that was asked for."""
        for scene in self.job.scenes:
            yield from self.of_scene(scene)
        yield from self.of_film()

    def length(self, scene: SceneInfo) -> float:
        """Frames that a scene will have: as remembered in any folder beside, or a guess."""
        name = f"{self.job.video(scene).stem}.json"
        for folder in (self.job.out, *sorted(self.job.out.parent.glob("*/"))):
            said = read_state(folder / STATE / name)
            try:
                seconds = float(said["facts"]["frames"] / said["facts"]["fps"])
                return max(1.0, seconds * self.job.quality.fps)
            except (TypeError, KeyError, ZeroDivisionError):
                continue
        return GUESSED_SECONDS * self.job.quality.fps
