"""What differs between two sets of weights, and in which values of a pass that shows."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.config import SETTINGS
from engine.errors import LectureError
from engine.model import SOURCE, TARGET, Text, training_pass
from engine.tokenizer import encode, teach
from engine.weights import Weights, shape_text
from engine.words import TOKEN_FIELDS, Tokens, Words


def sample(weights: Weights) -> tuple[Text, Text]:
    """A source and a target this model can read: the tutorial's sentences if it knows their
    words, else as many of its own words as fit, at most eight."""
    try:
        encode(SOURCE, weights, "source")
        teach(TARGET, weights)
    except LectureError:
        tokens, longest = weights.tokens, min(weights.config.max_length, 8)
        room = longest - tokens.source_bos - tokens.source_eos
        source = _plain(weights.source_words, tokens)[: max(room, 1)]
        target = _plain(weights.vocabulary, tokens)
        return source, target[: max(longest - (tokens.bos is not None), 1)]
    return SOURCE, TARGET


def _plain(words: Words, tokens: Tokens) -> Words:
    """The words that are not special tokens; all words if every one is."""
    special = {tokens.bos, tokens.eos, tokens.pad, tokens.unk}
    return tuple(word for word in words if word not in special) or words


def differences(
    first: Weights, second: Weights, source: Text | None = None, target: Text | None = None
) -> list[str]:
    """One line per setting, vocabulary, matrix and training-pass value that differs;
    an empty list if none does. Without texts, `sample` of the first is run.

    Raises LectureError if the first model cannot read the texts; if only the second cannot, that
    is one of the lines.
    """
    lines = []
    for name in SETTINGS:
        before, after = first.config.setting(name), second.config.setting(name)
        if before != after:
            lines.append(f"config.{name}: {before} -> {after}")
    for name in ("vocabulary", "source_words"):
        words = [" ".join(getattr(weights, name)) for weights in (first, second)]
        own = any(weights.source_vocabulary is not None for weights in (first, second))
        if words[0] != words[1] and (own or name == "vocabulary"):
            which = "vocabulary.source" if name == "source_words" else name
            lines.append(f"{which}: {words[0]} -> {words[1]}")
    for name in ("objective", *(f"tokens.{name}" for name in TOKEN_FIELDS)):
        before, after = (attrgetter(name)(weights) for weights in (first, second))
        if before != after:
            lines.append(f"{name}: {before} -> {after}")
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
