"""Four tiny scenes: three that draw, one that fails."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from engine.errors import LectureError


@dataclass(frozen=True)
class SceneInfo:
    number: int
    slug: str
    class_name: str
    steps: tuple[int, int]

    @property
    def module(self) -> str:
        return "scenes.tiny"


SCENES = (
    SceneInfo(1, "01_square", "Square", (0, 1)),
    SceneInfo(2, "02_circle", "Circle", (2, 2)),
    SceneInfo(3, "03_broken", "Broken", (3, 3)),
    SceneInfo(4, "04_long", "Long", (4, 4)),
    SceneInfo(5, "05_noise", "Noise", (5, 5)),
    SceneInfo(6, "06_mistaken", "Mistaken", (6, 6)),
)


def available() -> tuple[SceneInfo, ...]:
    return SCENES[:2]


def film(track: str) -> tuple[SceneInfo, ...]:
    return available() if track == "full" else available()[:1]


def find(text: str) -> SceneInfo:
    for scene in SCENES:
        if text in (str(scene.number), scene.slug):
            return scene
    raise LectureError(field="scene", expected="1 or 2", found=repr(text))


def load(module: str, class_name: str) -> Any:
    return getattr(importlib.import_module(module), class_name)
