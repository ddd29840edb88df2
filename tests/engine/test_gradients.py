"""The hand-written gradients against finite differences and against automatic differentiation of
a second, independently written model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from autograd import grad

import engine
from engine import LectureError, Weights
from engine.backward import TARGETS, loss_and_gradients
from engine.config import CHOICES
from engine.parameters import GROUPS

from . import reference
from .members import seeded

Words = tuple[str, ...]
PAIR: tuple[Words, Words] = (tuple("我爱水课"), ("I", "love", "easy", "courses"))
REPEATING: tuple[Words, Words] = (tuple("爱爱课"), ("I", "easy", "I", "水", "I"))
ODD: tuple[Words, Words] = (("t1", "t1", "t4"), ("t0", "t3", "t0", "t2"))


def cases(tutorial: Weights, odd: Weights) -> dict[str, tuple[Weights, tuple[Words, Words]]]:
    return {
        "tutorial": (tutorial, PAIR),
        "repeating": (tutorial, REPEATING),
        "small random": (engine.random_weights(tutorial, 5, -1.0, 1.0), PAIR),
        "odd": (odd, ODD),
    }


NAMES = ["tutorial", "repeating", "small random", "odd"]


def reference_loss(
    matrices: dict[str, Any], weights: Weights, pair: tuple[Words, Words], targets: str
) -> Any:
    return reference.loss(matrices, weights, pair, TARGETS.get(targets, targets))


@pytest.mark.parametrize("targets", TARGETS)
@pytest.mark.parametrize("case", NAMES)
def test_against_automatic_differentiation(
    case: str, targets: str, tutorial: Weights, odd: Weights
) -> None:
    weights, pair = cases(tutorial, odd)[case]
    loss, found = loss_and_gradients(weights, *pair, targets)
    matrices = dict(weights.matrices)
    assert loss == pytest.approx(reference_loss(matrices, weights, pair, targets), rel=1e-12)
    wanted = grad(lambda m: reference_loss(m, weights, pair, targets))(matrices)
    assert list(found) == list(weights.matrices)
    for name, gradient in found.items():
        np.testing.assert_allclose(gradient, wanted[name], rtol=1e-8, atol=1e-11, err_msg=name)


@pytest.mark.parametrize("seed", range(3))
def test_large_random_weights_against_automatic_differentiation(
    seed: int, tutorial: Weights
) -> None:
    weights = engine.random_weights(tutorial, seed)
    matrices = dict(weights.matrices)
    wanted = grad(lambda m: reference_loss(m, weights, PAIR, "shifted"))(matrices)
    for name, gradient in engine.gradients(weights, *PAIR, "shifted").items():
        scale = max(1.0, float(np.abs(wanted[name]).max()))
        np.testing.assert_allclose(gradient, wanted[name], atol=1e-9 * scale, err_msg=name)


SEEDS = range(24)


def test_the_members_have_all_settings() -> None:
    members = [seeded(seed) for seed in SEEDS]
    for name, allowed in CHOICES.items():
        assert {weights.config.setting(name) for weights in members} == set(allowed), name
    assert frozenset().union(*[weights.groups for weights in members]) == set(GROUPS)
    assert {weights.source_vocabulary is None for weights in members} == {True, False}
    ends = {(weights.tokens.bos, weights.tokens.eos) for weights in members}
    assert len(ends) == 4


@pytest.mark.parametrize("targets", ["copy", "next"])
@pytest.mark.parametrize("seed", SEEDS)
def test_members_against_automatic_differentiation(seed: int, targets: str) -> None:
    weights = seeded(seed)
    source, target = weights.source_words, weights.vocabulary
    pair = (source[3], source[2], source[3]), (target[2], target[1], target[2])
    loss, found = loss_and_gradients(weights, *pair, targets)
    matrices = dict(weights.matrices)
    assert loss == pytest.approx(reference_loss(matrices, weights, pair, targets), rel=1e-12)
    wanted = grad(lambda m: reference_loss(m, weights, pair, targets))(matrices)
    assert list(found) == list(weights.matrices)
    for name, gradient in found.items():
        scale = max(1.0, float(np.abs(wanted[name]).max()))
        np.testing.assert_allclose(
            gradient, wanted[name], rtol=0, atol=1e-10 * scale, err_msg=name, strict=True
        )


@pytest.mark.parametrize("seed", range(100, 106))
def test_members_against_finite_differences(seed: int) -> None:
    """In a few entries of every array, by the model's own objective."""
    weights = seeded(seed)
    source, target = weights.source_words[2:], weights.vocabulary[1:4]
    found = engine.gradients(weights, source, target)
    picked = np.random.RandomState(seed)
    for name, gradient in found.items():
        for flat in picked.choice(gradient.size, min(3, gradient.size), replace=False):
            index = np.unravel_index(flat, gradient.shape)
            ends = []
            for step in (1e-5, -1e-5):
                moved = np.array(weights.matrices[name])
                moved[index] += step
                trace = engine.training_pass(weights.with_matrices({name: moved}), source, target)
                ends.append(float(trace["loss.mean"]))
            slope = (ends[0] - ends[1]) / 2e-5
            scale = max(1.0, abs(slope))
            assert abs(gradient[index] - slope) < 1e-6 * scale, (name, index)


