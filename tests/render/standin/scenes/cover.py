"""A stand-in for covers: one colour."""

from __future__ import annotations

from pathlib import Path
from typing import Any


class Moment:
    def __init__(self, scene: Any) -> None:
        pass

    def save(self, path: Path) -> None:
        from PIL import Image

        Image.new("RGB", (1280, 720), "#0E1116").save(path)


def draw(info: Any, settings: Any, path: Path) -> None:
    Moment(None).save(path)
