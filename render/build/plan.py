"""What needs to be made, in which order, and why: all products of a run, settled one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from render.base.failure import Failure
from render.base.reads import Made, Reason, Stamp
from render.build.inputs import Now
from render.build.product import ASKS, Product, Step, content_of, digest, read_record

_NEEDED = Reason("its files are needed")


def _none(_: Product) -> bool:
    return False


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
        forced: Callable[[Product], bool] = _none,
        as_is: Callable[[Product], bool] = _none,
    ) -> None:
        self.now = now
        self.steps: dict[str, Step] = {}
        self.failures: dict[str, Failure] = {}
        self.asked: dict[str, Product] = {}
        self.paths: dict[tuple[str, str], Path] = {}  # files of this run, by step and role
        self.is_forced, self._as_is = forced, as_is
        self._above: dict[str, list[str]] = {}
        self._begun: set[str] = set()  # steps that were given out and have not ended,
        self._first: dict[str, str] = {}  # the first step of each kind that was, by question
        self._known: set[str] = set()  # and the questions of which one has ended
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

    def reasons(self, product: Product) -> tuple[Reason, ...]:
        """Why a product is out of date, as far as known; its needs' reasons if they block it."""
        step = self.steps[product.id]
        if step.made is not None:
            return ()
        found = list(step.reasons)
        for asked in product.asks:
            if not self.is_settled(asked.id):
                found += self.steps[asked.id].reasons
        return tuple(found)

    def _settle(self, step: Step) -> None:
        """Look at a step whose needs may have been settled; keeps what is up to date."""
        product, old = step.product, step.old
        step.reasons = tuple(self.now.why(product, old))
        if old is None or (step.reasons and not self._as_is(product)):
            return
        if step.id in self.asked and self.is_forced(product):
            return
        if all(map(self.is_settled, step.needs)):
            places = product.places(old).items()
            if step.reasons:
                there = [(role, path) for role, path in places if role in old.files]
                if not all(path.is_file() for _, path in there):
                    return
                new = {
                    role: Stamp.of(path) for role, path in there if not old.files[role].holds(path)
                }
                files = {**old.files, **new}
                content = content_of(old.facts, files, product.aside) if new else old.content
                old = replace(old, files=files, content=content)
            step.made, step.action = old, "keep"
            self.now.made[step.id] = old
            for role, path in places:
                self.paths[step.id, role] = path

    # -- what to do --------------------------------------------------------------------

    def due(self) -> Iterator[Step]:
        """Steps that need to be made: those asked for, and what these need, if all of it can be."""
        seen: set[str] = set()
        for id in self.asked:
            if not self.is_settled(id) and not self.hindrance(id):
                yield from self._with_needs(id, seen)

    def _with_needs(self, id: str, seen: set[str]) -> Iterator[Step]:
        if id in seen or self.is_settled(id):
            return
        seen.add(id)
        step = self.steps[id]
        for need in step.needs:
            yield from self._with_needs(need, seen)
        yield step

    def hindrance(self, id: str) -> str:
        """A step below that keeps one from being made: it failed, or is heavy and was not asked
        for; empty where there is none."""
        step = self.steps[id]
        for need in step.needs:
            below = self.steps[need]
            if need in self.failures:
                found = need
            elif below.made is not None:
                continue
            elif below.product.heavy and need not in self.asked:
                return need
            else:
                found = self.hindrance(need)
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
                if step.id not in self._begun and all(map(self.is_settled, step.needs))
            ]
            if all(self._fetch(step) for step in due):  # what is not there is due as well
                return sorted(due, key=self._urgency)

    def _fetch(self, step: Step) -> bool:
        """Whether all files that the maker opens are there; what is missing must be made."""
        there = True
        for need in step.product.needs.values():
            made = self.steps[need.id].made
            for role in step.product.opened(made) if made else ():
                if (need.id, role) not in self.paths:
                    self._reopen(need.id)
                    there = False
        return there

    def _reopen(self, id: str) -> None:
        step = self.steps[id]
        step.made, step.action, step.reasons = None, "build", (_NEEDED,)
        self.now.made.pop(id, None)
        self.asked[id] = step.product

    def _urgency(self, step: Step) -> tuple[bool, float]:
        question = self.question(step)
        waits = self._first.get(question, step.id) != step.id and question not in self._known
        return waits, -step.product.work()

    @staticmethod
    def question(step: Step) -> str:
        return digest([step.product.kind, step.product.spec])

    # -- what has happened ---------------------------------------------------------------------

    def begin(self, step: Step) -> None:
        """A step was given out."""
        self._begun.add(step.id)
        self._first.setdefault(self.question(step), step.id)

    def put_back(self, step: Step) -> None:
        """A step that was given out must be repeated."""
        self._begun.discard(step.id)

    def done(self, step: Step, made: Made, *, taken: bool = False) -> None:
        """A product was made (or taken from the cache); looks again at what stands above."""
        self._begun.discard(step.id)
        self._known.add(self.question(step))
        step.made, step.action = made, "take" if taken else "build"
        self.now.made[step.id] = made
        for role, path in made.paths.items():
            self.paths[step.id, role] = Path(path)
        self._look_above(step.id)

    def failed(self, step: Step, failure: Failure) -> None:
        """A product could not be made; what needs it cannot be, either, nothing else."""
        self._begun.discard(step.id)
        self._known.add(self.question(step))
        self.failures[step.id] = failure
        self.now.made[step.id] = None
        self._look_above(step.id)

    def _look_above(self, id: str) -> None:
        for above in self._above.get(id, ()):
            step = self.steps[above]
            if step.made is None and above not in self.failures and above not in self._begun:
                self._settle(step)
                if step.made is not None:
                    self._look_above(above)

    def files(self) -> frozenset[Path]:
        """Every file that decides whether what was asked for is up to date."""
        found: set[Path] = set()
        for step in self.steps.values():
            if step.id in self.asked or not step.product.heavy:
                found |= self.now.paths(step.product, step.old)
        return frozenset(found)
