"""The maker of a scene's cover, and what watches the play of a scene for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from render.base.project import font_file
from render.base.reads import Json, Made, Reads
from scenes import cover, registry
from scenes.settings import Settings

NAME = "cover.png"


def observe(scene: Any) -> Callable[[Path], None]:
    """Watch a play; what is returned draws the cover into a folder afterwards."""
    moment = cover.Moment(scene)
    return lambda folder: moment.save(folder / NAME)


def make(
    spec: Mapping[str, Json],
    needs: Mapping[str, Made],
    reads: Reads,
    into: Path,
    tell: Callable[[int], None],
) -> dict[str, Path]:
    """``cover``: a PNG of 1280 x 720 pixels. The scene is played, but not drawn."""
    own = reads.settings
    settings = Settings(
        language=spec["language"],
        weights=Path(own["weights"]),
        inference_weights=Path(own["inference_weights"]),
        source=own["source"],
        target=own["target"],
        track=spec["track"] or "full",
    )
    info = registry.find(spec["slug"]) if spec["number"] else registry.TITLE_CARD
    reads.take(cover.draw(info, settings, into / NAME), spec["language"])
    reads.uses(font_file())
    return {"cover": into / NAME}
