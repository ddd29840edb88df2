"""What the lecture's font can draw, and how wide: from the font file alone, without Manim.

The font is Noto Sans CJK from a pinned package, the same on every machine. Its table of 44,810
widths takes seconds to work out, so it is kept in the cache folder under the font's digest.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import tempfile
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import LectureError

FAMILY = "Noto Sans CJK SC"
_PACKAGE, _NAME = "manimgx_fonts_cjk", "NotoSansCJK-VF.otf.ttc"
#: Frame units of an em at font size 1, as Manim sets text.
EM = 0.013889
#: The size that what a sentence is about has at least.
READABLE = 26.4
_BOLD = 700
_CODES = 0x30000
_HEAD = 65536  # bytes, in which every table's checksum stands


def _file() -> Path:
    found = importlib.util.find_spec(_PACKAGE)
    if found is None or found.origin is None:
        raise LectureError(where=_PACKAGE, expected="the package with the font", found="nothing")
    return Path(found.origin).resolve().parent / _NAME


FILE = _file()
Widths = NDArray[np.uint16]


def missing(text: str) -> str:
    """The characters of ``text`` that the font cannot draw, each once."""
    known, text = widths(), unicodedata.normalize("NFC", text)
    codes = ((char, ord(char)) for char in dict.fromkeys(text) if not char.isspace())
    return "".join(char for char, code in codes if code >= _CODES or not known[code])


def width(text: str, size: float = READABLE) -> float:
    """How wide ``text`` is in frame units, in bold; characters without a glyph have no width."""
    known, text = widths(), unicodedata.normalize("NFC", text)
    ems = sum(int(known[ord(char)]) for char in text if ord(char) < _CODES) / 1000
    return ems * size * EM


def loose_marks(text: str) -> str:
    """Accents that do not become part of a letter, each once: they would have no place."""
    composed = unicodedata.normalize("NFC", text)
    return "".join(dict.fromkeys(c for c in composed if unicodedata.category(c).startswith("M")))


def right_to_left(text: str) -> bool:
    """Whether any letter of ``text`` belongs to a script that is written from right to left."""
    return any(unicodedata.bidirectional(char) in ("R", "AL", "AN") for char in text)


@cache
def widths() -> Widths:
    """The advance of each code point in thousandths of an em, 0 where there is no glyph, shape
    (0x30000,). Raises LectureError where the font cannot be read."""
    path = _kept()
    if path is not None:
        with contextlib.suppress(OSError, ValueError, EOFError):
            found: Widths = np.load(path, allow_pickle=False)
            if found.shape == (_CODES,) and found.dtype == np.uint16:
                return found
    made = _measured()
    if path is not None:
        _keep(made, path)
    return made


def _kept() -> Path | None:
    """The file in the cache folder that has the widths of this very font."""
    try:
        with FILE.open("rb") as font:
            head = font.read(_HEAD)
        digest = hashlib.sha256(head + FILE.stat().st_size.to_bytes(8, "big")).hexdigest()[:16]
        chosen = os.environ.get("XDG_CACHE_HOME")
        base = Path(chosen) if chosen else Path.home() / ".cache"
    except (OSError, RuntimeError):
        return None
    return base / "transformer-lecture" / f"widths-{digest}.npy"


def _keep(made: Widths, path: Path) -> None:
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, unfinished = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            np.save(file, made)
        Path(unfinished).replace(path)


def _measured() -> Widths:
    from fontTools.ttLib import TTCollection, TTLibError

    try:
        fonts = TTCollection(str(FILE), lazy=True).fonts
        font = next(each for each in fonts if each["name"].getDebugName(1) == FAMILY)
        return _bold(font)
    except (OSError, TTLibError, KeyError) as error:
        raise LectureError(where=FILE, expected="a sound font", found=str(error)) from error
    except StopIteration:
        raise LectureError(where=FILE, expected=FAMILY, found="no such family") from None


def _bold(font: Any) -> Widths:
    """Of a variable font: the widths of its lightest instance, and what bold adds to each."""
    from fontTools.varLib.varStore import VarStoreInstancer

    table, plain = font["HVAR"].table, font["hmtx"]
    place = font.normalizeLocation({"wght": _BOLD})
    added = VarStoreInstancer(table.VarStore, font["fvar"].axes, place)
    mapping = table.AdvWidthMap and table.AdvWidthMap.mapping
    made = np.zeros(_CODES, dtype=np.uint16)
    for code, glyph in font.getBestCmap().items():
        if code < _CODES:
            where = mapping[glyph] if mapping else font.getGlyphID(glyph)
            made[code] = min(max(1, round(plain[glyph][0] + added[where])), 65535)
    return made
