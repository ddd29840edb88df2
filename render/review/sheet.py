"""Contact sheets: the last frame of each beat of a scene in one PNG, without rendering a video."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
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


def write(order: tuple[SceneInfo, Settings, Path], height: int) -> Path:
    """Draw one sheet and put it in place. Raises LectureError where it cannot be written."""
    scene, settings, path = order
    page = sheet(scene, settings, height=height)
    with replacing(path) as fresh:
        page.save(fresh)
    return path


def write_all(
    wanted: Iterable[tuple[SceneInfo, Settings, str]], folder: Path, height: int, jobs: int
) -> Iterator[Path | Failure]:
    """Draw a sheet ``NN_name_lang.png`` of each scene, with the label of the weights where they are
    not the tutorial's, ``jobs`` at a time; yield their paths in order, or why there is none. Raises
    LectureError where nothing can be written in the folder."""
    make_folder(folder)
    orders = []
    for scene, settings, label in wanted:
        own = "" if label == "tutorial" else f"_{label}"
        orders.append((scene, settings, folder / f"{scene.slug}_{settings.language}{own}.png"))
    for (*_, path), done in attempts(partial(write, height=height), orders, jobs):
        if isinstance(done, Failure):
            done = replace(done, line=f"{path.stem}: no sheet: {done.line}")
        yield done
