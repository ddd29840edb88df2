"""Files of version 2: what they may say, what is left out, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine import LectureError, Weights
from engine.config import FinalNorm, Norm, Position
from engine.words import Tokens

from .members import seeded

Document = dict[str, Any]
Refusal = Callable[[Path], LectureError]
Call = Callable[..., tuple[int, str, str]]
LESSONS = Path(__file__).resolve().parents[1] / "lessons" / "adversarial"
FULL = LESSONS / "33_pre_norm_full" / "weights.json"  # has nearly all arrays there can be


def document() -> Document:
    found: Document = json.loads(FULL.read_text(encoding="utf-8"))
    return found


def written(tmp_path: Path, said: Document) -> Path:
    path = tmp_path / "w.json"
    path.write_text(json.dumps(said), encoding="utf-8")
    return path


def test_what_a_file_says() -> None:
    weights = engine.load_weights(FULL)
    config = weights.config
    assert (config.norm, config.final_norm) == (Norm(place="pre"), FinalNorm(True, True))
    assert (config.activation, config.embedding_scale) == ("gelu", "sqrt(d_model)")
    assert (config.position, config.mask) == (Position("learned"), True)
    assert (weights.objective, weights.tokens, weights.version) == ("next", Tokens(), 2)
    assert weights.matrices["encoder.1.ffn.linear2.bias"].shape == (4,)
    assert weights.source_words is weights.vocabulary


def test_what_is_left_out_is_as_in_version_1(tutorial: Weights, tmp_path: Path) -> None:
    said = json.loads(engine.TUTORIAL.read_text(encoding="utf-8"))
    said |= {"format": "lecture-weights/2", "objective": "copy"}
    del said["config"]["layer_norm_eps"]
    weights = engine.load_weights(written(tmp_path, said))
    assert (weights.config, weights.tokens) == (tutorial.config, Tokens())
    first, second = engine.training_pass(tutorial), engine.training_pass(weights)
    assert list(second) == [
        *list(first)[:-4],
        "decoder.output",
        *list(first)[-4:-2],
        "goal.ids",
        *list(first)[-2:],
    ]
    for name, value in first.items():
        np.testing.assert_array_equal(second[name], value, err_msg=name)
    np.testing.assert_array_equal(second["goal.ids"], second["target.ids"])


def test_the_training_record_stays(tmp_path: Path) -> None:
    said = document() | {"training": {"command": "train --steps 9", "steps": 9, "seed": 0}}
    weights = engine.load_weights(written(tmp_path, said))
    engine.save_weights(weights, tmp_path / "again.npz")
    assert engine.load_weights(tmp_path / "again.npz").training == said["training"]


def setting(*path: str, to: Any) -> Callable[[Document], object]:
    def change(said: Document) -> None:
        for name in path[:-1]:
            said = said.setdefault(name, {})
        said[path[-1]] = to

    return change


def without(*path: str) -> Callable[[Document], object]:
    def change(said: Document) -> None:
        for name in path[:-1]:
            said = said[name]
        del said[path[-1]]

    return change


BIAS = "encoder.1.ffn.linear2.bias"
CHANGES: dict[str, tuple[Callable[[Document], object], str]] = {
    "place": (
        setting("config", "norm", "place", to="mid"),
        "config.norm.place: expected post or pre, found 'mid'",
    ),
    "variance": (
        setting("config", "norm", "variance", to=1),
        "config.norm.variance: expected biased or unbiased, found 1",
    ),
    "eps_in": (
        setting("config", "norm", "eps_in", to=None),
        "config.norm.eps_in: expected root or outside, found None",
    ),
    "eps": (
        setting("config", "norm", "eps", to=0),
        "config.norm.eps: expected a number above 0, found 0",
    ),
    "norm": (setting("config", "norm", to="pre"), "config.norm: expected an object, found 'pre'"),
    "norm name": (
        setting("config", "norm", "epsilon", to=1),
        "config.norm.epsilon: expected only place, variance, eps_in, eps, found an unknown name",
    ),
    "final norm": (
        setting("config", "final_norm", "encoder", to=1),
        "config.final_norm.encoder: expected true or false, found 1",
    ),
    "activation": (
        setting("config", "activation", to="tanh"),
        "config.activation: expected relu, gelu, gelu_tanh or silu, found 'tanh'",
    ),
    "scale": (
        setting("config", "embedding_scale", to=2),
        "config.embedding_scale: expected 1 or sqrt(d_model), found 2",
    ),
    "scale true": (
        setting("config", "embedding_scale", to=True),
        "config.embedding_scale: expected 1 or sqrt(d_model), found True",
    ),
    "position": (
        setting("config", "position", "kind", to="rotary"),
        "config.position.kind: expected sinusoid, learned or none, found 'rotary'",
    ),
    "order": (
        setting("config", "position", "order", to=0),
        "config.position.order: expected interleaved or halves, found 0",
    ),
    "tied": (
        setting("config", "tied_output", to="yes"),
        "config.tied_output: expected true or false, found 'yes'",
    ),
    "mask": (setting("config", "mask", to=0), "config.mask: expected true or false, found 0"),
    "version 1's eps": (
        setting("config", "layer_norm_eps", to=1),
        "config.layer_norm_eps: expected only d_model",
    ),
    "no objective": (
        without("objective"),
        "objective: expected next or copy, found none, and nothing else says it",
    ),
    "objective": (
        setting("objective", to="mask"),
        "objective: expected next or copy, found 'mask'",
    ),
    "bos": (
        setting("tokens", "bos", to="<bos>"),
        "tokens.bos: expected a word of the target's vocabulary, found '<bos>'",
    ),
    "bos a list": (
        setting("tokens", "bos", to=["我"]),
        "tokens.bos: expected a word of the target's vocabulary, found ['我']",
    ),
    "source_bos": (
        setting("tokens", "source_bos", to=True),
        "tokens.source_bos: expected tokens.bos, a word of the source's vocabulary too, found none",
    ),
    "source_eos": (
        setting("tokens", "source_eos", to=1),
        "tokens.source_eos: expected true or false, found 1",
    ),
    "tokens": (setting("tokens", to=["<bos>"]), "tokens: expected an object, found ['<bos>']"),
    "token name": (
        setting("tokens", "sep", to="我"),
        "tokens.sep: expected only bos, eos, pad, unk, source_bos, source_eos, found an unknown",
    ),
    "training": (
        setting("training", "seed", to=[1]),
        "training.seed: expected a text or a number, found [1]",
    ),
    "vocabulary": (
        setting("vocabulary", to="我"),
        "vocabulary: expected a list of words, or one of source and one of target, found '我'",
    ),
    "one vocabulary": (
        setting("vocabulary", to={"source": ["我"]}),
        "vocabulary.target: expected present, found missing",
    ),
    "source words": (
        setting("vocabulary", to={"source": [1], "target": ["我"]}),
        "vocabulary.source[0]: expected a word",
    ),
    "target words": (
        setting("vocabulary", to={"source": ["我"], "target": ["我", "我"]}),
        "vocabulary.target[1]: expected every word once, "
        "found '我' again, as in vocabulary.target[0]",
    ),
    "a bias is missing": (
        without("matrices", BIAS),
        f"{BIAS}: expected it too, as other layers have it, found no such name",
    ),
    "a gain is missing": (
        without("matrices", "decoder.norm.weight"),
        "decoder.norm.weight: expected it too, as other layers have it, found no such name",
    ),
    "positions are missing": (
        without("matrices", "position.weight"),
        "matrices: expected position.weight, found no such name",
    ),
    "one position table": (
        setting("matrices", "source_position.weight", to=[[0.0] * 4] * 16),
        "matrices: expected target_position.weight, which is missing, "
        "found the unknown name 'position.weight'",
    ),
    "a norm too many": (
        setting("config", "final_norm", "encoder", to=False),
        "matrices: expected only the model's matrices, "
        "found the unknown name 'encoder.norm.bias' and 1 more",
    ),
    "an output too many": (
        setting("config", "tied_output", to=True),
        "found the unknown name 'output_projection.weight'",
    ),
    "length of a bias": (
        setting("matrices", BIAS, to=[1, 2, 3]),
        f"matrices.{BIAS}: expected shape 4, found 3",
    ),
    "bias a matrix": (
        setting("matrices", BIAS, to=[[1, 2, 3, 4]]),
        f"matrices.{BIAS}: expected shape 4, found 1 x 4",
    ),
    "text in a bias": (
        setting("matrices", BIAS, to=[1, "2", 3, 4]),
        f"matrices.{BIAS}[1]: expected a number, found '2'",
    ),
    "version 1 has no biases": (
        setting("format", to="lecture-weights/1"),
        "objective: expected only format, config, vocabulary, matrices, found an unknown name",
    ),
}


@pytest.mark.parametrize("wrong", CHANGES)
def test_refused(wrong: str, tmp_path: Path, refusal: Refusal) -> None:
    change, line = CHANGES[wrong]
    said = document()
    change(said)
    path = written(tmp_path, said)
    assert line in str(refusal(path)).removeprefix(f"{path}: ")


def test_version_1_has_no_biases(tmp_path: Path, refusal: Refusal) -> None:
    said = json.loads(engine.TUTORIAL.read_text(encoding="utf-8"))
    for side, layers in (("encoder", 2), ("decoder", 2)):
        for layer in range(layers):
            said["matrices"][f"{side}.{layer}.ffn.linear1.bias"] = [0.0] * 8
            said["matrices"][f"{side}.{layer}.ffn.linear2.bias"] = [0.0] * 4
    error = refusal(written(tmp_path, said))
    assert "only the model's matrices, found the unknown name 'decoder.0.ffn" in str(error)


def test_one_number_has_no_unbiased_variance(tutorial: Weights) -> None:
    config = replace(tutorial.config, d_model=1, heads=1, norm=Norm(variance="unbiased"))
    with pytest.raises(LectureError, match=r"config\.norm\.variance: expected biased"):
        engine.random_weights(config, 0)


@pytest.mark.parametrize("own", [None, ("a", "b")])
def test_a_source_of_its_own_must_be_counted(own: Any, tutorial: Weights) -> None:
    size = None if own else 2
    config = replace(tutorial.config, source_vocabulary_size=size)
    with pytest.raises(LectureError, match="source_vocabulary: expected"):
        replace(tutorial, config=config, source_vocabulary=own)


def test_convert_writes_version_2(call: Call, tmp_path: Path) -> None:
    weights = engine.random_weights(replace(engine.tutorial_weights().config, vocabulary_size=9), 1)
    words = ("<s>", "</s>", *weights.vocabulary[2:])
    engine.save_weights(replace(weights, vocabulary=words), tmp_path / "one.json")
    one, two = str(tmp_path / "one.json"), tmp_path / "two.json"
    options = ["--objective", "next", "--bos", "<s>", "--eos", "</s>", "--source-eos"]
    assert call("weights", "convert", one, str(two), *options) == (0, "", "")
    again = engine.load_weights(two)
    assert (again.version, again.objective) == (2, "next")
    assert again.tokens == Tokens("<s>", "</s>", source_eos=True)
    assert again.config == weights.config
    for name, matrix in weights.matrices.items():
        np.testing.assert_array_equal(again.matrices[name], matrix)
    code, _, err = call("weights", "convert", one, str(tmp_path / "three.json"), "--bos", "<s>")
    assert (code, "--objective: expected next or copy" in err) == (2, True)
    assert call("weights", "convert", str(two), str(tmp_path / "3.json"), "--bos", "t3")[0] == 0
    assert engine.load_weights(tmp_path / "3.json").tokens.bos == "t3"


def test_convert_to_copying_is_version_2_all_the_same(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "two.json"
    call("weights", "convert", str(engine.TUTORIAL), str(path), "--objective", "copy")
    assert json.loads(path.read_text(encoding="utf-8"))["format"] == "lecture-weights/2"


def test_diff_names_what_version_1_cannot_say(call: Call, tmp_path: Path) -> None:
    engine.save_weights(seeded(1), tmp_path / "one.json")
    other = replace(seeded(1), objective="copy" if seeded(1).objective == "next" else "next")
    engine.save_weights(other, tmp_path / "two.json")
    code, out, _ = call("weights", "diff", str(tmp_path / "one.json"), str(tmp_path / "two.json"))
    assert code == 1
    assert out.splitlines()[0] == f"objective: {seeded(1).objective} -> {other.objective}"
