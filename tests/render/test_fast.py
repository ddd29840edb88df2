"""Frames of the fast renderer are plain Manim's, bit for bit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import manim
import numpy as np
import pytest
from manim.renderer.cairo_renderer import CairoRenderer

from render.draw.fast import FastRenderer, choose, hooks, native
from render.media import quality
from render.media.pictures import FrameEncoder
from scenes import registry

from .frames import frames
from .torture_scene import Torture

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def small(tmp_path: Path):
    chosen = {"pixel_width": 320, "pixel_height": 180, "frame_rate": 15, "verbosity": "ERROR"}
    still = {"media_dir": str(tmp_path), "disable_caching": True, "progress_bar": "none"}
    with manim.tempconfig({**chosen, **still}):
        yield


@pytest.mark.usefixtures("small")
def test_the_torture_scene() -> None:
    plain, fast = frames(Torture, CairoRenderer), frames(Torture, FastRenderer)
    assert len(set(plain.digests)) > 60
    assert fast.digests == plain.digests
    assert fast.lied == 0


@pytest.mark.usefixtures("small")
def test_most_of_the_torture_scene_is_drawn_by_us(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or else the comparison would show nothing."""
    by_manim = []
    usual = CairoRenderer.update_frame
    monkeypatch.setattr(
        CairoRenderer, "update_frame", lambda *a, **k: by_manim.append(1) or usual(*a, **k)
    )
    collector = frames(Torture, FastRenderer)
    assert len(by_manim) < collector.frames / 4


def test_every_class_of_mobject_in_use_is_drawn_and_moved_by_us() -> None:
    for kind in (manim.VMobject, manim.VGroup, manim.Text, manim.Dot, manim.Arrow):
        assert native.classify(kind) & ~4 == 0b11011, kind
    assert native.classify(manim.ValueTracker) & 4
    assert native.classify(manim.PMobject) & 6 == 0


def test_conversion_is_bt709_and_only_where_told() -> None:
    helper = native.load()
    frame = np.random.default_rng(0).integers(0, 256, (32, 64, 4), np.uint8)
    planes = np.zeros(32 * 64 * 3 // 2, np.uint8)
    changed = np.array([[1, 0, 0, 0], [0, 0, 0, 0]], np.uint8)
    helper.to_yuv(frame, changed, planes)
    luma = planes[: 32 * 64].reshape(32, 64)
    red, green, blue = (frame[:, :, index].astype(float) for index in range(3))
    wanted = 16 + 219 / 255 * (0.2126 * red + 0.7152 * green + 0.0722 * blue)
    assert np.abs(luma[:16, :16] - wanted[:16, :16]).max() <= 0.51
    assert not luma[16:].any() and not luma[:, 16:].any()
    flat = np.full((32, 64, 4), (200, 30, 90, 255), np.uint8)
    helper.to_yuv(flat, np.ones((2, 4), np.uint8), planes)
    luma_of_flat = 0.2126 * 200 + 0.7152 * 30 + 0.0722 * 90
    blue_part = 128 + 224 / 255 * (90 - luma_of_flat) / 1.8556
    red_part = 128 + 224 / 255 * (200 - luma_of_flat) / 1.5748
    assert np.abs(planes[2048:2560].astype(float) - blue_part).max() <= 0.51
    assert np.abs(planes[2560:].astype(float) - red_part).max() <= 0.51


def test_without_a_compiler_plain_manim_draws(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    def fails() -> None:
        raise native.NotBuilt("there is no C compiler")

    monkeypatch.setattr(native, "load", fails)
    assert choose("fast") == (CairoRenderer, None)
    assert "no C compiler" in capsys.readouterr().err
    assert choose("plain") == (CairoRenderer, None)
    assert not hooks._ORIGINALS


def test_frames_that_are_drawn_over_later_are_encoded_as_they_were(tmp_path: Path) -> None:
    import av

    draft = quality.QUALITIES["draft"]
    for helper in (native.load(), None):
        target = tmp_path / "a.mp4"
        encoder = FrameEncoder(target, draft, helper)
        frame = np.zeros((draft.height, draft.width, 4), np.uint8)
        for level in (40, 40, 200, 120):
            frame[:] = level
            encoder.write(frame, 2, np.ones((30, 54), np.uint8))
        encoder.finish()
        with av.open(str(target)) as container:
            levels = [
                int(one.to_ndarray(format="gray").mean()) for one in container.decode(video=0)
            ]
        # limited range, or stretched to the full one, as this version of PyAV has it
        full, limited = (40, 40, 200, 120), (50, 50, 188, 119)
        assert any(np.allclose(levels, np.repeat(wanted, 2), atol=3) for wanted in (full, limited))


def _digests(renderer: str, module: str, name: str, size: str, folder: Path) -> dict[str, object]:
    command = [sys.executable, str(Path(__file__).parent / "frames.py"), renderer, module, name]
    result = subprocess.run(
        [*command, size, str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(result.stdout.splitlines()[-1])


@pytest.mark.slow
@pytest.mark.parametrize("number", range(20))
def test_scenes_of_the_lecture(number: int, tmp_path: Path) -> None:
    scene = next(one for one in registry.film("full") if one.number == number)
    size = "1920,1080,15" if number in (5, 9, 13) else "854,480,15"
    plain, fast = (
        _digests(renderer, scene.module, scene.class_name, size, tmp_path / renderer)
        for renderer in ("plain", "fast")
    )
    assert fast["lied"] == 0
    assert fast["digests"] == plain["digests"]
