"""A scene drawn in parts is, byte for byte, the scene drawn by one worker."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import manim
import numpy as np
import pytest

from engine.errors import LectureError
from render.base.reads import Reads
from render.build.job import BuildOptions, jobs_of
from render.build.lecture import Lecture
from render.draw import split
from render.draw.fast import FastRenderer, hooks, native
from render.draw.scene import StreamWriter
from render.draw.split import Helpers, Share, bounds
from render.media.pictures import FrameEncoder

from .conftest import DRAFT, ROOT, draw
from .test_process import alive

STEP = 2 * DRAFT.keyframe_interval
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="forks are for Linux"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork"),
]


def new(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_parts_begin_where_the_numbers_of_keyframes_do() -> None:
    assert bounds(1000, 1, 30) == [0]
    assert bounds(1000, 2, 30) == [0, 480]
    assert bounds(1000, 3, 30) == [0, 360, 660]
    assert bounds(50, 4, 30) == [0]
    assert bounds(61, 4, 30) == [0, 60]
    assert bounds(0, 4, 30) == [0]


def test_a_scene_is_split_only_where_cores_would_idle() -> None:
    """A worker keeps two busy: it draws with one, and encodes with the other."""

    def places(threads: int, length: int = 1000, compiled: bool = True, **more: Any) -> list[int]:
        reads = Reads({}, threads=threads, length=length, **more)
        return split.places(reads, DRAFT, compiled=compiled)

    for threads, parts in ((1, 1), (2, 1), (3, 2), (4, 2), (8, 4)):
        assert len(places(threads)) == parts
    assert places(8, compiled=False) == [0]
    assert places(8, length=0) == [0]
    assert places(8, spoken={"name": "draft", "who": "x"}) == [0]
    assert len(places(8, spoken={"seconds": {}})) == 4


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
    writer = functools.partial(StreamWriter, encoder=encoder, tell=lambda _: None)
    Restless(renderer=FastRenderer(file_writer_class=writer)).render()
    return encoder


@pytest.mark.parametrize("places", [[0, STEP, 2 * STEP], [0, 2 * STEP, 5 * STEP]])
def test_processes_draw_what_one_draws(places: list[int], tmp_path: Path) -> None:
    """The last of the second parts begins behind the end, and is empty."""
    size = {"pixel_width": DRAFT.width, "pixel_height": DRAFT.height, "frame_rate": DRAFT.fps}
    quiet = {"media_dir": str(tmp_path), "disable_caching": True, "progress_bar": "none"}

    def part(folder: Path, share: Share) -> None:
        play(folder / "part.mp4", share)

    with manim.tempconfig({**size, **quiet, "verbosity": "ERROR"}):
        try:
            whole = play(tmp_path / "whole.mp4", Share())
            with Helpers("scene", new(tmp_path / "task"), places, part) as helpers:
                joined = play(tmp_path / "joined.mp4", helpers.share)
        finally:
            hooks.remove()
    assert joined.frames == whole.frames > 2 * STEP
    assert (tmp_path / "joined.mp4").read_bytes() == (tmp_path / "whole.mp4").read_bytes()
    assert helpers.memory > 10_000_000


def fails(folder: Path, share: Share) -> None:
    raise LectureError(where="scene", expected="room", found=f"none at {share.first}")


def vanishes(folder: Path, share: Share) -> None:
    os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.parametrize(
    ("draws", "said"), [(fails, "none at 120"), (vanishes, "ended without a message")]
)
def test_a_part_that_fails_is_told(draws: Callable[..., None], said: str, tmp_path: Path) -> None:
    with (
        Helpers("scene", new(tmp_path / "task"), [0, 2 * STEP], draws) as helpers,
        pytest.raises(LectureError) as raised,
    ):
        helpers.wait()
    assert said in str(raised.value)
    assert "part_120" in str(raised.value)


def lingers(folder: Path, share: Share) -> None:
    (folder / "pid").write_text(str(os.getpid()))
    time.sleep(60)


def gone_soon(pids: list[int], seconds: float = 60) -> bool:
    end = time.monotonic() + seconds
    while any(map(alive, pids)) and time.monotonic() < end:
        time.sleep(0.05)
    return not any(map(alive, pids))


def pid_of(helper: Path) -> int:
    while not (helper.exists() and (text := helper.read_text())):
        time.sleep(0.01)
    return int(text)


def test_helpers_end_with_the_context(tmp_path: Path) -> None:
    with (
        pytest.raises(KeyboardInterrupt),
        Helpers("scene", new(tmp_path / "task"), [0, STEP], lingers),
    ):
        pid = pid_of(tmp_path / "task" / "part_60" / "pid")
        raise KeyboardInterrupt
    assert gone_soon([pid])


def test_helpers_end_with_a_worker_that_is_killed(tmp_path: Path) -> None:
    worker = os.fork()
    if worker == 0:
        try:
            with Helpers("scene", new(tmp_path / "task"), [0, STEP, 2 * STEP], lingers):
                time.sleep(60)
        finally:
            os._exit(1)
    folder = tmp_path / "task"
    pids = [pid_of(folder / name / "pid") for name in ("part_60", "part_120")]
    os.kill(worker, signal.SIGKILL)
    os.waitpid(worker, 0)
    assert gone_soon(pids)


def drawn(folder: Path, number: int, threads: int = 1, length: int = 0) -> dict[str, Path]:
    """What the maker of pictures leaves in ``folder`` of a scene and its cover; in a process of its
    own, as Manim's settings stay."""
    (job,) = jobs_of(BuildOptions(quality="draft", out=folder), [str(number)])
    product = Lecture(job).pictures(job.scenes[0])
    asked = [product.spec(), product.settings(), threads, length]
    code = (
        "import json, pathlib, sys\n"
        "from render.base.reads import Reads\n"
        "from render.draw import cover, scene\n"
        "spec, settings, threads, length = json.loads(sys.argv[1])\n"
        "reads = Reads(settings, threads=threads, length=length, observers=(cover.observe,))\n"
        "scene.make(spec, {}, reads, pathlib.Path('.'), lambda _: None)\n"
    )
    new(folder)
    path = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code, json.dumps(asked)]
    subprocess.run(command, cwd=folder, env=path, check=True)
    return {path.name: path for path in folder.iterdir()}


@pytest.mark.slow
@pytest.mark.parametrize("number", [5, 8, 10, 15])
def test_scenes_of_the_lecture(number: int, tmp_path: Path) -> None:
    whole = drawn(tmp_path / "whole", number)
    facts = json.loads(whole["facts.json"].read_text())
    for parts in (2, 3):
        again = drawn(tmp_path / str(parts), number, 2 * parts, facts["frames"])
        folders = [name for name in again if name.startswith("part_")]
        assert len(folders) == len(bounds(facts["frames"], parts, DRAFT.keyframe_interval)) - 1
        for name in ("pictures.mp4", "numbers.json", "cover.png"):
            assert again[name].read_bytes() == whole[name].read_bytes(), name
        found = json.loads(again["facts.json"].read_text())
        assert {**found, "cost": 0} == {**facts, "cost": 0}
