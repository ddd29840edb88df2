"""As the real settings, as far as rendering needs them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path


def file_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@dataclass(frozen=True)
class Settings:
    language: str = "zh"
    weights: Path = Path()
    inference_weights: Path | None = None
    source: str = "我爱水课"
    target: str = "I love easy courses"
    track: str = "full"

    @property
    def weights_for_inference(self) -> Path:
        return self.inference_weights or self.weights
