"""``./render.sh --explain``: what a run would do, and why. Renders and writes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from render.build.incremental.state import State
from render.build.order import Order
from render.build.sides.covers import Covers
from render.build.sides.keeper import Keeper
from render.build.store.supply import has


def lines(orders: Sequence[Order]) -> Iterator[str]:
    """A line per scene, with the reasons below; last, the film. Several orders are headed by their
    folders."""
    state = None
    for order in orders:
        if len(orders) > 1:
            yield f"{order.out}{order.of_track}:"
        state = State(order, state)
        yield from _lines(order, state)


_SIDES = "; captions and descriptions are to be made anew"
_COVER = "; its cover is to be drawn"


def _lines(order: Order, state: State) -> Iterator[str]:
    keeper, covers = Keeper(order, state.now.passes), Covers(order)
    for scene in order.scenes:
        name = order.video_name(scene)
        reasons = state.reasons(scene)
        if not reasons:
            sides = _SIDES if keeper.is_stale(scene) else ""
            sides += _COVER if covers.is_stale(scene) else ""
            more = ", rendered anyway (--force)" if order.force else sides
            yield f"{name}: up to date{more}"
            continue
        here = not order.force and has(order, scene, state.now)
        yield f"{name}: {'in the store' if here else 'to be rendered'}"
        yield from (f"    {reason}" for reason in reasons)
    parts = state.parts()
    if isinstance(parts, str):
        yield f"{order.film_name}: {parts}"
    else:
        there = state.film_is_up_to_date(parts)
        sides = _SIDES if there and keeper.film_is_stale() else ""
        yield f"{order.film_name}: {'up to date' if there else 'to be joined'}{sides}"
