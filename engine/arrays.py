"""Arrays of a file whose names, types and shapes are known before any number is unpacked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Shape = tuple[int, ...]
AXES = 8  # more than any model's array has


@dataclass(frozen=True, slots=True)
class Entry:
    """An array that is still in its file; `load` unpacks it and may raise LectureError."""

    shape: Shape
    dtype: str  # in NumPy's words, or "bfloat16"
    load: Callable[[], NDArray[Any]]


class Arrays(Mapping[str, NDArray[Any]]):
    """A read-only mapping from names to arrays, each unpacked when it is asked for."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self._entries = dict(entries)

    @property
    def shapes(self) -> dict[str, Shape]:
        """The shape of every array; nothing is unpacked."""
        return {name: entry.shape for name, entry in self._entries.items()}

    def dtype(self, name: str) -> str:
        """The type of an array's numbers in the file, in NumPy's words, or "bfloat16"."""
        return self._entries[name].dtype

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._entries[name].load()

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def loaded(arrays: Mapping[str, NDArray[Any]]) -> Arrays:
    """Arrays that are in memory already."""

    def entry(array: NDArray[Any]) -> Entry:
        return Entry(array.shape, str(array.dtype), lambda: array)

    return Arrays({name: entry(array) for name, array in arrays.items()})


def count(shape: Shape) -> int:
    """How many numbers an array of this shape holds."""
    return math.prod(shape)


def from_bytes(data: bytes, dtype: str, shape: Shape) -> NDArray[Any]:
    """Bytes in C order as an array; bfloat16, the upper half of a float32, becomes float32."""
    if dtype == "bfloat16":
        halves = np.frombuffer(data, "<u2").astype("<u4")
        return (halves << 16).view("<f4").reshape(shape)
    return np.frombuffer(data, dtype).reshape(shape)
