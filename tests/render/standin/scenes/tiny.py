"""The tiny scenes. Each lasts about a second, but for the long one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import manim
import numpy as np

from engine.errors import LectureError
from engine.passes import Passes
from engine.reads import Reads, Table

from . import texts
from .settings import Settings


@dataclass(frozen=True)
class Beat:
    name: str
    step: int
    last_step: int
    start: float
    end: float
    text: str
    facts: dict[str, str]
    variant: str = ""
    key: str = "only"
    busy: float = 0.0
    quiet: float = 0.0


class Tiny(manim.Scene):
    #: what it reads
    values: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    speech: Callable[[str, str, dict[str, str]], float] | None = None
    busy = 0.0

    def __init__(self, settings: Settings, **options: Any) -> None:
        self.settings = settings
        self.reads = Reads()
        passes = Passes(
            settings.weights, settings.weights_for_inference, settings.source, settings.target
        )
        for name in self.values:
            whole = passes.value("training", name)
            self.reads.array("training", name, whole)[...] = True
        table = Table(texts.load(settings.language), self.reads.text)
        for key in self.keys:
            table.get(key)
        super().__init__(**options)

    @property
    def record(self) -> Tiny:
        return self

    def document(self, slug: str, settings: Settings) -> dict[str, Any]:
        return {"scene": slug, "numbers": []}

    @property
    def timeline(self) -> list[Beat]:
        said = f"文 {self.settings.language}"
        return [Beat("only", 1, 2, 0.0, self.time, said, self.facts, busy=self.busy)]

    @property
    def facts(self) -> dict[str, str]:
        return {"language": self.settings.language}

    def speak(self) -> None:
        """Wait for the beat's speech, if it is longer than what was played."""
        self.busy = self.time
        if self.speech:
            template = texts.load(self.settings.language)["01_square"]["beats"]["only"]
            rest = self.speech("only", template, self.facts) - self.busy
            if rest > 0:
                self.wait(rest)


class Square(Tiny):
    values = ("encoder.0.self_attn.q",)
    keys = ("sentence",)

    def construct(self) -> None:
        self.play(manim.Create(manim.Square()), run_time=0.7)
        self.wait(0.5)
        self.speak()


class Circle(Tiny):
    values = ("encoder.0.self_attn.k",)

    def construct(self) -> None:
        self.play(manim.FadeIn(manim.Circle()), run_time=1)
        self.speak()


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
    """Three seconds that hardly compress: a new mosaic every frame."""

    def construct(self) -> None:
        random = np.random.default_rng(0)
        tiles = manim.VGroup(
            manim.Square(0.4, stroke_width=0, fill_opacity=1).move_to((x * 0.4 - 7, y * 0.4 - 4, 0))
            for x in range(36)
            for y in range(21)
        )
        self.add(tiles)
        for _ in range(45):
            for tile in tiles:
                tile.set_color(manim.ManimColor(tuple(random.random(3))))
            self.wait(1 / 15)
