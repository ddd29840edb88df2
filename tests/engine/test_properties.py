"""What must hold for any weights and any sentences."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from engine import Config, Weights, ops
from engine.model import Run
from engine.recipe import tutorial_weights

from .members import member

TUTORIAL = tutorial_weights()
LIMITS = settings(max_examples=30, deadline=None)


@st.composite
def layers(draw: st.DrawFn, kinds: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    layer = st.lists(st.sampled_from(kinds), min_size=1, unique=True).map(tuple)
    return tuple(draw(st.lists(layer, max_size=3)))


@st.composite
def members(draw: st.DrawFn) -> Weights:
    """Models from all over the family."""
    return member(lambda choices: draw(st.sampled_from(choices)))


@st.composite
def models(draw: st.DrawFn) -> Weights:
    """Random weights of any size, in the tutorial's shape or in another."""
    seed = draw(st.integers(0, 2**32 - 1))
    size = draw(st.sampled_from([0.3, 1.0, 9.99]))
    if draw(st.booleans()):
        return engine.random_weights(TUTORIAL, seed, -size, size)
    heads = draw(st.integers(1, 3))
    config = Config(
        vocabulary_size=draw(st.integers(1, 9)),
        d_model=heads * draw(st.integers(1, 4)),
        heads=heads,
        d_ff=draw(st.integers(1, 6)),
        max_length=8,
        encoder=draw(layers(("self_attn", "ffn"))),
        decoder=draw(layers(("self_attn", "cross_attn", "ffn"))),
    )
    return engine.random_weights(config, seed, -size, size)


def sentences(weights: Weights, most: int = 7) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(weights.vocabulary), min_size=1, max_size=most).map(tuple)


def sources(weights: Weights, most: int = 7) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(weights.source_words), min_size=1, max_size=most).map(tuple)


def close(a: np.ndarray, b: np.ndarray) -> None:
    np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-7)


@LIMITS
@given(st.data(), models())
def test_softmax_rows_sum_to_one_and_masked_weights_are_zero(
    data: st.DataObject, weights: Weights
) -> None:
    trace = engine.training_pass(
        weights, data.draw(sentences(weights)), data.draw(sentences(weights))
    )
    shares = [name for name in trace if name.endswith(".weights")]
    for name in [*shares, "probabilities"]:
        close(trace[name].sum(axis=-1), np.ones(trace[name].shape[:-1]))
        assert (trace[name] >= 0.0).all()
    for name in shares:
        if name.startswith("decoder") and "self_attn" in name:
            for i in range(trace[name].shape[1]):
                assert (trace[name][:, i, i + 1 :] == 0.0).all()
                assert (trace[name][:, i, : i + 1] >= 0.0).all()


@LIMITS
@given(st.data(), models())
def test_later_tokens_do_not_change_earlier_rows(data: st.DataObject, weights: Weights) -> None:
    source = data.draw(sentences(weights))
    shared = data.draw(sentences(weights).map(lambda words: words[:4]))
    rest = st.lists(st.sampled_from(weights.vocabulary), min_size=1, max_size=3).map(tuple)
    first = engine.training_pass(weights, source, shared + data.draw(rest))
    second = engine.inference_pass(weights, shared + data.draw(rest), source)
    alone = engine.inference_pass(weights, shared, source)
    rows = len(shared)
    for name in first:
        if name.startswith("decoder") and name.endswith(".output"):
            close(first[name][:rows], second[name][:rows])
    close(first["logits"][:rows], second["logits"][:rows])
    close(first["logits"][:rows], alone["logits"])


