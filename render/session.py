"""One run of the front door: from what was asked for to videos in the output folder."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from engine.errors import LectureError, one_line
from render import pool
from render.estimate import Estimate
from render.incremental.stamps import stamp
from render.incremental.state import State
from render.metadata import Origin
from render.order import Order
from render.progress import Screen, duration
from render.records import describe, expected_frames, write_record
from render.signals import stoppable
from render.task import Failure, Result, Task
from render.workspace import Workspace
from scenes.registry import SceneInfo

_MB = 1_000_000
#: of finished video, at the least: what surely does not fit is refused before it starts
_BYTES_PER_SECOND = {"draft": 30_000, "standard": 80_000, "high": 90_000, "4k": 300_000}


class Session:
    """Does an :class:`Order`, telling its story line by line; is the pool's listener."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.state = State(order)
        self._scenes = {scene.slug: scene for scene in order.scenes}
        self._failures: list[Failure] = []

    def run(self) -> int:
        """Render what is not up to date, then join. Exit code: 0 all well, 2 a mistake in the
        input, 1 in the code."""
        order, state = self.order, self.state
        scenes = [scene for scene in order.scenes if order.force or state.reasons(scene)]
        rest = [order.out / order.video_name(s) for s in order.scenes if s not in scenes]
        if not scenes and self._nothing_to_join(rest):
            state.keep()
            return 0
        from render import ffmpeg

        self.binary = ffmpeg.find()
        with stoppable(), Workspace(order.out) as self._space:
            jobs = [self._job(scene, len(scenes)) for scene in scenes]
            _check_free_space(order, sum(job.expected_frames for job in jobs))
            expected = {job.task.slug: job.expected_frames for job in jobs}
            slots = max(1, min(order.jobs, len(jobs)))
            self._estimate = Estimate(expected, slots)
            with Screen(self._estimate, len(jobs)) as self._screen:
                for path in rest:
                    self._screen.say(f"{path}: up to date")
                pool.run(jobs, slots, self, lock=self._space.lock)
                self._make_film()
        state.keep()
        if not self._failures:
            return 0
        return 2 if all(failure.mistake for failure in self._failures) else 1

    def _nothing_to_join(self, videos: Sequence[Path]) -> bool:
        """With all scenes up to date: whether the film is too, or cannot be made; then says so."""
        order, parts = self.order, self.state.parts()
        if isinstance(parts, str):
            film = self._no_film(parts)
        elif self.state.film_is_up_to_date(parts):
            film = f"{order.out / order.film_name}: up to date"
        else:
            return False
        for line in (*(f"{path}: up to date" for path in videos), film):
            print(one_line(line), flush=True)
        return True

    def _no_film(self, why: str) -> str:
        there = (self.order.out / self.order.film_name).exists()
        return f"{self.order.film_name} {'left as it was' if there else 'not made'}: {why}"

    def _job(self, scene: SceneInfo, scenes: int) -> pool.Job:
        order = self.order
        task = Task(
            slug=scene.slug,
            module=scene.module,
            class_name=scene.class_name,
            title=order.title(scene),
            language=order.language,
            quality_name=order.quality.name,
            weights=str(order.settings.weights.absolute()),
            inference_weights=str(order.settings.weights_for_inference.absolute()),
            source=order.settings.source,
            target=order.settings.target,
            track=order.settings.track,
            code_kept=str(order.code_kept.absolute()),
            folder=str(self._space.task_folder(scene.slug)),
            ffmpeg=self.binary,
            threads=max(1, order.jobs // scenes),
            renderer=order.renderer,
        )
        folders = [order.out, *sorted(order.out.parent.glob("*/"))]
        name = order.video_name(scene)
        return pool.Job(task, expected_frames(name, order.quality, folders))

    def started(self, task: Task) -> None:
        self._estimate.start(task.slug)
        self._screen.update()

    def advanced(self, task: Task, frames: int) -> None:
        self._estimate.advance(task.slug, frames)
        self._screen.update()

    def ended(self, task: Task, outcome: Result | Failure) -> None:
        """Put the video in place, or say why there is none."""
        if isinstance(outcome, Result):
            try:
                self._publish(task, outcome)
            except LectureError as error:
                outcome = Failure(str(error), mistake=True)
        if isinstance(outcome, Failure):
            self._fail(task, outcome)
        self._estimate.end(task.slug)
        self._screen.scene_ended()
        shutil.rmtree(task.folder, ignore_errors=True)

    def _publish(self, task: Task, result: Result) -> None:
        scene = self._scenes[task.slug]
        name, described = self.order.video_name(scene), describe(task)
        self._space.publish(task.numbers, self.order.numbers_name(scene))
        final = self._space.publish(task.video, name)
        write_record(self.order.out, name, task, result, described)
        self._screen.say(
            f"{final}: {result.frames / task.quality.fps:.1f} s of film in "
            f"{duration(result.seconds)}, {result.memory / _MB:.0f} MB of memory at most"
        )

    def _fail(self, task: Task, failure: Failure) -> None:
        self._failures.append(failure)
        where = ""
        if not failure.mistake:
            where = f" (log: {self._keep_log(task)})"
        self._screen.say(f"{task.slug}: no video: {failure.line}{where}")

    def _keep_log(self, task: Task) -> Path | str:
        logs = self.order.out / "logs"
        try:
            logs.mkdir(exist_ok=True)
            return Path(shutil.copyfile(task.log, logs / f"{task.slug}_{task.language}.txt"))
        except OSError as error:
            return f"could not be kept, {error.strerror}"

    def _make_film(self) -> None:
        from render import film

        order, state = self.order, self.state
        checked = "not all scenes could be rendered" if self._failures else state.parts()
        if isinstance(checked, str):
            self._screen.say(self._no_film(checked))
            return
        if state.film_is_up_to_date(checked):
            self._screen.say(f"{order.out / order.film_name}: up to date")
            return
        videos = [film.SceneVideo(part.name, part.title, part.origin) for part in checked]
        parts = film.snapshot(self._space, videos)
        if isinstance(parts, str):
            self._screen.say(self._no_film(parts))
            return
        key = state.film_key(checked)
        origin = Origin(order.language, order.quality.name, key)
        finished = film.join(order.film_name, parts, origin, order.quality, self.binary)
        stamped = stamp(finished)
        path = self._space.publish(finished, order.film_name)
        state.note_film(key, stamped)
        seconds = sum(part.frames for part in parts) / order.quality.fps
        self._screen.say(f"{path}: the whole lecture, {duration(seconds)}, {len(parts)} chapters")


def _check_free_space(order: Order, frames: int) -> None:
    """Raise LectureError where the videos plainly do not fit; each is there twice for a moment."""
    needed = 2 * frames / order.quality.fps * _BYTES_PER_SECOND[order.quality.name]
    free = shutil.disk_usage(order.out).free
    if free < needed:
        raise LectureError(
            where=order.out,
            field="disk",
            expected=f"about {needed / _MB:.0f} MB free",
            found=f"{free / _MB:.0f} MB",
        )
