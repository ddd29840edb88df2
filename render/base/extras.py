"""Packages that only some need: imported where they are used, or it is told how to get them."""

from __future__ import annotations

import importlib
from typing import Any

from engine.errors import LectureError


def need(module: str, extra: str, wanted_by: str) -> Any:
    """The module ``module`` of the extra ``extra`` (``pyproject.toml``), which the option or
    command ``wanted_by`` needs. Raises LectureError with the command that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise LectureError(
            where=wanted_by,
            expected=f"more packages (type: ./render.sh install {extra})",
            found=f"no {error.name or module}",
        ) from error
