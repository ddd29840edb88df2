"""`weights import`: PyTorch's models of four kinds, by a case, by options and by a probe."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine import Weights
from engine.model import forward

GOLDEN = Path(__file__).with_name("golden")
NAMES = ["annotated_d6h1", "graykode_d4h2", "layers_d8h4", "tutorial_d4h2"]
#: What each lecturer would type.
SETTINGS = {
    "annotated_d6h1": "--heads 1 --norm pre --activation relu --scale sqrt",
    "graykode_d4h2": "--heads 2 --norm post --activation relu --scale 1",
    "layers_d8h4": "--heads 4 --norm pre --activation gelu --scale 1",
    "tutorial_d4h2": "--heads 2 --norm post --activation relu --scale sqrt",
}

Call = Callable[..., tuple[int, str, str]]


def case(name: str) -> dict[str, Any]:
    said: dict[str, Any] = json.loads((GOLDEN / name / "case.json").read_bytes())
    return said


def expected(name: str) -> dict[str, np.ndarray]:
    with np.load(GOLDEN / name / "expected.npz") as stored:
        return dict(stored)


def words(name: str, folder: Path) -> list[str]:
    """Options for the words, the objective and the tokens, with the words in files."""
    said = case(name)
    vocabulary = said["vocabulary"]
    if isinstance(vocabulary, list):
        (folder / "words.json").write_text(json.dumps(vocabulary))
        options = ["--vocabulary", str(folder / "words.json")]
    else:
        (folder / "source.txt").write_text("\n".join(vocabulary["source"]) + "\n", "utf-8")
        numbered = {word: number for number, word in enumerate(vocabulary["target"])}
        (folder / "target.json").write_text(json.dumps(numbered))
        options = ["--source-vocabulary", str(folder / "source.txt")]
        options += ["--target-vocabulary", str(folder / "target.json")]
    for token, value in said["tokens"].items():
        option = f"--{token.replace('_', '-')}"
        options += [option] if value is True else [option, value] if value else []
    return [*options, "--objective", said["objective"]]


def probe(name: str, path: Path, kind: str = "f8", **changes: Any) -> Path:
    """A probe with what PyTorch computed, in the shapes that a batch of one has."""
    values = {key: expected(name)[key] for key in ("source_ids", "target_ids", "logits")}
    values["logits"] = values["logits"].astype(kind)[np.newaxis]
    values["source_ids"] = values["source_ids"][:, np.newaxis]
    values.update(changes)
    np.savez(path, **{key: value for key, value in values.items() if value is not None})
    return path


def check_golden(weights: Weights, name: str) -> None:
    """The weights are those of the stored file, and give PyTorch's numbers."""
    stored = engine.load_weights(GOLDEN / name / "weights.safetensors")
    assert weights.config == stored.config
    assert weights.tokens == stored.tokens
    assert (weights.vocabulary, weights.source_words) == (stored.vocabulary, stored.source_words)
    assert weights.objective == stored.objective
    assert list(weights.matrices) == list(stored.matrices)
    for matrix, array in stored.matrices.items():
        np.testing.assert_array_equal(weights.matrices[matrix], array)
    wanted = expected(name)
    values = forward(weights, wanted["source_ids"], wanted["target_ids"])
    compared = [key for key in wanted if key in values]
    assert {"memory", "logits"} < set(compared)
    for key in compared:
        np.testing.assert_allclose(values[key], wanted[key], rtol=0, atol=1e-9, err_msg=key)


@pytest.mark.parametrize("file", ["model.pt", "model.safetensors"])
@pytest.mark.parametrize("name", NAMES)
def test_by_a_case(name: str, file: str, tmp_path: Path, call: Call) -> None:
    folder, result = GOLDEN / name, tmp_path / "w.json"
    options = ["--case", str(folder / "case.json"), "-o", str(result)]
    code, out, err = call("weights", "import", str(folder / file), *options)
    assert (code, err) == (0, "")
    assert "not compared with your model's own output; --probe does that" in out
    check_golden(engine.load_weights(result), name)


@pytest.mark.parametrize("name", NAMES)
def test_by_options(name: str, tmp_path: Path, call: Call) -> None:
    """What the names suggest about layer normalisation is taken, and said."""
    result = tmp_path / "w.npz"
    options = [*words(name, tmp_path), *SETTINGS[name].split(), "-o", str(result)]
    code, out, err = call("weights", "import", str(GOLDEN / name / "model.pt"), *options)
    assert (code, err) == (0, "")
    own = name.startswith("annotated")
    assert f"variance: {'unbiased, outside' if own else 'biased, root'}, taken from" in out
    assert f"eps: {'1e-06' if own else '1e-05'}, taken from" in out
    if name.startswith("graykode"):
        assert "final norm: false, false, taken from graykode; --final-norm" in out
    check_golden(engine.load_weights(result), name)


