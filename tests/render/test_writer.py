"""The frames that reach our encoder are plain Manim's: as many, and the same."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import av
import manim
import numpy as np
import pytest
from manim.renderer.cairo_renderer import CairoRenderer

from engine.errors import LectureError
from render.draw.scene import StreamWriter


class Mixed(manim.Scene):
    """Plays and waits of awkward lengths: frozen, with an updater, in sections, skipped."""

    def construct(self) -> None:
        square = manim.Square()
        self.play(manim.Create(square), run_time=0.31)
        self.wait(0.25)
        self.next_section("two")
        self.add(manim.Dot().add_updater(lambda dot, dt: dot.shift(manim.RIGHT * dt)))
        self.wait(0.4)
        self.next_section("skipped", skip_animations=True)
        self.play(square.animate.shift(manim.LEFT))
        self.next_section("three")
        self.play(square.animate.rotate(1), run_time=1 / 15)
        self.clear()
        self.wait(1.1)


class Collector:
    """Stands in for the encoder: keeps every frame."""

    def __init__(self) -> None:
        self.pictures: list[np.ndarray] = []
        self.ended = ""

    @property
    def frames(self) -> int:
        return len(self.pictures)

    def write(self, frame: Any, repeat: int = 1, changed: Any = None) -> None:
        self.pictures += [frame] * repeat

    def finish(self) -> None:
        self.ended = "finished"

    def abort(self) -> None:
        self.ended = "aborted"


@pytest.fixture
def settings(tmp_path: Path):
    chosen = {
        "pixel_width": 160,
        "pixel_height": 90,
        "frame_rate": 15,
        "media_dir": str(tmp_path / "media"),
        "disable_caching": True,
        "progress_bar": "none",
        "verbosity": "ERROR",
        "format": "mp4",
    }
    with manim.tempconfig(chosen):
        yield


def ours(kind: type[manim.Scene]) -> tuple[Collector, list[int], manim.Scene]:
    collector, reports = Collector(), []
    writer = functools.partial(StreamWriter, encoder=collector, tell=reports.append)
    scene = kind(renderer=CairoRenderer(file_writer_class=writer))
    scene.render()
    return collector, reports, scene


@pytest.mark.usefixtures("settings")
def test_as_many_frames_as_plain_manim_and_the_same_ones(tmp_path: Path) -> None:
    plain = Mixed()
    plain.render()
    with av.open(str(plain.renderer.file_writer.movie_file_path)) as container:
        theirs = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    collector, reports, scene = ours(Mixed)
    assert collector.frames == len(theirs) > 30
    assert collector.ended == "finished"
    assert reports[-1] == collector.frames
    assert reports == sorted(set(reports))
    for mine, other in zip(collector.pictures, theirs, strict=True):
        assert np.abs(mine[:, :, :3].astype(int) - other).mean() < 3
    assert abs(scene.time - 1 - collector.frames / 15) < 1 / 15  # the skipped second counts too


@pytest.mark.usefixtures("settings")
def test_nothing_of_manims_own_is_written(tmp_path: Path) -> None:
    ours(Mixed)
    assert list(tmp_path.rglob("*.mp4")) == []


@pytest.mark.usefixtures("settings")
def test_a_failing_scene_aborts_the_encoder() -> None:
    seen = []

    class Failing(manim.Scene):
        def construct(self) -> None:
            seen.append(self.renderer.file_writer._encoder)
            self.wait(0.2)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ours(Failing)
    assert seen[0].ended == "aborted"


@pytest.mark.usefixtures("settings")
def test_sound_is_refused_rather_than_lost() -> None:
    class Loud(manim.Scene):
        def construct(self) -> None:
            self.renderer.file_writer.includes_sound = True
            self.wait(0.2)

    with pytest.raises(LectureError, match="add_sound"):
        ours(Loud)
