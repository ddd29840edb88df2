"""A call of a function by its name. This module travels by value, so that the scheduler needs
nothing but Dask, and a worker without the lecture can say so."""

from __future__ import annotations

from typing import Any


def call(module: str, function: str, *arguments: Any) -> Any:
    """Import ``module`` where this runs and call ``function``."""
    import importlib

    return getattr(importlib.import_module(module), function)(*arguments)
