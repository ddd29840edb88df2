"""Titles with everything that FFMETADATA has to escape."""

from __future__ import annotations

from typing import Any


def load(language: str) -> dict[str, Any]:
    return {
        "01_square": {"title": f"方 = square; #1 \\ {language}"},
        "02_circle": {"title": "[CHAPTER]\nTIMEBASE=1/1"},
        "04_long": {"title": "long"},
    }
