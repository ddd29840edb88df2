"""The weights of a model: configuration, vocabulary and matrices, checked when they are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from engine.arrays import Arrays
from engine.config import REQUIRED, Config, Norm, check_choice, check_config
from engine.errors import LectureError
from engine.ops import Array
from engine.parameters import check_names, groups_of, parameter_shapes
from engine.words import Tokens, Words, check_tokens, check_vocabulary

OBJECTIVES = ("next", "copy")


@dataclass(frozen=True, eq=False)
class Weights:
    """A model, ready to run. Matrices are read-only float64, shape (out, in), used as x @ W.T;
    the rows of q_proj, k_proj and v_proj belong to head 0 first, then head 1, and so on. Biases,
    gains and shifts are vectors.

    vocabulary: the words that the model writes, and reads unless there is a `source_vocabulary`
    (which the configuration says; else it is the same). objective: whether a row is to write the
    "next" word, or to "copy" the one that it has read. training: how it came to be, if known.
    version: of the file format; 1 becomes 2 where version 1 cannot hold the model.

    Raises LectureError for any configuration, vocabulary or matrix that does not fit.
    """

    config: Config
    vocabulary: Words
    matrices: Mapping[str, Array] = field(repr=False)
    path: Path | None = None
    source_vocabulary: Words | None = None
    objective: str = "copy"
    tokens: Tokens = field(default_factory=Tokens)
    training: Mapping[str, Any] | None = None
    version: int = 1

    def __post_init__(self) -> None:
        self._check_words()
        check_config(self.config, self.path)
        self._check_sizes()
        check_tokens(self.tokens, self.source_words, self.vocabulary, self.path)
        check_choice(self.objective, OBJECTIVES, "objective", self.path)
        ordered = _check_matrices(self.matrices, self.config, self.path)
        object.__setattr__(self, "matrices", MappingProxyType(ordered))
        if self._beyond_version_1():
            object.__setattr__(self, "version", 2)

    @property
    def source_words(self) -> Words:
        """The words that the model reads in a source."""
        return self.vocabulary if self.source_vocabulary is None else self.source_vocabulary

    @property
    def groups(self) -> frozenset[str]:
        """Which optional groups of arrays the model has (see `engine.parameters`)."""
        return groups_of(self.matrices, self.config)

    def with_matrices(self, matrices: Mapping[str, Array]) -> Weights:
        """The same model with other numbers (all matrices, or only those to replace)."""
        return replace(self, matrices={**self.matrices, **matrices}, path=None)

    def embedding(self, side: str) -> str:
        """The name of the table of "source" or "target"."""
        two = self.source_vocabulary is not None
        return f"{side}_embedding.weight" if two else "embedding.weight"

    def position(self, side: str) -> str:
        """The name of the learned positions of "source" or "target"."""
        two = f"{side}_position.weight"
        return two if two in self.matrices else "position.weight"

    def output(self) -> str:
        """The name of the matrix that turns the decoder's output into logits."""
        return self.embedding("target") if self.config.tied_output else "output_projection.weight"

    def _check_words(self) -> None:
        object.__setattr__(self, "vocabulary", tuple(self.vocabulary))
        if self.source_vocabulary is None:
            check_vocabulary(self.vocabulary, self.path)
            return
        object.__setattr__(self, "source_vocabulary", tuple(self.source_vocabulary))
        check_vocabulary(self.source_words, self.path, "vocabulary.source")
        check_vocabulary(self.vocabulary, self.path, "vocabulary.target")

    def _check_sizes(self) -> None:
        """The configuration must count the words as they are."""
        source = self.source_vocabulary
        for name, size, words in (
            ("vocabulary", self.config.vocabulary_size, self.vocabulary),
            ("source_vocabulary", self.config.source_vocabulary_size, source),
        ):
            found = None if words is None else len(words)
            if size != found:
                raise LectureError(
                    where=self.path,
                    field=name,
                    expected="none of its own" if size is None else f"{size} words",
                    found="none" if found is None else str(found),
                )

    def _beyond_version_1(self) -> bool:
        """Whether the model has anything that a file of version 1 cannot say."""
        config = self.config
        plain = Config(
            vocabulary_size=config.vocabulary_size,
            norm=Norm(eps=config.norm.eps),
            **{name: getattr(config, name) for name in REQUIRED},
        )
        return bool(
            config != plain
            or self.groups
            or self.objective != "copy"
            or self.tokens != Tokens()
            or self.training is not None
        )


def _check_matrices(
    matrices: Mapping[str, Array], config: Config, where: Path | None
) -> dict[str, Array]:
    """The matrices in forward order as read-only float64 copies, or LectureError."""
    groups = groups_of(matrices, config)
    check_names(matrices, config, groups, where)
    shapes = parameter_shapes(config, groups)
    if isinstance(matrices, Arrays):  # before any of them is unpacked
        for name, found in matrices.shapes.items():
            _check_shape(found, shapes[name], f"matrices.{name}", where)
    ordered = {}
    for name, shape in shapes.items():
        place = f"matrices.{name}"
        matrix = _real(matrices[name], place, where)
        _check_shape(matrix.shape, shape, place, where)
        if not np.isfinite(matrix).all():
            index = tuple(np.argwhere(~np.isfinite(matrix))[0])
            raise LectureError(
                where=where,
                field=place + "".join(f"[{i}]" for i in index),
                expected="a finite number",
                found=str(matrix[index]),
            )
        matrix.setflags(write=False)
        ordered[name] = matrix
    return ordered


def _check_shape(
    found: tuple[int, ...], wanted: tuple[int, ...], place: str, where: Path | None
) -> None:
    if found != wanted:
        raise LectureError(
            where=where,
            field=place,
            expected=f"shape {shape_text(wanted)}",
            found=shape_text(found),
        )


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


def shape_text(shape: tuple[int, ...]) -> str:
    """(8, 4) as "8 x 4"; a single number has the shape "()"."""
    return " x ".join(map(str, shape)) or "()"
