"""The names, shapes and order of the trace are a contract: they are written out here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine import LectureError, Trace, Weights

SELF = ["q", "k", "v", "dot", "scores", "exp", "weights", "heads", "concat", "output"]
MASKED = [*SELF[:5], "masked_scores", *SELF[5:]]


def attention(name: str, parts: list[str]) -> list[str]:
    return [f"{name}.{part}" for part in parts]


def add_and_norm(layer: str, number: int) -> list[str]:
    norm = f"{layer}.norm{number}"
    return [f"{layer}.add{number}", f"{norm}.mean", f"{norm}.variance", f"{norm}.output"]


def ffn(layer: str) -> list[str]:
    return [f"{layer}.ffn.{part}" for part in ("hidden", "activated", "output")]


INFERENCE_NAMES = [
    *("source.ids", "target.ids", "embedding", "positional"),
    *("encoder.embedded", "encoder.input"),
    *attention("encoder.0.self_attn", SELF),
    *add_and_norm("encoder.0", 1),
    *ffn("encoder.0"),
    *add_and_norm("encoder.0", 2),
    *attention("encoder.1.self_attn", SELF),
    *add_and_norm("encoder.1", 1),
    *ffn("encoder.1"),
    *add_and_norm("encoder.1", 2),
    "memory",
    *("decoder.embedded", "decoder.input", "decoder.mask"),
    *attention("decoder.0.self_attn", MASKED),
    *add_and_norm("decoder.0", 1),
    *ffn("decoder.0"),
    *add_and_norm("decoder.0", 2),
    *attention("decoder.1.self_attn", MASKED),
    *add_and_norm("decoder.1", 1),
    *attention("decoder.1.cross_attn", SELF),
    *add_and_norm("decoder.1", 2),
    *ffn("decoder.1"),
    *add_and_norm("decoder.1", 3),
    *("logits", "probabilities"),
]
TRAINING_NAMES = [*INFERENCE_NAMES, "loss.per_position", "loss.mean"]


def expected_shape(name: str, n: int, m: int) -> tuple[int, ...]:
    """n source and m target tokens in the tutorial's model: d 4, d_ff 8, 2 heads, 8 words."""
    rows = n if name.startswith("encoder") else m
    columns = n if "cross_attn" in name else rows
    last = name.rsplit(".", 1)[-1]
    special: dict[str, tuple[int, ...]] = {
        "source.ids": (n,),
        "target.ids": (m,),
        "embedding": (8, 4),
        "positional": (max(n, m), 4),
        "memory": (n, 4),
        "decoder.mask": (m, m),
        "logits": (m, 8),
        "probabilities": (m, 8),
        "loss.per_position": (m,),
        "loss.mean": (),
    }
    if name in special:
        return special[name]
    if last in ("q", "heads"):
        return (2, rows, 2)
    if last in ("k", "v"):
        return (2, columns, 2)
    if last in ("dot", "scores", "masked_scores", "exp", "weights"):
        return (2, rows, columns)
    if last in ("mean", "variance"):
        return (rows,)
    return (rows, 8) if last in ("hidden", "activated") else (rows, 4)


def test_names_and_order(training: Trace, tutorial: Weights) -> None:
    assert list(training) == TRAINING_NAMES
    assert list(engine.inference_pass(tutorial, "I love")) == INFERENCE_NAMES


@pytest.mark.parametrize(("source", "target"), [("我爱水课", "I love"), ("课", "I love easy")])
def test_shapes_and_types(source: str, target: str, tutorial: Weights) -> None:
    trace = engine.training_pass(tutorial, source, target)
    for name, value in trace.items():
        assert value.shape == expected_shape(name, len(source), len(target.split())), name
        assert value.dtype == (np.int64 if name.endswith(".ids") else np.float64), name


def test_kind_tokens_and_weights(training: Trace, tutorial: Weights) -> None:
    assert (training.kind, training.weights) == ("training", tutorial)
    assert training.source_tokens == tuple("我爱水课")
    assert training.target_tokens == ("I", "love", "easy", "courses")
    assert training["source.ids"].tolist() == [0, 1, 2, 3]
    inference = engine.inference_pass(tutorial, ["I", "love"], ("我",))
    assert inference.kind == "inference"
    assert inference.target_tokens == ("I", "love")
    assert inference.source_tokens == ("我",)


def test_read_only(training: Trace) -> None:
    for name, value in training.items():
        with pytest.raises(ValueError, match="read-only"):
            value[...] = 0
        assert value.base is None or not value.base.flags.writeable, name
    broken: Any = training
    with pytest.raises(TypeError):
        broken["logits"] = np.zeros(3)


def test_mapping_manners(training: Trace) -> None:
    assert len(training) == len(TRAINING_NAMES) == len(set(TRAINING_NAMES))
    assert "logits" in training
    assert "logit" not in training
    assert training.get("logit") is None
    assert training == training
    with pytest.raises(KeyError):
        training["logit"]
    with pytest.raises(LectureError, match=r"^the training trace: name: expected one such as log"):
        training["logit"]


def test_numbering_follows_the_sublayers(odd: Weights) -> None:
    trace = engine.training_pass(odd, ["t1", "t1", "t4"], ["t0", "t3"])
    names = [name for name in trace if ".norm" not in name and name.startswith("decoder.0.")]
    outputs = [name for name in names if name.endswith("output") or ".add" in name]
    assert outputs == [
        *("decoder.0.cross_attn.output", "decoder.0.add1", "decoder.0.ffn.output"),
        *("decoder.0.add2", "decoder.0.self_attn.output", "decoder.0.add3"),
    ]
    assert "encoder.1.self_attn.q" not in trace
    assert "decoder.0.cross_attn.masked_scores" not in trace


