"""The probe: what the lecturer's own model computes for one sentence pair.

Every reading of the state dict is run on the same tokens; the one whose logits are the same is the
model. Nothing is chosen where two readings agree with the probe, or none does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import npz_file
from engine.errors import LectureError
from engine.importing.readings import Answer, difference, model
from engine.importing.said import Said
from engine.importing.structure import Structure
from engine.model import forward
from engine.ops import Array, Ids
from engine.reader import WEIGHT_BYTES, read_bytes, refuse
from engine.weights import Weights, shape_text

NAMES = ("source_ids", "target_ids", "logits")
_DOUBLE = 1e-5  # how close logits in float64 must come
_SINGLE = 1e-4  # in float32
_AHEAD = 10  # times better than the next reading the right one must be,
_EXACT = 1e-10  # where it could be: nearer than this, two readings are the same
_MOST = 10_000  # readings


@dataclass(frozen=True)
class Probe:
    """Token IDs (n,) and (m,), and what the model made of them: logits (m, V), or their log
    softmax if `logarithms`."""

    path: Path
    source: Ids
    target: Ids
    logits: Array
    double: bool
    logarithms: bool


@dataclass(frozen=True)
class Fit:
    """The model that agrees with a probe, how far it is away, and the next reading, if any."""

    weights: Weights
    error: float
    tried: int
    next_error: float | None


def read_probe(path: Path) -> Probe:
    """The three arrays of `probe.npz`, for one pair of sentences. Raises LectureError."""
    arrays = npz_file.read_arrays(read_bytes(path, WEIGHT_BYTES), path)
    for name in NAMES:
        if name not in arrays:
            refuse(path, name, "present", "missing")
    source, target = (_ids(arrays[name], name, path) for name in NAMES[:2])
    given = arrays["logits"]
    if given.dtype.kind != "f":
        refuse(path, "logits", "real numbers", f"type {given.dtype}")
    if given.ndim < 2 or given.size == 0 or given.size != len(target) * given.shape[-1]:
        expected = f"{len(target)} rows, one for each target token"
        refuse(path, "logits", expected, shape_text(given.shape))
    logits = given.astype(np.float64).reshape(len(target), -1)
    if not np.isfinite(logits).all():
        refuse(path, "logits", "finite numbers", "one that is not")
    sums = np.exp(np.minimum(logits, 700.0)).sum(axis=-1)
    if logits.min() >= 0 and np.allclose(logits.sum(axis=-1), 1, atol=1e-3):
        refuse(path, "logits", "the decoder's output before the softmax", "probabilities")
    logarithms = logits.max() <= 0 and bool(np.allclose(sums, 1, atol=1e-3))
    return Probe(path, source, target, logits, given.dtype.itemsize >= 8, logarithms)


def fit(probe: Probe, structure: Structure, tries: Iterable[Answer], said: Said) -> Fit:
    """The one reading that gives the probe's logits. Raises LectureError if there is none, or more
    than one."""
    results: list[tuple[float, Answer]] = []
    for reading in tries:
        if len(results) >= _MOST:
            refuse(probe.path, "file", f"at most {_MOST} readings; give --heads and others", "more")
        results.append((_error(probe, model(structure, reading, said)), reading))
    results.sort(key=lambda result: result[0])
    best, reading = results[0]
    limit = _DOUBLE if probe.double else _SINGLE
    if not best <= limit:
        found = f"one {best:.2g} away"
        if len(results) > 1:
            found = f"none of {len(results)}, the nearest {best:.2g} away"
        hint = "" if probe.double else "; try model.double()"
        refuse(probe.path, "logits", f"one reading of the model within {limit:g}", found + hint)
    near = max(best, _EXACT) * _AHEAD
    fits = [other for error, other in results if error <= min(near, limit)]
    if len(fits) > 1:
        found = f"{_number(len(fits))} that differ in what they say: {difference(fits[0], fits[1])}"
        refuse(probe.path, "logits", "one reading of the model", found)
    after = results[1][0] if len(results) > 1 else None
    return Fit(model(structure, reading, said), best, len(results), after)


def _error(probe: Probe, weights: Weights) -> float:
    """The largest difference between our logits and the probe's (with logits beyond 10, as a share
    of a tenth of the largest); infinite where the model overflows."""
    words = len(weights.source_words), len(weights.vocabulary)
    for ids, size, name in zip((probe.source, probe.target), words, NAMES, strict=False):
        if ids.max() >= size:
            refuse(probe.path, name, f"IDs below {size}, as there are words", str(ids.max()))
        longest = weights.config.max_length
        if weights.config.position.kind == "learned" and len(ids) > longest:
            refuse(probe.path, name, f"at most {longest}, as there are positions", str(len(ids)))
    if probe.logits.shape[1] != words[1]:
        expected = f"{words[1]} columns, one for each word"
        refuse(probe.path, "logits", expected, str(probe.logits.shape[1]))
    ours = forward(weights, probe.source, probe.target)["logits"]
    if not np.isfinite(ours).all():
        return float("inf")
    if probe.logarithms:
        ours = ours - ours.max(axis=-1, keepdims=True)
        ours = ours - np.log(np.exp(ours).sum(axis=-1, keepdims=True))
    return float(
        np.abs(ours - probe.logits).max() / max(1.0, float(np.abs(probe.logits).max()) / 10)
    )


def _ids(array: NDArray[Any], name: str, path: Path) -> Ids:
    """Token IDs as a vector, whatever axes of length 1 a batch of one sentence has."""
    if array.dtype.kind not in "iu":
        refuse(path, name, "token IDs, whole numbers", f"type {array.dtype}")
    if array.size == 0 or array.size != max(array.shape, default=1):
        refuse(path, name, "the IDs of one sentence", shape_text(array.shape))
    if array.min() < 0 or array.size > 4096:
        raise LectureError(
            where=path, field=name, expected="IDs from 0, at most 4096", found=str(array.min())
        )
    return array.reshape(-1).astype(np.int64)


def _number(count: int) -> str:
    return "two" if count == 2 else str(count)
