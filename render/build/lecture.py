"""The products of one job: which there are, and what they know of each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from render.base.files import STATE
from render.base.reader import read_state
from render.base.reads import Json
from render.build.job import Job
from render.build.product import Product
from render.build.products import (
    Burned,
    Cover,
    Cues,
    FilmCover,
    OfVideo,
    Pictures,
    Sides,
    Sound,
    Video,
)
from scenes import texts
from scenes.registry import SceneInfo

if TYPE_CHECKING:
    from render.build.plan import Plan
    from render.voice.choice import Voice

GUESSED_SECONDS = 45.0  # of a scene never rendered before: the middle of what scenes last


Kind = TypeVar("Kind", bound=OfVideo)


class Lecture:
    """The products of one job, each once. ``voice``: who speaks, with the sounds kept in the job's
    folder."""

    def __init__(self, job: Job, voice: Voice | None = None) -> None:
        self.job = job
        self.voice = voice
        self._lengths: dict[str, float] = {}
        self._made: dict[tuple[str, ...], OfVideo] = {}
        self._paths = {scene.number: job.video(scene) for scene in (*job.film, *job.scenes)}
        self._sounds: dict[int, Mapping[str, Sound]] = {}

    @property
    def is_synthetic(self) -> bool:
        """Whether a program speaks."""
        return self.voice is not None and self.voice.recordings is None

    @property
    def voice_folder(self) -> Path:
        """Where sounds are kept."""
        return self.job.out / STATE / "voice"

    @cached_property
    def values(self) -> Mapping[str, str]:
        """What values are computed from."""
        return self.job.values()

    @classmethod
    def of(cls, job: Job) -> Lecture:
        """Raises LectureError where the voice cannot speak."""
        if job.voice is None:
            return cls(job)
        from render.voice.choice import Voice

        return cls(job, Voice(job.voice, job.language, job.out / STATE / "voice"))

    def _product(self, kind: type[Kind], scene: SceneInfo, *more: str) -> Kind:
        key = kind.kind, scene.slug, *more
        if key not in self._made:
            self._made[key] = kind(self, self._paths[scene.number], (scene,), *more)
        found = self._made[key]
        assert isinstance(found, kind)
        return found

    def pictures(self, scene: SceneInfo) -> Pictures:
        return self._product(Pictures, scene)

    def shown(self, scene: SceneInfo) -> OfVideo:
        """The pictures that are in the scene's video."""
        return self._product(Burned if self.job.burn else Pictures, scene)

    def cues(self, scene: SceneInfo, language: str) -> Cues:
        return self._product(Cues, scene, language)

    def cover(self, scene: SceneInfo) -> Cover:
        return self._product(Cover, scene)

    def video(self, scene: SceneInfo) -> Video:
        return self._product(Video, scene)

    def sides(self, scene: SceneInfo) -> Sides:
        return self._product(Sides, scene)

    def sounds(self, scene: SceneInfo) -> Mapping[str, Sound]:
        """The recordings that there are for a scene, by beat."""
        if self.voice is None or self.voice.recordings is None:
            return {}
        if scene.number not in self._sounds:
            files = self.voice.recordings.files(scene.slug).items()
            sounds = {beat: Sound(self, path, scene.slug, beat) for beat, path in files}
            self._sounds[scene.number] = sounds
        return self._sounds[scene.number]

    @cached_property
    def film(self) -> Video:
        return Video(self, self.job.out / self.job.film_name, self.job.film)

    @cached_property
    def film_sides(self) -> Sides:
        return Sides(self, self.film.path, self.job.film)

    @cached_property
    def film_cover(self) -> FilmCover:
        return FilmCover(self, self.film.path, self.job.film)

    @cached_property
    def numbered(self) -> tuple[SceneInfo, ...]:
        """The scenes of the film, without the title card."""
        return tuple(scene for scene in self.job.film if scene.number)

    def of_scene(self, scene: SceneInfo) -> Iterator[Product]:
        """Everything that belongs to a scene, its pictures first."""
        yield self.pictures(scene)
        if self.job.burn:
            yield self.shown(scene)
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
            made = {beat: plan.now.made.get(sound.id) for beat, sound in sounds.items()}
            lines += [each.facts["bad"] for each in made.values() if each and "bad" in each.facts]
            failures = (plan.failures.get(sound.id) for sound in sounds.values())
            lines += [failure.line for failure in failures if failure]
            drawn = plan.now.made.get(self.pictures(scene).id)
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
