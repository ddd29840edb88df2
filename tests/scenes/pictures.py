"""Stored pictures of the scenes: the last frame of each beat, small, in one PNG per scene.

Cairo versions differ in antialiasing, and the stored pictures have few colours; so pictures are
compared by the mean of blocks, not pixel by pixel. A label that moved by its own height, a number
that is missing, another colour of a cell: each changes a block by far more than the tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageChops

FOLDER = Path(__file__).resolve().parent.parent / "pictures"
DIFFERENCES = Path(__file__).resolve().parents[2] / "out" / "pictures"
HEIGHT = 144
WIDTH = 256
COLUMNS = 3
COLOURS = 96
#: Pixels of a block's side, and how far its mean may be from the stored one, of 255.
BLOCK, TOLERANCE = 8, 18.0


def strip(frames: Sequence[np.ndarray]) -> Image.Image:
    """The frames in rows of three."""
    rows = math.ceil(len(frames) / COLUMNS)
    page = Image.new("RGB", (COLUMNS * WIDTH, rows * HEIGHT))
    for index, frame in enumerate(frames):
        picture = Image.fromarray(frame[:, :, :3]).resize((WIDTH, HEIGHT), Image.Resampling.BOX)
        page.paste(picture, (index % COLUMNS * WIDTH, index // COLUMNS * HEIGHT))
    return page


def accept(name: str, page: Image.Image) -> None:
    """Store a picture as the right one."""
    FOLDER.mkdir(exist_ok=True)
    reduced = page.quantize(
        COLOURS, method=Image.Quantize.MAXCOVERAGE, kmeans=3, dither=Image.Dither.NONE
    )
    reduced.save(FOLDER / f"{name}.png", optimize=True)


def blocks(page: Image.Image) -> np.ndarray:
    """Means of blocks, shape (rows, columns, 3)."""
    array = np.asarray(page.convert("RGB"), dtype=float)
    height, width, _ = array.shape
    return array.reshape(height // BLOCK, BLOCK, width // BLOCK, BLOCK, 3).mean(axis=(1, 3))


def difference(name: str, page: Image.Image) -> str | None:
    """What is wrong with a picture, or None; on failure a picture of old, new and difference is
    left in ``out/pictures``."""
    stored = FOLDER / f"{name}.png"
    if not stored.exists():
        return f"{stored} is missing: look at the scene, then ./render.sh test --accept-pictures"
    with Image.open(stored) as file:
        old = file.convert("RGB")
    if old.size != page.size:
        return f"{name}: other beats than the stored picture has{_leave(name, old, page)}"
    worst = float(np.abs(blocks(old) - blocks(page)).max())
    if worst > TOLERANCE:
        return f"{name}: a block differs by {worst:.0f} of 255{_leave(name, old, page)}"
    return None


def _leave(name: str, old: Image.Image, new: Image.Image) -> str:
    DIFFERENCES.mkdir(parents=True, exist_ok=True)
    path = DIFFERENCES / f"{name}.png"
    width = max(old.width, new.width)
    page = Image.new("RGB", (width, old.height + 2 * new.height))
    page.paste(old, (0, 0))
    page.paste(new, (0, old.height))
    if old.size == new.size:
        apart = ImageChops.difference(old, new).point(lambda value: min(255, value * 4))
        page.paste(apart, (0, old.height + new.height))
    page.save(path)
    return f"; {path} has old, new and difference; ./render.sh test --accept-pictures accepts"
