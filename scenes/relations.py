"""What the picture says follows from what. Parts declare it; the audit works it out again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .values import Scalar


@dataclass(frozen=True)
class Relation:
    """``result`` is shown as the ``kind`` of ``inputs``, vectors each: ``dot``, ``sum``,
    ``softmax`` and the others of ``render/review/relations.py``. ``same_run``: all of them are
    numbers of one forward pass."""

    kind: str
    inputs: Sequence[Sequence[Scalar]]
    result: Sequence[Scalar]
    same_run: bool = True
