"""The table that ``./render.sh list`` prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scenes import texts
from scenes.registry import SCENES, SceneInfo, available


def lines() -> Iterator[str]:
    """A line per scene that exists, then the numbers of those still planned."""
    there = available()
    width = max((len(scene.slug) for scene in there), default=0) - 2
    titles = {language: texts.load(language) for language in ("zh", "en")}
    yield f"{'no.':>3}  {'name':<{width}} steps  title"
    for scene in there:
        name = scene.slug.split("_", 1)[1]
        both = " / ".join(_title(titles[language], scene) for language in ("zh", "en"))
        yield f"{scene.number:>3}  {name:<{width}} {_steps(scene):<5}  {both}"
    missing = [str(scene.number) for scene in SCENES if scene not in there]
    if missing:
        yield f"still to come: {', '.join(missing)}"


def _steps(scene: SceneInfo) -> str:
    first, last = scene.steps
    return str(first) if first == last else f"{first}-{last}"


def _title(language_texts: dict[str, Any], scene: SceneInfo) -> str:
    return str(language_texts.get(scene.slug, {}).get("title", "-"))