@LIMITS
@given(st.data(), models() | members())
def test_cached_generation_equals_uncached(data: st.DataObject, weights: Weights) -> None:
    source = data.draw(sources(weights, most=5))
    start = data.draw(sentences(weights, most=3))
    cached = engine.generate(weights, source, start, 4)
    uncached = engine.generate(weights, source, start, 4, cached=False)
    for steps in (cached, uncached):
        ended = [step.choice == weights.tokens.eos for step in steps]
        assert (len(steps) == 4 or ended[-1]) and not any(ended[:-1])
    for one, two in zip(cached, uncached, strict=False):
        if one.input != two.input:  # a tie broken by the last bit: from here on, other inputs
            break
        close(one.logits, two.logits)
        close(one.probabilities, two.probabilities)
        if one.choice != two.choice:
            top = np.sort(two.logits)[-2:]
            close(top[0], top[1])
            break
    else:
        assert len(cached) == len(uncached)


@LIMITS
@given(st.data(), models())
def test_without_positions_order_is_nothing_to_the_encoder(
    data: st.DataObject, weights: Weights
) -> None:
    size = len(weights.vocabulary)
    ids = np.array(data.draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=7)))
    order = np.array(data.draw(st.permutations(range(len(ids)))))
    memories = []
    for source in (ids, ids[order]):
        run = Run(weights)
        run.values["positional"] = np.zeros((len(ids), weights.config.d_model))
        memories.append(run.encode(source))
    close(memories[0][order], memories[1])


@LIMITS
@given(models(), st.data())
def test_layer_norm_rows_are_centred_with_unit_variance(
    weights: Weights, data: st.DataObject
) -> None:
    trace = engine.training_pass(
        weights, data.draw(sentences(weights)), data.draw(sentences(weights))
    )
    eps = weights.config.layer_norm_eps
    for name in (name for name in trace if ".norm" in name and name.endswith(".output")):
        variance = trace[name.replace("output", "variance")]
        close(trace[name].mean(axis=-1), np.zeros_like(variance))
        close((trace[name] ** 2).mean(axis=-1), variance / (variance + eps))


numbers = st.floats(-1e300, 1e300)


@LIMITS
@given(st.lists(numbers, min_size=1, max_size=6), st.integers(0, 2**32 - 1))
def test_softmax_is_stable_for_any_scores(scores: list[float], seed: int) -> None:
    row = np.array([scores])
    weights = ops.normalise(ops.exponentials(row))
    assert np.isfinite(weights).all()
    close(weights.sum(), np.ones(()))
    mask = np.where(np.random.RandomState(seed).rand(1, len(scores)) < 0.5, ops.MASK_VALUE, 0.0)
    mask[0, 0] = 0.0
    masked = ops.normalise(ops.exponentials(row, mask))
    assert (masked[mask < 0] == 0.0).all()
    close(masked.sum(), np.ones(()))


@LIMITS
@given(st.data(), members())
def test_what_is_taught_is_what_is_generated(data: st.DataObject, weights: Weights) -> None:
    """A row of the training pass is the step of generation that has read as much."""
    source = data.draw(sources(weights, most=5))
    target = data.draw(st.lists(st.sampled_from(weights.vocabulary), min_size=2, max_size=6))
    trace = engine.training_pass(weights, source, target)
    rows = len(trace.target_tokens)
    prefix = trace.target_tokens[: data.draw(st.integers(1, rows))]
    if not weights.config.mask:
        prefix = trace.target_tokens
    step = engine.inference_pass(weights, prefix, source)
    close(step["logits"][-1], trace["logits"][len(prefix) - 1])
    assert len(trace["loss.per_position"]) == len(trace.goal_tokens) <= rows


@LIMITS
@given(models() | members(), st.sampled_from([".json", ".npz", ".safetensors"]))
def test_files_give_back_the_same_weights(weights: Weights, suffix: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"weights{suffix}"
        engine.save_weights(weights, path)
        again = engine.load_weights(path)
    for name in ("config", "vocabulary", "source_vocabulary", "objective", "tokens", "version"):
        assert getattr(again, name) == getattr(weights, name), name
    assert list(again.matrices) == list(weights.matrices)
    for name, matrix in weights.matrices.items():
        np.testing.assert_array_equal(again.matrices[name], matrix)
