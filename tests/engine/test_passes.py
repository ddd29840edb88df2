"""Values that can be asked for by a run and a name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine.passes import Passes

GOLDEN = Path(__file__).with_name("golden") / "tutorial_d4h2" / "weights.safetensors"
FIRST = {
    "tokens:source": ["<bos>", "我", "爱", "水", "课", "<eos>"],
    "tokens:target": ["<bos>", "I", "love", "easy", "courses"],
    "tokens:goal": ["I", "love", "easy", "courses", "<eos>"],
    "tokens:vocabulary": ["<unk>", "<pad>", "<bos>", "<eos>", "I", "love", "easy", "courses"],
    "tokens:source_vocabulary": ["<unk>", "<pad>", "<bos>", "<eos>", *"我爱水课"],
    "config:norm.place": "post",
    "config:final_norm.decoder": True,
    "config:layer_norm_eps": 1e-5,
    "config:encoder": [["self_attn", "ffn"]] * 2,
    "config:embedding_scale": "sqrt(d_model)",
    "model:objective": "next",
    "model:version": 2,
    "model:tokens.bos": "<bos>",
    "model:tokens.pad": None,
    "model:groups": ["attention in", "attention out", "ffn", "norm gain", "norm shift", "output"],
    "shape:goal.ids": [5],
    'choices:[["<bos>"], 9]': ["<bos>", "I", "love", "easy", "courses", "<eos>"],
}


@pytest.fixture(scope="module")
def passes() -> Passes:
    return Passes(GOLDEN, GOLDEN, engine.SOURCE, engine.TARGET)


@pytest.mark.parametrize("name", FIRST)
def test_plain_values(name: str, passes: Passes) -> None:
    found = passes.value("training", name)
    assert found == FIRST[name]
    assert json.loads(json.dumps(found)) == found


def test_arrays(passes: Passes) -> None:
    weights = engine.load_weights(GOLDEN)
    trace = engine.training_pass(weights)
    for name in ("goal.ids", "encoder.norm.normalised", "decoder.0.self_attn.q_product"):
        np.testing.assert_array_equal(passes.value("training", name), trace[name])
    bias = "decoder.1.norm3.bias"
    np.testing.assert_array_equal(
        passes.value("training", f"weights:{bias}"), weights.matrices[bias]
    )


def test_inference_begins_with_the_start_token(passes: Passes) -> None:
    read: Any = passes.value("inference 2", "tokens:target")
    assert read == ["<bos>", "I"]
    assert passes.value("inference 2", "tokens:goal") == []
    training = passes.value("training", "logits")
    np.testing.assert_allclose(passes.value("inference 2", "logits")[1], training[1], atol=1e-12)


@pytest.mark.parametrize("name", ["config:norm.size", "model:nothing", "tokens:all", "no.such"])
def test_unknown_names(name: str, passes: Passes) -> None:
    with pytest.raises((LookupError, ValueError)):
        passes.value("training", name)
