"""The weights of a model: configuration, vocabulary and matrices, checked when they are made."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import numpy as np

from engine.config import Config, check_config, parameter_shapes
from engine.errors import LectureError, quoted
from engine.ops import Array


@dataclass(frozen=True, eq=False)
class Weights:
    """A model, ready to run. Matrices are read-only float64, shape (out, in), used as x @ W.T;
    the rows of q_proj, k_proj and v_proj belong to head 0 first, then head 1, and so on.

    Raises LectureError for any configuration, vocabulary or matrix that does not fit.
    """

    config: Config
    vocabulary: tuple[str, ...]
    matrices: Mapping[str, Array] = field(repr=False)
    path: Path | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "vocabulary", tuple(self.vocabulary))
        check_vocabulary(self.vocabulary, self.path)
        check_config(self.config, self.path)
        if self.config.vocabulary_size != len(self.vocabulary):
            raise LectureError(
                where=self.path,
                field="vocabulary",
                expected=f"{self.config.vocabulary_size} words",
                found=str(len(self.vocabulary)),
            )
        ordered = _check_matrices(self.matrices, self.config, self.path)
        object.__setattr__(self, "matrices", MappingProxyType(ordered))

    def with_matrices(self, matrices: Mapping[str, Array]) -> Weights:
        """The same model with other numbers (all matrices, or only those to replace)."""
        return Weights(self.config, self.vocabulary, {**self.matrices, **matrices})


def check_vocabulary(vocabulary: Iterable[object], where: str | Path | None = None) -> None:
    """Words must be non-empty strings without spaces or control characters, none twice."""
    words = tuple(vocabulary)
    if not words:
        raise LectureError(where=where, field="vocabulary", expected="words", found="none")
    seen: dict[str, int] = {}
    for number, word in enumerate(words):
        place = f"vocabulary[{number}]"
        if not isinstance(word, str) or not word or not word.isprintable() or " " in word:
            raise LectureError(
                where=where,
                field=place,
                expected="a word without spaces or control characters",
                found=quoted(word),
            )
        same = unicodedata.normalize("NFC", word)  # as the tokenizer sees it
        if same in seen:
            raise LectureError(
                where=where,
                field=place,
                expected="every word once",
                found=f"{quoted(word)} again, as in vocabulary[{seen[same]}]",
            )
        seen[same] = number


def _check_matrices(
    matrices: Mapping[str, Array], config: Config, where: Path | None
) -> dict[str, Array]:
    """The matrices in forward order as read-only float64 copies, or LectureError."""
    shapes = parameter_shapes(config)
    _check_names(matrices, shapes, where)
    ordered = {}
    for name, shape in shapes.items():
        place = f"matrices.{name}"
        matrix = _real(matrices[name], place, where)
        if matrix.shape != shape:
            raise LectureError(
                where=where,
                field=place,
                expected=f"shape {shape_text(shape)}",
                found=shape_text(matrix.shape),
            )
        if not np.isfinite(matrix).all():
            row, column = np.argwhere(~np.isfinite(matrix))[0]
            raise LectureError(
                where=where,
                field=f"{place}[{row}][{column}]",
                expected="a finite number",
                found=str(matrix[row, column]),
            )
        matrix.setflags(write=False)
        ordered[name] = matrix
    return ordered


def _real(values: object, place: str, where: Path | None) -> Array:
    """A fresh float64 array of real numbers, or LectureError."""
    try:
        array = np.asarray(values)
    except ValueError:  # ragged rows
        array = np.asarray(values, dtype=object)
    if array.dtype.kind not in "fiu":
        raise LectureError(
            where=where, field=place, expected="real numbers", found=f"type {array.dtype}"
        )
    return np.array(array, dtype=np.float64, order="C")


def _check_names(matrices: Iterable[str], shapes: Iterable[str], where: Path | None) -> None:
    given, wanted = set(matrices), list(shapes)
    missing = [name for name in wanted if name not in given]
    unknown = sorted(given - set(wanted), key=str)
    if unknown:
        expected = f"{missing[0]}, which is missing" if missing else "only the model's matrices"
        raise LectureError(
            where=where,
            field="matrices",
            expected=expected,
            found=f"the unknown name {quoted(unknown[0])}{_more(unknown)}",
        )
    if missing:
        raise LectureError(
            where=where,
            field="matrices",
            expected=f"{missing[0]}{_more(missing)}",
            found="no such name",
        )


def _more(names: list[str]) -> str:
    return f" and {len(names) - 1} more" if len(names) > 1 else ""


def shape_text(shape: tuple[int, ...]) -> str:
    """(8, 4) as "8 x 4"; a single number has the shape "()"."""
    return " x ".join(map(str, shape)) or "()"
