"""The trace: every value of one forward pass, by name, in forward order, read-only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import LectureError, unknown_name
from engine.weights import Weights


class Trace(Mapping[str, NDArray[Any]]):
    """An ordered, read-only mapping from value names to arrays: float64, except the id vectors,
    which are int64. Names and shapes are listed in docs/trace.md.

    kind: "training" or "inference"; weights: the model that was run; source_tokens,
    target_tokens: what encoder and decoder read; goal_tokens: what the decoder's first rows are
    to write, none in inference. An unknown name raises UnknownNameError (a KeyError).
    """

    def __init__(
        self,
        values: Mapping[str, NDArray[Any]],
        *,
        kind: str,
        weights: Weights,
        source_tokens: tuple[str, ...],
        target_tokens: tuple[str, ...],
        goal_tokens: tuple[str, ...] = (),
    ) -> None:
        self.kind = kind
        self.weights = weights
        self.source_tokens = source_tokens
        self.target_tokens = target_tokens
        self.goal_tokens = goal_tokens
        self._values = {name: _frozen(value) for name, value in values.items()}

    def __getitem__(self, name: str) -> NDArray[Any]:
        try:
            return self._values[name]
        except KeyError:
            raise unknown_name(name, list(self._values), f"the {self.kind} trace") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        source, target = "".join(self.source_tokens), " ".join(self.target_tokens)
        return f"<Trace {self.kind}: {source} -> {target}, {len(self)} values>"


def check_finite(values: Mapping[str, NDArray[Any]], weights: Weights) -> None:
    """Raise LectureError naming the first value that left the range of float64."""
    for name, value in values.items():
        if not np.isfinite(value).all():
            raise LectureError(
                where=weights.path,
                field=name,
                expected="weights small enough for every value to stay a finite number",
                found="a value beyond the range of float64",
            )


def _frozen(value: NDArray[Any]) -> NDArray[Any]:
    """A private, contiguous, read-only copy."""
    copy = np.array(value, order="C")
    copy.setflags(write=False)
    return copy
