"""Captions drawn into the pictures: where, when, and that nothing else changes."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np

from render.base.project import font_file
from render.media.burn import STRIP, burn
from render.media.check import check_video
from render.media.mux import Part, Video, mux
from render.media.timedtext import Cue, Track
from scenes import theme

from .conftest import DRAFT, ORIGIN, TITLE, encode

FRAMES = 40
TRACK = Track("en", (Cue(5, 15, ("One line, y = 0.5",)), Cue(17, 90, ("两行字，", "第二行。"))), 15)
ABOVE = DRAFT.height - int(STRIP * DRAFT.height)


def test_the_strip_is_below_everything_that_scenes_show() -> None:
    assert STRIP * 8 <= theme.CAPTION_ZONE + 4
    two_lines = 2 * 0.046 + 0.02
    assert two_lines <= STRIP


def grey(path: Path) -> list[np.ndarray]:
    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="gray").astype(int) for frame in container.decode(video=0)]


def test_captions_are_in_their_frames_and_the_rest_stays(binary: str, tmp_path: Path) -> None:
    plain = encode(binary, tmp_path / "plain.mp4", FRAMES)
    made = tmp_path / "burned.mp4"
    digest = burn(plain, made, DRAFT, 1, TRACK, font_file())
    before, after = grey(plain), grey(made)
    assert len(after) == FRAMES
    shown = []
    for old, new in zip(before, after, strict=True):
        assert np.abs(old[:ABOVE] - new[:ABOVE]).mean() < 2
        shown.append(bool(np.abs(old[ABOVE:] - new[ABOVE:]).mean() > 4))
    assert shown == [5 <= i < 15 or i >= 17 for i in range(FRAMES)]
    wanted = Video(DRAFT, FRAMES, TITLE, ORIGIN, pictures=digest)
    check_video(mux(binary, wanted, [Part(made, FRAMES)], tmp_path / "video.mp4"), wanted)
