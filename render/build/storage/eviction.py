"""Keeps a cache within its limit: what was used longest ago goes first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from render.build.storage.places import Item

if TYPE_CHECKING:
    from render.build.storage.places import Place

_HOUR = 3600.0
_SKEW = 120.0  # seconds that the clocks of two machines may be apart
_ENOUGH = 0.9  # of the limit is left, so that not every run has to evict


def evict(
    place: Place, limit: int, now: float, objects_of: Callable[[str], frozenset[str]]
) -> None:
    """Remove entries, what was used longest ago first, until a cache has at most ``limit`` bytes;
    and what killed runs left.

    ``objects_of`` tells the paths of the objects of the entry at a path. What runs in progress use
    stays. Raises OSError.
    """
    items, begun = place.items(), [now]
    for item in items:
        is_run = item.path.startswith("runs/")
        if item.time < now - _HOUR and (is_run or _is_unfinished(item)):
            place.remove(item.path)
        elif is_run:
            start = item.path.removeprefix("runs/").partition("-")[0]
            begun.append(float(start) if start.isdigit() else now)
    needed_since = min(begun) - _SKEW * (len(begun) > 1)
    total = sum(item.size for item in items)
    if total <= limit:
        return
    entries = [item for item in items if item.path.startswith("entries/")]
    objects = {item.path: item for item in items if item.path.startswith("objects/")}
    of = {item.path: objects_of(item.path) for item in entries if not _is_unfinished(item)}
    used = Counter(path for paths in of.values() for path in paths)
    for path, item in objects.items():
        if not used[path] and item.time < now - _HOUR:
            place.remove(path)
            total -= item.size
    for entry in sorted(entries, key=lambda item: item.time):
        if total <= limit * _ENOUGH or entry.time >= needed_since:
            break
        place.remove(entry.path)
        total -= entry.size
        used.subtract(of.get(entry.path, ()))
        for path in of.get(entry.path, ()):
            if not used[path] and path in objects:
                place.remove(path)
                total -= objects[path].size


def _is_unfinished(item: Item) -> bool:
    return item.path.rpartition("/")[2].startswith(".")
