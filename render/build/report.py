"""Reports on a job: a line per scene and one of the film, in a run and by ``--explain``."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from render.base.failure import Failure
from render.base.reads import Made
from render.build.lecture import Lecture
from render.build.plan import Plan
from render.build.product import COST, Product
from render.build.products import Burned, Cover, Cues, Pictures, Sides, Sound
from render.build.screen import duration
from scenes.registry import SceneInfo

_MB = 1_000_000
_NAMED = 4  # scenes that --watch names
_TEXTS = "captions and descriptions"


class Report:
    """Of one job of a run. ``told``: the videos that any job has reported; ``alone``: there is
    no other job, so that lines need not name the folder;
    ``brief``: what is up to date is reported on one line."""

    def __init__(
        self, lecture: Lecture, plan: Plan, told: set[Path], *, alone: bool, brief: bool
    ) -> None:
        self.lecture = lecture
        self.plan = plan
        self.job = lecture.job
        self.made = self.taken = 0
        self.film = ""  # what became of it
        self.failures: dict[str, Failure] = {}
        self.logs: dict[str, Path] = {}  # of what failed, by step
        self._brief = brief or not alone
        self._shown = "" if alone else f"{self.job.out.name}/"
        self._told = told
        self._kept = [scene for scene in self.job.scenes if self._is_kept(scene)]

    @property
    def up_to_date(self) -> int:
        return len(self._kept)

    def _is_kept(self, scene: SceneInfo) -> bool:
        return all(self.plan.is_kept(each.id) for each in self.lecture.of_scene(scene))

    # -- in a run ------------------------------------------------------------------------------

    def first_lines(self) -> Iterator[str]:
        """What is up to date when a run begins."""
        self._told.update(self.job.video(scene) for scene in self._kept)
        job, count = self.job, len(self._kept)
        if not self._brief:
            yield from (f"{job.video(scene)}: up to date" for scene in self._kept)
        elif count:
            yield f"{job.out}{job.of_track}: {count} of {len(job.scenes)} scenes up to date"

    def lines(self) -> Iterator[str]:
        """A line for each scene of which everything is settled by now, last the film."""
        for scene in self.job.scenes:
            video = self.job.video(scene)
            if video not in self._told and self._is_over(self.lecture.of_scene(scene)):
                self._told.add(video)
                yield self._scene_line(scene)
        waiting = any(self.job.video(scene) not in self._told for scene in self.job.scenes)
        if not waiting and not self.film and self._is_over(self.lecture.of_film()):
            yield self._film_line()

    def _is_over(self, products: Iterator[Product]) -> bool:
        plan = self.plan
        return all(plan.is_settled(each.id) or plan.hindrance(each.id) for each in products)

    def _scene_line(self, scene: SceneInfo) -> str:
        job, plan = self.job, self.plan
        name, final = job.video_name(scene), job.video(scene)
        video = self.lecture.video(scene)
        failure = self._failure(video, Cues, Sound)
        if failure:
            self.failures[scene.slug] = failure[1]
            return f"{self._shown}{scene.slug}: no video: {failure[1].line}{self._log(*failure)}"
        said, shown = self._what_was_done(scene), self.lecture.shown(scene)
        for product, what in (
            (self.lecture.sides(scene), "captions"),
            (self.lecture.cover(scene), "cover"),
        ):
            failure = self._failure(product)
            if failure:
                self.failures[f"{name}: {what}"] = failure[1]
                said += f"; {self._shown}{name}: no {what}: {failure[1].line}"
        if plan.steps[shown.id].action == "take":
            self.taken += 1
        elif plan.steps[shown.id].action == "build":
            self.made += 1
        return f"{final}: {said}"

    def _what_was_done(self, scene: SceneInfo) -> str:
        """To a scene's video, which is in place."""
        plan, video = self.plan, self.lecture.video(scene)
        pictures, shown = self.lecture.pictures(scene), self.lecture.shown(scene)
        step = plan.steps[shown.id]
        if step.action == "take":
            return "taken from the store"
        if not plan.is_kept(shown.id):
            made, drawn = step.made, plan.steps[pictures.id].made
            assert made is not None
            cost = made.facts.get(COST) or (drawn.facts.get(COST) if drawn else None) or {}
            return (
                f"{made.facts['frames'] / made.facts['fps']:.1f} s of film in "
                f"{duration(cost.get('seconds', 0))}, {cost.get('memory', 0) / _MB:.0f} MB of "
                "memory at most"
            )
        sounds = video.needs().items()
        if any(not plan.is_kept(n.id) for role, n in sounds if role.startswith("sound ")):
            return "pictures kept, new sound"
        if not plan.is_kept(video.id) or not plan.is_kept(self.lecture.sides(scene).id):
            return f"{_TEXTS} regenerated"
        return "up to date" if plan.is_kept(self.lecture.cover(scene).id) else "cover drawn"

    def _failure(self, product: Product, *tolerated: type[Product]) -> tuple[str, Failure] | None:
        """What keeps a product from being made, and the step that failed."""
        plan = self.plan
        if product.id in plan.failures:
            return product.id, plan.failures[product.id]
        for need in product.needs().values():
            found = None if isinstance(need, tolerated) else self._failure(need, *tolerated)
            if found and not plan.is_settled(product.id):
                return found
            if found and isinstance(product, Sides):
                return found
        return None

    def _log(self, step: str, failure: Failure) -> str:
        """Keep the log of what failed, and say where."""
        if failure.mistake or step not in self.logs:
            return ""
        logs, product = self.job.out / "logs", self.plan.steps[step].product
        slug = product.scene.slug if isinstance(product, Pictures | Burned | Cover) else "lecture"
        try:
            logs.mkdir(exist_ok=True)
            kept = shutil.copyfile(self.logs[step], logs / f"{slug}_{self.job.language}.txt")
            return f" (log: {kept})"
        except OSError as error:
            return f" (log: could not be saved, {error.strerror})"

    def _film_line(self) -> str:
        job, plan, film = self.job, self.plan, self.lecture.film
        path = job.out / job.film_name
        why = self._no_film()
        if why:
            self.film = "not made"
            if not path.exists() and not self.failures and len(job.scenes) < len(job.film):
                have = sum(job.video(scene).exists() for scene in job.film)
                return (
                    f"{self._shown}{job.film_name}: {have} of its {len(job.film)} scenes are "
                    "there; the same command without scene numbers makes the others and joins all"
                )
            how = "kept unchanged" if path.exists() else "not made"
            return f"{self._shown}{job.film_name} {how}: {why}"
        failure = self._failure(self.lecture.film_sides)
        more = ""
        if failure:
            self.failures[f"{job.film_name}: captions"] = failure[1]
            more = f"; {self._shown}{job.film_name}: no captions: {failure[1].line}"
        if plan.is_kept(film.id):
            self.film = "up to date"
            sides = (*self.lecture.of_film(),)[1:]
            stay = all(plan.is_kept(each.id) or plan.hindrance(each.id) for each in sides)
            return f"{path}: {'up to date' if stay else f'{_TEXTS} regenerated'}{more}"
        self.film = "made"
        made = plan.steps[film.id].made
        assert made is not None
        seconds = made.facts["frames"] / job.quality.fps
        track = job.settings.track
        whole = "lecture" if track == "full" else f"{track} track"
        return f"{path}: the whole {whole}, {duration(seconds)}, {len(job.film)} chapters{more}"

    def _no_film(self) -> str:
        """Why there is no film of these scenes; empty where there is one."""
        film = self.lecture.film
        if film.id in self.plan.failures:
            failure = self.plan.failures[film.id]
            self.failures[self.job.film_name] = failure
            return failure.line
        if self.failures and not self.plan.is_settled(film.id):
            return "not all scenes could be rendered"
        return self._out_of_date()

    def _out_of_date(self) -> str:
        """The first scene of the film that is not up to date, and why."""
        for scene in self.job.film:
            name = self.job.video_name(scene)
            for product in (self.lecture.pictures(scene), self.lecture.shown(scene)):
                if not self.plan.is_settled(product.id):
                    reasons = self.plan.reasons(product)
                    if not (self.job.out / name).exists() or not reasons:
                        return f"{name} is missing"
                    return f"{name} is out of date: {reasons[0].line}"
        return ""

    def out_of_date(self) -> str:
        """What of the film is not up to date; empty where all is."""
        for scene in self.job.film:
            if not self.plan.is_settled(self.lecture.pictures(scene).id):
                name = self.job.video_name(scene)
                there = (self.job.out / name).is_file()
                return f"{name} is {'out of date' if there else 'missing'}"
        if not all(self.plan.is_kept(each.id) for each in self.lecture.of_film()):
            return f"{self.job.film_name} or its captions are out of date"
        return ""

    # -- of a plan -----------------------------------------------------------------------------

    def explain(self, forced: bool, in_store: Sequence[str]) -> Iterator[str]:
        """What a run would do, and why. ``in_store``: steps that need not be made."""
        for scene in self.job.scenes:
            yield from self._explain_scene(scene, forced, in_store)
        out_of_date = self._out_of_date()
        name, film = self.job.film_name, self.lecture.film
        if out_of_date:
            yield f"{name}: {out_of_date}"
        elif not self.plan.is_kept(film.id):
            yield f"{name}: to be joined"
        else:
            stale = not self.plan.is_kept(self.lecture.film_sides.id)
            yield f"{name}: up to date{f'; {_TEXTS} are to be regenerated' if stale else ''}"

    def _explain_scene(
        self, scene: SceneInfo, forced: bool, in_store: Sequence[str]
    ) -> Iterator[str]:
        plan, name = self.plan, self.job.video_name(scene)
        pictures, shown = self.lecture.pictures(scene), self.lecture.shown(scene)
        video = self.lecture.video(scene)
        reasons = self.why(scene)
        if forced and not reasons:
            yield f"{name}: up to date, rendered anyway (--force)"
        elif reasons:
            here = not forced and {pictures.id, shown.id} & set(in_store)
            yield f"{name}: {'in the store' if here else 'to be rendered'}"
            yield from (f"    {line}" for line in reasons)
        else:
            stale = not (plan.is_kept(video.id) and plan.is_kept(self.lecture.sides(scene).id))
            more = f"; {_TEXTS} are to be regenerated" if stale else ""
            if not plan.is_kept(self.lecture.cover(scene).id):
                more += "; its cover is to be drawn"
            yield f"{name}: up to date{more}"

    def why(self, scene: SceneInfo) -> list[str]:
        """Why a scene's video is to be made from other pictures or sounds, line by line."""
        plan, found = self.plan, list[str]()
        if not self.job.video(scene).is_file():
            return ["there is no video"]
        for product in (self.lecture.pictures(scene), self.lecture.shown(scene)):
            found += [reason.line for reason in plan.steps[product.id].reasons]
        for beat, sound in self.lecture.sounds(scene).items():
            if plan.steps[sound.id].made is None and sound.id not in plan.failures:
                how = "another one" if sound.record.is_file() else "new"
                found.append(f"recording {scene.slug}/{beat}: {how}")
        video = plan.steps[self.lecture.video(scene).id]
        if video.made is None and not found:
            found += [
                reason.line
                for reason in video.reasons
                if not (reason.input and reason.input.name.startswith("cues "))
            ]
        return list(dict.fromkeys(found))

    def cost(self, scene: SceneInfo) -> Made | None:
        """The record of a scene's pictures."""
        return self.plan.steps[self.lecture.pictures(scene).id].made


