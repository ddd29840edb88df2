"""One run: from jobs to files in their folders, told line by line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import LectureError, one_line
from render.base.failure import Failure
from render.base.files import (
    STATE,
    Workspace,
    check_free_space,
    make_folder,
)
from render.base.process import stoppable
from render.base.reads import Made
from render.build.delivery import Delivery
from render.build.inputs import Now
from render.build.job import How, Job
from render.build.lecture import Lecture
from render.build.plan import Plan
from render.build.product import Product, Step, Work
from render.build.products import Pictures, Video
from render.build.report import Report, announcement, exit_code, summary
from render.build.screen import Estimate, Screen
from render.build.storage.cache import Cache
from render.build.storage.choice import CacheChoice
from render.media.quality import BYTES_PER_SECOND

if TYPE_CHECKING:
    from render.build.workers.pool import LocalPool
    from render.build.workers.worker import Event

WATCHED = "LECTURE_WATCHED"  # set in the environment of a render that --watch starts


class Run:
    """Makes what of ``jobs`` is not up to date. Making one raises LectureError for what cannot be:
    invalid weight files, no ffmpeg, no folder of recordings."""

    def __init__(self, jobs: Sequence[Job], how: How | None = None) -> None:
        self.how = how or How()
        self.now = Now(jobs[0].out / STATE)
        for job in jobs:
            self.now.passes(job.values())  # so that invalid weight files are reported first
        self.lectures = [Lecture.of(job) for job in jobs]
        products = [product for lecture in self.lectures for product in lecture.products()]
        self.plan = Plan(products, self.now, self._is_forced)
        alone, brief = len(jobs) == 1, bool(os.environ.get(WATCHED))
        told: set[Path] = set()
        self.reports = [
            Report(lecture, self.plan, told, alone=alone, brief=brief) for lecture in self.lectures
        ]
        self._lost: set[str] = set()
        self._folders: dict[str, Path] = {}
        self._given: set[str] = set()  # steps that were given out
        self._slots: set[str] = set()  # the heavy ones among them

    @property
    def made_one_film(self) -> bool:
        """Whether there was one job only, and its film was joined in this run."""
        return [report.film for report in self.reports] == ["made"]

    def explain(self) -> Iterator[str]:
        """What would be made, and why; makes and writes nothing."""
        stored = [] if self.how.force else self._in_store()
        for report in self.reports:
            if len(self.reports) > 1:
                yield f"{report.job.out}{report.job.of_track}:"
            yield from report.explain(self.how.force, stored)

    def announcement(self) -> str:
        """What is about to be rendered and why, in a line; empty if nothing is."""
        return announcement(self.reports, self.how.force)

    def as_they_are(self, command: str) -> Iterator[str]:
        """What is out of date, a line each. Raises LectureError, with the ``command`` that renders
        it, where a film is missing."""
        for report in self.reports:
            job, why = report.job, report.out_of_date()
            film = job.out / job.film_name
            if why and not film.is_file():
                expected = f"a film (type: {command})"
                raise LectureError(where=film, expected=expected, found=f"none, {why}")
            if why:
                yield f"{job.out}: {why}; published as it is (to render: {command})"
        yield from (line for lecture in self.lectures for line in lecture.complaints(self.plan))

    def make(self) -> int:
        """Make it. Exit code: 0 all well, 2 a mistake in the input, 1 in the code."""
        failed = False
        if self.plan.is_idle:
            for report in self.reports:
                for line in (*report.first_lines(), *report.lines()):
                    print(one_line(line), flush=True)
        else:
            failed = self._work()
        self.now.table.keep()
        for lecture in self.lectures:
            if lecture.voice:
                lecture.voice.tidy(lecture.job.out / STATE)
        if len(self.reports) > 1:
            for line in summary(self.reports):
                print(one_line(line), flush=True)
        complaints = [line for lecture in self.lectures for line in lecture.complaints(self.plan)]
        for line in complaints:
            print(f"render: {one_line(line)}", file=sys.stderr, flush=True)
        return exit_code(self.reports, len(complaints)) or (2 if failed else 0)

    def _is_forced(self, product: Product) -> bool:
        own = isinstance(product, Video) and not product.of_film
        return self.how.force and (own or isinstance(product, Pictures))

    def _in_store(self) -> list[str]:
        """Steps whose products the cache has."""
        cache = Cache(self.how.cache, looking=True)
        due = [step for step in self.plan.ready() if step.product.cached]
        return [step.id for step in due if cache.find(step.product, self.now)]

    # -- making --------------------------------------------------------------------------------

    def _work(self) -> bool:
        """Make everything that is due; returns whether a cache that was named has failed."""
        first = self.lectures[0].job
        self.now.ffmpeg()  # so that a missing one is reported first
        with stoppable(), Workspace(first.out) as self._space:
            for lecture in self.lectures[1:]:
                make_folder(lecture.job.out / STATE)
            drawn = [s for s in self.plan.due() if s.product.heavy]
            check_free_space(self._needed(drawn))
            works = {step.id: step.product.work() for step in drawn if step.product.work()}
            slots = max(1, min(self.how.processes, len(drawn)))
            self._estimate = Estimate(works, slots)
            with (
                Screen(self._estimate, len(works)) as self._screen,
                Cache(self._choice(), self._screen.say) as self._cache,
                self._pool(slots if drawn else 0) as self._pool_now,
            ):
                self._delivery = Delivery(self.plan, self._cache, self._space)
                for report in self.reports:
                    self._say(report.first_lines())
                self._loop()
            return self._cache.failed

    def _pool(self, slots: int) -> LocalPool:
        """The processes of this machine, or those of a cluster."""
        if self.how.cluster is None:
            from render.build.workers.pool import LocalPool

            return LocalPool(slots, self._space.lock)
        from render.build.workers.cluster import ClusterPool

        scratch = self._space.fresh_folder("cluster")
        return ClusterPool(self.how.cluster, self._cache, scratch, self._screen.say)

    def _choice(self) -> CacheChoice:
        """The cache of this run; on a cluster there must be one."""
        if self.how.cluster is None:
            return self.how.cache
        from render.build.workers.cluster import cache_for

        return cache_for(self.how.cache, self._space.folder)

    def _loop(self) -> None:
        running, over = 0, 1
        while True:
            if over:
                running += self._give_out()
                for report in self.reports:
                    self._say(report.lines())
            if not running:
                return
            over = sum(map(self._heed, self._pool_now.events(timeout=1.0)))
            running -= over

    def _give_out(self) -> int:
        """Take from the cache what it has; give out the rest, as far as there are slots. Returns
        how many steps were given out."""
        given, again = 0, True
        while again:
            again = False
            for step in self.plan.ready():
                if self._waits(step):
                    continue
                if self._take(step):
                    again = True
                    break
                try:
                    work = self._work_of(step)
                except LectureError as error:
                    self._fail(step, Failure.of(error))
                    again = True
                    break
                self._pool_now.submit(work)
                self.plan.begin(step)
                self._given.add(step.id)
                given += 1
                if step.product.heavy:
                    self._slots.add(step.id)
        return given

    def _waits(self, step: Step) -> bool:
        """Whether there is no slot for a step now."""
        return step.product.heavy and len(self._slots) >= self._pool_now.slots

    def _work_of(self, step: Step) -> Work:
        """What a worker needs for a step. Raises LectureError where a file of a need has just
        become another one."""
        product = step.product
        before = self.now.before(product)
        assert before is not None
        folder = self._folder(product)
        cover = self._cover_of(product)
        return Work(
            step=step.id,
            kind=product.kind,
            maker=product.maker,
            checker=product.checker,
            spec=product.spec(),
            needs=self._delivery.needs(product),
            settings=product.settings(),
            modules=product.modules(),
            inputs=before,
            aside=tuple(sorted(product.aside)),
            folder=str(folder),
            threads=max(1, self.how.processes // self._estimate.slots),
            heavy=product.heavy,
            spoken=product.spoken(self.now),
            also=self._work_of(cover) if cover else None,
        )

    def _cover_of(self, product: Product) -> Step | None:
        """The cover that the same play yields, if it is due."""
        if not isinstance(product, Pictures):
            return None
        step = self.plan.steps.get(product.lecture.cover(product.scene).id)
        due = step and not self.plan.is_settled(step.id)
        return step if due else None

    def _folder(self, product: Product) -> Path:
        """A private folder's name, not made yet."""
        folder, number = self._space.folder / product.name, 2
        while folder in self._folders.values():
            folder, number = self._space.folder / f"{product.name}_{number}", number + 1
        self._folders[product.id] = folder
        return folder

    # -- what has happened ---------------------------------------------------------------------

    def _heed(self, event: Event) -> int:
        """Take note of an event; returns how many steps are over by it."""
        step = self.plan.steps[event.step]
        if event.kind == "started":
            if step.id in self._estimate:
                self._estimate.start(step.id)
        elif event.kind == "frames":
            if step.id in self._estimate:
                self._estimate.advance(step.id, event.frames * step.product.weight)
        elif event.kind == "made":
            assert event.made is not None
            self._put(step, event.made)
            return self._over(step)
        elif event.failure is not None:
            if event.kind == "lost" and step.id not in self._lost:
                self._lost.add(step.id)
                self._screen.say(f"{step.product.name}: {event.failure.line}; it is tried again")
                self.plan.put_back(step)
            else:
                self._fail(step, event.failure)
            return self._over(step)
        self._screen.update()
        return 0

    def _over(self, step: Step) -> int:
        """A step is over; 0 for a cover that came with the pictures."""
        if step.id not in self._given:
            return 0
        self._given.discard(step.id)
        self._slots.discard(step.id)
        if step.id in self._estimate:
            self._estimate.end(step.id)
            self._screen.scene_ended()
        return 1

    def _fail(self, step: Step, failure: Failure) -> None:
        folder = self._folders.get(step.id)
        if folder is not None and (folder / "log.txt").is_file():
            for report in self.reports:
                report.logs[step.id] = folder / "log.txt"
        self.plan.failed(step, failure)

    def _take(self, step: Step) -> bool:
        """Put a product in place that the cache has."""
        made = None if self._is_forced(step.product) else self._delivery.taken(step.product)
        if made is not None:
            self._put(step, made, taken=True)
        return made is not None

    def _put(self, step: Step, made: Made, *, taken: bool = False) -> None:
        """Put what was made in place."""
        try:
            self._delivery.put(step, made, taken=taken)
        except LectureError as error:
            self._fail(step, Failure.of(error))

    def _needed(self, steps: Sequence[Step]) -> dict[Path, float]:
        """Bytes that will surely be needed, by folder; each video is there twice for a moment."""
        needed = {lecture.job.out: 0.0 for lecture in self.lectures}
        for step in steps:
            if isinstance(step.product, Pictures):
                job = step.product.job
                seconds = step.product.frames() / job.quality.fps
                needed[job.out] += 2 * seconds * BYTES_PER_SECOND[job.quality.name]
        return needed

    def _say(self, lines: Iterator[str]) -> None:
        for line in lines:
            self._screen.say(line)
