"""Many sentence pairs in one pass: filled up to the same length, with masks over what was added.

Shapes: B pairs, n and m tokens of the longest source and target, G words to be written in all
pairs together, A of them with an alignment, h heads, V words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine import ops
from engine.backward import Backward
from engine.corpus import Pair
from engine.model import Padding, Values, forward
from engine.ops import MASK_VALUE, Array, Ids
from engine.tokenizer import encode, teach
from engine.trace import check_finite
from engine.weights import Weights

#: The head of the last cross-attention that an alignment is asked of.
ALIGNED_HEAD = 0


@dataclass(frozen=True, eq=False)
class Batch:
    """Sentence pairs as ids (B, n) and (B, m); where words are to be written, as (pair, row) and
    their ids (G,); and where head 0 should look, as (pair, row, column), A each."""

    source: Ids
    target: Ids
    padding: Padding
    rows: tuple[Ids, Ids]
    goals: Ids
    aligned: tuple[Ids, Ids, Ids]


def batch_of(pairs: Sequence[Pair], weights: Weights, objective: str) -> Batch:
    """Raises LectureError for words or lengths that the model does not have."""
    sources, targets, rows, goals, aligned = [], [], [], [], []
    for number, pair in enumerate(pairs):
        _, source = encode(pair.source, weights, "source")
        teaching = teach(pair.target, weights, objective)
        sources.append(source)
        targets.append(teaching.read_ids)
        rows += [(number, row) for row in range(len(teaching.goals))]
        goals += teaching.goal_ids.tolist()
        first = int(objective == "next" and weights.tokens.bos is None)  # word of row 0
        shift = int(weights.tokens.source_bos and weights.tokens.bos is not None)
        aligned += [(number, t - first, s + shift) for s, t in pair.alignment if t >= first]
    return Batch(
        _filled(sources),
        _filled(targets),
        Padding(*(_mask([len(ids) for ids in side]) for side in (sources, targets))),
        _columns(rows, 2),  # type: ignore[arg-type]
        np.array(goals, dtype=np.int64),
        _columns(aligned, 3),  # type: ignore[arg-type]
    )


def _filled(sentences: Sequence[Ids]) -> Ids:
    """Ids of sentences as the rows of one array, filled up with word 0."""
    filled = np.zeros((len(sentences), max(map(len, sentences))), dtype=np.int64)
    for row, ids in zip(filled, sentences, strict=True):
        row[: len(ids)] = ids
    return filled


def _mask(lengths: Sequence[int]) -> Array | None:
    """(B, 1, 1, n), negative where a sentence has ended; None where all are as long."""
    if len(set(lengths)) == 1:
        return None
    ended = np.arange(max(lengths)) >= np.array(lengths)[:, np.newaxis]  # (B, n)
    return np.where(ended, MASK_VALUE, 0.0)[:, np.newaxis, np.newaxis]


def _columns(rows: Sequence[tuple[int, ...]], width: int) -> tuple[Ids, ...]:
    return tuple(np.array(rows, dtype=np.int64).reshape(-1, width).T)


@dataclass(frozen=True, eq=False)
class Outcome:
    """Of one pass: the mean loss over all words to be written, in nats; the alignment's, or None;
    how many of these words are the likeliest; and the values of the pass."""

    loss: float
    alignment: float | None
    right: int
    values: Values


def outcome(weights: Weights, batch: Batch) -> Outcome:
    """The forward pass of a batch. Raises LectureError where values leave the range of floats."""
    values = forward(weights, batch.source, batch.target, batch.padding)
    logits = values["logits"][batch.rows]  # (G, V)
    with np.errstate(all="ignore"):
        loss = ops.cross_entropy(logits, batch.goals).mean()
        alignment = None
        if len(batch.aligned[0]):
            alignment = -np.log(_asked_weights(weights, batch, values)).mean()
    check_finite({"loss.mean": np.asarray(loss)}, weights)
    right = int((logits.argmax(axis=-1) == batch.goals).sum())
    return Outcome(float(loss), None if alignment is None else float(alignment), right, values)


def gradients_of(
    weights: Weights, batch: Batch, passed: Outcome, alignment: float = 0.0
) -> dict[str, Array]:
    """The gradient of loss + alignment * (the alignment's loss) for every array, in its shape."""
    values = passed.values
    with np.errstate(all="ignore"):
        dlogits = np.zeros_like(values["logits"])  # (B, m, V)
        count = len(batch.goals)
        dlogits[batch.rows] = ops.cross_entropy_backward(
            np.full(count, 1.0 / count), values["probabilities"][batch.rows], batch.goals
        )
        found = Backward(weights, values, _guide(weights, batch, values, alignment)).run(dlogits)
    check_finite({f"gradient of {name}": value for name, value in found.items()}, weights)
    return found


def last_cross_attention(weights: Weights) -> str | None:
    """The name of the sub-layer, or None where there is none."""
    layers = [n for n, kinds in enumerate(weights.config.decoder) if "cross_attn" in kinds]
    return f"decoder.{layers[-1]}.cross_attn" if layers else None


def _asked_weights(weights: Weights, batch: Batch, values: Values) -> Array:
    """The weights that should be 1: (A,)."""
    pairs, rows, columns = batch.aligned
    asked: Array = values[f"{last_cross_attention(weights)}.weights"][  # (B, h, m, n)
        pairs, ALIGNED_HEAD, rows, columns
    ]
    return asked


def _guide(weights: Weights, batch: Batch, values: Values, factor: float) -> dict[str, Array]:
    """The gradient of factor * mean(-ln a) for the scores: a row of weights minus 1 where the
    row should look, for each word that has an alignment."""
    name = last_cross_attention(weights)
    if not factor or name is None or not len(batch.aligned[0]):
        return {}
    pairs, rows, columns = batch.aligned
    surplus = values[f"{name}.weights"][pairs, ALIGNED_HEAD, rows]  # (A, n), a copy
    surplus[np.arange(len(columns)), columns] -= 1.0
    more = np.zeros_like(values[f"{name}.weights"])  # (B, h, m, n)
    np.add.at(more[:, ALIGNED_HEAD], (pairs, rows), surplus * (factor / len(columns)))
    return {name: more}
