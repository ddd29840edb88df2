import math

import numpy as np
import pytest

import engine
from scenes.values import Run, Scalar, Values, compute, constant


@pytest.fixture(scope="module")
def run():
    trace = engine.training_pass(engine.load_weights(engine.TUTORIAL))
    return Run("training", trace, lambda *_: None)


def test_an_element_knows_its_name_and_index(run):
    score = run["encoder.0.self_attn.scores"][0][0, 1]
    assert score.exact == run.trace["encoder.0.self_attn.scores"][0, 0, 1]
    assert score.source == ("training", "encoder.0.self_attn.scores", (0, 0, 1))


def test_negative_indexes_are_recorded_as_what_they_mean(run):
    assert run["logits"][-1, -1].source[2] == (3, 7)


def test_reads_are_reported():
    trace = engine.training_pass(engine.load_weights(engine.TUTORIAL))
    seen = []
    run = Run("training", trace, lambda *read: seen.append(read))
    run["memory"], run.weight(next(iter(trace.weights.matrices))), run.size("memory", 1)
    assert seen[0] == ("training", "memory")
    assert seen[2] == ("training", "shape:memory")


def test_arithmetic_keeps_its_recipe(run):
    x = run["memory"]
    product = x[0, 0] * x[1, 1] - constant(2)
    assert product.exact == x[0, 0].exact * x[1, 1].exact - 2
    recipe = product.recipe()
    assert recipe["operation"] == "subtract"
    assert recipe["of"][0]["of"][1] == {"run": "training", "name": "memory", "index": [1, 1]}
    assert recipe["of"][1] == {"constant": 2}


def test_sums_argmax_and_operations(run):
    row = run["encoder.0.self_attn.weights"][0, 0]
    assert row.sum().exact == pytest.approx(1, abs=1e-15)
    assert row.argmax() == (int(np.argmax(row.array)),)
    assert compute("sin", constant(1)).exact == math.sin(1)
    assert (-constant(3)).exact == -3


def test_iteration_and_shape():
    values = Values("r", "a", np.arange(6.0).reshape(2, 3))
    assert values.shape == (2, 3)
    assert [s.exact for s in values[1]] == [3, 4, 5]
    assert isinstance(values[1, 2], Scalar)
