"""Still frames that x264 was not asked for (``render/media/stills.py``), as Chromium shows them."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from render.media.pictures import PictureFile
from render.media.quality import QUALITIES

pytestmark = pytest.mark.slow

DRAFT = QUALITIES["draft"]
LENGTHS = (1, 2, 17, 40, 1, 1, 60, 3, 31)  # over keyframes, and over 16 frame numbers
_OPEN = """async data => {
    const video = document.querySelector("video");
    const file = await (await fetch("data:video/mp4;base64," + data)).blob();
    video.src = URL.createObjectURL(file);
    await new Promise((done, fail) => {
        video.onloadeddata = done; video.onerror = () => fail(video.error.message) });
    return video.duration }"""
_SEEK = """async time => {
    const video = document.querySelector("video");
    await new Promise(done => { video.onseeked = done; video.currentTime = time });
    const canvas = document.querySelector("canvas").getContext("2d");
    canvas.drawImage(video, 0, 0, 16, 9);
    return canvas.getImageData(8, 4, 1, 1).data[1] }"""
_PLAY = """async () => {
    const video = document.querySelector("video");
    video.currentTime = 0;
    await video.play();
    await new Promise(done => { video.onended = done });
    return [video.error, video.getVideoPlaybackQuality().corruptedVideoFrames ?? 0] }"""


def write(video: Path) -> list[int]:
    """A video of flat greys; returns the level of each frame as a screen has it."""
    file, levels = PictureFile(video, DRAFT), []
    for index, repeat in enumerate(LENGTHS):
        planes = np.full((DRAFT.height * 3 // 2, DRAFT.width), 128, np.uint8)
        planes[: DRAFT.height] = 40 + 20 * index
        file.add(planes, 1)
        file.add(None, repeat - 1)
        levels += [round((24 + 20 * index) * 255 / 219)] * repeat
    file.finish()
    return levels


def test_every_seek_finds_its_picture_and_it_plays_to_the_end(
    chromium: Any, tmp_path: Path
) -> None:
    levels = write(tmp_path / "v.mp4")
    page = chromium.new_page()
    page.set_content("<video muted></video><canvas width=16 height=9></canvas>")
    data = base64.b64encode((tmp_path / "v.mp4").read_bytes()).decode()
    assert page.evaluate(_OPEN, data) == pytest.approx(len(levels) / DRAFT.fps, abs=0.01)
    places = [155, 0, 1, 2, 3, 19, 20, 21, 59, 60, 61, 62, 29, 30, 31, 121, 122, 124, 125, 90, 89]
    for place in places:
        shown = page.evaluate(_SEEK, (place + 0.5) / DRAFT.fps)
        assert abs(shown - levels[place]) <= 4, place
    assert page.evaluate(_PLAY) == [None, 0]
    page.close()
