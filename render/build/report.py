"""Reports on a job: a line per scene and one of the film, in a run and by ``--explain``."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from render.base.failure import Failure
from render.base.reads import Json
from render.build.lecture import Lecture
from render.build.plan import Plan
from render.build.product import COST, Product
from render.build.screen import duration
from scenes import texts
from scenes.registry import SceneInfo

_MB = 1_000_000
_TEXTS = "captions and descriptions"


class Report:
    """Of one job of a run. ``told``: the videos that any job has reported; ``alone``: there is
    no other job, so that lines need not name the folder; ``brief``: what is up to date is reported
    on one line."""

    def __init__(
        self, lecture: Lecture, plan: Plan, told: set[Path], *, alone: bool, brief: bool
    ) -> None:
        self.lecture, self.plan, self.job = lecture, plan, lecture.job
        self.made = self.taken = 0
        self.film = ""  # what became of it
        self.failures: dict[str, Failure] = {}
        self._told, self._brief = told, brief or not alone
        self._shown = "" if alone else f"{self.job.out.name}/"
        #: the scenes that were up to date when the run began
        self.kept = [scene for scene in self.job.scenes if self._stays(*lecture.of(scene))]

    def _stays(self, *products: Product) -> bool:
        return all(self.plan.is_kept(product.id) for product in products)

    # -- in a run ------------------------------------------------------------------------------

    def first_lines(self) -> Iterator[str]:
        """What is up to date when a run begins."""
        job, count = self.job, len(self.kept)
        self._told.update(map(job.video, self.kept))
        if not self._brief:
            yield from (f"{job.video(scene)}: up to date" for scene in self.kept)
        elif count:
            yield f"{job.out}{job.of_track}: {count} of {len(job.scenes)} scenes up to date"

    def lines(self) -> Iterator[str]:
        """A line for each scene of which everything is settled by now, last the film."""
        waiting = False
        for scene in self.job.scenes:
            video = self.job.video(scene)
            if video not in self._told and self._is_over(scene):
                self._told.add(video)
                yield self._scene_line(scene)
            waiting = waiting or video not in self._told
        if not waiting and not self.film and self._is_over(None):
            yield self._film_line()

    def _is_over(self, scene: SceneInfo | None) -> bool:
        plan, products = self.plan, self.lecture.of(scene)
        return all(plan.is_settled(each.id) or plan.hindrance(each.id) for each in products)

    def _scene_line(self, scene: SceneInfo) -> str:
        failed = self._failure(self.lecture.video(scene), "cues", "sound")
        if failed:
            self.failures[scene.slug] = failed[1]
            return f"{self._shown}{scene.slug}: no video: {failed[1].line}{self._log(*failed)}"
        action = self.plan.steps[self.lecture.shown(scene).id].action
        self.taken += action == "take"
        self.made += action == "build"
        lacking = self._lacking("captions", self.lecture.sides(scene))
        lacking += self._lacking("cover", self.lecture.cover(scene))
        return f"{self.job.video(scene)}: {self._what_was_done(scene)}{lacking}"

    def _lacking(self, what: str, product: Product) -> str:
        """What a video has to do without, and why; empty where it has it."""
        failed, name = self._failure(product), self.lecture.path(product.scene).name
        if not failed:
            return ""
        self.failures[f"{name}: {what}"] = failed[1]
        return f"; {self._shown}{name}: no {what}: {failed[1].line}"

    def _what_was_done(self, scene: SceneInfo) -> str:
        """To a scene's video, which is in place."""
        lecture, steps = self.lecture, self.plan.steps
        shown, drawn = steps[lecture.shown(scene).id], steps[lecture.pictures(scene).id]
        if shown.action == "take":
            return "taken from the store"
        if shown.action == "build" and shown.made:
            facts = shown.made.facts
            cost = facts.get(COST) or (drawn.made and drawn.made.facts.get(COST)) or {}
            seconds, memory = duration(cost.get("seconds", 0)), cost.get("memory", 0) / _MB
            film = f"{facts['frames'] / facts['fps']:.1f} s of film in {seconds}"
            return f"{film}, {memory:.0f} MB of memory at most"
        if not self._stays(*lecture.sounds(scene).values()):
            return "pictures kept, new sound"
        if not self._stays(lecture.video(scene), lecture.sides(scene)):
            return f"{_TEXTS} regenerated"
        return "up to date" if self._stays(lecture.cover(scene)) else "cover drawn"

    def _failure(self, product: Product, *tolerated: str) -> tuple[str, Failure] | None:
        """What keeps a product from being made, and the step that failed."""
        if product.id in self.plan.failures:
            return product.id, self.plan.failures[product.id]
        if self.plan.is_settled(product.id) and product.kind != "sides":
            return None
        needs = (need for need in product.needs.values() if need.kind not in tolerated)
        return next(filter(None, (self._failure(need, *tolerated) for need in needs)), None)

    def _log(self, step: str, failure: Failure) -> str:
        log = self.plan.logs.get(step)
        if failure.mistake or log is None or not log.is_file():
            return ""
        logs, scene = self.job.out / "logs", self.plan.steps[step].product.scene
        name = f"{scene.slug if scene else 'lecture'}_{self.job.language}.txt"
        try:
            logs.mkdir(exist_ok=True)
            return f" (log: {shutil.copyfile(log, logs / name)})"
        except OSError as error:
            return f" (log: could not be saved, {error.strerror})"

    def _film_line(self) -> str:
        job, path = self.job, self.lecture.path(None)
        film, sides, cover = self.lecture.of(None)
        why = self._no_film(film)
        if why:
            self.film = "not made"
            if not path.exists() and not self.failures and len(job.scenes) < len(job.film):
                have = sum(job.video(scene).exists() for scene in job.film)
                return (
                    f"{self._shown}{path.name}: {have} of its {len(job.film)} scenes are there; "
                    "the same command without scene numbers makes the others and joins all"
                )
            how = "kept unchanged" if path.exists() else "not made"
            return f"{self._shown}{path.name} {how}: {why}"
        lacking = self._lacking("captions", sides)
        if self._stays(film):
            self.film = "up to date"
            stay = all(self._stays(each) or self.plan.hindrance(each.id) for each in (sides, cover))
            return f"{path}: {'up to date' if stay else f'{_TEXTS} regenerated'}{lacking}"
        self.film = "made"
        made, track = self.plan.steps[film.id].made, job.settings.track
        seconds = made.facts["frames"] / job.quality.fps if made else 0.0
        whole = "lecture" if track == "full" else f"{track} track"
        chapters = f"{len(job.film)} chapters"
        return f"{path}: the whole {whole}, {duration(seconds)}, {chapters}{lacking}"

    def _no_film(self, film: Product) -> str:
        """Why there is no film of these scenes; empty where there is one."""
        failure = self.plan.failures.get(film.id)
        if failure:
            self.failures[self.job.film_name] = failure
            return failure.line
        if self.failures and not self.plan.is_settled(film.id):
            return "not all scenes could be rendered"
        return self._out_of_date()

    def _out_of_date(self) -> str:
        for scene in self.job.film:
            drawn = self.lecture.pictures(scene), self.lecture.shown(scene)
            if not all(self.plan.is_settled(product.id) for product in drawn):
                video, why = self.job.video(scene), self.why(scene)
                missing = not video.exists() or not why
                return f"{video.name} is {'missing' if missing else f'out of date: {why[0]}'}"
        return ""

    # -- of a plan -----------------------------------------------------------------------------

    def explain(self, forced: bool, in_store: Sequence[str]) -> Iterator[str]:
        """What a run would do, and why. ``in_store``: steps that need not be made."""
        for scene in self.job.scenes:
            yield from self._explain_scene(scene, forced, in_store)
        film, sides, _ = self.lecture.of(None)
        made = f"up to date{self._stale(sides)}" if self._stays(film) else "to be joined"
        yield f"{self.job.film_name}: {self._out_of_date() or made}"

    def _explain_scene(
        self, scene: SceneInfo, forced: bool, in_store: Sequence[str]
    ) -> Iterator[str]:
        lecture, name, why = self.lecture, self.job.video_name(scene), self.why(scene)
        if forced and not why:
            yield f"{name}: up to date, rendered anyway (--force)"
        elif why:
            here = {lecture.pictures(scene).id, lecture.shown(scene).id} & {*in_store}
            yield f"{name}: {'in the store' if here and not forced else 'to be rendered'}"
            yield from (f"    {line}" for line in why)
        else:
            more = self._stale(lecture.video(scene), lecture.sides(scene))
            drawn = self._stays(lecture.cover(scene))
            yield f"{name}: up to date{more}{'' if drawn else '; its cover is to be drawn'}"

    def _stale(self, *products: Product) -> str:
        return "" if self._stays(*products) else f"; {_TEXTS} are to be regenerated"

    def why(self, scene: SceneInfo) -> list[str]:
        """Why a scene's video is to be made from other pictures or sounds, line by line."""
        if not self.job.video(scene).is_file():
            return ["there is no video"]
        lecture, steps = self.lecture, self.plan.steps
        drawn = lecture.pictures(scene), lecture.shown(scene)
        found = [line for product in drawn for line in steps[product.id].reasons]
        for beat, sound in lecture.sounds(scene).items():
            if not self.plan.is_settled(sound.id):
                how = "another one" if sound.record.is_file() else "new"
                found.append(f"recording {scene.slug}/{beat}: {how}")
        video = steps.get(lecture.video(scene).id)  # None: only its pictures are looked at
        if video and video.made is None and not found:
            found = [line for line in video.reasons if not line.startswith("cues ")]
        return list(dict.fromkeys(found))