@pytest.mark.parametrize(
    ("name", "kind"), [*((name, "f8") for name in NAMES), ("layers_d8h4", "f4")]
)
def test_by_a_probe(name: str, kind: str, tmp_path: Path, call: Call) -> None:
    """Nothing is said but the words: all readings are tried, and one fits. (There are four times
    as many where layer normalisation has no arrays.)"""
    result, file = tmp_path / "w.safetensors", probe(name, tmp_path / "probe.npz", kind)
    options = [*words(name, tmp_path), "--probe", str(file), "-o", str(result)]
    options += ["--final-norm", "none"] if name.startswith("graykode") else []
    code, out, err = call("weights", "import", str(GOLDEN / name / "model.pt"), *options)
    assert (code, err) == (0, "")
    assert "readings the next is" in out
    check_golden(engine.load_weights(result), name)


def test_a_probe_of_logarithms(tmp_path: Path, call: Call) -> None:
    """Many generators end in log_softmax; then that is what is compared."""
    name, result = "layers_d8h4", tmp_path / "w.json"
    logits = expected(name)["logits"]
    logs = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    options = [*words(name, tmp_path), *SETTINGS[name].split(), "-o", str(result)]
    options += ["--probe", str(probe(name, tmp_path / "probe.npz", logits=logs))]
    assert call("weights", "import", str(GOLDEN / name / "model.pt"), *options)[0] == 0
    check_golden(engine.load_weights(result), name)


WRONG_PROBES: dict[str, tuple[dict[str, Any], str]] = {
    "other numbers": ({"logits": np.zeros((5, 12))}, "1e-05, found none of 288, the nearest "),
    "float32": (
        {"logits": np.zeros((5, 12), "f4")},
        "within 0.0001, found none of 144, the nearest ",
    ),
    "nothing": ({"logits": None}, "logits: expected present, found missing"),
    "no IDs": ({"source_ids": None}, "source_ids: expected present, found missing"),
    "texts": ({"target_ids": np.array(["a"])}, "target_ids: expected token IDs"),
    "fractions": ({"source_ids": np.array([0.5])}, "source_ids: expected token IDs"),
    "IDs beyond": ({"source_ids": np.array([99])}, "source_ids: expected IDs below 12"),
    "negative": ({"source_ids": np.array([-1])}, "source_ids: expected IDs from 0"),
    "a batch": ({"source_ids": np.zeros((2, 3), int)}, "the IDs of one sentence, found 2 x 3"),
    "too long": ({"source_ids": np.zeros(17, int)}, "source_ids: expected at most 16"),
    "rows": ({"logits": np.zeros((4, 12))}, "logits: expected 5 rows"),
    "columns": ({"logits": np.zeros((5, 11))}, "logits: expected 12 columns"),
    "not finite": ({"logits": np.full((5, 12), np.nan)}, "logits: expected finite numbers"),
    "probabilities": ({"logits": np.full((5, 12), 1 / 12)}, "before the softmax"),
    "whole numbers": ({"logits": np.zeros((5, 12), int)}, "logits: expected real numbers"),
}


@pytest.mark.parametrize("wrong", WRONG_PROBES)
def test_wrong_probes(wrong: str, tmp_path: Path, call: Call) -> None:
    changes, message = WRONG_PROBES[wrong]
    file = probe("layers_d8h4", tmp_path / "probe.npz", **changes)
    options = [
        *words("layers_d8h4", tmp_path),
        "--probe",
        str(file),
        "-o",
        str(tmp_path / "w.json"),
    ]
    if wrong == "float32":
        options += ["--norm", "pre"]
    elif wrong != "other numbers":
        options += SETTINGS["layers_d8h4"].split()
    code, _, err = call("weights", "import", str(GOLDEN / "layers_d8h4" / "model.pt"), *options)
    assert code == 2
    assert err.startswith(f"error: {file}: ")
    assert message in err
    assert not (tmp_path / "w.json").exists()


def test_two_readings_that_fit(tmp_path: Path, call: Call) -> None:
    """With an FFN that gives nothing, no output tells one activation from another."""
    arrays = load(GOLDEN / "layers_d8h4" / "model.safetensors")
    arrays["encoder.layers.0.linear2.weight"] *= 0
    arrays["decoder.layers.0.linear2.weight"] *= 0
    np.savez(tmp_path / "model.npz", **arrays)
    options = [*words("layers_d8h4", tmp_path), "-o", str(tmp_path / "w.json")]
    settings = ["--heads", "4", "--norm", "pre", "--scale", "1", "--activation"]
    run = ("weights", "import", str(tmp_path / "model.npz"), *options)
    assert call(*run, *settings, "gelu")[0] == 0
    weights, ids = engine.load_weights(tmp_path / "w.json"), expected("layers_d8h4")
    logits = forward(weights, ids["source_ids"], ids["target_ids"])["logits"]
    file = probe("layers_d8h4", tmp_path / "probe.npz", logits=logits)
    code, _, err = call(*run, "--probe", str(file), "--force")
    assert code == 2
    wanted = "expected one reading of the model, found 4 that differ in what they say: activation"
    assert f"{file}: logits: {wanted}" in err
    code, out, _ = call(*run, "--probe", str(file), "--activation", "silu", "--force")
    assert code == 0
    assert "the probe's logits to" in out


