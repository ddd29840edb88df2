"""How much faster than plain Manim we render: ``python benchmarks/render.py [SCENE]...``.

First and last the whole lecture is rendered by ``python -m render`` on all cores, as a user does;
in between each scene by ``manim --disable_caching`` and, right after, by ``python -m render`` with
one worker. Then the scenes are drawn once more, to time the encoder alone, which is the limit for
ours, and to compare both videos with the frames that were drawn (:mod:`benchmarks.pictures`).

Every result is written to FOLDER/results.json at once; a run that was stopped goes on where it
was, and ``--table`` prints what there is. Seconds of a busy machine say little; ratios within one
run do, and those of CPU time (of all processes together) most.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.table import table  # noqa: E402
from render.base.process import usable_cores  # noqa: E402
from render.media.quality import QUALITIES, Quality  # noqa: E402
from scenes import registry  # noqa: E402

_MB = 1_000_000
Cost = dict[str, float]  # wall, cpu in s; memory, size in MB; load of the machine


def run(command: Sequence[str | Path], folder: Path) -> tuple[Cost, str]:
    """Run it in the project: what it and its children cost, and what it said. Exits where it
    fails."""
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
    cost = {
        "wall": wall,
        "cpu": used.ru_utime + used.ru_stime,
        "memory": used.ru_maxrss * unit / _MB,
        "load": os.getloadavg()[0],
    }
    return cost, said


def plain(scene: registry.SceneInfo, quality: Quality, folder: Path) -> Cost:
    """``manim -qh --disable_caching``, or the like for another quality."""
    source = f"{scene.module.replace('.', '/')}.py"
    size = ["--resolution", f"{quality.width},{quality.height}", "--fps", str(quality.fps)]
    quiet = ["--disable_caching", "--progress_bar", "none", "--verbosity", "ERROR"]
    manim = [sys.executable, "-m", "manim", "render", *size, *quiet]
    cost, _ = run([*manim, "--media_dir", folder / "media", source, scene.class_name], folder)
    media = (folder / "media").rglob("*.mp4")
    (video,) = (path for path in media if "partial_movie_files" not in path.parts)
    cost["size"] = video.stat().st_size / _MB
    (folder / "plain").mkdir(exist_ok=True)
    video.replace(folder / "plain" / f"{scene.slug}.mp4")
    shutil.rmtree(folder / "media")
    return cost


def ours(scenes: Sequence[registry.SceneInfo], quality: Quality, folder: Path, jobs: int) -> Cost:
    """``./render.sh SCENE...``, from its start to its end."""
    out = folder / "ours"
    everything = len(scenes) == len(_scenes())
    names = [] if everything else [scene.slug for scene in scenes]  # none: the title card, too
    options = ["--quality", quality.name, "--out", out, "--jobs", str(jobs), "--force"]
    options += ["--store", "none"]
    cost, said = run([sys.executable, "-m", "render", *names, *options], folder)
    cost["memory"] = max(map(float, re.findall(r"(\d+) MB of memory", said)))
    videos = [path for scene in scenes for path in out.glob(f"{scene.slug}*.mp4")]
    cost["size"] = sum(path.stat().st_size for path in videos) / _MB
    return cost


def pictures(scene: registry.SceneInfo, quality: Quality, folder: Path) -> dict[str, float]:
    """Of the encoder alone and of the pictures of both: see :mod:`benchmarks.pictures`."""
    (mine,) = (folder / "ours").glob(f"{scene.slug}*.mp4")
    theirs = folder / "plain" / f"{scene.slug}.mp4"
    videos = [f"ours={mine}", *([f"plain={theirs}"] if theirs.exists() else [])]
    module = [sys.executable, "-m", "benchmarks.pictures", scene.slug, quality.name]
    _, said = run([*module, *videos], folder)
    return dict(json.loads(said.splitlines()[-1]))


def _scenes() -> list[registry.SceneInfo]:
    return [scene for scene in registry.film("full") if scene.number]


class Results:
    """What was measured, on disk after each measurement."""

    def __init__(self, path: Path, quality: Quality) -> None:
        self._path = path
        self.known: dict[str, Any] = {"quality": quality.name, "cores": usable_cores()}
        if path.exists():
            self.known = json.loads(path.read_text("utf-8"))
        if self.known["quality"] != quality.name:
            sys.exit(f"{path} is of quality {self.known['quality']}: choose another folder")

    def measure(self, scene: str, what: str, work: Any, *arguments: Any) -> None:
        if what not in self.known.setdefault("scenes", {}).setdefault(scene, {}):
            self.known["scenes"][scene][what] = work(*arguments)
            self._path.write_text(json.dumps(self.known, indent=1), "utf-8")
            print(scene, what, self.known["scenes"][scene][what], flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("scenes", nargs="*", help="numbers or names; none: all scenes")
    parser.add_argument("--quality", choices=QUALITIES, default="high", help="(%(default)s)")
    parser.add_argument("--without-plain", action="store_true", help="only ours, much quicker")
    parser.add_argument(
        "--folder", type=Path, default=Path("media/benchmark"), help="(%(default)s)"
    )
    parser.add_argument("--table", action="store_true", help="measure nothing, print the table")
    options = parser.parse_args()
    quality, folder = QUALITIES[options.quality], options.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    results = Results(folder / "results.json", quality)
    scenes = [registry.find(name) for name in options.scenes] or _scenes()
    if not options.table:
        results.measure("all", "ours first", ours, scenes, quality, folder, usable_cores())
        for scene in scenes:
            if not options.without_plain:
                results.measure(scene.slug, "plain", plain, scene, quality, folder)
            results.measure(scene.slug, "ours", ours, [scene], quality, folder, 1)
        results.measure("all", "ours last", ours, scenes, quality, folder, usable_cores())
        for scene in scenes:
            results.measure(scene.slug, "pictures", pictures, scene, quality, folder)
    print(table(results.known))


if __name__ == "__main__":
    main()
