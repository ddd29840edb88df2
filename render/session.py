"""One run of the front door: from what was asked for to videos in the output folder."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path

from engine.errors import LectureError
from render import ffmpeg, pool
from render.estimate import Estimate
from render.metadata import Origin
from render.progress import Screen, duration
from render.quality import Quality
from render.records import expected_frames, write_record
from render.signals import stoppable
from render.task import Failure, Result, Task
from render.workspace import Workspace
from scenes import texts
from scenes.registry import SceneInfo
from scenes.settings import Settings, file_digest

_MB = 1_000_000
#: of finished video, at the least: what surely does not fit is refused before it starts
_BYTES_PER_SECOND = {"draft": 30_000, "standard": 80_000, "high": 90_000, "4k": 300_000}


@dataclass(frozen=True)
class Order:
    """What was asked for: ``scenes`` are to be rendered, ``everything`` is what the track's film
    consists of; both in film order."""

    scenes: tuple[SceneInfo, ...]
    everything: tuple[SceneInfo, ...]
    quality: Quality
    settings: Settings
    out: Path
    jobs: int

    @property
    def language(self) -> str:
        return str(self.settings.language)

    def video_name(self, scene: SceneInfo) -> str:
        """Letters, digits and _ only, as some platforms demand: ``08_attention_scores_zh.mp4``.
        The title card (number 0) differs from track to track."""
        track = f"_{self.settings.track}" if scene.number == 0 else ""
        return f"{scene.slug}{track}_{self.language}.mp4"

    @property
    def film_name(self) -> str:
        track = self.settings.track
        return "lecture.mp4" if track == "full" else f"lecture_{track}.mp4"

    def title(self, scene: SceneInfo) -> str:
        try:
            return str(texts.load(self.language)[scene.slug]["title"])
        except KeyError:
            return str(scene.slug).replace("_", " ")


def digest(settings: Settings) -> str:
    """What a video depends on besides scene, language and quality, in 16 hexadecimal digits:
    the contents of both weight files, which must be good, and the sentences."""
    import engine

    parts = []
    for path in (settings.weights, settings.weights_for_inference):
        engine.load_weights(path)
        parts.append(file_digest(path))
    parts += [settings.source, settings.target]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


class Session:
    """Does an :class:`Order`, telling its story line by line; is the pool's listener."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.origin = Origin(order.language, order.quality.name, digest(order.settings))
        self.binary = ffmpeg.find()
        self._scenes = {scene.slug: scene for scene in order.scenes}
        self._failures: list[Failure] = []

    def run(self) -> int:
        """Render, then join. Exit code: 0 all well, 2 a mistake in the input, 1 in the code."""
        with stoppable(), Workspace(self.order.out) as self._space:
            jobs = [self._job(scene) for scene in self.order.scenes]
            _check_free_space(self.order, sum(job.expected_frames for job in jobs))
            expected = {job.task.slug: job.expected_frames for job in jobs}
            slots = min(self.order.jobs, len(jobs))
            self._estimate = Estimate(expected, slots)
            with Screen(self._estimate, len(jobs)) as self._screen:
                pool.run(jobs, slots, self, lock=self._space.lock)
                self._make_film()
        if not self._failures:
            return 0
        return 2 if all(failure.mistake for failure in self._failures) else 1

    def _job(self, scene: SceneInfo) -> pool.Job:
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
            weights_digest=self.origin.weights,
            folder=str(self._space.task_folder(scene.slug)),
            ffmpeg=self.binary,
            threads=max(1, order.jobs // len(order.scenes)),
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
        name = self.order.video_name(self._scenes[task.slug])
        self._space.publish(task.numbers, f"{Path(name).stem}.numbers.json")
        final = self._space.publish(task.video, name)
        write_record(self.order.out, name, task, result)
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

        order = self.order
        videos = [film.SceneVideo(order.video_name(s), order.title(s)) for s in order.everything]
        parts = film.snapshot(self._space, videos, self.origin)
        if self._failures:
            parts = "not all scenes could be rendered"
        if isinstance(parts, str):
            there = (order.out / order.film_name).exists()
            state = "left as it was" if there else "not made"
            self._screen.say(f"{order.film_name} {state}: {parts}")
            return
        path = film.join(
            self._space, order.film_name, parts, self.origin, order.quality, self.binary
        )
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
