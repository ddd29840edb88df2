"""A stand-in for covers: one colour."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.reads import Reads


class Moment:
    def __init__(self, scene: Any) -> None:
        pass

    def save(self, path: Path) -> None:
        from PIL import Image

        Image.new("RGB", (1280, 720), "#0E1116").save(path)


def draw(info: Any, settings: Any, path: Path) -> Reads:
    Moment(None).save(path)
    return Reads()
