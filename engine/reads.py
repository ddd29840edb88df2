"""What was read: each value by its run and name, with the elements that were looked at, and texts.

Whoever shows values reads them through a :class:`Reads`, whose document says exactly what was
read; ``engine.passes`` computes the same values anew, so that two states can be compared by bytes.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Path = tuple[str, ...]
KEPT = 4096  # values kept as they are; of more only a digest

#: stands in a path for the names in a table
NAMES = "*"


class Reads:
    """Remembers what is read; the document is plain data for JSON."""

    def __init__(self) -> None:
        self._arrays: dict[tuple[str, str], tuple[NDArray[Any], NDArray[np.bool_]]] = {}
        self._plain: dict[tuple[str, str], Any] = {}
        self._texts: dict[Path, Any] = {}

    @property
    def names(self) -> set[tuple[str, str]]:
        """Run and name of everything that was read."""
        return {*self._arrays, *self._plain}

    def array(self, run: str, name: str, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Where to mark the elements of an array that are looked at. Its shape counts as read."""
        if (run, name) not in self._arrays:
            self._arrays[run, name] = values, np.zeros(values.shape, dtype=np.bool_)
        return self._arrays[run, name][1]

    def plain(self, run: str, name: str, value: Any) -> None:
        """Words, sizes and the like, read as a whole."""
        self._plain[run, name] = value

    def text(self, path: Path, value: Any) -> None:
        """A text by its keys; None: it was looked for and is not there."""
        self._texts[path] = digest_of(value)

    def document(self) -> dict[str, Any]:
        """``values``: run and name, with elements or plain data; ``texts``: keys and digest."""
        arrays = [
            {"run": run, "name": name, **packed(values, seen)}
            for (run, name), (values, seen) in self._arrays.items()
        ]
        plain = [
            {"run": run, "name": name, "plain": value} for (run, name), value in self._plain.items()
        ]
        texts = [[list(path), digest] for path, digest in sorted(self._texts.items())]
        return {"values": [*plain, *arrays], "texts": texts}


def packed(values: NDArray[Any], seen: NDArray[np.bool_]) -> dict[str, Any]:
    """The elements of an array that were looked at, as plain data."""
    data = np.ascontiguousarray(values[seen]).tobytes()
    few = int(seen.sum()) <= KEPT
    return {
        "shape": list(values.shape),
        "type": values.dtype.str,
        "seen": None if seen.all() else _text(np.packbits(seen).tobytes()),
        **({"data": _text(data)} if few else {"digest": hashlib.sha256(data).hexdigest()}),
    }


def seen_of(entry: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Which elements an entry of a document is about."""
    shape = tuple(entry["shape"])
    if entry["seen"] is None:
        return np.ones(shape, dtype=np.bool_)
    bits = np.frombuffer(base64.b64decode(entry["seen"]), dtype=np.uint8)
    return np.unpackbits(bits, count=int(np.prod(shape))).astype(np.bool_).reshape(shape)


def elements_of(entry: Mapping[str, Any]) -> NDArray[Any] | None:
    """The elements of an entry of a document; None where only their digest was kept."""
    if "data" not in entry:
        return None
    return np.frombuffer(base64.b64decode(entry["data"]), dtype=np.dtype(entry["type"]))


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def digest_of(value: Any) -> str | None:
    """A digest of a text or of other plain data; None for None; all tables are alike."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        return "table"
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:32]


def look_up(table: Mapping[str, Any], path: Sequence[str]) -> Any:
    """The value under a path of keys, None where there is none."""
    found: Any = table
    for key in path:
        if not isinstance(found, Mapping):
            return None
        found = sorted(found) if key == NAMES else found.get(key)
    return found


class Table(Mapping[str, Any]):
    """A table of texts that tells ``read`` the path and the value of whatever is read of it."""

    def __init__(
        self, whole: Mapping[str, Any], read: Callable[[Path, Any], None], path: Path = ()
    ) -> None:
        self._whole, self._read, self._path = whole, read, path

    def __getitem__(self, key: str) -> Any:
        path, value = (*self._path, key), self._whole.get(key)
        if isinstance(value, Mapping):
            return Table(value, self._read, path)
        self._read(path, value)
        return self._whole[key]

    def __contains__(self, key: object) -> bool:
        if isinstance(key, str):
            self._read((*self._path, key), self._whole.get(key))
        return key in self._whole

    def __iter__(self) -> Iterator[str]:
        self._read((*self._path, NAMES), sorted(self._whole))
        return iter(self._whole)

    def __len__(self) -> int:
        self._read((*self._path, NAMES), sorted(self._whole))
        return len(self._whole)
