"""The one font of the lecture. Importing this makes it known to Pango, which must come before any
text is set: Pango keeps for good what it found for a name at first."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import manimpango

from engine.errors import LectureError

from .glyphs import FAMILY, FILE, missing

__all__ = ["FILE", "missing"]

# All that Fontconfig knows: our font and nothing of the machine's, so that no other can ever take
# its place; and never read again, since it forgets a program's own fonts when it does.
_SETTINGS = """<?xml version="1.0"?>
<fontconfig>
  <dir>{fonts}</dir>
  <cachedir>{cache}</cachedir>
  <config><rescan><int>0</int></rescan></config>
</fontconfig>
"""


def _register() -> None:
    if not (_read_settings() or (manimpango.register_font(str(FILE)) and _is_known())):
        raise LectureError(
            where=str(FILE), expected="a font that Pango accepts", found="a rejected one"
        )


def _is_known() -> bool:
    return FAMILY in manimpango.list_fonts()


def _read_settings() -> bool:
    """Let Fontconfig read our settings; False where it has read others before, or is not used."""
    before = os.environ.get("FONTCONFIG_FILE")
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder, "fonts.conf")
        settings.write_text(_SETTINGS.format(fonts=_escaped(FILE.parent), cache=_escaped(folder)))
        os.environ["FONTCONFIG_FILE"] = str(settings)
        try:
            return _is_known()
        finally:
            if before is None:
                del os.environ["FONTCONFIG_FILE"]
            else:
                os.environ["FONTCONFIG_FILE"] = before


def _escaped(path: object) -> str:
    return str(path).replace("&", "&amp;").replace("<", "&lt;")


_register()
