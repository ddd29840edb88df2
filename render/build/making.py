"""A plan is carried out: what the cache has is taken, the rest is given to workers, and what they
have made is put in place: files first, then the record; then the cache."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.errors import LectureError, shortened
from render.base import files
from render.base.failure import Failure
from render.base.files import STATE, Workspace
from render.base.reader import Reader
from render.base.reads import Made, Stamp
from render.build.job import How
from render.build.plan import Plan, Step
from render.build.product import Product, Work
from render.build.report import Report
from render.build.screen import Estimate, Screen
from render.build.storage.cache import Cache
from render.build.workers.pool import Event, LocalPool, function_of
from render.media.quality import BYTES_PER_SECOND
from scenes.settings import Settings, file_digest


class Making:
    """``withheld``: steps that are not given out now."""

    def __init__(
        self, plan: Plan, how: How, reports: Sequence[Report], withheld: Callable[[Step], bool]
    ) -> None:
        self._plan, self._how, self._reports, self._withheld = plan, how, reports, withheld
        self._lost: set[str] = set()
        #: pictures whose video is not in place yet, and whether they were taken
        self._held: dict[str, bool] = {}

    def run(self) -> bool:
        """Make everything that is due; returns whether a cache that was named has failed."""
        due = [step.product for step in self._plan.due()]
        if any(product.kind == "video" for product in due):
            self._plan.now.ffmpeg()  # so that a missing one is reported first
        first, *others = dict.fromkeys(product.job.out for product in self._plan.asked.values())
        with Workspace(first) as self._space, contextlib.ExitStack() as stack:
            for out in others:
                files.make_folder(out / STATE)
            drawn = [product for product in due if product.heavy]
            files.check_free_space(_room(drawn))
            self._estimate = Estimate(
                {product.id: product.work() for product in drawn if product.work()},
                max(1, min(self._how.processes, len(drawn))),
            )
            self._screen = stack.enter_context(Screen(self._estimate))
            self._cache, self._workers = self._entered(stack, bool(drawn))
            for report in self._reports:
                self._say(report.first_lines())
            self._loop()
        return self._cache.failed

    def _entered(self, stack: contextlib.ExitStack, is_drawn: bool) -> tuple[Cache, LocalPool]:
        """The cache and the processes of this machine, or those of a cluster."""
        how, say = self._how, self._screen.say
        if how.cluster is None:
            cache = stack.enter_context(Cache(how.cache, say))
            slots = self._estimate.slots if is_drawn else 0
            return cache, stack.enter_context(LocalPool(slots, self._space.lock))
        from render.build.workers.cluster import ClusterPool, cache_for

        cache = stack.enter_context(Cache(cache_for(how.cache, self._space.folder), say))
        scratch = self._space.fresh_folder("cluster")
        return cache, stack.enter_context(ClusterPool(how.cluster, cache, scratch, say))

    def _loop(self) -> None:
        over = 1
        while True:
            if over:
                while self._give_out():
                    pass
                for report in self._reports:
                    self._say(report.lines())
            if not self._plan.begun:
                return
            over = sum(map(self._heed, self._workers.events(timeout=1.0)))

    def _give_out(self) -> bool:
        """Give out what is ready, as far as there are slots, until something is settled at once:
        taken from the cache, or failed. Returns whether that was so."""
        for step in self._plan.ready():
            begun = (self._plan.steps[id].product for id in self._plan.begun)
            full = sum(product.heavy for product in begun) >= self._workers.slots
            if (full and step.product.heavy) or self._withheld(step):
                continue
            try:
                made = None if self._plan.is_forced(step.product) else self._taken(step.product)
                if made is not None:
                    self._put(step, made, taken=True)
                    return True
                work = self._work_of(step)
            except LectureError as error:
                self._plan.failed(step, Failure.of(error))
                return True
            self._workers.submit(work)
            self._plan.begin(step)
            self._plan.logs[step.id] = work.log
        return False

    def _taken(self, product: Product) -> Made | None:
        """A product that the cache has, in a private folder, checked as if it had been made."""

        def check(made: Made) -> Made:
            if product.kind == "pictures":
                numbers = made.path("numbers")
                name_weights(numbers, product.job.settings)
                made = replace(made, files={**made.files, "numbers": Stamp.of(numbers)})
            if product.checker:
                files = {role: Path(path) for role, path in made.paths.items()}
                look = function_of(product.checker)
                look(product.spec, self._needs(product), files, made.facts)
            return made

        return self._cache.take(product, self._plan.now, self._space.fresh_folder("taken"), check)

    def _needs(self, product: Product) -> dict[str, Made]:
        """The records of the needs that could be made, with safe copies of the files that the maker
        opens. Raises LectureError where one has just become another file."""
        found = {}
        for role, need in product.needs.items():
            made = self._plan.steps[need.id].made
            if made is not None:
                files = {each: made.path(each) for each in product.opened(made)}
                for each, path in files.items():
                    if not path.is_relative_to(self._space.folder):
                        copy = self._space.fresh_folder("needs") / path.name
                        files[each] = safe_copy(path, made.files[each], copy)
                paths = {each: str(path) for each, path in files.items()}
                found[role] = replace(made, paths=paths)
        return found

    def _work_of(self, step: Step) -> Work:
        """What a worker needs for a step. Raises LectureError where a file of a need has just
        become another one."""
        product = step.product
        before = self._plan.now.before(product)
        assert before is not None
        also = self._plan.steps.get(product.yields)  # the cover, if it is due
        return Work(
            step=step.id,
            kind=product.kind,
            maker=product.maker,
            checker=product.checker,
            spec=product.spec,
            needs=self._needs(product),
            settings=product.settings,
            modules=product.roots,
            inputs=before,
            aside=tuple(sorted(product.aside)),
            folder=str(self._space.fresh_folder(product.name)),
            threads=max(1, self._how.processes // self._estimate.slots),
            heavy=product.heavy,
            spoken=product.spoken(self._plan.now),
            also=self._work_of(also) if also and not self._plan.is_settled(also.id) else None,
        )

    def _heed(self, event: Event) -> int:
        """Take note of an event; returns how many of the steps given out are over by it."""
        step = self._plan.steps[event.step]
        is_over = event.is_last and step.id in self._plan.begun  # not of a cover that came as well
        if event.kind == "started":
            self._estimate.start(step.id)
        elif event.kind == "frames":
            self._estimate.advance(step.id, event.frames * step.product.weight)
        elif event.made is not None:
            try:
                self._put(step, event.made)
            except LectureError as error:
                self._plan.failed(step, Failure.of(error))
        elif event.failure is not None:
            if event.kind == "lost" and step.id not in self._lost:
                self._lost.add(step.id)
                name = (step.product.path or step.product.record).name
                self._screen.say(f"{name}: {event.failure.line}; it is tried again")
                self._plan.put_back(step)
            else:
                self._plan.failed(step, event.failure)
        if is_over:
            self._estimate.end(step.id)
        self._screen.update()
        return is_over

    def _put(self, step: Step, made: Made, *, taken: bool = False) -> None:
        """Put a product in place; what depends on it is looked at again. Raises LectureError
        where that cannot be done."""
        if step.product.carriers:
            self._held[step.id] = taken
        else:
            made = self._place(step.product, made, taken=taken)
        self._plan.done(step, made, taken=taken)
        for id in list(self._held):  # the pictures whose video is in place
            held = self._plan.steps[id]
            carrier = self._plan.steps[held.product.carried_by].made
            if carrier is not None and held.made is not None:
                roles = held.product.carriers
                files = {**held.made.files, **dict.fromkeys(roles, carrier.files["video"])}
                paths = {**held.made.paths, **{role: str(path) for role, path in roles.items()}}
                carried = replace(held.made, files=files, paths=paths)
                held.made = self._place(held.product, carried, taken=self._held.pop(id))

    def _place(self, product: Product, made: Made, *, taken: bool) -> Made:
        targets = {role: path for role, path in product.targets.items() if role in made.paths}
        for role, target in targets.items():
            with contextlib.suppress(OSError):  # put_file reports it
                target.parent.mkdir(parents=True, exist_ok=True)
            files.put_file(made.path(role), target)
        if product.folder is not None:
            made = put_whole(made, product.folder)
        paths = {**made.paths, **{role: str(path) for role, path in targets.items()}}
        made = replace(made, paths=paths)
        files.write_state(product.record, made.to_json())
        if product.cached and not taken:
            self._cache.put(product.kind, product.spec, made)
        return made

    def _say(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._screen.say(line)


def _room(products: Iterable[Product]) -> dict[Path, float]:
    """Bytes that will surely be needed, by folder; each video is there twice for a moment."""
    needed: dict[Path, float] = {}
    for product in products:
        if product.kind == "pictures":
            job = product.job
            size = 2 * product.frames() / job.quality.fps * BYTES_PER_SECOND[job.quality.name]
            needed[job.out] = needed.get(job.out, 0.0) + size
    return needed


def put_whole(made: Made, folder: Path) -> Made:
    """Put all files of a record into a folder, in the place of the one that was there. Raises
    LectureError, and leaves everything as it was, where that cannot be."""
    with files.staging_folder(folder) as fresh:
        for role in made.files:
            path = fresh / role
            if not path.is_relative_to(fresh) or ".." in path.parts:  # from a cache of others
                expected, found = "the name of a file within", shortened(role, 80)
                raise LectureError(where=folder, expected=expected, found=found)
            path.parent.mkdir(parents=True, exist_ok=True)
            files.bring(made.path(role), path)
        files.put_folder(fresh, folder)
    paths = {role: folder / role for role in made.files}
    stamps = dict(made.files)
    for role, path in paths.items():  # a copy on another disk has a time of its own
        stamps[role] = replace(stamps[role], mtime_ns=path.stat().st_mtime_ns)
    return replace(made, files=stamps, paths={role: str(path) for role, path in paths.items()})


def safe_copy(path: Path, stamp: Stamp, copy: Path) -> Path:
    """A second name for a file in place, so that no other run can exchange it. Raises LectureError
    where it is not the file that was stamped."""
    try:
        files.bring(path, copy)
    except OSError as error:
        raise LectureError(where=path.name, expected="a file", found="none any more") from error
    if not stamp.holds(copy):
        raise LectureError(where=path.name, expected="the one there was", found="another one")
    return copy


def name_weights(numbers: Path, settings: Settings) -> None:
    """The numbers are those of the present weight files, but may have been made with others or on
    another machine: let them name the present ones."""
    reader = Reader(most=64 << 20)
    said = reader.json(numbers, dict[str, Any])
    said |= {name: getattr(settings, name) for name in ("source", "target") if name in said}
    files = {"weights": settings.weights, "inference_weights": settings.weights_for_inference}
    for name, path in files.items():
        if name in said:
            said[name] = {"file": str(path.absolute()), "sha256": file_digest(path)}
    text = json.dumps(said, ensure_ascii=False, indent=1) + "\n"
    if text != reader.text(numbers):
        numbers.unlink()  # it may be the cache's own file by another name
        numbers.write_text(text, encoding="utf-8")
