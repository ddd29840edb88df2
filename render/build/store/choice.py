"""Which store is meant, and how large it may become."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from engine.errors import LectureError

VARIABLE = "LECTURE_STORE"
NONE = "none"
DEFAULT_SIZE = "20GB"
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)


@dataclass(frozen=True)
class StoreChoice:
    """``url``: a folder or an fsspec URL, None for no store. ``named``: by the user, so that it is
    an error if it cannot be used. ``limit``: bytes."""

    url: str | None
    named: bool
    limit: int

    @property
    def address(self) -> str:
        """The URL, or the whole path of the folder: for use by processes elsewhere."""
        url = self.url or ""
        return url if "://" in url or "::" in url else str(Path(url).expanduser().absolute())


NO_STORE = StoreChoice(None, False, 0)


def choose(store: str | None, size: str) -> StoreChoice:
    """What ``--store`` and ``--store-size`` say; without the first, LECTURE_STORE or the cache
    folder. Raises LectureError for a size that is none."""
    limit = bytes_of(size)
    said = store or os.environ.get(VARIABLE) or None
    if said == NONE:
        return NO_STORE
    if said:
        return StoreChoice(said, True, limit)
    return StoreChoice(_default(), False, limit)


def bytes_of(size: str) -> int:
    """``20GB``, ``500 MB``, ``1.5GiB`` as a number of bytes. Raises LectureError."""
    found = _SIZE.fullmatch(size.strip())
    if not found:
        raise LectureError(field="--store-size", expected="a size like 20GB", found=repr(size))
    number, unit, binary = found.groups()
    factor = _UNITS[unit.lower()]
    if binary:
        factor = 2 ** (10 * list(_UNITS).index(unit.lower()))
    return int(float(number) * factor)


def _default() -> str | None:
    """In the user's cache folder; None where there is no home."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    try:
        folder = Path(cache) if os.path.isabs(cache) else Path.home() / ".cache"  # noqa: PTH117
    except RuntimeError:
        return None
    return str(folder / "transformer-lecture" / "store")
