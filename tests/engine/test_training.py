"""Adam on one sentence pair."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from engine import LectureError, Training, Weights


@pytest.fixture(scope="module")
def shifted(tutorial: Weights) -> Training:
    return engine.train(tutorial, targets="shifted", steps=300)


def test_shifted_targets_teach_the_sentence(shifted: Training) -> None:
    steps = engine.generate(shifted.weights)
    assert [step.choice for step in steps] == ["love", "easy", "courses"]
    assert min(step.probabilities.max() for step in steps) > 0.99
    assert len(shifted.losses) == 300
    assert shifted.losses[-1] < 0.01 < shifted.losses[0]


def test_but_cross_attention_stays_even(shifted: Training) -> None:
    weights = engine.training_pass(shifted.weights)["decoder.1.cross_attn.weights"]
    assert np.abs(weights - 0.25).max() < 0.02


def test_targets_as_printed_teach_copying(tutorial: Weights) -> None:
    trained = engine.train(tutorial, targets="as-printed", steps=1000)
    trace = engine.training_pass(trained.weights)
    assert trace["probabilities"].argmax(-1).tolist() == trace["target.ids"].tolist()
    assert [step.choice for step in engine.generate(trained.weights)] == ["I", "I", "I"]


def test_first_step_moves_every_weight_by_the_learning_rate(tutorial: Weights) -> None:
    """Adam's first step is the sign of the gradient, whatever its size."""
    trained = engine.train(tutorial, steps=1, learning_rate=0.01, targets="as-printed")
    for name, gradient in engine.gradients(tutorial).items():
        moved = trained.weights.matrices[name] - tutorial.matrices[name]
        clear = np.abs(gradient) > 1e-4
        np.testing.assert_allclose(moved[clear], -0.01 * np.sign(gradient[clear]), rtol=1e-3)
        assert (moved[gradient == 0.0] == 0.0).all()


def test_losses_are_those_of_the_model(tutorial: Weights) -> None:
    trained = engine.train(tutorial, steps=2, targets="as-printed")
    assert trained.losses[0] == engine.training_pass(tutorial)["loss.mean"]
    assert trained.losses[1] < trained.losses[0]


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"steps": 0}, "steps"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"learning_rate": float("nan")}, "learning_rate"),
        ({"targets": "none"}, "targets"),
    ],
)
def test_bad_arguments(options: dict[str, object], field: str, tutorial: Weights) -> None:
    with pytest.raises(LectureError) as caught:
        engine.train(tutorial, **options)  # type: ignore[arg-type]
    assert caught.value.field == field
