"""What the tests of rendering share: the front door on stand-in scenes, and small videos."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import engine
from render.media import ffmpeg
from render.media.mp4 import Origin
from render.media.mux import Part, Video, mux
from render.media.pictures import FrameEncoder
from render.media.quality import QUALITIES

from .rendered import TEXTS, Rendered
from .standin_server import signed_by_itself

ROOT = Path(__file__).resolve().parents[2]
STANDIN = Path(__file__).parent / "standin"
DRAFT = QUALITIES["draft"]
ORIGIN = Origin("zh", "draft", "0" * 16)
TITLE = "标题 = title; #1"

#: leaves nothing outside of the test's folder
_QUIET = {"PYTHONDONTWRITEBYTECODE": "1", "LECTURE_STORE": "none"}

FrontDoor = Callable[..., subprocess.CompletedProcess[str]]


def environment(**more: str) -> dict[str, str]:
    """The environment of a front door that finds the stand-in scenes first."""
    path = os.pathsep.join([str(STANDIN), str(ROOT)])
    return {**os.environ, "PYTHONPATH": path, **_QUIET, **more}


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-P", "-m", "render", *map(str, arguments)]


@pytest.fixture
def front_door(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """``front_door("8", "--quality", "draft", LECTURE_FFMPEG=…)`` runs it in an empty folder."""

    def run(*arguments: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(*arguments),
            cwd=tmp_path,
            env=environment(**more),
            capture_output=True,
            text=True,
            timeout=300,
            stdin=subprocess.DEVNULL,
        )

    return run


@pytest.fixture(scope="session")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rendered")


@pytest.fixture
def house(rendered: Path, tmp_path: Path, front_door: FrontDoor) -> Rendered:
    made = Rendered(tmp_path, front_door)
    shutil.copytree(STANDIN, made.scenes)
    shutil.copy(engine.TUTORIAL, made.weights)
    made.texts.write_text(json.dumps(TEXTS))
    if not (rendered / "o").exists():
        assert len(made.run()) == 3
        shutil.copytree(made.out, rendered / "o")
    elif not made.out.exists():
        shutil.copytree(rendered / "o", made.out)
    return made


@pytest.fixture(scope="session", params=["system", "carried"])
def binary(request: pytest.FixtureRequest) -> str:
    """What writes videos, for tests of them: the system's ffmpeg, and the one that imageio-ffmpeg
    carries. CI has both."""
    which: str = request.param
    found = shutil.which("ffmpeg") if which == "system" else ffmpeg.carried()
    if found is None and os.environ.get("CI") == "true":
        pytest.fail(f"missing in CI: the {which} ffmpeg")
    return found or pytest.skip(f"no {which} ffmpeg here")


@pytest.fixture(scope="session")
def ffmpeg_tool() -> str:
    """Any ffmpeg, for tests of something else that need a file made or measured."""
    return ffmpeg.find()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a server on this computer; nobody vouches for it."""
    return signed_by_itself(tmp_path_factory.mktemp("certificate") / "own.pem")


def draw(index: int) -> np.ndarray:
    """A frame in draft size: a bar on a colour ramp, both moving."""
    frame = np.full((DRAFT.height, DRAFT.width, 4), 255, np.uint8)
    frame[:, :, 0] = np.arange(DRAFT.width) % 256
    frame[:, :, 1] = index * 3 % 256
    frame[:, index * 7 % 800 : index * 7 % 800 + 40, :3] = 20
    return frame


def encode(binary: str, target: Path, frames: int, first: int = 0) -> Path:
    """A silent video of ``frames`` drawn frames."""
    encoder = FrameEncoder(target, DRAFT)
    for index in range(first, first + frames):
        encoder.write(draw(index))
    encoder.finish()
    return target


def finished(binary: str, folder: Path, frames: int, title: str = TITLE) -> Path:
    """A complete video, as the workers leave it."""
    folder.mkdir(parents=True, exist_ok=True)
    part = Part(encode(binary, folder / "pictures.mp4", frames), frames)
    return mux(binary, Video(DRAFT, frames, title, ORIGIN), [part], folder / "video.mp4")


def one_line(result: subprocess.CompletedProcess[str], code: int = 2) -> str:
    """The single line that the front door complained with."""
    assert result.returncode == code, result
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert "Traceback" not in result.stdout
    return lines[0]


def leftovers(out: Path) -> list[str]:
    return [path.name for path in (out / ".render").glob("run-*")]
