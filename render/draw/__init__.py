"""From a scene to encoded pictures and covers: Manim, the fast renderer, the makers."""

from __future__ import annotations

from pathlib import Path

from render.base.reads import Reads, Spec
from scenes.settings import Settings


def settings_of(spec: Spec, reads: Reads) -> Settings:
    """What a scene is played with, from what its maker was told and reads."""
    own = reads.settings
    return Settings(
        language=spec["language"],
        weights=Path(own["weights"]),
        inference_weights=Path(own["inference_weights"]),
        source=own["source"],
        target=own["target"],
        track=spec["track"] or "full",
    )
