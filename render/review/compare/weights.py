"""Two weight files side by side: matrices, values of the passes, and what the model writes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.comparison import differences
from engine.errors import LectureError
from engine.passes import Passes

if TYPE_CHECKING:
    from scenes.settings import Settings

_OTHER = ("config.", "vocabulary", "objective: ", "tokens.")


@dataclass(frozen=True)
class Matrix:
    """A matrix that differs; rows are outputs, as in the file. ``old`` or ``new`` is None where
    only one file has it, or they are of different shapes."""

    name: str
    old: list[list[float]] | None
    new: list[list[float]] | None
    shape: str

    @property
    def differences(self) -> NDArray[Any]:
        """New minus old; empty where they cannot be subtracted."""
        if self.old is None or self.new is None:
            return np.zeros((0, 0))
        return np.subtract(self.new, self.old)

    @property
    def changed(self) -> int:
        return int(np.count_nonzero(self.differences))

    @property
    def largest(self) -> float:
        """The greatest change, with its sign; 0 where they cannot be compared."""
        apart = self.differences.ravel()
        return float(apart[np.argmax(np.abs(apart))]) if apart.size else 0.0


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


def passes_of(settings: Settings) -> Passes:
    """The passes that a lesson shows."""
    files = settings.weights, settings.weights_for_inference
    return Passes(*files, settings.source, settings.target)


def compare(old: Passes, new: Passes) -> Both:
    """Two pairs of weight files on the same sentences. Raises LectureError."""
    first, second = old.trace("training"), new.trace("training")
    before, after = first.weights, second.weights
    lines = differences(before, after)
    return Both(
        others=[line for line in lines if line.startswith(_OTHER)],
        matrices=_matrices(before.matrices, after.matrices),
        values=_values(first, second),
        all_values=len(list(first)),
        loss=(_loss(first), _loss(second)),
        writes=(_writes(old), _writes(new)),
    )


def _loss(trace: Any) -> float:
    return float(np.asarray(trace["loss.mean"]))


def _writes(passes: Passes) -> str:
    """As many words as the lecture's sentence has, from its first one on."""
    words = list(passes.value("training", "tokens:target"))
    asked = json.dumps([words[:1], len(words) - 1], ensure_ascii=False)
    try:
        return " ".join(passes.value("training", f"choices:{asked}"))
    except (LectureError, LookupError, ValueError):
        return "–"


def _matrices(before: Any, after: Any) -> list[Matrix]:
    found = []
    for name in dict.fromkeys([*before, *after]):
        old, new = before.get(name), after.get(name)
        if old is not None and new is not None and np.array_equal(old, new):
            continue
        same = old is not None and new is not None and old.shape == new.shape
        there = new if new is not None else old
        found.append(
            Matrix(
                name,
                np.atleast_2d(old).tolist() if same else None,
                np.atleast_2d(new).tolist() if same else None,
                " × ".join(map(str, there.shape)),
            )
        )
    return found


def _values(first: Any, second: Any) -> list[Value]:
    found = []
    for name in first:
        if name not in second:
            continue
        old, new = np.asarray(first[name]), np.asarray(second[name])
        if old.shape != new.shape:
            found.append(Value(name, new.size, new.size, None))
        elif not np.array_equal(old, new):
            apart = np.abs(new.astype(float) - old.astype(float))
            found.append(
                Value(name, int(np.count_nonzero(apart)), apart.size, float(np.nanmax(apart)))
            )
    return found