def slopes(f: Callable[[np.ndarray], float], at: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Central differences in every entry."""
    result = np.zeros_like(at)
    for index in np.ndindex(at.shape):
        up, down = at.copy(), at.copy()
        up[index] += step
        down[index] -= step
        result[index] = (f(up) - f(down)) / (2 * step)
    return result


@pytest.mark.parametrize("targets", TARGETS)
@pytest.mark.parametrize("case", ["tutorial", "small random"])
def test_against_finite_differences(
    case: str, targets: str, tutorial: Weights, odd: Weights
) -> None:
    weights, pair = cases(tutorial, odd)[case]
    found = engine.gradients(weights, *pair, targets)
    rows = 4 if targets == "as-printed" else 3
    shift = 4 - rows

    def loss(name: str, matrix: np.ndarray) -> float:
        trace = engine.training_pass(weights.with_matrices({name: matrix}), *pair)
        goals = trace["target.ids"][shift:]
        return float(-np.log(trace["probabilities"][np.arange(rows), goals]).mean())

    for name, gradient in found.items():
        wanted = slopes(lambda m, name=name: loss(name, m), weights.matrices[name])  # type: ignore[misc]
        np.testing.assert_allclose(gradient, wanted, rtol=0, atol=3e-8, err_msg=name)


def test_as_printed_gradients_belong_to_the_trace_loss(tutorial: Weights) -> None:
    trace = engine.training_pass(tutorial)
    loss, _ = loss_and_gradients(tutorial, *PAIR, "as-printed")
    assert loss == trace["loss.mean"] == trace["loss.per_position"].mean()


def test_shifted_needs_two_tokens(tutorial: Weights) -> None:
    with pytest.raises(LectureError, match="2 tokens or more"):
        engine.gradients(tutorial, "我", "I", "shifted")


def test_unknown_targets(tutorial: Weights) -> None:
    with pytest.raises(LectureError, match="as-printed or shifted, found 'both'"):
        engine.gradients(tutorial, targets="both")


def test_overflow_is_refused(tutorial: Weights) -> None:
    big = tutorial.with_matrices({"output_projection.weight": np.tile([1e308, -1e308], (8, 2))})
    with pytest.raises(LectureError, match="float64"):
        engine.gradients(big)


def test_gradients_beyond_floats_are_refused(tutorial: Weights) -> None:
    """Inputs of zero make the first layer normalisation steepest: the pass stays finite, its
    gradient does not."""
    table = tutorial.matrices["embedding.weight"].copy()
    table[4:] = -engine.training_pass(tutorial)["positional"]
    steep = tutorial.with_matrices(
        {
            "embedding.weight": table,
            "output_projection.weight": np.outer(np.linspace(-1, 1, 8), [1e307, -1e307, 2e307, 0]),
        }
    )
    assert np.isfinite(engine.training_pass(steep)["loss.mean"])
    with pytest.raises(LectureError, match=r"gradient of embedding\.weight"):
        engine.gradients(steep)