def announcement(reports: Sequence[Report], forced: bool) -> str:
    """What is about to be rendered and why, in a line; empty if nothing is."""
    told = []
    for report in reports:
        for scene in report.job.scenes:
            why = report.why(scene)
            if why or forced:
                name = report.job.video_name(scene)
                shown = f"{report.job.out.name}/{name}" if len(reports) > 1 else name
                told.append(f"{shown} ({why[0] if why else '--force'})")
    more = f" and {len(told) - _NAMED} more" if len(told) > _NAMED else ""
    return f"rendering {', '.join(told[:_NAMED])}{more}" if told else ""


def summary(reports: Sequence[Report]) -> Iterator[str]:
    """The end of a run with many jobs: how much was made, and everything that was not."""
    made = sum(each.made for each in reports)
    taken = sum(each.taken for each in reports)
    from_store = f"{taken} taken from the store, " if taken else ""
    same = sum(each.up_to_date for each in reports)
    failed = sum(len(each.failures) for each in reports)
    films = sum(each.film == "made" for each in reports)
    yield (
        f"{len(reports)} renders: {made} scenes made, {from_store}"
        f"{same} up to date, {failed} failed; {films} films joined"
    )
    for each in reports:
        for name, failure in each.failures.items():
            yield f"    {each.job.out.name}/{name}{each.job.of_track}: {failure.line}"


def exit_code(reports: Sequence[Report], complaints: int) -> int:
    """0 all well, 2 a mistake in the input, 1 in the code or among the recordings."""
    failures = [failure for each in reports for failure in each.failures.values()]
    if not failures:
        return 1 if complaints else 0
    return 2 if all(failure.mistake for failure in failures) else 1
