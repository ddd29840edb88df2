"""What differs between two sets of weights, and in which values of a pass that shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.config import FILE_FIELDS
from engine.errors import LectureError
from engine.model import SOURCE, TARGET, Text, training_pass
from engine.tokenizer import encode
from engine.weights import Weights, shape_text


def sample(weights: Weights) -> tuple[Text, Text]:
    """A source and a target this model can read: the tutorial's sentences if it knows their
    words, else as many of its own words as fit."""
    try:
        encode(SOURCE, weights, "source")
        encode(TARGET, weights, "target")
    except LectureError:
        words = weights.vocabulary[: weights.config.max_length]
        return words, words
    return SOURCE, TARGET


def differences(
    first: Weights, second: Weights, source: Text | None = None, target: Text | None = None
) -> list[str]:
    """One line per configuration field, vocabulary, matrix and training-pass value that differs;
    an empty list if none does. Without texts, `sample` of the first is run.

    Raises LectureError if the first model cannot read the texts; if only the second cannot, that
    is one of the lines.
    """
    lines = []
    for name in FILE_FIELDS:
        before, after = getattr(first.config, name), getattr(second.config, name)
        if before != after:
            lines.append(f"config.{name}: {before} -> {after}")
    if first.vocabulary != second.vocabulary:
        words = [" ".join(weights.vocabulary) for weights in (first, second)]
        lines.append(f"vocabulary: {words[0]} -> {words[1]}")
    lines += _array_lines("matrix", first.matrices, second.matrices)
    own_source, own_target = sample(first)
    texts = source or own_source, target or own_target
    before_trace = training_pass(first, *texts)
    try:
        after_trace = training_pass(second, *texts)
    except LectureError as error:
        return [*lines, f"trace: not compared, as the second file cannot run this: {error}"]
    return lines + _array_lines("trace", before_trace, after_trace)


def _array_lines(
    kind: str, first: Mapping[str, NDArray[Any]], second: Mapping[str, NDArray[Any]]
) -> list[str]:
    lines = []
    for name in [*first, *(name for name in second if name not in first)]:
        if name not in first or name not in second:
            only = "first" if name in first else "second"
            lines.append(f"{kind} {name}: only in the {only} file")
        elif first[name].shape != second[name].shape:
            shapes = shape_text(first[name].shape), shape_text(second[name].shape)
            lines.append(f"{kind} {name}: {shapes[0]} -> {shapes[1]}")
        elif not np.array_equal(first[name], second[name]):
            with np.errstate(over="ignore"):
                change = np.abs(second[name] - first[name])
            changed = np.count_nonzero(change)
            lines.append(
                f"{kind} {name}: {changed} of {change.size} differ, by up to {change.max():.4g}"
            )
    return lines
