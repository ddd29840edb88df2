"""The plan alone: what is due, in which order, what hinders what, and where a rebuild stops."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest

from render.base.failure import Failure
from render.base.files import Workspace
from render.base.reads import Made, Stamp
from render.build.inputs import Now
from render.build.job import How
from render.build.making import Making
from render.build.plan import Plan
from render.build.product import Product, Work, content_of, key_of
from render.build.screen import Estimate
from render.build.storage.cache import Cache
from render.build.storage.places import NO_CACHE


def thing(
    folder: Path,
    called: str,
    told: int = 0,
    below: tuple[Product, ...] = (),
    *,
    maybe: bool = False,
    kept: bool = True,
    size: float = 0.0,
    heavy: bool = False,
) -> Product:
    """A product with everything that a plan looks at."""
    return Product(
        kind="thing",
        maker="render.media.quality:make",
        record=folder / f"{called}.json",
        job=cast(Any, None),
        spec={"told": told},
        needs={each.name: each for each in below},
        optional=("",) if maybe else (),
        targets={"file": folder / called} if kept else {},
        opens=frozenset({"file"}),
        heavy=heavy,
        frames=lambda: size,
    )


def drawn(*arguments: Any, **more: Any) -> Product:
    return thing(*arguments, heavy=True, **more)


def make(plan: Plan, product: Product, text: str) -> Made:
    """As a run would make it: its file, its record."""
    before = plan.now.before(product)
    assert before is not None
    path = product.record.with_suffix("")
    path.write_text(text)
    stamps = {"file": Stamp.of(path)}
    content = content_of({}, stamps)
    made = Made(key_of(product.kind, before), before, stamps, content, {}, {"file": str(path)})
    product.record.write_text(json.dumps(made.to_json()))
    plan.begin(plan.steps[product.id])
    plan.done(plan.steps[product.id], made)
    return made


def names(plan: Plan) -> list[str]:
    return [step.product.name for step in plan.ready()]


def plan_of(*products: Product) -> Plan:
    return Plan(products, Now())


def test_what_is_needed_comes_first_and_what_is_made_stays(tmp_path: Path) -> None:
    low = thing(tmp_path, "low")
    top = thing(tmp_path, "top", below=(low,))
    plan = plan_of(top)
    assert names(plan) == ["low"]
    make(plan, low, "1")
    assert names(plan) == ["top"]
    make(plan, top, "2")
    assert plan.is_idle
    again = plan_of(top)
    assert again.is_idle
    assert again.is_kept(top.id)


def test_a_rebuild_with_the_same_contents_stops_there(tmp_path: Path) -> None:
    low, top = (
        (lambda told: thing(tmp_path, "low", told)),
        (lambda told: thing(tmp_path, "top", below=(thing(tmp_path, "low", told),))),
    )
    plan = plan_of(top(1))
    make(plan, low(1), "same")
    make(plan, top(1), "x")
    plan = plan_of(top(2))
    assert plan.steps[low(2).id].reasons == ("told: 1, now 2",)
    make(plan, low(2), "same")
    assert plan.is_idle
    assert plan.is_kept(top(2).id)
    plan = plan_of(top(3))
    make(plan, low(3), "another")
    assert names(plan) == ["top"]


@pytest.mark.parametrize("maybe", [False, True])
def test_a_failure_hinders_what_cannot_do_without(maybe: bool, tmp_path: Path) -> None:
    low = thing(tmp_path, "low")
    top, other = thing(tmp_path, "top", below=(low,), maybe=maybe), thing(tmp_path, "other")
    plan = plan_of(top, other)
    plan.begin(plan.steps[low.id])
    plan.failed(plan.steps[low.id], Failure("no", mistake=True))
    assert names(plan) == (["top", "other"] if maybe else ["other"])
    assert plan.hindrance(top.id) == ("" if maybe else low.id)


def test_nothing_heavy_is_made_that_was_not_asked_for(tmp_path: Path) -> None:
    heavy = drawn(tmp_path, "heavy")
    film = thing(tmp_path, "film", below=(heavy,))
    assert plan_of(film).is_idle
    assert plan_of(film).hindrance(film.id) == heavy.id
    assert names(plan_of(heavy, film)) == ["heavy"]


def test_files_that_are_gone_are_made_again_for_whoever_opens_them(tmp_path: Path) -> None:
    """As pictures under burned captions, which no video carries."""
    low = drawn(tmp_path, "low", kept=False)
    top = thing(tmp_path, "top", below=(low,))
    plan = plan_of(low, top)
    make(plan, low, "1")
    make(plan, top, "2")
    (tmp_path / "low").unlink()
    assert plan_of(low, top).is_idle
    (tmp_path / "top").unlink()
    plan = plan_of(low, top)
    assert names(plan) == ["low"]
    make(plan, low, "1")
    assert names(plan) == ["top"]


def test_the_longest_goes_first_and_of_equal_questions_one(tmp_path: Path) -> None:
    long, short = drawn(tmp_path, "long", 1, size=9), drawn(tmp_path, "short", 2, size=1)
    same = drawn(tmp_path, "same", 1, size=8)  # is told what the long one is told
    plan = plan_of(short, same, long)
    assert names(plan) == ["long", "same", "short"]
    plan.begin(plan.steps[long.id])
    assert names(plan) == ["short", "same"]
    make(plan, long, "1")
    assert names(plan) == ["same", "short"]


def test_a_file_that_was_edited_is_made_again(tmp_path: Path) -> None:
    one = thing(tmp_path, "thing")
    plan = plan_of(one)
    make(plan, one, "1")
    (tmp_path / "thing").write_text("by hand")
    (reason,) = plan_of(one).steps[one.id].reasons
    assert reason == "thing was changed since it was made"


def test_no_more_is_drawn_at_a_time_than_there_are_slots(tmp_path: Path) -> None:
    """Light steps wait for none."""

    class Workers:
        slots = 2
        works: ClassVar[list[Work]] = []
        submit = works.append

    all_drawn = [drawn(tmp_path, name, told, size=9 - told) for told, name in enumerate("abc")]
    plan = plan_of(*all_drawn, thing(tmp_path, "light", 9))
    making = Making(plan, How(processes=2), [], lambda step: False)
    making._workers = cast(Any, Workers)
    making._cache, making._estimate = Cache(NO_CACHE), Estimate({}, 2)
    with Workspace(tmp_path) as making._space:
        assert not making._give_out()
    assert [work.step for work in Workers.works] == [
        str(tmp_path / f"{name}.json") for name in ("a", "b", "light")
    ]
