"""A plan is carried out: what the cache has is taken, the rest is given to workers, and what they
have made is put in place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import LectureError
from render.base.failure import Failure
from render.base.files import STATE, Workspace, check_free_space, make_folder
from render.base.process import stoppable
from render.base.reads import Made
from render.build.delivery import Delivery
from render.build.job import How
from render.build.plan import Plan
from render.build.product import Product, Step, Work
from render.build.report import Report
from render.build.screen import Estimate, Screen
from render.build.storage.cache import Cache
from render.build.storage.choice import CacheChoice
from render.media.quality import BYTES_PER_SECOND

if TYPE_CHECKING:
    from render.build.workers.pool import LocalPool
    from render.build.workers.worker import Event


class Making:
    """``withheld``: steps that are not given out now."""

    def __init__(
        self,
        plan: Plan,
        how: How,
        reports: Sequence[Report],
        withheld: Callable[[Step], bool],
    ) -> None:
        self._plan, self._how, self._reports = plan, how, reports
        self._withheld = withheld
        self._lost: set[str] = set()
        self._folders: dict[str, Path] = {}
        self._given: set[str] = set()  # steps that were given out
        self._slots: set[str] = set()  # the heavy ones among them

    def run(self) -> bool:
        """Make everything that is due; returns whether a cache that was named has failed."""
        due = [step.product for step in self._plan.due()]
        if any(product.kind == "video" for product in due):
            self._plan.now.ffmpeg()  # so that a missing one is reported first
        first, *others = dict.fromkeys(product.job.out for product in self._plan.asked.values())
        with stoppable(), Workspace(first) as self._space:
            for out in others:
                make_folder(out / STATE)
            drawn = [product for product in due if product.heavy]
            check_free_space(_room(drawn))
            self._estimate = Estimate(
                {product.id: product.work() for product in drawn if product.work()},
                max(1, min(self._how.processes, len(drawn))),
            )
            with (
                Screen(self._estimate) as self._screen,
                Cache(self._choice(), self._screen.say) as self._cache,
                self._pool(self._estimate.slots if drawn else 0) as self._workers,
            ):
                self._delivery = Delivery(self._plan, self._cache, self._space)
                for report in self._reports:
                    self._say(report.first_lines())
                self._loop()
            return self._cache.failed

    def _pool(self, slots: int) -> LocalPool:
        """The processes of this machine, or those of a cluster."""
        if self._how.cluster is None:
            from render.build.workers.pool import LocalPool

            return LocalPool(slots, self._space.lock)
        from render.build.workers.cluster import ClusterPool

        scratch = self._space.fresh_folder("cluster")
        return ClusterPool(self._how.cluster, self._cache, scratch, self._screen.say)

    def _choice(self) -> CacheChoice:
        """The cache of this run; on a cluster there must be one."""
        if self._how.cluster is None:
            return self._how.cache
        from render.build.workers.cluster import cache_for

        return cache_for(self._how.cache, self._space.folder)

    def _loop(self) -> None:
        over = 1
        while True:
            if over:
                while self._give_out():
                    pass
                for report in self._reports:
                    self._say(report.lines())
            if not self._given:
                return
            over = sum(map(self._heed, self._workers.events(timeout=1.0)))

    def _give_out(self) -> bool:
        """Give out what is ready, as far as there are slots, until something is settled at once:
        taken from the cache, or failed. Returns whether that was so."""
        for step in self._plan.ready():
            full = step.product.heavy and len(self._slots) >= self._workers.slots
            if full or self._withheld(step):
                continue
            forced = self._plan.is_forced(step.product)
            made = None if forced else self._delivery.taken(step.product)
            if made is not None:
                self._put(step, made, taken=True)
                return True
            try:
                work = self._work_of(step)
            except LectureError as error:
                self._fail(step, Failure.of(error))
                return True
            self._workers.submit(work)
            self._plan.begin(step)
            self._given.add(step.id)
            if step.product.heavy:
                self._slots.add(step.id)
        return False

    def _work_of(self, step: Step) -> Work:
        """What a worker needs for a step. Raises LectureError where a file of a need has just
        become another one."""
        product = step.product
        before = self._plan.now.before(product)
        assert before is not None
        folder = self._space.folder / f"{product.name}_{len(self._folders)}"  # the pool makes it
        self._folders[product.id] = folder
        also = self._plan.steps.get(product.yields)  # the cover, if it is due
        return Work(
            step=step.id,
            kind=product.kind,
            maker=product.maker,
            checker=product.checker,
            spec=product.spec,
            needs=self._delivery.needs(product),
            settings=product.settings,
            modules=product.modules,
            inputs=before,
            aside=tuple(sorted(product.aside)),
            folder=str(folder),
            threads=max(1, self._how.processes // self._estimate.slots),
            heavy=product.heavy,
            spoken=product.spoken(self._plan.now),
            also=self._work_of(also) if also and not self._plan.is_settled(also.id) else None,
        )

    def _heed(self, event: Event) -> int:
        """Take note of an event; returns how many steps are over by it."""
        step, failure = self._plan.steps[event.step], event.failure
        if event.kind == "started":
            self._estimate.start(step.id)
        elif event.kind == "frames":
            self._estimate.advance(step.id, event.frames * step.product.weight)
        elif event.made is not None:
            self._put(step, event.made)
            return self._over(step)
        elif failure is not None:
            if event.kind == "lost" and step.id not in self._lost:
                self._lost.add(step.id)
                name = (step.product.path or step.product.record).name
                self._screen.say(f"{name}: {failure.line}; it is tried again")
                self._plan.put_back(step)
            else:
                self._fail(step, failure)
            return self._over(step)
        self._screen.update()
        return 0

    def _over(self, step: Step) -> int:
        """A step is over; 0 for a cover that came with the pictures."""
        if step.id not in self._given:
            return 0
        self._given.discard(step.id)
        self._slots.discard(step.id)
        self._estimate.end(step.id)
        self._screen.update()
        return 1

    def _fail(self, step: Step, failure: Failure) -> None:
        log = self._folders[step.id] / "log.txt" if step.id in self._folders else None
        if log is not None and log.is_file():
            for report in self._reports:
                report.logs[step.id] = log
        self._plan.failed(step, failure)

    def _put(self, step: Step, made: Made, *, taken: bool = False) -> None:
        """Put what was made in place."""
        try:
            self._delivery.put(step, made, taken=taken)
        except LectureError as error:
            self._fail(step, Failure.of(error))

    def _say(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._screen.say(line)


def _room(products: Iterable[Product]) -> dict[Path, float]:
    """Bytes that will surely be needed, by folder; each video is there twice for a moment."""
    needed: dict[Path, float] = {}
    for product in products:
        if product.kind == "pictures":
            job = product.job
            seconds = product.frames() / job.quality.fps
            size = 2 * seconds * BYTES_PER_SECOND[job.quality.name]
            needed[job.out] = needed.get(job.out, 0.0) + size
    return needed
