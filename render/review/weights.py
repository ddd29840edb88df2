"""Two weight files side by side: matrices, values of the passes, and what the model writes."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.comparison import differences
from engine.errors import LectureError
from engine.passes import Passes
from engine.trace import Trace

if TYPE_CHECKING:
    from scenes.settings import Settings

_OTHER = ("config.", "vocabulary", "objective: ", "tokens.")
_PANEL, _LESS, _MORE = (23, 28, 36), (91, 168, 245), (242, 140, 74)  # colours of cells
_LARGEST_TABLE = 256  # cells; a larger matrix is a picture without digits


class Cell(NamedTuple):
    """A number of a matrix as it is now; ``colour`` and ``title`` where it was another."""

    text: str
    colour: str = ""
    title: str = ""


@dataclass(frozen=True)
class Matrix:
    """A matrix that differs; rows are outputs, as in the file. ``old`` and ``new`` are None where
    only one file has it, or they are of different shapes."""

    name: str
    old: NDArray[Any] | None
    new: NDArray[Any] | None
    shape: str

    @property
    def differences(self) -> NDArray[Any]:
        """New minus old; empty where they cannot be subtracted."""
        return np.zeros((0, 0)) if self.old is None or self.new is None else self.new - self.old

    @property
    def changed(self) -> int:
        return int(np.count_nonzero(self.differences))

    @property
    def largest(self) -> float:
        """The greatest change, with its sign; 0 where they cannot be compared."""
        return max(self.differences.ravel().tolist(), key=abs, default=0.0)

    @property
    def is_small(self) -> bool:
        """Whether its digits can be shown."""
        return self.differences.size <= _LARGEST_TABLE

    def cells(self) -> Iterator[Cell]:
        """Cell by cell: blue where it became less, orange where it became more."""
        assert self.old is not None and self.new is not None
        for (row, column), old in np.ndenumerate(self.old):
            was, now = float(old), float(self.new[row, column])
            if was == now:
                yield Cell(_plain(now, 3))
            else:
                colour = "rgb({:.0f} {:.0f} {:.0f})".format(*_fill((now - was) / abs(self.largest)))
                title = f"[{row + 1}, {column + 1}]: {_plain(was, 6)} → {_plain(now, 6)}"
                yield Cell(_plain(now, 3), colour, title)

    def picture(self) -> bytes:
        """The same as a PNG, a pixel each."""
        from PIL import Image

        shares = self.differences / abs(self.largest)
        pixels = np.array([[_fill(float(share)) for share in row] for row in shares])
        target = io.BytesIO()
        Image.fromarray(pixels.round().astype(np.uint8)).save(target, "png")
        return target.getvalue()


def _fill(share: float) -> tuple[float, float, float]:
    """From the panel's colour at 0 to blue at -1 and orange at 1."""
    end, part = (_MORE if share > 0 else _LESS), 0.25 * bool(share) + 0.5 * abs(share)
    red, green, blue = (a + (b - a) * part for a, b in zip(_PANEL, end, strict=True))
    return red, green, blue


def _plain(number: float, digits: int) -> str:
    return f"{number:.{digits}g}".replace("-", "−")


@dataclass(frozen=True)
class Value:
    """A value of the training pass that moved: how many of its elements, and by how much at most
    (None: its shape is another)."""

    name: str
    moved: int
    size: int
    largest: float | None


@dataclass(frozen=True)
class Both:
    """Everything about two weight files that is not a picture. ``others``: lines about settings
    and words that differ; ``writes``: what each model writes after the first word."""

    others: list[str]
    matrices: list[Matrix]
    values: list[Value]
    all_values: int
    loss: tuple[float, float]
    writes: tuple[str, str]

    @property
    def widest(self) -> float:
        """The largest movement of all values; never 0."""
        return max((value.largest or 0.0 for value in self.values), default=0.0) or 1.0


def passes_of(settings: Settings) -> Passes:
    """The passes that a lesson shows."""
    files = settings.weights, settings.weights_for_inference
    return Passes(*files, settings.source, settings.target)


def compare(old: Passes, new: Passes) -> Both:
    """Two pairs of weight files on the same sentences. Raises LectureError."""
    first, second = old.trace("training"), new.trace("training")
    before, after = first.weights, second.weights
    return Both(
        others=[line for line in differences(before, after) if line.startswith(_OTHER)],
        matrices=list(_matrices(before.matrices, after.matrices)),
        values=list(_values(first, second)),
        all_values=len(list(first)),
        loss=(float(first["loss.mean"]), float(second["loss.mean"])),
        writes=(_writes(old), _writes(new)),
    )


def _writes(passes: Passes) -> str:
    """As many words as the lecture's sentence has, from its first one on."""
    words = list(passes.value("training", "tokens:target"))
    asked = json.dumps([words[:1], len(words) - 1], ensure_ascii=False)
    try:
        return " ".join(passes.value("training", f"choices:{asked}"))
    except (LectureError, LookupError, ValueError):
        return "–"


def _matrices(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Matrix]:
    for name in dict.fromkeys([*before, *after]):
        there = [each[name] for each in (before, after) if name in each]
        shape = " × ".join(map(str, there[-1].shape))
        if len({one.shape for one in there}) > 1 or len(there) == 1:
            yield Matrix(name, None, None, shape)
        elif not np.array_equal(*there):
            yield Matrix(name, np.atleast_2d(there[0]), np.atleast_2d(there[1]), shape)


def _values(first: Trace, second: Trace) -> Iterator[Value]:
    for name in first:
        if name in second:
            old, new = np.asarray(first[name]), np.asarray(second[name])
            if old.shape != new.shape:
                yield Value(name, new.size, new.size, None)
            elif not np.array_equal(old, new):
                apart = np.abs(new.astype(float) - old.astype(float))
                largest = float(np.nanmax(apart))
                yield Value(name, int(np.count_nonzero(apart)), apart.size, largest)
