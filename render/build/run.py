"""One run: from jobs to files in their folders, told line by line."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from engine.errors import LectureError, one_line
from render.base.failure import Failure
from render.base.files import STATE
from render.build.inputs import Now
from render.build.job import How, Job
from render.build.lecture import Lecture
from render.build.materials import Material
from render.build.plan import Plan
from render.build.product import Product, Step
from render.build.report import Report, announcement, complaints, exit_code, summary

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
        self.how = how or How()
        self.render = render
        self.now = Now(jobs[0].out / STATE)
        for job in jobs:
            self.now.passes(job.values())  # so that invalid weight files are reported first
        self.lectures = [Lecture.of(job) for job in jobs]
        self.materials = [materials(lecture) for lecture in self.lectures] if materials else []
        for material in self.materials:
            material.refuse()
        products: list[Product] = []
        for lecture in self.lectures if render else ():
            products += lecture.products()
        products += self.materials
        self.plan = Plan(products, self.now, self._is_forced, self._is_as_it_is)
        alone, brief = len(jobs) == 1, bool(os.environ.get(WATCHED))
        told: set[Path] = set()
        self.reports = [
            Report(lecture, self.plan, told, alone=alone, brief=brief)
            for lecture in (self.lectures if render else ())
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
            how = (
                "up to date" if step.made else "in the store" if step.id in stored else "to be made"
            )
            yield f"{material.target}: {how}"
            yield from (f"    {reason.line}" for reason in step.reasons)

    def announcement(self) -> str:
        """What is about to be rendered and why, in a line; empty if nothing is."""
        return announcement(self.reports, self.how.force)

    def as_they_are(self, command: str) -> Iterator[str]:
        """Which videos are taken although they are out of date, a line for each job. Raises
        LectureError, with the ``command`` that renders them, where one is missing."""
        for material in self.materials:
            for need in self._missing(material):
                expected = f"a {'video' if need.scene else 'film'} (type: {command})"
                raise LectureError(where=need.path, expected=expected, found="none")
        steps = self.plan.steps.values()
        stale = [step for step in reversed(steps) if step.made and step.reasons]
        for out, step in {step.product.job.out: step for step in stale}.items():
            name = (step.product.path or step.product.record).name
            why = f"{name} is out of date ({step.reasons[0].line})"
            yield f"{out}: {why}; taken as it is (to render: {command})"
        yield from self._complaints()

    def _missing(self, product: Product) -> Iterator[Product]:
        for role, need in product.needs.items():
            if isinstance(need, Material):
                yield from self._missing(need)
            elif not (self.plan.is_settled(need.id) or role.startswith(product.optional)):
                yield need

    def make(self) -> int:
        """Make it. Exit code: 0 all well, 2 a mistake in the input, 1 in the code."""
        failed = False
        if self.plan.is_idle:
            for report in self.reports:
                for line in (*report.first_lines(), *report.lines()):
                    print(one_line(line), flush=True)
        else:
            from render.build.making import Making  # late: much is imported for it

            failed = Making(self.plan, self.how, self.reports, self._is_withheld).run()
        self.now.table.keep()
        for lecture in self.lectures:
            if lecture.voice:
                lecture.voice.tidy(lecture.job.out / STATE)
        if len(self.reports) > 1:
            for line in summary(self.reports):
                print(one_line(line), flush=True)
        complaints = self._complaints() if self.render else []
        for line in complaints:
            print(f"render: {one_line(line)}", file=sys.stderr, flush=True)
        code = exit_code(self._failures(), len(complaints)) or (2 if failed else 0)
        for material in self.materials:
            self._tell_of(material)
        return code

    def _complaints(self) -> list[str]:
        """A line for each recording that is missing or cannot be used."""
        return [line for lecture in self.lectures for line in complaints(lecture, self.plan)]

    def _failures(self) -> list[Failure]:
        """Of what was asked for."""
        found = [failure for report in self.reports for failure in report.failures.values()]
        failed = (self.plan.failures.get(material.id) for material in self.materials)
        return [*found, *filter(None, failed)]

    def _tell_of(self, material: Material) -> None:
        """What became of a material: good news on stdout, faults on stderr."""
        made, failure = self.plan.steps[material.id].made, self.plan.failures.get(material.id)
        if failure:
            for line in failure.details:
                print(f"not accepted: {one_line(line)}", file=sys.stderr)
            print(f"render: {failure.line}", file=sys.stderr, flush=True)
        elif made is None or self._is_amiss():
            more = "; the same command with --no-render takes the videos as they are"
            told = f"render: {material.missed}, for the reasons above{more if self.render else ''}"
            print(told, file=sys.stderr, flush=True)
        else:
            for line in material.lines(made):
                print(one_line(line), flush=True)

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

    def _in_store(self) -> list[str]:
        """Steps whose products the cache has."""
        due = [step for step in self.plan.ready() if step.product.cached]
        if not due:
            return []
        from render.build.storage.cache import Cache

        cache = Cache(self.how.cache, looking=True)
        return [step.id for step in due if cache.find(step.product, self.now)]
