"""The maker of a scene's cover, and what watches the play of a scene for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from render.base.project import font_file
from render.base.reads import Needs, Output, Reads, Spec, Tell
from render.draw import settings_of
from scenes import cover, registry

NAME = "cover.png"


def observe(scene: Any) -> Callable[[Path], None]:
    """Watch a play; what is returned draws the cover into a folder afterwards."""
    moment = cover.Moment(scene)
    return lambda folder: moment.save(folder / NAME)


def make(spec: Spec, needs: Needs, reads: Reads, into: Path, tell: Tell) -> Output:
    """``cover``: a PNG of 1280 x 720 pixels. The scene is played, but not drawn."""
    info = registry.find(spec["slug"]) if spec["number"] else registry.TITLE_CARD
    reads.take(cover.draw(info, settings_of(spec, reads), into / NAME), spec["language"])
    reads.uses(font_file())
    return {"cover": into / NAME}
