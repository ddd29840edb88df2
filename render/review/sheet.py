"""Contact sheets: the last frame of each beat of a scene in one PNG, without rendering a video."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from render.base.failure import Failure, attempts
from render.base.files import make_folder, replacing
from scenes import fonts, playthrough
from scenes.base import LectureScene
from scenes.registry import SceneInfo
from scenes.settings import Settings

CAPTION = 28


def sheet(
    info: SceneInfo, settings: Settings, *, height: int = 480, columns: int = 3
) -> Image.Image:
    """One picture with the last frame of each beat, its step, name and times under it."""
    frames: list[np.ndarray] = []

    def keep(scene: LectureScene, frame: np.ndarray | None) -> None:
        assert frame is not None
        frames.append(frame[:, :, :3].copy())

    scene = playthrough.play(info, settings, at_beat=keep, draw=True, height=height)
    rows = math.ceil(len(frames) / columns)
    width = frames[0].shape[1]
    page = Image.new("RGB", (columns * width, rows * (height + CAPTION)), "#000000")
    draw = ImageDraw.Draw(page)
    font = ImageFont.truetype(str(fonts.FILE), 17, index=2)
    font.set_variation_by_axes([400])
    for index, (frame, beat) in enumerate(zip(frames, scene.timeline, strict=True)):
        x, y = index % columns * width, index // columns * (height + CAPTION)
        page.paste(Image.fromarray(frame), (x, y))
        steps = f"{beat.step}" + (f"–{beat.last_step}" if beat.last_step > beat.step else "")
        line = f"{steps}  {beat.name}  {beat.start:.1f}–{beat.end:.1f} s"
        draw.text((x + 8, y + height + 1), line, fill="#C8D0DA", font=font)
    return page


@dataclass(frozen=True)
class SheetOrder:
    """One sheet to be written as ``folder/NN_name_lang.png`` (with the label of the weights, where
    they are not the tutorial's)."""

    scene: SceneInfo
    settings: Settings
    label: str
    folder: Path
    height: int

    @property
    def path(self) -> Path:
        own = "" if self.label == "tutorial" else f"_{self.label}"
        return self.folder / f"{self.scene.slug}_{self.settings.language}{own}.png"


def write(order: SheetOrder) -> Path:
    """Draw one sheet and put it in place. Raises LectureError where it cannot be written."""
    make_folder(order.folder)
    page = sheet(order.scene, order.settings, height=order.height)
    with replacing(order.path) as fresh:
        page.save(fresh)
    return order.path


def write_all(orders: Sequence[SheetOrder], jobs: int) -> Iterator[Path | Failure]:
    """Draw sheets, ``jobs`` at a time, and yield their paths in order, or why there is none.
    Raises LectureError where nothing can be written in a folder."""
    for folder in dict.fromkeys(order.folder for order in orders):
        make_folder(folder)
    for order, done in attempts(write, orders, jobs):
        if isinstance(done, Failure):
            done = replace(done, line=f"{order.path.stem}: no sheet: {done.line}")
        yield done
