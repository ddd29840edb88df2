"""What a scene is rendered with: language and weights. Imports no Manim."""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

import engine
from engine.errors import LectureError, from_os_error

LANGUAGES = ("zh", "en")
TRACKS = ("full", "training", "inference")


def file_digest(path: Path) -> str:
    """SHA-256 of a file. Raises LectureError where it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise from_os_error(error, path) from error


@dataclass(frozen=True)
class Settings:
    """Language and weight files of one rendering.

    ``inference_weights`` are those of the inference scenes; by default the tutorial's own second
    set beside the tutorial's first (see docs/errata.md), and otherwise the same file. ``track``
    is what the title card announces.
    """

    language: str = "zh"
    weights: Path = field(default=engine.TUTORIAL)
    inference_weights: Path | None = None
    source: str = "我爱水课"
    target: str = "I love easy courses"
    track: str = "full"

    def __post_init__(self) -> None:
        if self.language not in LANGUAGES:
            expected = " or ".join(LANGUAGES)
            raise LectureError(field="language", expected=expected, found=repr(self.language))
        object.__setattr__(self, "weights", Path(self.weights))

    @classmethod
    def from_environment(cls) -> Settings:
        """From LECTURE_LANG, LECTURE_WEIGHTS: so plain ``manim scenes/s08_….py`` obeys them too.

        Ends the program with one line if they are invalid: Manim would print a traceback.
        """
        from .limits import preflight

        try:
            found = cls(
                language=os.environ.get("LECTURE_LANG", "zh"),
                weights=Path(os.environ.get("LECTURE_WEIGHTS") or engine.TUTORIAL),
            )
            preflight(found)
            return found
        except LectureError as error:
            print(f"LECTURE_LANG, LECTURE_WEIGHTS: {error}", file=sys.stderr)
            raise SystemExit(2) from error

    @property
    def weights_for_inference(self) -> Path:
        if self.inference_weights is not None:
            return Path(self.inference_weights)
        same = self.weights.resolve() == engine.TUTORIAL.resolve()
        return engine.TUTORIAL_INFERENCE if same else self.weights
