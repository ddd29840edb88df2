"""How much faster than plain Manim we render: ``python benchmarks/render.py [SCENE]...``.

Each scene is rendered by ``manim --disable_caching`` and by ``python -m render``, one right after
the other, and then its frames are encoded once more with nothing else to do, which is the limit
for ours. At the end all scenes are rendered in one run on all cores. Seconds of a busy machine say
little; ratios within one run do, and those of CPU time (of all processes together) most.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from render import ffmpeg  # noqa: E402
from render.cores import usable_cores  # noqa: E402
from render.quality import QUALITIES, Quality  # noqa: E402
from scenes import registry  # noqa: E402

_MB = 1_000_000


@dataclass
class Cost:
    """Of one command and all its children."""

    wall: float = 0.0
    cpu: float = 0.0
    memory: float = 0.0  # MB, of the largest process, or as the command says itself
    size: float = 0.0  # MB of video

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.wall + other.wall,
            self.cpu + other.cpu,
            max(self.memory, other.memory),
            self.size + other.size,
        )


def run(command: Sequence[str | Path], folder: Path) -> tuple[Cost, str]:
    """Run it in the project; its output goes to a file. Exits where it fails."""
    log = folder / "log.txt"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    start = time.perf_counter()
    with log.open("w") as output:
        process = subprocess.Popen(
            list(map(str, command)), cwd=ROOT, env=environment, stdout=output, stderr=output
        )
        _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    said = log.read_text(errors="replace")
    if status != 0:
        sys.exit(f"{command}: {said[-2000:]}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Cost(wall, used.ru_utime + used.ru_stime, used.ru_maxrss * unit / _MB), said


def plain(scene: registry.SceneInfo, quality: Quality, folder: Path) -> Cost:
    """``manim -qh --disable_caching``, or the like for another quality."""
    source = f"{scene.module.replace('.', '/')}.py"
    size = ["--resolution", f"{quality.width},{quality.height}", "--fps", str(quality.fps)]
    quiet = ["--disable_caching", "--progress_bar", "none", "--verbosity", "ERROR"]
    manim = [sys.executable, "-m", "manim", "render", *size, *quiet]
    cost, _ = run([*manim, "--media_dir", folder / "media", source, scene.class_name], folder)
    videos = [p for p in folder.rglob("*.mp4") if "partial_movie_files" not in p.parts]
    cost.size = sum(path.stat().st_size for path in videos) / _MB
    shutil.rmtree(folder / "media")
    return cost


def ours(scenes: Sequence[registry.SceneInfo], quality: Quality, folder: Path, jobs: int) -> Cost:
    """``./render.sh SCENE...``, from its start to its end."""
    names = [scene.slug for scene in scenes]
    options = ["--quality", quality.name, "--out", folder / "out", "--jobs", str(jobs)]
    options += ["--store", "none"]
    cost, said = run([sys.executable, "-m", "render", *names, *options], folder)
    cost.memory = max(map(float, re.findall(r"(\d+) MB of memory", said)))
    videos = [path for scene in scenes for path in (folder / "out").glob(f"{scene.slug}*.mp4")]
    cost.size = sum(path.stat().st_size for path in videos) / _MB
    return cost


def encoding_alone(scene: registry.SceneInfo, quality: Quality, folder: Path) -> float:
    """CPU seconds of ffmpeg for the frames of our video."""
    video = next((folder / "out").glob(f"{scene.slug}*.mp4"))
    target = folder / "again.mp4"
    decode = [ffmpeg.find(), "-v", "error", "-i", video, "-f", "rawvideo", "-"]
    decoder = subprocess.Popen(decode, stdout=subprocess.PIPE)
    assert decoder.stdout is not None
    encoder = ffmpeg.encode_frames(ffmpeg.find(), target, quality, 1, converted=True)
    shutil.copyfileobj(decoder.stdout, encoder.stdin, quality.frame_bytes)
    encoder.stdin.close()
    _, _, used = os.wait4(encoder._popen.pid, 0)
    decoder.wait()
    target.unlink()
    return used.ru_utime + used.ru_stime


def row(name: str, theirs: Cost, mine: Cost, limit: float) -> str:
    def ratio(one: float, other: float) -> str:
        return f"{one / other:.1f}" if one and other else "-"

    cells = [
        name,
        *(f"{theirs.wall:.0f}", f"{mine.wall:.0f}", ratio(theirs.wall, mine.wall)),
        *(f"{theirs.cpu:.0f}", f"{mine.cpu:.0f}", f"{limit:.0f}", ratio(theirs.cpu, mine.cpu)),
        *(f"{theirs.memory:.0f}", f"{mine.memory:.0f}"),
        *(f"{theirs.size:.1f}", f"{mine.size:.1f}"),
    ]
    return "| " + " | ".join(cells) + " |"


HEAD = """\
| scene | plain s | ours s | ratio | plain CPU s | ours CPU s | encoding alone | CPU ratio \
| plain MB of memory | ours | plain MB of video | ours |
|---|---|---|---|---|---|---|---|---|---|---|---|"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("scenes", nargs="*", help="numbers or names; none: all scenes")
    parser.add_argument("--quality", choices=QUALITIES, default="high", help="(%(default)s)")
    parser.add_argument("--without-plain", action="store_true", help="only ours, much quicker")
    options = parser.parse_args()
    quality = QUALITIES[options.quality]
    scenes = [registry.find(name) for name in options.scenes] or list(registry.film("full"))
    total, alone, limit = Cost(), Cost(), 0.0
    print(HEAD)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for scene in scenes:
            theirs = Cost() if options.without_plain else plain(scene, quality, folder)
            mine = ours([scene], quality, folder, 1)
            bound = encoding_alone(scene, quality, folder)
            print(row(str(scene.number), theirs, mine, bound), flush=True)
            total, alone, limit = total + theirs, alone + mine, limit + bound
        print(row("one after the other", total, alone, limit))
        shutil.rmtree(folder / "out")
        together = ours(scenes, quality, folder, usable_cores())
        print(row(f"ours on {usable_cores()} cores", total, together, limit))


if __name__ == "__main__":
    main()