def complaints(lecture: Lecture, plan: Plan) -> list[str]:
    """A line for each recording that is missing, cannot be used, or says something else."""
    if lecture.voice is None or lecture.voice.recordings is None:
        return []
    recordings, lines, said = lecture.voice.recordings, list[str](), dict[str, str]()
    for scene in lecture.job.scenes:
        sounds = lecture.sounds(scene)
        made = {beat: plan.now.made.get(sound.id) for beat, sound in sounds.items()}
        lines += [each.facts["bad"] for each in made.values() if each and "bad" in each.facts]
        failures = (plan.failures.get(sound.id) for sound in sounds.values())
        lines += [failure.line for failure in failures if failure]
        drawn = plan.now.made.get(lecture.pictures(scene).id)
        beats = drawn.facts["beats"] if drawn else ()
        fit = {beat for beat, each in made.items() if each and "bad" not in each.facts}
        good = [beat for beat in beats if beat["key"] in fit]
        silent = [beat["key"] for beat in beats if beat not in good]
        lines += recordings.missing(scene.slug, silent, len(good))
        for beat in good:
            said[f"{scene.slug}/{beat['key']}"] = _sentence(lecture.job.language, scene, beat)
    from render.voice.script import changed

    return [*recordings.complaints, *lines, *changed(said, recordings.folder)]


def _sentence(language: str, scene: SceneInfo, beat: Mapping[str, Json]) -> str:
    from render.voice import spoken

    key = beat["key"]
    template = texts.entry(language, scene.slug, "beats", key)
    facts = {name: _Shown(fact) for name, fact in beat["facts"].items()}
    return spoken.sentence(language, scene.slug, key, template, facts)


@dataclass(frozen=True)
class _Shown:
    """A fact as it was shown; whether it was a word or a number is not remembered."""

    text: str

    def __str__(self) -> str:
        return self.text
