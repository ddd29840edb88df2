"""The family: which of the models that the engine runs, and which lessons, the lecture covers.

These checks need no font; whether the words can be drawn is checked elsewhere. `check_lesson` is
called before anything is drawn.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from engine.config import SUBLAYERS, Layers
from engine.errors import LectureError
from engine.model import Text, training_pass
from engine.tokenizer import words_of
from engine.trace import Trace
from engine.weights import Weights
from engine.words import Words

READABLE = "which can be read on screen"
#: The least and the most of each.
D_MODEL, HEADS, D_FF, LAYERS = (2, 8), (1, 4), (1, 16), (1, 3)
WORDS = (4, 2000)
SOURCE_TOKENS = (1, 8)
TARGET_TOKENS = (3, 8)  # that the decoder reads: there are three inference scenes
LARGEST = 1000.0  # of any number in a file


def check_model(weights: Weights) -> None:
    """Refuse a model that the lecture does not cover. Raises LectureError."""
    config, where = weights.config, weights.path
    for side in SUBLAYERS:
        _check_layers(config.layers(side), side, where)
    for name, (least, most) in (("d_model", D_MODEL), ("heads", HEADS), ("d_ff", D_FF)):
        found = getattr(config, name)
        if not least <= found <= most:
            raise LectureError(
                where=where,
                field=f"config.{name}",
                expected=f"{least} to {most}, {READABLE}",
                found=str(found),
            )
    if config.position.kind == "sinusoid" and config.d_model % 2:
        raise LectureError(
            where=where,
            field="config.d_model",
            expected="an even number, as sine and cosine come in pairs",
            found=str(config.d_model),
        )
    two = weights.source_vocabulary is not None
    _check_words(weights.vocabulary, "vocabulary.target" if two else "vocabulary", where)
    if two:
        _check_words(weights.source_words, "vocabulary.source", where)
    _check_numbers(weights)


def check_lesson(
    weights: Weights, source: Text, target: Text, lesson: str | Path = "lesson"
) -> Trace:
    """Refuse a model that the lecture does not cover, or sentences that it cannot show with it.
    Returns the training pass. `lesson` is their source, named in errors. Raises LectureError."""
    check_model(weights)
    try:
        for side, text in (("source", source), ("target", target)):
            _check_sentence(words_of(text, weights, side), side, weights, lesson)
        return training_pass(weights, source, target)
    except LectureError as error:
        if error.where not in ("source", "target"):
            raise
        raise LectureError(
            where=lesson, field=error.where, expected=error.expected, found=error.found
        ) from None


def _check_layers(layers: Layers, side: str, where: Path | None) -> None:
    least, most = LAYERS
    if not least <= len(layers) <= most:
        raise LectureError(
            where=where,
            field=f"config.{side}",
            expected=f"{least} to {most} layers",
            found=str(len(layers) or "none"),
        )
    for number, kinds in enumerate(layers):
        told = tuple(k for k in SUBLAYERS[side] if k != "cross_attn" or k in kinds)
        if kinds != told:
            raise LectureError(
                where=where,
                field=f"config.{side}[{number}]",
                expected=f"{', '.join(told)} in this order",
                found=", ".join(kinds),
            )
    if side == "decoder" and "cross_attn" not in layers[-1]:
        raise LectureError(
            where=where,
            field=f"config.{side}[{len(layers) - 1}]",
            expected="cross_attn too, as the scenes tell how the target asks the source",
            found=", ".join(layers[-1]),
        )


def _check_words(words: Words, field: str, where: Path | None) -> None:
    least, most = WORDS
    if not least <= len(words) <= most:
        few = len(words) < least
        expected = f"at least {least} words" if few else f"at most {most} words"
        raise LectureError(where=where, field=field, expected=expected, found=str(len(words)))


def _check_numbers(weights: Weights) -> None:
    for name, matrix in weights.matrices.items():
        numbers = matrix.ravel()
        largest = float(numbers[np.argmax(np.abs(numbers))])
        if abs(largest) > LARGEST:
            raise LectureError(
                where=weights.path,
                field=name,
                expected=f"numbers from -{LARGEST:g} to {LARGEST:g}, {READABLE}",
                found=repr(largest),
            )


def _check_sentence(words: Words, side: str, weights: Weights, lesson: str | Path) -> None:
    """Refuse special tokens in a sentence, and sentences that are too short or too long."""
    tokens, read, added = weights.tokens, len(words), ""
    teaching = side == "target" and weights.objective == "next"
    ends = {
        "bos": tokens.bos if teaching or (side == "source" and tokens.source_bos) else None,
        "eos": tokens.eos if teaching or (side == "source" and tokens.source_eos) else None,
    }
    for number, word in enumerate(words, start=1):
        expected = None
        if word == tokens.pad:
            expected = "the sentence without padding; the model masks it, so nothing changes"
        elif word in ends.values():
            expected = "the sentence without start and end tokens, which are put there"
        if expected:
            field = f'{side} token {number} "{word}"'
            raise LectureError(where=lesson, field=field, expected=expected)
    if teaching:
        ends["eos"] = None  # is written, not read
        if tokens.bos is None and tokens.eos is None:
            read, added = read - 1, " before the last"
    there = [word for word in ends.values() if word is not None]
    read += len(there)
    if there:
        added = f" with {' and '.join(there)}"
    least, most = SOURCE_TOKENS if side == "source" else TARGET_TOKENS
    if read > most:
        expected = f"at most {most} tokens{added}, {READABLE}"
    elif read < least and side == "target":
        expected = f"{least} tokens or more{added}, as there are three inference scenes"
    else:
        return
    raise LectureError(where=lesson, field=side, expected=expected, found=str(read))
