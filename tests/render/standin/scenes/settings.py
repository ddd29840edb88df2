"""As the real settings, as far as rendering needs them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    language: str = "zh"
    weights: Path = Path()

    @property
    def weights_for_inference(self) -> Path:
        return self.weights
