"""The one font of the lecture, made known to Pango."""

from __future__ import annotations

from functools import cache

import manimpango

from engine.errors import LectureError

from .glyphs import FILE, missing

__all__ = ["FILE", "missing", "register"]


@cache
def register() -> None:
    """Make the font known to Pango, once in a process and before any text is made."""
    if not manimpango.register_font(str(FILE)):
        raise LectureError(
            where=str(FILE), expected="a font that Pango accepts", found="a rejected one"
        )
