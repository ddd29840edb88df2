"""Keeps a store within its limit: what was used longest ago goes first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from render.build.store.place import Item, Place

_HOUR = 3600.0
_SKEW = 120.0  # seconds that the clocks of two machines may be apart
_ENOUGH = 0.9  # of the limit is left, so that not every run has to sweep


@dataclass
class _Stored:
    """One entry's files."""

    items: list[Item] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        return any(item.path.endswith("/entry.json") for item in self.items)

    @property
    def size(self) -> int:
        return sum(item.size for item in self.items)

    @property
    def used(self) -> float:
        return max(item.time for item in self.items)


def sweep(place: Place, limit: int, now: float) -> None:
    """Remove entries until the store has at most ``limit`` bytes, and what killed runs left.

    What runs in progress use stays. Raises OSError.
    """
    items = place.items()
    since = _needed_since(items, now)
    _remove(place, _leftovers(items, now))
    entries = _entries(items)
    total = sum(item.size for item in items)
    if total > limit:
        for folder in sorted(entries, key=lambda folder: entries[folder].used):
            stored = entries[folder]
            if total <= limit * _ENOUGH or stored.used >= since:
                break
            _remove(place, sorted((i.path for i in stored.items), key=_entry_first))
            total -= stored.size
            del entries[folder]
    _remove(place, _idle_questions(items, entries, since))


def _needed_since(items: Iterable[Item], now: float) -> float:
    """When the first of the runs in progress began: what was used since then stays."""
    begun = [now]
    for item in items:
        if item.path.startswith("runs/") and item.time > now - _HOUR:
            start = item.path.removeprefix("runs/").partition("-")[0]
            begun.append(float(start) if start.isdigit() else now)
    return min(begun) - _SKEW * (len(begun) > 1)


def _leftovers(items: Iterable[Item], now: float) -> list[str]:
    """Signs of life of runs that are dead, and files that a killed one was just writing."""
    old = [item for item in items if item.time < now - _HOUR]
    aside = [item.path for item in old if item.path.rpartition("/")[2].startswith(".")]
    dead = [item.path for item in old if item.path.startswith("runs/")]
    whole = _entries(items)
    torn = [
        item.path
        for folder, stored in whole.items()
        if not stored.whole and stored.used < now - _HOUR
        for item in stored.items
    ]
    return list(dict.fromkeys([*aside, *dead, *torn]))


def _entries(items: Iterable[Item]) -> dict[str, _Stored]:
    """By folder: ``orders/ORDER/QUESTION/KEY``."""
    found: dict[str, _Stored] = defaultdict(_Stored)
    for item in items:
        if item.path.startswith("orders/") and item.path.count("/") == 4:
            found[item.path.rpartition("/")[0]].items.append(item)
    return dict(found)


def _idle_questions(
    items: Iterable[Item], entries: Mapping[str, _Stored], since: float
) -> list[str]:
    """Questions to which no answer is stored any more."""
    asked = {folder.rpartition("/")[0] for folder in entries}
    return [
        item.path
        for item in items
        if item.path.endswith("/question.json")
        and item.path.rpartition("/")[0] not in asked
        and item.time < since
    ]


def _entry_first(path: str) -> bool:
    return not path.endswith("/entry.json")


def _remove(place: Place, paths: Iterable[str]) -> None:
    for path in paths:
        place.remove(path)
