"""The one font of the lecture, made known to Pango."""

from __future__ import annotations

import manimpango

from engine.errors import LectureError

from .glyphs import FAMILY, FILE, missing

__all__ = ["FILE", "missing", "register"]


def register() -> None:
    """Make the font known to Pango, before any text is made. Fontconfig forgets the fonts of a
    program when it reads its settings again, so this looks each time; another font would be drawn
    in its place, and its outlines kept."""
    if FAMILY in manimpango.list_fonts():
        return
    if not manimpango.register_font(str(FILE)) or FAMILY not in manimpango.list_fonts():
        raise LectureError(
            where=str(FILE), expected="a font that Pango accepts", found="a rejected one"
        )
