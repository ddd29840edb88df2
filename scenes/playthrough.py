"""Play a scene without drawing it: for its timeline, its numbers, its geometry, its pictures.

Every animation is built and taken to its end, the clock runs as in the film, but no frame is
drawn unless ``at_beat`` asks for one. A scene takes a second or two.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
from manim import CairoRenderer, tempconfig

from . import registry
from .base import LectureScene
from .registry import SceneInfo
from .settings import Settings


class _ClockRenderer(CairoRenderer):
    """Keeps time and draws nothing."""

    def __init__(self) -> None:
        super().__init__(skip_animations=True)

    def update_frame(self, *args: Any, **options: Any) -> None:
        pass

    def save_static_frame_data(self, *args: Any, **options: Any) -> None:
        self.static_image = None

    def draw(self, scene: LectureScene) -> np.ndarray:
        """The picture as it stands, shape (height, width, 4), uint8."""
        self.static_image = None
        super().update_frame(scene)
        return self.get_frame()


def scene_class(info: SceneInfo) -> type[LectureScene]:
    """The scene's class, imported; raises as :func:`registry.load` does."""
    return registry.load(info.module, info.class_name)


def play(info: SceneInfo, settings: Settings, **options: Any) -> LectureScene:
    """Play a scene of the lecture through and return it, finished: see :func:`play_class`."""
    return play_class(scene_class(info), settings, **options)


def play_class(
    scene_class: type[LectureScene],
    settings: Settings,
    *,
    at_beat: Callable[[LectureScene, np.ndarray | None], None] | None = None,
    at_quarter: Callable[[LectureScene], None] | None = None,
    draw: bool = False,
    words_only: bool = False,
    height: int = 480,
) -> LectureScene:
    """Play a scene through and return it, finished.

    ``at_beat`` is called at the end of each beat with the scene and, if ``draw``, the picture,
    ``height`` pixels high, shape (height, width, 4). ``at_quarter`` is called at the quarters of
    each animation. ``words_only`` builds all parts and fills all texts but plays no animation,
    which is several times faster. Errors of the scene come through as they are.
    """
    with tempfile.TemporaryDirectory(prefix="lecture-") as media, tempconfig(_quiet(media, height)):
        renderer = _ClockRenderer()
        scene = scene_class(settings, renderer=renderer)
        scene.words_only = words_only
        if at_beat is not None:
            scene.on_beat = lambda: at_beat(scene, renderer.draw(scene) if draw else None)
        if at_quarter is not None:
            scene.on_quarter = lambda: at_quarter(scene)
        scene.render()
        return scene


def _quiet(media: str, height: int) -> dict[str, Any]:
    return {
        "media_dir": media,
        "dry_run": True,
        "disable_caching": True,
        "progress_bar": "none",
        "verbosity": "ERROR",
        "pixel_height": height,
        "pixel_width": round(height * 16 / 9),
        "frame_rate": 15,
    }
