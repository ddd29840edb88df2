"""Colours, frame counts and failures of the encoder; the ffmpeg that is used."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import av
import numpy as np
import pytest

from engine.errors import LectureError
from render.media import ffmpeg
from render.media.pictures import FrameEncoder

from .conftest import DRAFT, draw, encode

COLOURS = [
    (0, 0, 0),
    (255, 255, 255),
    (128, 128, 128),
    (255, 0, 0),
    (0, 255, 0),
    (0, 0, 255),
    (30, 160, 90),
    (250, 140, 20),
    (240, 90, 160),
]


def decode_bt709(frame: av.VideoFrame) -> np.ndarray:
    """RGB of the middle pixel by BT.709's own formulas, limited range."""
    luma, blue, red = (
        np.frombuffer(plane, np.uint8).reshape(plane.height, plane.line_size)[
            plane.height // 2, plane.width // 2
        ]
        for plane in frame.planes
    )
    y = (float(luma) - 16) / 219
    cb = (float(blue) - 128) / 224
    cr = (float(red) - 128) / 224
    r = y + 2 * (1 - 0.2126) * cr
    b = y + 2 * (1 - 0.0722) * cb
    g = (y - 0.2126 * r - 0.0722 * b) / 0.7152
    return np.array([r, g, b]) * 255


@pytest.mark.parametrize("rgb", COLOURS)
def test_a_flat_colour_comes_back_by_the_matrix_it_is_tagged_with(
    rgb: tuple[int, int, int], tmp_path: Path
) -> None:
    frame = np.full((DRAFT.height, DRAFT.width, 4), (*rgb, 255), np.uint8)
    encoder = FrameEncoder(tmp_path / "flat.mp4", DRAFT)
    encoder.write(frame, repeat=3)
    encoder.finish()
    with av.open(str(tmp_path / "flat.mp4")) as container:
        decoded = next(container.decode(video=0))
        assert (decoded.colorspace, decoded.color_range) == (1, 1)
        assert np.abs(decode_bt709(decoded) - rgb).max() <= 2.0


@pytest.mark.parametrize("frames", [1, 2, 31])
def test_every_frame_arrives_in_order(frames: int, ffmpeg_tool: str, tmp_path: Path) -> None:
    video = encode(ffmpeg_tool, tmp_path / "v.mp4", frames)
    with av.open(str(video)) as container:
        decoded = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    assert len(decoded) == frames
    for index, picture in enumerate(decoded):
        assert np.abs(picture.astype(int) - draw(index)[:, :, :3]).mean() < 4


def test_repeats_are_counted(tmp_path: Path) -> None:
    encoder = FrameEncoder(tmp_path / "v.mp4", DRAFT)
    encoder.write(draw(0), repeat=10)
    encoder.write(draw(1))
    encoder.finish()
    assert encoder.frames == 11
    with av.open(str(tmp_path / "v.mp4")) as container:
        assert container.streams.video[0].frames == 11


def test_a_frame_of_another_size_is_an_error(tmp_path: Path) -> None:
    encoder = FrameEncoder(tmp_path / "v.mp4", DRAFT)
    with pytest.raises(ValueError, match="bytes is wanted"):
        encoder.write(np.zeros((2, 2, 4), np.uint8))
    encoder.abort()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a disk that is always full")
def test_a_full_disk_is_called_so(tmp_path: Path) -> None:
    (tmp_path / "v.mp4").symlink_to("/dev/full")
    encoder = FrameEncoder(tmp_path / "v.mp4", DRAFT)
    with pytest.raises(LectureError, match=r"v\.mp4: encoder: .*no space left on the disk"):
        for index in range(500):
            encoder.write(draw(index))


def test_a_full_disk_is_noticed_at_the_very_end(tmp_path: Path) -> None:
    (tmp_path / "v.mp4").symlink_to("/dev/full")
    encoder = FrameEncoder(tmp_path / "v.mp4", DRAFT)
    encoder.write(draw(0))
    with pytest.raises(LectureError, match="no space left on the disk"):
        encoder.finish()


def test_an_encoder_that_fails_is_told_with_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise ValueError("disk on fire")

    encoder = FrameEncoder(tmp_path / "v.mp4", DRAFT)
    monkeypatch.setattr(encoder._file, "add", fails)
    with pytest.raises(LectureError, match=r"v\.mp4: encoder: .*disk on fire"):
        for index in range(500):
            encoder.write(draw(index))


def test_what_is_given_up_lets_go_of_its_file(tmp_path: Path) -> None:
    encoder = FrameEncoder(tmp_path / "v.mp4", DRAFT)
    encoder.write(draw(0), repeat=40)
    encoder.abort()
    assert encoder._file._file.closed


def script(path: Path, *lines: str) -> str:
    path.write_text("\n".join(["#!/bin/sh", *lines]) + "\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


class TestWhichBinary:
    def test_the_one_named_in_the_environment(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        own = script(tmp_path / "mine", "echo ' V. libx264 x'; echo ' A. aac x'")
        monkeypatch.setenv(ffmpeg.VARIABLE, own)
        assert ffmpeg.find() == own

    @pytest.mark.parametrize("lines", [["exit 1"], ["echo ' A. aac x'"], None])
    def test_one_that_is_named_but_useless_is_refused(
        self, lines: list[str] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        own = script(tmp_path / "mine", *lines) if lines else "/nowhere/ffmpeg"
        monkeypatch.setenv(ffmpeg.VARIABLE, own)
        with pytest.raises(LectureError, match="LECTURE_FFMPEG="):
            ffmpeg.find()

    def test_a_system_one_without_x264_gives_way_to_the_carried_one(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        script(tmp_path / "ffmpeg", "echo ' A. aac x'")
        monkeypatch.delenv(ffmpeg.VARIABLE, raising=False)
        monkeypatch.setenv("PATH", str(tmp_path) + os.pathsep + os.environ["PATH"])
        assert ffmpeg.find() == ffmpeg.carried()

    def test_none_at_all_is_one_clear_line(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv(ffmpeg.VARIABLE, raising=False)
        monkeypatch.setenv("PATH", "/nowhere")
        monkeypatch.setattr(ffmpeg, "carried", lambda: None)
        with pytest.raises(LectureError, match=r"^ffmpeg: .*imageio-ffmpeg.*found none$"):
            ffmpeg.find()

    def test_the_carried_one_encodes_too(self, tmp_path: Path) -> None:
        carried = ffmpeg.carried()
        if carried is None:
            pytest.skip("imageio-ffmpeg carries no binary for this platform")
        encode(carried, tmp_path / "v.mp4", 5)