def load(path: Path) -> dict[str, np.ndarray]:
    from safetensors.numpy import load_file

    return {name: array.copy() for name, array in load_file(path).items()}


def open_questions() -> list[tuple[str, str, str]]:
    """For each option of each model: the message without it, up to the options to give."""
    fields = {
        "--heads": "heads: expected how many there are",
        "--norm": "norm: expected post or pre",
        "--activation": "activation: expected one of four",
        "--scale": "scale: expected 1 or sqrt",
    }
    return [
        (name, option, fields[option])
        for name, text in SETTINGS.items()
        for option in text.split()[::2]
    ]


@pytest.mark.parametrize(("name", "option", "message"), open_questions())
def test_nothing_is_guessed(
    name: str, option: str, message: str, tmp_path: Path, call: Call, monkeypatch: Any
) -> None:
    said = SETTINGS[name].split()
    place = said.index(option)
    monkeypatch.chdir(GOLDEN / name)
    options = [*words(name, tmp_path), *said[:place], *said[place + 2 :]]
    code, _, err = call("weights", "import", "model.pt", *options, "-o", str(tmp_path / "w.json"))
    assert code == 2
    wanted = f"which a state dict does not say; give {option}, or --probe (docs/weights.md)"
    assert (
        err == f"error: model.pt: {message}{', of embeddings' * (option == '--scale')}, {wanted}\n"
    )
    assert not (tmp_path / "w.json").exists()


def test_all_open_questions_at_once(tmp_path: Path, call: Call, monkeypatch: Any) -> None:
    monkeypatch.chdir(GOLDEN / "tutorial_d4h2")
    options = [*words("tutorial_d4h2", tmp_path), "-o", str(tmp_path / "w.json")]
    err = call("weights", "import", "model.pt", *options)[2]
    assert "model.pt: heads: expected how many there are" in err
    assert "give --heads, --norm, --activation and --scale, or --probe" in err


@pytest.mark.parametrize(
    ("left_out", "message"),
    [
        (["--objective", "next"], "objective: expected --objective next or copy"),
        (["--source-vocabulary"], "--source-vocabulary: expected it too, or --vocabulary"),
        (["--target-vocabulary"], "--target-vocabulary: expected it too, or --vocabulary"),
    ],
)
def test_words_and_objective_are_needed(
    left_out: list[str], message: str, tmp_path: Path, call: Call
) -> None:
    options = words("tutorial_d4h2", tmp_path)
    place = options.index(left_out[0])
    del options[place : place + 2]
    options += SETTINGS["tutorial_d4h2"].split()
    model, result = GOLDEN / "tutorial_d4h2" / "model.pt", tmp_path / "w.json"
    code, _, err = call("weights", "import", str(model), *options, "-o", str(result))
    assert code == 2
    assert message in err


def test_a_case_may_be_overruled_but_not_the_file(tmp_path: Path, call: Call) -> None:
    folder = GOLDEN / "tutorial_d4h2"
    run = ["weights", "import", str(folder / "model.pt"), "-o", str(tmp_path / "w.json"), "--case"]
    assert call(*run, str(folder / "case.json"), "--heads", "4", "--activation", "silu")[0] == 0
    config = engine.load_weights(tmp_path / "w.json").config
    assert (config.heads, config.activation, config.embedding_scale) == (4, "silu", "sqrt(d_model)")
    said = case("tutorial_d4h2")
    for name, value, message in (
        ("d_model", 8, "config.d_model: expected 4, as model.pt has it, found 8"),
        ("tied_output", True, "config.tied_output: expected false, as model.pt has it"),
        ("encoder", [["self_attn", "ffn"]], "config.encoder: expected self_attn,ffn + self_attn"),
        ("final_norm", {"encoder": False}, "config.final_norm.encoder: expected true"),
        ("position", {"kind": "none"}, "config.position.kind: expected sinusoid, as model.pt"),
        ("heads", "two", "config.heads: expected a whole number"),
        ("dropout", 0, "config.dropout: expected only "),
        ("norm", 1, "config.norm: expected an object, found 1"),
    ):
        changed = {**said, "config": {**said["config"], name: value}}
        (tmp_path / "case.json").write_text(json.dumps(changed), "utf-8")
        code, _, err = call(*run, str(tmp_path / "case.json"), "--force")
        assert code == 2
        assert message in err


def test_an_existing_file_is_kept(tmp_path: Path, call: Call) -> None:
    folder, result = GOLDEN / "graykode_d4h2", tmp_path / "w.json"
    result.write_text("mine")
    run = ["weights", "import", str(folder / "model.pt"), "-o", str(result)]
    code, _, err = call(*run, "--case", str(folder / "case.json"))
    assert code == 2
    assert "expected a new name, or --force to replace it" in err
    assert result.read_text() == "mine"
