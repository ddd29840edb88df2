"""One run of the front door: from what was asked for to videos in the output folders."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.errors import LectureError, one_line
from render.base.cores import usable_cores
from render.base.room import BYTES_PER_SECOND, check_free_space
from render.base.signals import stoppable
from render.base.workspace import STATE, Workspace, make_folder
from render.build import pool
from render.build.backlog import Job
from render.build.combination import Combination, exit_code, summary
from render.build.estimate import WEIGHTS, Estimate
from render.build.joiner import Joiner
from render.build.order import Order
from render.build.progress import Screen, duration
from render.build.records import expected_frames
from render.build.store.finished import Finished
from render.build.store.supply import Supply
from render.build.task import Failure, Result, Task
from scenes.registry import SceneInfo

_MB = 1_000_000
#: seconds until a shared folder shows what another machine has just written
_PATIENCE = (0.0, 0.5, 1.0, 2.0, 4.0)


@dataclass(frozen=True)
class _Commission:
    """A task's scene, its job, and whose it is: more than one order's where tracks share it."""

    scene: SceneInfo
    job: Job
    owners: list[Combination]


class Session:
    """Does one order or many as one list of jobs, telling its story line by line; is the pool's
    listener. Making one raises LectureError for weight files that are none."""

    def __init__(self, *orders: Order) -> None:
        self._combinations: list[Combination] = []
        for order in orders:
            like = self._combinations[-1] if self._combinations else None
            self._combinations.append(Combination(order, like, alone=len(orders) == 1))
        self._many = len(orders) > 1
        self._lengths: dict[tuple[str, str], int] = {}
        self._commissions: dict[str, _Commission] = {}  # by the task's folder
        self._store_failed = False
        self._say: Callable[[str], None] = _print

    def run(self) -> int:
        """Render what is not up to date, then join. Exit code: 0 all well, 2 a mistake in the
        input, 1 in the code."""
        idle = [combination.idle_lines() for combination in self._combinations]
        if None not in idle:
            for line in (line for lines in idle for line in lines or ()):
                _print(line)
        else:
            self._do(idle)
        self._combinations[0].state.keep()
        if self._many:
            for line in summary(self._combinations):
                _print(line)
        for combination in self._combinations:
            for line in combination.settle():
                print(f"render: {one_line(line)}", file=sys.stderr, flush=True)
        return exit_code(self._combinations) or (2 if self._store_failed else 0)

    @property
    def made_one_film(self) -> bool:
        """Whether there was one order only, and its film was joined in this run."""
        return [combination.film for combination in self._combinations] == ["made"]

    def _do(self, idle: list[list[str] | None]) -> None:
        """``idle``: of each combination, what to say where there is nothing to do."""
        from render.media import ffmpeg

        self._binary = ffmpeg.find()
        first = self._combinations[0].order
        with stoppable(), Workspace(first.out) as self._space, self._stocked() as self._supply:
            for combination in self._combinations[1:]:
                make_folder(combination.order.out / STATE)
            from_store = self._commission(first.jobs)
            jobs = [commission.job for commission in self._commissions.values()]
            check_free_space(self._needed())
            slots = max(1, min(first.jobs, len(jobs)))
            self._estimate = Estimate({job.task.folder: job.work for job in jobs}, slots)
            # with one order at the end; on a cluster, the cores here have nothing else to do
            beside = (usable_cores() if first.cluster else 1) if self._many else 0
            self._joiner = Joiner(self._make_film, beside)
            with Screen(self._estimate, len(jobs)) as self._screen, self._joiner:
                self._say = self._screen.say
                for combination, lines in zip(self._combinations, idle, strict=True):
                    rest = combination.refresh(self._space, self._binary)
                    for line in rest if lines is None else lines:
                        self._screen.say(line)
                    if lines is None and not combination.waiting:
                        self._joiner.join(combination)
                for line in from_store:
                    self._screen.say(line)
                self._render(jobs, slots)
        self._store_failed = self._supply.failed

    def _stocked(self) -> Supply:
        """The store of this run."""
        first = self._combinations[0].order
        self._store = first.store
        if first.cluster:
            from render.build.cluster.connect import store_for

            self._store = store_for(first.store, self._space.folder)
        return Supply(self._store, lambda line: self._say(line))

    def _render(self, jobs: list[Job], slots: int) -> None:
        """On this machine, or on the workers of a cluster."""
        cluster = self._combinations[0].order.cluster
        if not cluster or not jobs:
            pool.run(jobs, slots, self, lock=self._space.lock)
            return
        from render.build.cluster.connect import client
        from render.build.cluster.farm import Farm

        with client(cluster, self._space.fresh_folder("cluster")) as reached:
            store, mark = self._store.address, self._supply.mark
            kept = self._combinations[0].order.code_kept
            Farm(reached, store, mark, self._screen.say, kept).run(jobs, self)

    def _commission(self, threads: int) -> list[str]:
        """A job for each video that is to be made; returns what to say of those that the store
        has, which are put in place."""
        wanted: dict[Path, tuple[SceneInfo, list[Combination]]] = {}
        for combination in self._combinations:
            for scene in combination.scenes:
                video = combination.order.out / combination.order.video_name(scene)
                wanted.setdefault(video, (scene, []))[1].append(combination)
        told = {video: self._taken(*wanted[video]) for video in wanted}
        for scene, owners in [wanted.pop(video) for video, line in told.items() if line]:
            for combination in owners:
                combination.ended(scene, taken=True)
        for index, (scene, owners) in enumerate(wanted.values()):
            name = f"{scene.slug}_{index}" if self._many else scene.slug
            folder = self._space.folder / name
            quality = owners[0].order.quality
            length = self._length(owners[0].order, scene)
            cores = max(1, threads // len(wanted))
            task = owners[0].task(scene, folder, self._binary, cores, length)
            kind = json.dumps(owners[0].order.picture(scene), sort_keys=True)
            job = Job(task, length, WEIGHTS[quality.name], kind)
            self._commissions[task.folder] = _Commission(scene, job, owners)
        return [line for line in told.values() if line]

    def _length(self, order: Order, scene: SceneInfo) -> int:
        """Frames that the scene is thought to have."""
        key = order.video_name(scene), order.quality.name
        if key not in self._lengths:
            folders = [order.out, *sorted(order.out.parent.glob("*/"))]
            self._lengths[key] = expected_frames(key[0], order.quality, folders)
        return self._lengths[key]

    def _needed(self) -> dict[Path, float]:
        """Bytes that will surely be needed, by output folder; each video is there twice for a
        moment."""
        needed = {combination.order.out: 0.0 for combination in self._combinations}
        for commission in self._commissions.values():
            order = commission.owners[0].order
            seconds = commission.job.expected_frames / order.quality.fps
            needed[order.out] += 2 * seconds * BYTES_PER_SECOND[order.quality.name]
        return needed

    def _taken(self, scene: SceneInfo, owners: list[Combination]) -> str:
        """Put a scene in place that the store has, and return what to say; else nothing."""
        first = owners[0]
        if first.order.force:
            return ""
        folder = self._space.fresh_folder("stored")
        finished = self._supply.take(first.order, scene, first.state.now, folder)
        if not finished:
            return ""
        where = self._space, self._binary, scene
        final = first.publish(*where, first.beside.captioned(*where, finished))
        return f"{final}: taken from the store{first.not_captioned(scene)}"

    def wanted(self, task: Task) -> bool:
        """Not where another order of this run has meanwhile made the same."""
        commission = self._commissions[task.folder]
        if self._supply.failed and commission.owners[0].order.cluster:
            raise LectureError(where="--cluster", expected="a store to the end", found="none")
        line = self._taken(commission.scene, commission.owners) if self._supply.has_more else ""
        if line:
            self._screen.say(line)
            self._estimate.start(task.folder)
            self._over(commission, taken=True)
        return not line

    def has_slots(self, slots: int) -> None:
        """So many scenes are rendered at a time from now on."""
        self._estimate.slots = max(1, slots)

    def stored(self, task: Task) -> bool:
        """A worker elsewhere has put the scene into the store: put it in place. False if the store
        does not have what would be rendered here. Several tasks may be fetched at once, in threads.
        Raises LectureError where the video cannot be put in place."""
        commission = self._commissions[task.folder]
        order, now = commission.owners[0].order, commission.owners[0].state.now
        for wait in _PATIENCE:
            time.sleep(wait)
            folder = self._space.fresh_folder("stored")
            finished = self._supply.take(order, commission.scene, now, folder)
            if finished:
                self._supply.has_more = True
                self._publish(task, finished, keep=False)
                return True
            if self._supply.failed:
                break
        return False

    def fetched(self, task: Task) -> None:
        self._over(self._commissions[task.folder])

    def started(self, task: Task) -> None:
        self._estimate.start(task.folder)
        self._screen.update()

    def advanced(self, task: Task, frames: int) -> None:
        self._estimate.advance(task.folder, frames * self._commissions[task.folder].job.weight)
        self._screen.update()

    def ended(self, task: Task, outcome: Result | Failure) -> None:
        """Put the video in place, or say why there is none."""
        if isinstance(outcome, Failure):
            self._fail(task, outcome)
            return
        try:
            self._publish(task, Finished.of(task, outcome), keep=True)
        except LectureError as error:
            self._fail(task, Failure(str(error), mistake=True))
        else:
            self._over(self._commissions[task.folder])

    def _fail(self, task: Task, failure: Failure) -> None:
        commission = self._commissions[task.folder]
        self._screen.say(commission.owners[0].told(task, failure))
        self._over(commission, failure)

    def _publish(self, task: Task, finished: Finished, *, keep: bool) -> None:
        """``keep``: in the store, which does not have it yet."""
        commission, result = self._commissions[task.folder], finished.result
        first, where = commission.owners[0], (self._space, self._binary, commission.scene)
        finished = first.beside.captioned(*where, finished)
        if keep:
            self._supply.keep(finished)
        final = first.publish(*where, finished)
        told = (
            f"{final}: its pictures, with another sound"
            if task.kept
            else f"{final}: {result.frames / task.quality.fps:.1f} s of film in "
            f"{duration(result.seconds)}, {result.memory / _MB:.0f} MB of memory at most"
        )
        self._screen.say(f"{told}{first.not_captioned(commission.scene)}")

    def _over(
        self, commission: _Commission, failure: Failure | None = None, taken: bool = False
    ) -> None:
        self._estimate.end(commission.job.task.folder)
        self._screen.scene_ended()
        shutil.rmtree(commission.job.task.folder, ignore_errors=True)
        for combination in commission.owners:
            combination.ended(commission.scene, failure, taken=taken)
            if not combination.waiting:
                self._joiner.join(combination)

    def _make_film(self, combination: Combination) -> None:
        """Join the scenes of a combination. Raises LectureError where it is the only one."""
        try:
            self._screen.say(combination.make_film(self._space, self._binary))
        except LectureError as error:
            if not self._many:
                error.found = f"{error.found}; the scenes are finished, in {combination.order.out}"
                raise
            self._screen.say(combination.film_failed(error))


def _print(line: str) -> None:
    print(one_line(line), flush=True)
