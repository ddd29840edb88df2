"""The tiny scenes. Each lasts about a second, but for the long one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import manim
import numpy as np

from engine.errors import LectureError

from .settings import Settings


@dataclass(frozen=True)
class Beat:
    name: str
    step: int
    start: float
    end: float
    text: str


class Tiny(manim.Scene):
    def __init__(self, settings: Settings, **options: Any) -> None:
        self.settings = settings
        super().__init__(**options)

    @property
    def timeline(self) -> list[Beat]:
        return [Beat("only", 1, 0.0, self.time, f"文 {self.settings.language}")]


class Square(Tiny):
    def construct(self) -> None:
        self.play(manim.Create(manim.Square()), run_time=0.7)
        self.wait(0.5)


class Circle(Tiny):
    def construct(self) -> None:
        self.play(manim.FadeIn(manim.Circle()), run_time=1)


class Broken(Tiny):
    def construct(self) -> None:
        self.wait(0.2)
        raise ZeroDivisionError("a bug in the scene")


class Mistaken(Tiny):
    def construct(self) -> None:
        raise LectureError(where="w.json", field="WQ", expected="4 rows", found="3")


class Long(Tiny):
    def construct(self) -> None:
        square = manim.Square()
        self.play(manim.Rotate(square, 99), run_time=300)


class Noise(Tiny):
    """Two seconds that do not compress: several megabytes."""

    def construct(self) -> None:
        random = np.random.default_rng(0)
        for _ in range(30):
            self.clear()
            pixels = random.integers(0, 255, (480, 854, 3), dtype=np.uint8)
            self.add(manim.ImageMobject(pixels).scale_to_fit_height(8))
            self.wait(1 / 15)