def linear(name: str) -> list[str]:
    return [f"{name}_product", name]


def pre_norm(name: str) -> list[str]:
    return [f"{name}.{part}" for part in ("input", "mean", "variance", "normalised", "output")]


def full_layer(side: str, number: int, kinds: list[str]) -> list[str]:
    """Pre-LN with biases, gains and shifts: norm, sub-layer, addition."""
    names = []
    for place, kind in enumerate(kinds, start=1):
        name = f"{side}.{number}.{kind}"
        names += pre_norm(f"{side}.{number}.norm{place}")
        if kind == "ffn":
            names += [*linear(f"{name}.hidden"), f"{name}.activated", *linear(f"{name}.output")]
        else:
            products = [f"{name}.{role}_product" for role in "qkv"]
            masked = side == "decoder" and kind == "self_attn"
            parts = attention(name, (MASKED if masked else SELF)[:-1])
            names += [*products, *parts, *linear(f"{name}.output")]
        names.append(f"{side}.{number}.add{place}")
    return names


def test_names_of_a_model_with_everything() -> None:
    path = Path(__file__).resolve().parents[1] / "lessons" / "adversarial" / "33_pre_norm_full"
    trace = engine.training_pass(engine.load_weights(path / "weights.json"))
    encoder, decoder = ["self_attn", "ffn"], ["self_attn", "cross_attn", "ffn"]
    assert list(trace) == [
        *("source.ids", "target.ids", "embedding", "positional"),
        *("encoder.unscaled", "encoder.embedded", "encoder.input"),
        *full_layer("encoder", 0, encoder),
        *full_layer("encoder", 1, encoder),
        *pre_norm("encoder.norm"),
        *("memory", "decoder.unscaled", "decoder.embedded", "decoder.input", "decoder.mask"),
        *full_layer("decoder", 0, decoder),
        *full_layer("decoder", 1, decoder),
        *pre_norm("decoder.norm"),
        *("decoder.output", *linear("logits"), "probabilities"),
        *("goal.ids", "loss.per_position", "loss.mean"),
    ]
    layer, biases = "encoder.1.norm2", trace.weights.matrices
    np.testing.assert_array_equal(trace[f"{layer}.input"], trace["encoder.1.add1"])
    np.testing.assert_array_equal(
        trace[f"{layer}.output"],
        trace[f"{layer}.normalised"] * biases[f"{layer}.weight"] + biases[f"{layer}.bias"],
    )
    np.testing.assert_array_equal(
        trace["encoder.1.add2"], trace[f"{layer}.input"] + trace["encoder.1.ffn.output"]
    )
    np.testing.assert_array_equal(trace["encoder.embedded"], trace["encoder.unscaled"] * 2.0)
    np.testing.assert_array_equal(trace["memory"], trace["encoder.norm.output"])
    np.testing.assert_array_equal(trace["decoder.output"], trace["decoder.norm.output"])
    np.testing.assert_array_equal(
        trace["logits"], trace["logits_product"] + biases["output_projection.bias"]
    )


def test_no_layers_at_all() -> None:
    config = engine.Config(3, 2, 1, 2, 4, encoder=(), decoder=())
    trace = engine.training_pass(engine.random_weights(config, 1), ["t0"], ["t1", "t2"])
    np.testing.assert_array_equal(trace["memory"], trace["encoder.input"])
    assert trace["logits"].shape == (2, 3)


def test_values_beyond_floats_are_refused(tutorial: Weights) -> None:
    name = "encoder.0.self_attn.q_proj.weight"
    huge = tutorial.with_matrices({name: np.full((4, 4), 1e308)})
    with pytest.raises(LectureError, match="float64") as caught:
        engine.training_pass(huge)
    assert caught.value.field == "encoder.0.self_attn.q"


def test_masked_weights_stay_zero_under_huge_scores(tutorial: Weights) -> None:
    """Scores far larger than the mask's 1e9 must not lift the mask."""
    names = [f"decoder.0.self_attn.{role}_proj.weight" for role in "qk"]
    large = tutorial.with_matrices({name: tutorial.matrices[name] * 1e8 for name in names})
    weights = engine.training_pass(large)["decoder.0.self_attn.weights"]
    assert np.abs(engine.training_pass(large)["decoder.0.self_attn.scores"]).max() > 1e12
    assert (weights[:, np.triu_indices(4, 1)[0], np.triu_indices(4, 1)[1]] == 0.0).all()
    np.testing.assert_allclose(weights.sum(-1), 1.0, rtol=0, atol=1e-15)


def test_tiny_probability_has_a_finite_loss(tutorial: Weights) -> None:
    name = "output_projection.weight"
    sure = tutorial.with_matrices({name: tutorial.matrices[name] * 1e4})
    trace = engine.training_pass(sure)
    rows = np.arange(4)
    p = trace["probabilities"][rows, trace["target.ids"]]
    assert (p == 0.0).any()
    logits = trace["logits"]
    lost = logits.max(-1) - logits[rows, trace["target.ids"]]  # -ln p, as one logit has it all
    np.testing.assert_allclose(trace["loss.per_position"][p == 0.0], lost[p == 0.0], rtol=1e-12)
