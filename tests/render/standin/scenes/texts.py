"""Titles with everything that FFMETADATA has to escape, and a sentence for each scene."""

from __future__ import annotations

import importlib
import json
import os
import sys
import types
from pathlib import Path
from typing import Any

import engine
from engine.errors import LectureError

_REAL = Path(engine.__file__).resolve().parents[1] / "scenes" / "texts.py"
_package = types.ModuleType("real_scenes")  # so that it finds what it imports from beside it
_package.__path__ = [str(_REAL.parent)]
sys.modules["real_scenes"] = _package
_real = importlib.import_module("real_scenes.texts")
parse, with_unit, FOLDER = _real.parse, _real.with_unit, _real.FOLDER


def own(language: str) -> dict[str, Any]:
    """Texts that a test has put into a file."""
    path = Path(os.environ.get("STANDIN_TEXTS", "/none"))
    return json.loads(path.read_text())[language] if path.is_file() else {}  # type: ignore[no-any-return]


def entry(language: str, *keys: str) -> Any:
    found: Any = load(language)
    for key in keys:
        if key not in found:
            raise LectureError(where=f"{language}.toml", field=".".join(keys), expected="a text")
        found = found[key]
    return found


def load(language: str) -> dict[str, Any]:
    beats = {"beats": {"only": own(language).get("said", f"文 {{language}}, in {language}")}}
    return {
        **own(language),
        "01_square": {"title": f"方 = square; #1 \\ {language}", **beats},
        "02_circle": {"title": "[CHAPTER]\nTIMEBASE=1/1", **beats},
        "04_long": {"title": "long", **beats},
        "05_noise": {"title": "noise", **beats},
    }
