"""Half a second after a fade nothing of the old picture is left, and what is new is sharp."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from render.media.pictures import PictureFile, yuv_planes
from render.media.quality import QUALITIES, Quality
from render.media.settling import TILE, Region, Settling, regions

DRAFT = QUALITIES["draft"]
BACKGROUND = (14, 17, 22)
INKS = [(240, 240, 240), (88, 196, 221), (252, 98, 85), (131, 193, 103)]


def table(quality: Quality, seed: int) -> np.ndarray:
    """Planes of a picture full of framed numbers."""
    width, height = quality.width, quality.height
    picture = Image.new("RGBA", (width, height), BACKGROUND)
    pen, font = ImageDraw.Draw(picture), ImageFont.load_default(height / 24)
    generator = np.random.default_rng(seed)
    for row in range(10):
        for column in range(8):
            x, y = width * (column + 1) // 10, height * (row + 1) // 12
            ink = INKS[(row + column) % 4]
            pen.rectangle((x, y, x + width // 11, y + height // 14), outline=ink)
            pen.text((x + 5, y + 2), f"{generator.normal():+.3f}", fill=ink, font=font)
    return yuv_planes(np.asarray(picture))


def blank(quality: Quality) -> np.ndarray:
    return yuv_planes(np.full((quality.height, quality.width, 4), (*BACKGROUND, 255), np.uint8))


def fade(quality: Quality, before: np.ndarray, after: np.ndarray, steps: int) -> list[np.ndarray]:
    """The first is ``before``, the last ``after``."""
    shares = [(1 - np.cos(np.pi * step / steps)) / 2 for step in range(steps + 1)]
    away = after.astype(np.float32) - before
    return [(before + away * np.float32(share) + 0.5).astype(np.uint8) for share in shares]


def decoded(video: Path) -> list[np.ndarray]:
    with av.open(str(video)) as container:
        return [frame.to_ndarray(format="yuv420p") for frame in container.decode(video=0)]


def flat(luma: np.ndarray) -> np.ndarray:
    """Pixels with one level in all of their neighbourhood, as far as a transform reaches."""
    most = least = luma
    for axis in (0, 1):
        shifted = [np.roll(one, by, axis) for one in (most, least) for by in range(-8, 9)]
        most, least = np.max(shifted[:17], 0), np.min(shifted[17:], 0)
    return most == least


SMALL, LARGE = ("draft", "standard"), ("high", "4k")


@pytest.mark.parametrize(
    "name", [*SMALL, *(pytest.param(n, marks=pytest.mark.slow) for n in LARGE)]
)
def test_a_table_that_fades_is_gone(name: str, tmp_path: Path) -> None:
    """In brightness and in both colours, everywhere, and for as long as the picture stands."""
    quality = QUALITIES[name]
    pictures = fade(quality, table(quality, 0), blank(quality), quality.fps * 2 // 5)
    file = PictureFile(tmp_path / "v.mp4", quality)
    for planes in pictures:
        file.add(planes, 1)
    file.add(None, quality.fps)
    file.finish()
    seen = decoded(tmp_path / "v.mp4")[len(pictures) - 1 + quality.fps // 2 :]
    assert len(seen) > quality.fps // 3
    for frame in (seen[0], seen[-1]):
        assert np.abs(frame.astype(np.int16) - pictures[-1]).max() <= 3


def test_a_table_that_turns_into_another_is_sharp(tmp_path: Path) -> None:
    """Its flat areas are clean, and no thin line is far off."""
    pictures = fade(DRAFT, table(DRAFT, 0), table(DRAFT, 1), 6)
    file = PictureFile(tmp_path / "v.mp4", DRAFT)
    for planes in pictures:
        file.add(planes, 1)
    file.add(None, DRAFT.fps)
    file.finish()
    drawn = pictures[-1][: DRAFT.height].astype(int)
    seen = decoded(tmp_path / "v.mp4")[len(pictures) - 1 + DRAFT.fps // 2][: DRAFT.height]
    away, still = np.abs(seen - drawn), flat(drawn)
    assert still.mean() > 0.2
    assert away[still].max() <= 3
    assert away.max() <= 10


def test_it_fades_away_while_something_else_moves(tmp_path: Path) -> None:
    """A bar wanders through the left margin all the time."""
    pictures = fade(DRAFT, table(DRAFT, 0), blank(DRAFT), 6)
    length = len(pictures) - 1 + DRAFT.fps // 2
    pictures += pictures[-1:] * (length + 1 - len(pictures))
    file, before = PictureFile(tmp_path / "v.mp4", DRAFT), None
    margin = 2 * TILE
    for index, planes in enumerate(pictures):
        planes = planes.copy()
        planes[: DRAFT.height, :margin] = np.roll(np.arange(DRAFT.height) % 90 + 40, index * 5)[
            :, None
        ]
        where = None if before is None else changed(before, planes)
        file.add(planes, 1, where)
        before = planes
    file.finish()
    away = np.abs(decoded(tmp_path / "v.mp4")[-1].astype(int) - planes)[: DRAFT.height]
    assert away[:, margin:].max() <= 3


def changed(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Which tiles differ, in brightness."""
    rows, columns = -(-DRAFT.height // TILE), -(-DRAFT.width // TILE)
    padded = np.zeros((rows * TILE, columns * TILE), bool)
    padded[: DRAFT.height, : DRAFT.width] = (before != after)[: DRAFT.height]
    return padded.reshape(rows, TILE, columns, TILE).any((1, 3))


class TestSettling:
    def some(self, *tiles: tuple[int, int]) -> np.ndarray:
        where = np.zeros((30, 54), bool)
        for tile in tiles:
            where[tile] = True
        return where

    def test_a_tile_settles_at_the_second_look_from_its_last_change(self) -> None:
        settling = Settling(DRAFT)
        found = {}
        for place in range(DRAFT.keyframe_interval):
            if place in (4, 5, 6):
                settling.change(self.some((2, 3)))
            found[place] = settling.settled(place)
        assert {place: one for place, one in found.items() if one} == {9: [Region(3, 2, 4, 3)]}

    def test_a_keyframe_leaves_nothing_to_settle(self) -> None:
        settling = Settling(DRAFT)
        settling.change(None)
        places = [*range(28, 30), *range(30)]
        assert not any(settling.settled(place) for place in places)

    def test_regions_cover_what_they_should(self) -> None:
        assert regions(self.some()) == []
        block = self.some((1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (29, 53))
        assert set(regions(block)) == {
            Region(1, 1, 3, 3),
            Region(1, 3, 2, 4),
            Region(53, 29, 54, 30),
        }

    def test_very_many_become_one(self) -> None:
        where = self.some(*((row, column) for row in range(2, 20, 2) for column in range(3, 40, 2)))
        assert regions(where) == [Region(3, 2, 40, 19)]
