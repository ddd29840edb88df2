import math

import numpy as np
import pytest

import engine
from engine.passes import Passes
from engine.reads import Reads, elements_of, seen_of
from scenes.values import Run, Scalar, Values, compute, constant


def passes() -> Passes:
    return Passes(engine.TUTORIAL, engine.TUTORIAL_INFERENCE, engine.SOURCE, engine.TARGET)


@pytest.fixture(scope="module")
def run():
    return Run("training", passes())


def test_an_element_knows_its_name_and_index(run):
    score = run["encoder.0.self_attn.scores"][0][0, 1]
    assert score.exact == passes().trace("training")["encoder.0.self_attn.scores"][0, 0, 1]
    assert score.source == ("training", "encoder.0.self_attn.scores", (0, 0, 1))


def test_negative_indexes_are_recorded_as_what_they_mean(run):
    assert run["logits"][-1, -1].source[2] == (3, 7)


def test_reads_are_noted_element_by_element():
    reads = Reads()
    run = Run("training", passes(), reads)
    scores = run["encoder.0.self_attn.scores"][0]
    assert scores[0, 1].exact and len(scores) == 4 and scores[2].sum() and scores[3].argmax()
    run.weight("embedding.weight"), run.size("memory", 1)
    run.differing(Run("inference 1", passes()))
    assert run.alone(["I"], 2)[0] == "I"
    document = {entry["name"]: entry for entry in reads.document()["values"]}
    assert {name for _, name in reads.names} == set(document)
    entry = document["encoder.0.self_attn.scores"]
    assert np.argwhere(seen_of(entry)).tolist() == [[0, 0, 1], *([0, 2, j] for j in range(4))]
    whole = passes().value("training", "encoder.0.self_attn.scores")
    assert elements_of(entry).tolist() == [whole[0, 0, 1], *whole[0, 2]]
    assert not seen_of(document["weights:embedding.weight"]).any()
    assert len(document['argmax:["encoder.0.self_attn.scores", [0, 3]]']["plain"]) == 1
    assert document["shape:memory"]["plain"] == [4, 4]
    assert "decoder.1.self_attn.q_proj.weight" in document["differing:inference 1"]["plain"]


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
