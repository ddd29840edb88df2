"""Greedy generation: predict, append the likeliest token, repeat (Vaswani et al. 2017, section 3).

The cached way runs the encoder once and, at each step, only the newest row of the decoder; the
uncached way runs a whole inference pass per step. Both give the same logits. A model without a
mask, whose rows depend on later ones, is always run uncached.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from engine.errors import LectureError, quoted
from engine.model import SOURCE, Run, Text, inference_pass, positions
from engine.ops import Array
from engine.tokenizer import encode
from engine.trace import check_finite
from engine.weights import Weights
from engine.words import Words

START, STEPS = "I", 3  # the first word of the tutorial's target, and how many are left of it
LONGEST = 32  # steps without an end token, where there is one


@dataclass(frozen=True, eq=False)
class Step:
    """One turn of the loop: the decoder's input, the logits (V,) and probabilities (V,) of the
    next token, and the likeliest of them (the first of equals)."""

    input: Words
    logits: Array
    probabilities: Array
    choice: str


def generate(
    weights: Weights,
    source: Text = SOURCE,
    start: Text | None = None,
    steps: int | None = None,
    cached: bool = True,
) -> list[Step]:
    """Generate `steps` tokens after `start`, fewer if the end token is among them. By default,
    generate until the end token, 32 tokens at most, or three if the model has no end token.
    The default start is the model's start token, or else the tutorial's first word. Raises
    LectureError if steps is not positive or the last input would exceed max_length."""
    tokens, steps = _begin(weights, start, steps)
    longest = len(tokens) + steps - 1
    cached = cached and weights.config.mask
    predict = _cached(weights, source, longest) if cached else _uncached(weights, source)
    done = []
    for _ in range(steps):
        logits, probabilities = predict(tokens)  # (V,), (V,)
        choice = weights.vocabulary[int(np.argmax(logits))]
        done.append(Step(tokens, logits, probabilities, choice))
        tokens = (*tokens, choice)
        if choice == weights.tokens.eos:
            break
    return done


def _begin(weights: Weights, start: Text | None, steps: int | None) -> tuple[Words, int]:
    """The first words, and how many steps there may be. Raises LectureError."""
    if start is None:
        start = (weights.tokens.bos or START,)
    tokens, _ = encode(start, weights, "start")
    room = weights.config.max_length - len(tokens) + 1
    if steps is None:
        steps = STEPS if weights.tokens.eos is None else min(room, LONGEST)
    if not 1 <= steps <= room:
        raise LectureError(
            where="generate",
            field="steps",
            expected=f"1 to {room} (the model's max_length is {weights.config.max_length})",
            found=quoted(steps),
        )
    return tokens, steps


@dataclass(frozen=True)
class Hypothesis:
    """Words, the start included, and the sum of ln p of those after it; ``ended``: with the end
    token."""

    words: Words
    score: float
    ended: bool = False

    @property
    def p(self) -> float:
        """The probability that the model gives to all of it."""
        return math.exp(self.score)


@dataclass(frozen=True)
class BeamStep:
    """One step of a beam search: what goes on, best first, and the best of what was dropped."""

    kept: tuple[Hypothesis, ...]
    dropped: tuple[Hypothesis, ...]


def beam_search(
    weights: Weights,
    source: Text = SOURCE,
    start: Text | None = None,
    steps: int | None = None,
    width: int = 2,
) -> list[BeamStep]:
    """Keep the ``width`` likeliest beginnings at each step, by the sum of ln p, lengths not
    normalised, until all of them have ended; ``start`` and ``steps`` as in :func:`generate`. A
    width of 1 is greedy decoding. Raises LectureError as :func:`generate` does, or for a width
    below 1."""
    if width < 1:
        raise LectureError(
            where="beam_search", field="width", expected="1 or more", found=quoted(width)
        )
    tokens, steps = _begin(weights, start, steps)
    predict, done = _uncached(weights, source), list[BeamStep]()
    kept: list[Hypothesis] = [Hypothesis(tokens, 0.0)]
    for _ in range(steps):
        found = [each for each in kept if each.ended]
        for each in kept:
            if not each.ended:
                found += _continued(each, predict(each.words)[0], weights)
        found.sort(key=lambda each: -each.score)
        kept = found[:width]
        done.append(BeamStep(tuple(kept), tuple(found[width : 2 * width])))
        if all(each.ended for each in kept):
            break
    return done


def _continued(before: Hypothesis, logits: Array, weights: Weights) -> list[Hypothesis]:
    """A hypothesis with each word of the vocabulary behind it; logits (V,)."""
    shifted = logits - logits.max()
    log_p = shifted - np.log(np.exp(shifted).sum())  # (V,)
    return [
        Hypothesis((*before.words, word), before.score + float(p), word == weights.tokens.eos)
        for word, p in zip(weights.vocabulary, log_p, strict=True)
    ]


Predictor = Callable[[Words], tuple[Array, Array]]


def _uncached(weights: Weights, source: Text) -> Predictor:
    """A whole inference pass for every prediction."""

    def predict(tokens: Words) -> tuple[Array, Array]:
        trace = inference_pass(weights, tokens, source)
        return trace["logits"][-1], trace["probabilities"][-1]

    return predict


def _cached(weights: Weights, source: Text, longest: int) -> Predictor:
    """The encoder once; then only rows new to the decoder, the rest from the cache.
    `longest` is the number of tokens the last prediction will read."""
    _, source_ids = encode(source, weights, "source")
    run = Run(weights, cached=True)
    run.values.update(positions(weights, len(source_ids), longest))
    with np.errstate(all="ignore"):
        run.encode(source_ids)

    def predict(tokens: Words) -> tuple[Array, Array]:
        _, ids = encode(tokens, weights, "prefix")
        with np.errstate(all="ignore"):
            run.decode(ids[run.rows :])
        check_finite(run.values, weights)
        return run.values["logits"][-1], run.values["probabilities"][-1]

    return predict
