"""One run: from jobs to files in their folders, told line by line."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from engine.errors import LectureError, one_line
from render.base.files import STATE
from render.build.inputs import Now
from render.build.job import How, Job
from render.build.lecture import Lecture
from render.build.materials import Material
from render.build.plan import Plan, Step
from render.build.product import Product
from render.build.report import Report, complaints

_NAMED = 4  # scenes that --watch names
WATCHED = "LECTURE_WATCHED"  # set in the environment of a render that --watch starts


class Run:
    """Makes what of ``jobs`` is not up to date, and what ``materials`` names for each lecture.
    ``render``: whether videos are made too; else they are taken as they are.

    Making one raises LectureError for what cannot be: invalid weight files, no ffmpeg, no folder of
    recordings, something foreign where materials are to be put."""

    def __init__(
        self,
        jobs: Sequence[Job],
        how: How | None = None,
        materials: Callable[[Lecture], Material] | None = None,
        *,
        render: bool = True,
    ) -> None:
        self.how, self.render = how or How(), render
        self.now = Now(jobs[0].out / STATE)
        for job in jobs:
            self.now.passes(job.values())  # so that invalid weight files are reported first
        self.lectures = [Lecture(job) for job in jobs]
        self.materials = [materials(lecture) for lecture in self.lectures] if materials else []
        for material in self.materials:
            material.refuse()
        rendered = self.lectures if render else []
        products = [product for lecture in rendered for product in lecture.products()]
        self.plan = Plan([*products, *self.materials], self.now, self._is_forced, self._is_as_it_is)
        alone, brief, told = len(jobs) == 1, bool(os.environ.get(WATCHED)), set[Path]()
        self.reports = [
            Report(lecture, self.plan, told, alone=alone, brief=brief) for lecture in rendered
        ]

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
        for material in self.materials:
            step = self.plan.steps[material.id]
            due = "in the store" if step.id in stored else "to be made"
            yield f"{material.target}: {'up to date' if step.made else due}"
            yield from (f"    {line}" for line in step.reasons)

    def _in_store(self) -> list[str]:
        due = [step for step in self.plan.ready() if step.product.cached]
        if not due:
            return []
        from render.build.storage.cache import Cache

        cache = Cache(self.how.cache, looking=True)
        return [step.id for step in due if cache.find(step.product, self.now)]

    def announcement(self) -> str:
        """What is about to be rendered and why, in a line; empty if nothing is."""
        told = []
        asked = ((report, scene) for report in self.reports for scene in report.job.scenes)
        for report, scene in asked:
            why = report.why(scene) or (["--force"] if self.how.force else [])
            if why:
                folder = f"{report.job.out.name}/" if len(self.reports) > 1 else ""
                told.append(f"{folder}{report.job.video_name(scene)} ({why[0]})")
        more = f" and {len(told) - _NAMED} more" if len(told) > _NAMED else ""
        return f"rendering {', '.join(told[:_NAMED])}{more}" if told else ""

    def as_they_are(self, command: str) -> Iterator[str]:
        """Which videos are taken although they are out of date, a line for each job. Raises
        LectureError, with the ``command`` that renders them, where one is missing."""
        for need in (need for material in self.materials for need in self._missing(material)):
            expected = f"a {'video' if need.scene else 'film'} (type: {command})"
            raise LectureError(where=need.path, expected=expected, found="none")
        steps = self.plan.steps.values()
        stale = [step for step in reversed(steps) if step.made and step.reasons]
        for out, step in {step.product.job.out: step for step in stale}.items():
            name = (step.product.path or step.product.record).name
            why = f"{name} is out of date ({step.reasons[0]})"
            yield f"{out}: {why}; taken as it is (to render: {command})"
        yield from self._complaints()

    def _missing(self, product: Product) -> Iterator[Product]:
        for role, need in product.needs.items():
            if isinstance(need, Material):
                yield from self._missing(need)
            elif not (self.plan.is_settled(need.id) or role.startswith(product.optional)):
                yield need

    def make(self) -> int:
        """Make it. Exit code: 0 all well, 2 a mistake in the input, 1 in the code or among the
        recordings."""
        cache_failed = False
        if self.plan.is_idle:
            for report in self.reports:
                _print((*report.first_lines(), *report.lines()))
        else:
            from render.build.making import Making  # late: much is imported for it

            cache_failed = Making(self.plan, self.how, self.reports, self._is_withheld).run()
        self.now.table.keep()
        for lecture in self.lectures:
            if lecture.voice:
                lecture.voice.tidy(lecture.job.out / STATE)
        if len(self.reports) > 1:
            _print(self._summary())
        complaints = self._complaints() if self.render else []
        _print((f"render: {line}" for line in complaints), error=True)
        for material in self.materials:
            self._tell_of(material)
        failures = [failure for report in self.reports for failure in report.failures.values()]
        failed = (self.plan.failures.get(material.id) for material in self.materials)
        failures += filter(None, failed)
        if failures:
            return 2 if all(failure.mistake for failure in failures) else 1
        return 1 if complaints else 2 if cache_failed else 0

    def _summary(self) -> Iterator[str]:
        """The end of a run with many jobs: how much was made, and everything that was not."""
        taken = sum(each.taken for each in self.reports)
        yield (
            f"{len(self.reports)} renders: {sum(each.made for each in self.reports)} scenes made, "
            f"{f'{taken} taken from the store, ' if taken else ''}"
            f"{sum(len(each.kept) for each in self.reports)} up to date, "
            f"{sum(len(each.failures) for each in self.reports)} failed; "
            f"{sum(each.film == 'made' for each in self.reports)} films joined"
        )
        for each in self.reports:
            for name, failure in each.failures.items():
                yield f"    {each.job.out.name}/{name}{each.job.of_track}: {failure.line}"

    def _complaints(self) -> list[str]:
        """A line for each recording that is missing or cannot be used."""
        return [line for lecture in self.lectures for line in complaints(lecture, self.plan)]

    def _tell_of(self, material: Material) -> None:
        """What became of a material: good news on stdout, faults on stderr."""
        made, failure = self.plan.steps[material.id].made, self.plan.failures.get(material.id)
        if failure:
            lines = (f"not accepted: {line}" for line in failure.details)
            _print((*lines, f"render: {failure.line}"), error=True)
        elif made is None or self._is_amiss():
            more = "; the same command with --no-render takes the videos as they are"
            told = f"render: {material.missed}, for the reasons above{more if self.render else ''}"
            _print([told], error=True)
        else:
            _print(material.lines(made))

    def _is_amiss(self) -> bool:
        """Whether videos were to be made and something is wrong with them."""
        return self.render and bool(self._complaints() or any(r.failures for r in self.reports))

    def _is_withheld(self, step: Step) -> bool:
        """Whether a step is a material that waits for everything else, or that nobody may have
        since something is amiss."""
        if not isinstance(step.product, Material):
            return False
        others = (each.product for each in self.plan.due())
        return any(not isinstance(each, Material) for each in others) or self._is_amiss()

    def _is_as_it_is(self, product: Product) -> bool:
        return not self.render and not isinstance(product, Material)

    def _is_forced(self, product: Product) -> bool:
        return self.how.force and product.kind in ("pictures", "video") and bool(product.scene)


def _print(lines: Iterable[str], *, error: bool = False) -> None:
    for line in lines:
        print(one_line(line), file=sys.stderr if error else sys.stdout, flush=True)
