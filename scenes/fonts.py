"""The one font of the lecture, the same on every machine: Noto Sans CJK from a pinned package."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import manimgx_fonts_cjk
import manimpango
from fontTools.ttLib import TTCollection

from engine.errors import LectureError

from . import theme

FILE = Path(manimgx_fonts_cjk.__file__).resolve().parent / "NotoSansCJK-VF.otf.ttc"


@cache
def register() -> None:
    """Make the font known to Pango, once in a process and before any text is made."""
    if not manimpango.register_font(str(FILE)):
        raise LectureError(
            where=str(FILE), expected="a font that Pango accepts", found="a rejected one"
        )


@cache
def characters() -> frozenset[int]:
    """The code points for which the font has a glyph."""
    for font in TTCollection(str(FILE), lazy=True).fonts:
        if font["name"].getDebugName(1) == theme.FONT:
            return frozenset(font.getBestCmap())
    raise LectureError(where=str(FILE), expected=theme.FONT, found="no such family")


def missing(text: str) -> str:
    """The characters of ``text`` that the font cannot draw."""
    known = characters()
    return "".join(c for c in dict.fromkeys(text) if not c.isspace() and ord(c) not in known)
