"""The results of ``benchmarks/render.py`` as a table in Markdown."""

from __future__ import annotations

import math
from typing import Any

_HEAD = (
    "scene",
    *("plain s", "ours s", "ratio"),
    *("plain CPU s", "ours CPU s", "ratio", "encoding alone"),
    *("plain MB of memory", "ours"),
    *("plain MB of video", "ours"),
    *("plain dB", "ours"),
    "load",
)


def table(known: dict[str, Any]) -> str:
    """A row for each scene; then sums of the scenes that both rendered; then whole runs."""
    scenes = dict(known.get("scenes", {}))
    whole = scenes.pop("all", {})
    rows = [_HEAD, ("---",) * len(_HEAD)]
    rows += [
        _row(slug[:2], found.get("plain", {}), found.get("ours", {}), found)
        for slug, found in scenes.items()
    ]
    both = [found for found in scenes.values() if "plain" in found and "ours" in found]
    if both:
        theirs = _sum([found["plain"] for found in both])
        mine = _sum([found["ours"] for found in both])
        rows.append(_row(f"sum of {len(both)}", theirs, mine, {"pictures": _pictures(both)}))
        for name, cost in whole.items():
            label = f"{name}, {known['cores']} workers"
            complete = len(both) == len(scenes)
            rows.append(_row(label, theirs if complete else {}, cost, {}))
    else:
        rows += [_row(name, {}, cost, {}) for name, cost in whole.items()]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _row(name: str, theirs: Any, mine: Any, found: Any) -> tuple[str, ...]:
    pictures = found.get("pictures", {})
    loads = [f"{cost['load']:.0f}" for cost in (theirs, mine) if "load" in cost]
    return (
        name,
        *(_number(theirs, "wall"), _number(mine, "wall"), _ratio(theirs, mine, "wall")),
        *(_number(theirs, "cpu"), _number(mine, "cpu"), _ratio(theirs, mine, "cpu")),
        _number(pictures, "encoding alone"),
        *(_number(theirs, "memory"), _number(mine, "memory")),
        *(_number(theirs, "size", 1), _number(mine, "size", 1)),
        *(_number(pictures, "plain dB", 1), _number(pictures, "ours dB", 1)),
        ", ".join(loads),
    )


def _number(found: Any, key: str, decimals: int = 0) -> str:
    return f"{found[key]:.{decimals}f}" if key in found else "-"


def _ratio(theirs: Any, mine: Any, key: str) -> str:
    return f"{theirs[key] / mine[key]:.1f}" if key in theirs and key in mine else "-"


def _sum(costs: list[Any]) -> dict[str, float]:
    summed = {key: sum(cost[key] for cost in costs) for key in ("wall", "cpu", "size")}
    loads = sum(cost["load"] for cost in costs) / len(costs)
    return {**summed, "memory": max(cost["memory"] for cost in costs), "load": loads}


def _pictures(both: list[Any]) -> dict[str, float]:
    """Encoding summed; PSNR of the mean error of all frames."""
    measured = [found["pictures"] for found in both if "pictures" in found]
    if len(measured) < len(both):
        return {}
    frames = sum(one["frames"] for one in measured)
    found = {"encoding alone": sum(one["encoding alone"] for one in measured)}
    for key in ("plain dB", "ours dB"):
        error = sum(one["frames"] * 10 ** (-one[key] / 10) for one in measured) / frames
        found[key] = -10 * math.log10(error)
    return found
