"""Greedy decoding, with and without the cache."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from engine import LectureError, Weights
from engine.model import Run


@pytest.mark.parametrize("cached", [True, False])
def test_each_step_is_an_inference_pass(cached: bool, tutorial: Weights) -> None:
    steps = engine.generate(tutorial, steps=5, cached=cached)
    prefix: tuple[str, ...] = ("I",)
    for step in steps:
        trace = engine.inference_pass(tutorial, prefix)
        assert step.input == prefix
        np.testing.assert_allclose(step.logits, trace["logits"][-1], rtol=0, atol=1e-12)
        np.testing.assert_allclose(step.probabilities, trace["probabilities"][-1], atol=1e-12)
        assert step.choice == tutorial.vocabulary[trace["logits"][-1].argmax()]
        prefix = (*prefix, step.choice)
    assert len(steps) == 5


def test_the_cache_computes_only_new_rows(tutorial: Weights) -> None:
    run = Run(tutorial, cached=True)
    run.values["positional"] = engine.training_pass(tutorial)["positional"]
    run.encode(np.array([0, 1, 2, 3]))
    run.decode(np.array([4, 5]))
    memory_keys = run.values["decoder.1.cross_attn.k"]
    run.decode(np.array([6]))
    assert run.values["decoder.0.self_attn.q"].shape == (2, 1, 2)
    assert run.values["decoder.0.self_attn.k"].shape == (2, 3, 2)
    assert run.values["logits"].shape == (1, 8)
    assert run.values["decoder.1.cross_attn.k"] is memory_keys
    whole = engine.inference_pass(tutorial, "I love easy")
    np.testing.assert_allclose(run.values["logits"][0], whole["logits"][2], rtol=0, atol=1e-12)


@pytest.mark.parametrize("cached", [True, False])
def test_a_long_start(cached: bool, odd: Weights) -> None:
    steps = engine.generate(odd, ["t0"], ["t1", "t2", "t3"], 4, cached)
    assert [len(step.input) for step in steps] == [3, 4, 5, 6]
    assert all(step.logits.shape == (5,) for step in steps)


@pytest.mark.parametrize("steps", [0, -1, 17, 10**9])
def test_too_many_or_no_steps(steps: int, tutorial: Weights) -> None:
    with pytest.raises(LectureError, match=r"generate: steps: expected 1 to 16 \(.*16\), found"):
        engine.generate(tutorial, steps=steps)


def test_the_last_step_may_fill_the_model(tutorial: Weights) -> None:
    steps = engine.generate(tutorial, steps=16)
    assert len(steps[-1].input) == tutorial.config.max_length == 16


@pytest.mark.parametrize("cached", [True, False])
def test_overflow_is_refused(cached: bool, tutorial: Weights) -> None:
    big = tutorial.with_matrices({"embedding.weight": np.full((8, 4), 1e200)})
    with pytest.raises(LectureError, match="float64"):
        engine.generate(big, cached=cached)
