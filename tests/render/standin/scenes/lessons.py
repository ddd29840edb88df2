"""As the real lessons, as far as rendering needs them: there is only the tutorial's."""

from __future__ import annotations

from pathlib import Path

import engine

from .settings import Settings


def settings(lesson: str, language: str, weights: Path | None, track: str) -> Settings:
    return Settings(language, Path(weights or engine.TUTORIAL), track=track)
