"""What needs to be made, in which order, and why: all products of a run, settled one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from render.base.failure import Failure
from render.base.reads import Made, Stamp
from render.build.inputs import Now
from render.build.product import ASKS, Product, content_of, read_record

Action = Literal["keep", "take", "build"]


@dataclass(slots=True)
class Step:
    """A product in a plan. ``needs``: steps that are settled before it, ``optional``: those of them
    that it can do without; ``old``: its record as it was when the run began. ``action`` is what
    needs to be done as far as known, ``reasons`` say why; ``made`` is its record, once it is up to
    date."""

    product: Product
    needs: tuple[str, ...]
    optional: frozenset[str]
    old: Made | None
    action: Action = "build"
    reasons: tuple[str, ...] = ()
    made: Made | None = None

    @property
    def id(self) -> str:
        return self.product.id


class Plan:
    """``products`` are asked for; what they need is looked at too, but of that nothing heavy is
    made that was not itself asked for. ``forced``: products that are made though up to date;
    ``as_is``: those that are taken as they are.

    A step is settled when its product is up to date (``step.made``) or cannot be (``failures``).
    """

    def __init__(
        self,
        products: Iterable[Product],
        now: Now,
        forced: Callable[[Product], bool] = lambda product: False,
        as_is: Callable[[Product], bool] = lambda product: False,
    ) -> None:
        self.now, self.is_forced, self._as_is = now, forced, as_is
        self.steps: dict[str, Step] = {}
        self.failures: dict[str, Failure] = {}
        self.logs: dict[str, Path] = {}  # of steps that were given out
        self.begun: dict[str, str] = {}  # steps that were given out and have not ended: question
        self.asked: dict[str, Product] = {}
        self._above: dict[str, list[str]] = {}
        for product in products:
            self.asked[product.id] = product
            self._add(product)
        for step in self.steps.values():
            self._settle(step)

    def _add(self, product: Product) -> None:
        """A product after everything that it needs."""
        if product.id in self.steps:
            return
        below = [*product.needs.items(), *((ASKS, asked) for asked in product.asks)]
        for _, need in below:
            self._add(need)
            self._above.setdefault(need.id, []).append(product.id)
        ids = tuple(dict.fromkeys(need.id for _, need in below))
        optional = frozenset(need.id for role, need in below if role.startswith(product.optional))
        self.steps[product.id] = Step(product, ids, optional, read_record(product))

    # -- how things stand ----------------------------------------------------------------------

    def is_settled(self, id: str) -> bool:
        return self.steps[id].made is not None or id in self.failures

    def is_kept(self, id: str) -> bool:
        """Whether a product was up to date when the run began, or turned out to be."""
        return self.steps[id].made is not None and self.steps[id].action == "keep"

    @property
    def is_idle(self) -> bool:
        """Whether nothing needs to be made."""
        return not any(self.due())

    def _settle(self, step: Step) -> None:
        """Look at a step whose needs may have been settled; keeps what is up to date."""
        product, old = step.product, step.old
        step.reasons = tuple(self.now.why(product, old))
        if old is None or (step.reasons and not self._as_is(product)):
            return
        if step.id in self.asked and self.is_forced(product):
            return
        if not all(map(self.is_settled, step.needs)):
            return
        places = product.places(old)
        if step.reasons:  # as it is: the files that are there count
            there = {role: path for role, path in places.items() if role in old.files}
            if not all(path.is_file() for path in there.values()):
                return
            others = {role for role, path in there.items() if not old.files[role].holds(path)}
            if others:
                files = {**old.files, **{role: Stamp.of(there[role]) for role in others}}
                content = content_of(old.facts, files, product.aside)
                old = replace(old, files=files, content=content)
        paths = {role: str(path) for role, path in places.items()}
        self._conclude(step, replace(old, paths=paths), "keep")

    def _conclude(self, step: Step, made: Made, action: Action) -> None:
        step.made, step.action = made, action
        self.now.made[step.id] = made

    # -- what to do ----------------------------------------------------------------------------

    def due(self) -> Iterator[Step]:
        """Steps that need to be made: those asked for, and what these need, if all of it can be."""
        seen: set[str] = set()
        for id in self.asked:
            if not self.is_settled(id) and not self.hindrance(id):
                yield from self._with_needs(id, seen)

    def _with_needs(self, id: str, seen: set[str]) -> Iterator[Step]:
        if id not in seen and not self.is_settled(id):
            seen.add(id)
            for need in self.steps[id].needs:
                yield from self._with_needs(need, seen)
            yield self.steps[id]

    def hindrance(self, id: str) -> str:
        """A step below that keeps one from being made: it failed, or is heavy and was not asked
        for; empty where there is none."""
        step = self.steps[id]
        for need in step.needs:
            below = self.steps[need]
            if below.made is not None:
                continue
            if below.product.heavy and need not in self.asked and need not in self.failures:
                return need
            found = need if need in self.failures else self.hindrance(need)
            if found and need not in step.optional:
                return found
        return ""

    def ready(self) -> list[Step]:
        """Steps that can be given out now, those with the most work first. Of steps that are told
        the same, and so may turn out to be the same, one goes ahead."""
        while True:
            due = [
                step
                for step in self.due()
                if step.id not in self.begun and all(map(self.is_settled, step.needs))
            ]
            if all(map(self._has_files, due)):  # what is not there is due as well
                return sorted(due, key=self._urgency)

    def _has_files(self, step: Step) -> bool:
        """Whether all files that the maker opens are there; what is missing must be made."""
        has_all = True
        for need in step.product.needs.values():
            below = self.steps[need.id]
            if below.made and not below.made.paths.keys() >= step.product.opened(below.made):
                below.made, below.action, below.reasons = None, "build", ("its files are needed",)
                self.now.made.pop(need.id, None)
                self.asked[need.id] = need
                has_all = False
        return has_all

    def _urgency(self, step: Step) -> tuple[bool, float]:
        return step.product.told in self.begun.values(), -step.product.work()

    # -- what has happened ---------------------------------------------------------------------

    def begin(self, step: Step) -> None:
        self.begun[step.id] = step.product.told

    def put_back(self, step: Step) -> None:
        del self.begun[step.id]

    def done(self, step: Step, made: Made, *, taken: bool = False) -> None:
        """A product was made (or taken from the cache); looks again at what stands above."""
        self._conclude(step, made, "take" if taken else "build")
        self._end(step)

    def failed(self, step: Step, failure: Failure) -> None:
        """A product could not be made; what needs it cannot be, either, nothing else."""
        self.failures[step.id] = failure
        self.now.made[step.id] = None
        self._end(step)

    def _end(self, step: Step) -> None:
        self.begun.pop(step.id, None)
        self._look_above(step.id)

    def _look_above(self, id: str) -> None:
        for above in self._above.get(id, ()):
            if not self.is_settled(above) and above not in self.begun:
                self._settle(self.steps[above])
                if self.steps[above].made is not None:
                    self._look_above(above)

    def files(self) -> frozenset[Path]:
        """Every file that decides whether what was asked for is up to date."""
        found: set[Path] = set()
        for step in self.steps.values():
            if step.id in self.asked or not step.product.heavy:
                found |= self.now.paths(step.product, step.old)
        return frozenset(found)
