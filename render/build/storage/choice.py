"""Which cache a run uses: ``--store``, ``--store-size`` and LECTURE_STORE."""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from engine.errors import LectureError

VARIABLE = "LECTURE_STORE"
NONE = "none"
DEFAULT_SIZE = "20GB"
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CacheChoice:
    """``url``: a folder or an fsspec URL, None for no cache. ``named``: by the user, so that it is
    an error if it cannot be used. ``limit``: bytes; None: its other users keep it small."""

    url: str | None
    named: bool
    limit: int | None

    @property
    def address(self) -> str:
        """The URL, or the whole path of the folder: for use by processes elsewhere."""
        url = self.url or ""
        return url if is_url(url) else str(Path(url).expanduser().absolute())


NO_CACHE = CacheChoice(None, False, None)


def choose(store: str | None, size: str) -> CacheChoice:
    """What ``--store`` and ``--store-size`` say; without the first, LECTURE_STORE or the cache
    folder. Raises LectureError for an invalid size."""
    limit = bytes_of(size)
    said = store or os.environ.get(VARIABLE) or None
    if said == NONE:
        return NO_CACHE
    return CacheChoice(said or _default(), bool(said), limit)


def bytes_of(size: str) -> int:
    """``20GB``, ``500 MB``, ``1.5GiB`` as a number of bytes. Raises LectureError."""
    found = _SIZE.fullmatch(size.strip())
    if not found:
        raise LectureError(field="--store-size", expected="a size like 20GB", found=repr(size))
    number, unit, binary = found.groups()
    return int(float(number) * (1024 if binary else 1000) ** ("kmgt".find(unit.lower() or "-") + 1))


def _default() -> str | None:
    """In the user's cache folder; None where there is no home."""
    folder = Path(os.environ.get("XDG_CACHE_HOME", ""))
    with contextlib.suppress(RuntimeError):
        if not folder.is_absolute():
            folder = Path.home() / ".cache"
        return str(folder / "transformer-lecture" / "store")
    return None


def is_url(url: str) -> bool:
    """Whether it is one that fsspec might know; else it is a folder."""
    return "://" in url or "::" in url
