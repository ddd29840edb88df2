"""Titles with everything that FFMETADATA has to escape."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def own(language: str) -> dict[str, Any]:
    """Texts that a test has put into a file."""
    path = Path(os.environ.get("STANDIN_TEXTS", "/none"))
    return json.loads(path.read_text())[language] if path.is_file() else {}  # type: ignore[no-any-return]


def load(language: str) -> dict[str, Any]:
    return {
        **own(language),
        "01_square": {"title": f"方 = square; #1 \\ {language}"},
        "02_circle": {"title": "[CHAPTER]\nTIMEBASE=1/1"},
        "04_long": {"title": "long"},
    }
