"""Contact sheets: the last frame of each beat of a scene in one PNG, without rendering a video."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from scenes import fonts, playthrough
from scenes.base import LectureScene
from scenes.registry import SceneInfo
from scenes.settings import Settings

CAPTION = 28


def sheet(info: SceneInfo, settings: Settings, *, height: int = 480, columns: int = 3) -> Image:
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
        line = f"{beat.step}  {beat.name}  {beat.start:.1f}–{beat.end:.1f} s"
        draw.text((x + 8, y + height + 1), line, fill="#C8D0DA", font=font)
    return page


def write(info: SceneInfo, settings: Settings, folder: Path, *, height: int = 480) -> Path:
    """Write the sheet of a scene as ``folder/NN_name_lang.png`` and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{info.slug}_{settings.language}.png"
    aside = path.with_suffix(".part.png")
    sheet(info, settings, height=height).save(aside)
    aside.replace(path)
    return path
