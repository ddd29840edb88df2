"""An output folder with the stand-in scenes rendered, to change things in and to look again."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np

import engine

ROOT = Path(__file__).resolve().parents[2]
QUIET = ("--quality", "draft", "--out", "o")
TEXTS = {"zh": {"sentence": "一"}, "en": {"sentence": "one"}}
Q, K = (f"encoder.0.self_attn.{name}_proj.weight" for name in "qk")
UP_TO_DATE = ["01_square_zh.mp4: up to date", "02_circle_zh.mp4: up to date"]
ALL_UP_TO_DATE = [*UP_TO_DATE, "lecture.mp4: up to date"]


class Rendered:
    """An output folder with both stand-in scenes rendered, made once and copied for each test."""

    def __init__(self, folder: Path, door: Callable[..., subprocess.CompletedProcess[str]]) -> None:
        self.folder, self.out, self._door = folder, folder / "o", door
        self.weights, self.texts = folder / "w.json", folder / "texts.json"
        self.scenes = folder / "standin"

    def run(self, *arguments: str, **more: str) -> list[str]:
        """What a run says, line by line, but for what to do next."""
        result = self.result(*arguments, **more)
        assert result.returncode == 0, result
        assert result.stderr == ""
        closing = ("to upload: ", "next: ")
        return [line for line in result.stdout.splitlines() if not line.startswith(closing)]

    def result(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        """How a run ends."""
        path = os.pathsep.join([str(self.scenes), str(ROOT)])
        surroundings = {"PYTHONPATH": path, "STANDIN_TEXTS": str(self.texts), **more}
        return self._door(*QUIET, "--weights", self.weights, *arguments, **surroundings)

    def explain(self, *arguments: str, **more: str) -> list[str]:
        """What --explain says, having written nothing."""
        before = self.files()
        said = self.run("--explain", *arguments, **more)
        assert self.files() == before
        return said

    def files(self) -> dict[str, int]:
        paths = (path for path in self.out.rglob("*") if path.is_file())
        return {str(path): path.stat().st_mtime_ns for path in paths}

    def edit(self, name: str, by: float, matrix_place: tuple[int, int] = (0, 0)) -> None:
        """Change one weight."""
        old = engine.load_weights(self.weights)
        matrix = np.array(old.matrices[name])
        matrix[matrix_place] += by
        engine.save_weights(old.with_matrices({name: matrix}), self.weights)

    def replace(self, name: str, old: str, new: str) -> None:
        """Edit a file of the stand-in scenes."""
        path = self.scenes / "scenes" / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
