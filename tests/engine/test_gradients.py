"""The hand-written gradients against finite differences and against automatic differentiation of
a second, independently written model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import grad

import engine
from engine import LectureError, Weights
from engine.backward import TARGETS, loss_and_gradients

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


def reference_loss(matrices: dict[str, Any], weights: Weights, pair: Any, targets: str) -> Any:
    """The mean loss, written with other means than the engine: sums over indices, a mask by
    selection, one head at a time."""
    config = weights.config
    width, eps = config.d_model // config.heads, config.layer_norm_eps

    def rows(words: Words) -> Any:
        ids = [weights.vocabulary.index(word) for word in words]
        where = [
            [
                (np.cos if i % 2 else np.sin)(p * 10000.0 ** (-2 * (i // 2) / config.d_model))
                for i in range(config.d_model)
            ]
            for p in range(len(words))
        ]
        return matrices["embedding.weight"][np.array(ids)] + np.array(where)

    def attend(name: str, x: Any, context: Any, causal: bool) -> Any:
        mixed = []
        for head in range(config.heads):
            part = slice(head * width, (head + 1) * width)
            q = anp.einsum("ia,ka->ik", x, matrices[f"{name}.q_proj.weight"][part])
            k = anp.einsum("ja,ka->jk", context, matrices[f"{name}.k_proj.weight"][part])
            v = anp.einsum("ja,ka->jk", context, matrices[f"{name}.v_proj.weight"][part])
            for i in range(len(x)):
                seen = i + 1 if causal else len(context)
                score = anp.dot(k[:seen], q[i]) / width**0.5
                share = anp.exp(score - anp.max(score))
                mixed.append(anp.dot(share / anp.sum(share), v[:seen]))
        per_head = [anp.stack(mixed[h * len(x) : (h + 1) * len(x)]) for h in range(config.heads)]
        return anp.einsum(
            "ia,ka->ik", anp.concatenate(per_head, axis=1), matrices[f"{name}.out_proj.weight"]
        )

    def side(which: str, x: Any, memory: Any) -> Any:
        for number, layer in enumerate(config.layers(which)):
            for kind in layer:
                name = f"{which}.{number}.{kind}"
                if kind == "ffn":
                    hidden = anp.einsum("ia,ka->ik", x, matrices[f"{name}.linear1.weight"])
                    hidden = hidden * (hidden > 0)
                    y = anp.einsum("ia,ka->ik", hidden, matrices[f"{name}.linear2.weight"])
                else:
                    cross = kind == "cross_attn"
                    causal = which == "decoder" and not cross
                    y = attend(name, x, memory if cross else x, causal)
                x = x + y
                x = x - anp.mean(x, axis=1, keepdims=True)
                x = x / anp.sqrt(anp.mean(x * x, axis=1, keepdims=True) + eps)
        return x

    source, target = pair
    x = side("decoder", rows(target), side("encoder", rows(source), None))
    logits = anp.einsum("ia,ka->ik", x, matrices["output_projection.weight"])
    ids = [weights.vocabulary.index(word) for word in target]
    wanted = ids if targets == "as-printed" else ids[1:]
    total = 0.0
    for row, word in enumerate(wanted):
        top = anp.max(logits[row])
        total = total + top + anp.log(anp.sum(anp.exp(logits[row] - top))) - logits[row, word]
    return total / len(wanted)


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
