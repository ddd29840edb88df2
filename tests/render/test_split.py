"""A scene drawn in parts is, byte for byte, the scene drawn by one worker."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import manim
import numpy as np
import pytest

from engine.errors import LectureError
from render.build import forks
from render.build.task import Result, Task, decode_message
from render.draw import split
from render.draw.fast import FastRenderer, hooks, native
from render.draw.split import Helpers, Share, bounds
from render.draw.writer import StreamWriter
from render.media import ffmpeg
from render.media.encoding import FrameEncoder
from scenes import registry
from scenes.settings import Settings

from .conftest import DRAFT, ROOT, draw
from .test_pool import gone_soon

STEP = 2 * DRAFT.keyframe_interval
pytestmark = [
    pytest.mark.skipif(not forks.can_fork(), reason="forks are for Linux"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork"),
]


def task(folder: Path, threads: int = 1, frames: int = 0, number: int = 8) -> Task:
    """Scene ``number`` in Chinese, to be drawn in ``folder``, which is made."""
    folder.mkdir()
    info, settings = registry.find(str(number)), Settings()
    return Task(
        slug=info.slug,
        module=info.module,
        class_name=info.class_name,
        title=info.slug,
        language="zh",
        quality_name="draft",
        weights=str(settings.weights),
        inference_weights=str(settings.weights_for_inference),
        source=settings.source,
        target=settings.target,
        track=settings.track,
        code_kept=str(folder / "code.json"),
        folder=str(folder),
        ffmpeg=ffmpeg.find(),
        threads=threads,
        expected_frames=frames,
    )


def test_parts_begin_where_the_numbers_of_keyframes_do() -> None:
    assert bounds(1000, 1, 30) == [0]
    assert bounds(1000, 2, 30) == [0, 480]
    assert bounds(1000, 3, 30) == [0, 360, 660]
    assert bounds(50, 4, 30) == [0]
    assert bounds(61, 4, 30) == [0, 60]
    assert bounds(0, 4, 30) == [0]


def test_a_scene_is_split_only_where_cores_would_idle(tmp_path: Path) -> None:
    """A worker keeps two busy: it draws with one, and encodes with the other."""
    one = task(tmp_path / "a", frames=1000)
    for threads, parts in ((1, 1), (2, 1), (3, 2), (4, 2), (8, 4)):
        assert len(split.places(replace(one, threads=threads), compiled=True)) == parts
    many = replace(one, threads=8)
    spoken = {"who": "x", "sounds": None}
    assert split.places(many, compiled=False) == [0]
    assert split.places(replace(many, expected_frames=0), compiled=True) == [0]
    assert split.places(replace(many, voice=spoken), compiled=True) == [0]
    assert len(split.places(replace(many, voice={**spoken, "sounds": {}}), compiled=True)) == 4


def write(encoder: FrameEncoder) -> None:
    """390 frames: moving ones, stills over the borders of parts, noise."""
    noise = np.random.default_rng(0).integers(0, 256, (DRAFT.height, DRAFT.width, 4), np.uint8)
    tiles = (-(-DRAFT.height // 16), -(-DRAFT.width // 16))
    for index in range(110):
        encoder.write(draw(index), 1, np.ones(tiles, np.uint8))
    encoder.write(noise, 37, np.ones(tiles, np.uint8))
    encoder.write(noise, 100, np.zeros(tiles, np.uint8))
    for index in range(143):
        encoder.write(draw(index // 2), 1, np.full(tiles, index % 2 == 0, np.uint8))
    encoder.finish()


def test_joined_parts_are_the_whole(tmp_path: Path) -> None:
    helper, places = native.load(), [0, STEP, 4 * STEP]
    whole = FrameEncoder(tmp_path / "whole.mp4", DRAFT, helper)
    write(whole)
    parts = [tmp_path / f"{place}.mp4" for place in places[1:]]
    for part, first, end in zip(parts, places[1:], [*places[2:], None], strict=True):
        write(FrameEncoder(part, DRAFT, helper, Share(first, end)))
    share = Share(0, places[1], lambda: parts)
    joined = FrameEncoder(tmp_path / "joined.mp4", DRAFT, helper, share)
    write(joined)
    assert (tmp_path / "joined.mp4").read_bytes() == (tmp_path / "whole.mp4").read_bytes()
    assert joined.digest == whole.digest
    assert joined.frames == whole.frames == 390


class Restless(manim.Scene):
    """Twelve seconds in which borders of parts fall into plays, waits, and what updaters move."""

    def construct(self) -> None:
        ball, tail = manim.Dot(), manim.TracedPath(lambda: ball.get_center())
        ball.add_updater(lambda one, dt: one.shift(dt * manim.RIGHT * 0.3))
        turning = manim.Square().shift(manim.LEFT * 3)
        turning.add_updater(lambda one, dt: one.rotate(dt))
        self.add(manim.Square().shift(manim.UP * 2), ball, tail, turning)
        self.play(turning.animate.set_color(manim.RED), run_time=2.5)
        turning.clear_updaters()
        self.wait(1)
        ball.clear_updaters()
        tail.clear_updaters()
        self.wait(3)  # a frozen frame, over the first border
        self.play(manim.FadeIn(manim.Circle()), ball.animate.shift(manim.DOWN), run_time=2.5)
        self.play(manim.Rotate(turning), run_time=1)
        self.wait(2)


def play(target: Path, share: Share) -> FrameEncoder:
    encoder = FrameEncoder(target, DRAFT, native.load(), share)
    writer = functools.partial(StreamWriter, encoder=encoder, report=lambda _: None)
    Restless(renderer=FastRenderer(file_writer_class=writer)).render()
    return encoder


@pytest.mark.parametrize("places", [[0, STEP, 2 * STEP], [0, 2 * STEP, 5 * STEP]])
def test_processes_draw_what_one_draws(places: list[int], tmp_path: Path) -> None:
    """The last of the second parts begins behind the end, and is empty."""
    size = {"pixel_width": DRAFT.width, "pixel_height": DRAFT.height, "frame_rate": DRAFT.fps}
    quiet = {"media_dir": str(tmp_path), "disable_caching": True, "progress_bar": "none"}

    def part(one: Task, share: Share) -> None:
        play(Path(one.folder) / "part.mp4", share)

    with manim.tempconfig({**size, **quiet, "verbosity": "ERROR"}):
        try:
            whole = play(tmp_path / "whole.mp4", Share())
            with Helpers(task(tmp_path / "task"), places, part) as helpers:
                joined = play(tmp_path / "joined.mp4", helpers.share)
        finally:
            hooks.remove()
    assert joined.frames == whole.frames > 2 * STEP
    assert (tmp_path / "joined.mp4").read_bytes() == (tmp_path / "whole.mp4").read_bytes()
    assert helpers.memory > 10_000_000


def fails(one: Task, share: Share) -> None:
    raise LectureError(where="scene", expected="room", found=f"none at {share.first}")


def vanishes(one: Task, share: Share) -> None:
    os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.parametrize(
    ("draws", "said"), [(fails, "none at 120"), (vanishes, "ended without a word")]
)
def test_a_part_that_fails_is_told(draws: Callable[..., None], said: str, tmp_path: Path) -> None:
    with (
        Helpers(task(tmp_path / "task"), [0, 2 * STEP], draws) as helpers,
        pytest.raises(LectureError) as raised,
    ):
        helpers.wait()
    assert said in str(raised.value)
    assert "part_120" in str(raised.value)


def lingers(one: Task, share: Share) -> None:
    (Path(one.folder) / "pid").write_text(str(os.getpid()))
    time.sleep(60)


def pid_of(helper: Path) -> int:
    while not (helper.exists() and (text := helper.read_text())):
        time.sleep(0.01)
    return int(text)


def test_helpers_end_with_the_context(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), Helpers(task(tmp_path / "task"), [0, STEP], lingers):
        pid = pid_of(tmp_path / "task" / "part_60" / "pid")
        raise KeyboardInterrupt
    assert gone_soon([pid])


def test_helpers_end_with_a_worker_that_is_killed(tmp_path: Path) -> None:
    worker = os.fork()
    if worker == 0:
        try:
            with Helpers(task(tmp_path / "task"), [0, STEP, 2 * STEP], lingers):
                time.sleep(60)
        finally:
            os._exit(1)
    folder = tmp_path / "task"
    pids = [pid_of(folder / name / "pid") for name in ("part_60", "part_120")]
    os.kill(worker, signal.SIGKILL)
    os.waitpid(worker, 0)
    assert gone_soon(pids)


def render(one: Task) -> Result:
    """Have a worker do the task."""
    ours, theirs = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "render.draw.worker", str(forks.write_task(one)), str(theirs)],
        stdin=subprocess.PIPE,
        pass_fds=(theirs,),
        start_new_session=True,
        env={**forks.environment(), "PYTHONPATH": str(ROOT)},
    )
    os.close(theirs)
    with os.fdopen(ours, "rb") as said:
        last = decode_message(said.readlines()[-1])
    process.communicate()
    assert isinstance(last, Result), last
    return last


@pytest.mark.slow
@pytest.mark.parametrize("number", [5, 8, 10, 15])
def test_scenes_of_the_lecture(number: int, tmp_path: Path) -> None:
    whole = task(tmp_path / "whole", number=number)
    result = render(whole)
    for parts in (2, 3):
        one = task(tmp_path / str(parts), 2 * parts, result.frames, number)
        again = render(one)
        folders = len(list(Path(one.folder).glob("part_*")))
        assert folders == len(bounds(result.frames, parts, DRAFT.keyframe_interval)) - 1
        assert again.beats == result.beats
        for name in ("video", "numbers", "cover", "made"):
            assert getattr(one, name).read_bytes() == getattr(whole, name).read_bytes(), name
