"""A CairoRenderer that draws only what has changed since the last frame."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from operator import attrgetter
from typing import Any

import numpy as np
from manim import Camera
from manim.renderer.cairo_renderer import CairoRenderer
from manim.utils.iterables import list_update

from render.draw.fast import hooks, native


class FastRenderer(CairoRenderer):  # type: ignore[misc]  # Manim is untyped for us
    """Draws the frames of CairoRenderer with Manim's own camera; hands them on uncopied.

    The writer, a ``render.draw.scene.StreamWriter``, gets ``changed`` with each frame: a byte per
    tile, nonzero where pixels differ from the last time; it sets them to zero. The frame it gets
    is drawn over later. Other cameras, and mobjects that are not made of curves of one colour, are
    drawn by Manim.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._helper = native.load()
        hooks.install()
        self._canvas: Any = None
        self._drawn_into: tuple[Any, ...] = (None, None, None)
        self._below_is_plain = False
        self._still = False

    def save_static_frame_data(self, scene: Any, static_mobjects: Any) -> Any:
        """Note what lies below all that moves in this play; it is drawn where it is needed."""
        canvas = self._up_to_date_canvas()
        self.static_image = None
        self._below_is_plain = canvas is None
        if canvas is None:
            return super().save_static_frame_data(scene, static_mobjects)
        self._forget_still()
        if not static_mobjects:
            return None
        try:
            canvas.set_still(self._in_order(static_mobjects))
        except LookupError:
            self._below_is_plain = True
            canvas.invalidate()
            return super().save_static_frame_data(scene, static_mobjects)
        self._still = True
        self.static_image = canvas  # only says that there is something
        return self.static_image

    def update_frame(
        self,
        scene: Any,
        mobjects: Iterable[Any] | None = None,
        include_submobjects: bool = True,
        ignore_skipping: bool = True,
        **options: Any,
    ) -> None:
        if self.skip_animations and not ignore_skipping:
            return
        canvas = self._up_to_date_canvas()
        below_is_plain = self._below_is_plain and self.static_image is not None
        if canvas is not None and not below_is_plain and include_submobjects and not options:
            if self.static_image is None:
                self._forget_still()
            try:
                shown = mobjects or list_update(scene.mobjects, scene.foreground_mobjects)
                return canvas.draw(self._in_order(shown))  # type: ignore[no-any-return]
            except LookupError:
                pass
        if canvas is not None:
            if self._still and self.static_image is not None:
                self.static_image = canvas.complete_below()
            canvas.invalidate()
        super().update_frame(scene, mobjects, include_submobjects, ignore_skipping, **options)

    def render(self, scene: Any, time: float, moving_mobjects: Any = None) -> None:
        self.update_frame(scene, moving_mobjects)
        self.add_frame(self.camera.pixel_array)

    def freeze_current_frame(self, duration: float) -> None:
        dt = 1 / self.camera.frame_rate
        self.add_frame(self.camera.pixel_array, num_frames=int(duration / dt))

    def add_frame(self, frame: Any, num_frames: int = 1) -> None:
        if not self.skip_animations:
            self.time += num_frames * (1 / self.camera.frame_rate)
            known = frame is self.camera.pixel_array and self._canvas is not None
            changed = self._changed if known else None
            self.file_writer.write_frame(frame, repeat=num_frames, changed=changed)

    def _in_order(self, mobjects: Iterable[Any]) -> list[Any]:
        """Camera.get_mobjects_to_display. Raises LookupError where only Manim can say."""
        family: list[Any] = self._helper.family(mobjects, True)
        if self.camera.use_z_index and not self._helper.flat(family):
            family.sort(key=attrgetter("z_index"))
        return family

    def _forget_still(self) -> None:
        if self._still:
            self._canvas.set_still([])
            self._still = False

    def _up_to_date_canvas(self) -> Any:
        """The canvas over the camera's pixels and background; None for another kind of camera."""
        camera = self.camera
        if type(camera) is not Camera or camera.background is None:
            return None
        inputs = (camera.pixel_array, camera.background, camera.cairo_line_width_multiple)
        if any(one is not other for one, other in zip(inputs, self._drawn_into, strict=True)):
            self._drawn_into = inputs
            self._canvas = self._new_canvas(camera)
            self._still = False
        return self._canvas

    def _new_canvas(self, camera: Any) -> Any:
        frame, background = camera.pixel_array, camera.background
        if frame.shape != background.shape or frame.dtype != np.uint8:
            return None
        height, width = frame.shape[:2]
        tile = self._helper.TILE
        self._changed = np.ones((-(-height // tile), -(-width // tile)), np.uint8)
        return self._helper.Canvas(
            frame,
            background,
            self._changed,
            (camera.frame_width, camera.frame_height),
            camera.cairo_line_width_multiple,
        )


def choose(name: str) -> tuple[type[CairoRenderer], Any]:
    """The renderer ``fast`` or ``plain``, and the compiled helper, which plain goes without.

    Where the helper cannot be built, this is said on stderr, and plain Manim draws.
    """
    if name == "fast":
        try:
            return FastRenderer, native.load()
        except native.NotBuilt as error:
            print(f"plain Manim draws, without the compiled helper: {error}", file=sys.stderr)
    return CairoRenderer, None
