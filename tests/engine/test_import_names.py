"""`weights import`: models of other programs, their names, vocabularies and folders."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

import engine
from engine import LectureError, Weights
from engine.importing.sources import read_vocabulary
from engine.model import forward
from tests.engine.foreign import MODELS, SOURCE, TARGET, hkproj, layers, learned, made, marian

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def bring(tmp_path: Path, call: Call) -> Callable[..., tuple[int, str, str]]:
    """Import these arrays with these options; the result is `w.json`."""

    def brought(arrays: dict[str, np.ndarray], *options: str) -> tuple[int, str, str]:
        np.savez(tmp_path / "model.npz", **arrays)
        result = str(tmp_path / "w.json")
        return call("weights", "import", str(tmp_path / "model.npz"), "-o", result, *options)

    return brought


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    """Options for two vocabularies and the objective."""
    (tmp_path / "s.txt").write_text("\n".join(SOURCE))
    (tmp_path / "t.txt").write_text("\r\n".join(TARGET) + "\r\n\r\n")
    options = ["--source-vocabulary", str(tmp_path / "s.txt")]
    options += ["--target-vocabulary", str(tmp_path / "t.txt")]
    return [*options, "--objective", "next"]


@pytest.fixture
def one(tmp_path: Path) -> list[str]:
    """Options for one vocabulary and the objective."""
    (tmp_path / "v.json").write_text(json.dumps(TARGET))
    return ["--vocabulary", str(tmp_path / "v.json"), "--objective", "next"]


OPTIONS = {
    "d2l": "--heads 2 --norm post --activation relu --scale sqrt --position sinusoid",
    "hkproj": "--heads 2 --norm pre --activation relu --scale sqrt",
    "graykode": "--heads 2 --norm post --activation relu --scale 1",
    "marian": "--heads 2 --norm post --activation silu --scale sqrt",
    "learned": "--heads 2 --norm pre --activation gelu_tanh --scale 1 --eps 1e-3",
}


def check_same(weights: Weights, wanted: Weights) -> None:
    assert weights.config == wanted.config
    assert list(weights.matrices) == list(wanted.matrices)
    for name, matrix in wanted.matrices.items():
        np.testing.assert_array_equal(weights.matrices[name], matrix, err_msg=name)


@pytest.mark.parametrize("name", MODELS)
def test_by_options(
    name: str, bring: Call, words: list[str], one: list[str], tmp_path: Path
) -> None:
    wanted, arrays = MODELS[name]()
    said = one if wanted.source_vocabulary is None else words
    code, out, err = bring(arrays, *said, *OPTIONS[name].split())
    assert (code, err) == (0, "")
    weights = engine.load_weights(tmp_path / "w.json")
    check_same(weights, wanted)
    assert "--bos was not given, though the vocabulary has '<s>'" in out
    assert "--eos was not given, though the vocabulary has '</s>'" in out
    if name == "learned":
        assert "left out: _orig_mod.module.net.encoder_layer.linear1.weight, " in out


@pytest.mark.parametrize("name", MODELS)
def test_by_a_probe(
    name: str, bring: Call, words: list[str], one: list[str], tmp_path: Path
) -> None:
    """Heads, activation, scale and where it normalises come from the logits alone."""
    wanted, arrays = MODELS[name]()
    ids = {"source_ids": np.array([0, 3, 1, 4]), "target_ids": np.array([1, 3, 5])}
    logits = forward(wanted, ids["source_ids"], ids["target_ids"])["logits"]
    np.savez(tmp_path / "probe.npz", logits=logits, **ids)
    said = one if wanted.source_vocabulary is None else words
    options = ["--eps", f"{wanted.config.norm.eps}", "--probe", str(tmp_path / "probe.npz")]
    code, _, err = bring(arrays, *said, *options)
    assert (code, err) == (0, "")
    check_same(engine.load_weights(tmp_path / "w.json"), wanted)


def test_a_folder_of_hugging_face(tmp_path: Path, call: Call) -> None:
    """Its config.json and vocab.json say all there is to say."""
    wanted, arrays = marian()
    folder = tmp_path / "opus"
    folder.mkdir()
    save_file({k: np.ascontiguousarray(v) for k, v in arrays.items()}, folder / "model.safetensors")
    config = {
        "model_type": "marian",
        "encoder_attention_heads": 2,
        "decoder_attention_heads": 2,
        "activation_function": "swish",
        "scale_embedding": True,
        "decoder_start_token_id": 0,
        "eos_token_id": 2,
        "pad_token_id": 0,
    }
    (folder / "config.json").write_text(json.dumps(config))
    numbered = {word: number for number, word in enumerate(TARGET)}
    (folder / "vocab.json").write_text(json.dumps(numbered))
    run = ("weights", "import", str(folder), "-o", str(tmp_path / "w.json"), "--force")
    assert call(*run)[0] == 0
    weights = engine.load_weights(tmp_path / "w.json")
    check_same(weights, wanted)
    tokens = weights.tokens
    assert (tokens.bos, tokens.eos, tokens.pad, tokens.source_eos) == (
        "<pad>",
        "</s>",
        "<pad>",
        True,
    )
    for change, message in (
        ({"model_type": "t5"}, "LayerNorm and added positions, found T5's names"),
        ({"model_type": "bart"}, "model_type: expected marian or pegasus"),
        ({"model_type": ["marian"]}, "model_type: expected marian or pegasus"),
        ({"decoder_attention_heads": 4}, "decoder_attention_heads: expected as many"),
        ({"activation_function": "tanh"}, "activation_function: expected one of relu"),
    ):
        (folder / "config.json").write_text(json.dumps({**config, **change}))
        code, _, err = call(*run)
        assert code == 2
        assert message in err
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "model.safetensors").unlink()
    assert "model.safetensors or pytorch_model.bin in it, found neither" in call(*run)[2]


def test_names_of_ones_own(bring: Call, words: list[str], tmp_path: Path) -> None:
    """--names maps what nobody knows; what it maps to nothing is left out."""
    wanted = made(source_vocabulary_size=len(SOURCE))
    ours = ["q_proj", "k_proj", "v_proj", "out_proj"]
    modules = {
        f"{kind}.{role}": f"{kind[:1]}.{role[0]}"
        for kind in ("self_attn", "cross_attn")
        for role in ours
    }
    modules |= {"ffn.linear1": "up", "ffn.linear2": "down"}
    modules |= {f"norm{n}": f"ln{n}" for n in (1, 2, 3)}
    arrays = layers(wanted, modules, "SIDE.l#.")
    arrays["in"], arrays["out.w"] = (
        wanted.matrices[f"{side}_embedding.weight"] for side in ("source", "target")
    )
    arrays["logits.weight"] = wanted.matrices["output_projection.weight"]
    arrays["logits.bias"] = wanted.matrices["output_projection.bias"]
    arrays["steps"] = np.zeros(1)
    options = [*words, *OPTIONS["d2l"].replace("sqrt", "1").split()]
    options += ["--variance", "biased", "--eps", "1e-5"]
    code, _, err = bring(arrays, *options)
    assert code == 2
    assert (
        "names: expected those of nn.Transformer, the Annotated Transformer, d2l, hkproj or" in err
    )
    assert "; --names FILE maps them" in err
    lines = [
        f"'{side}.l#.{theirs}' = '{side}.#.{module}'"
        for side in ("encoder", "decoder")
        for module, theirs in modules.items()
    ]
    lines += ["'in' = 'source_embedding.weight'", "'out.w' = 'target_embedding.weight'"]
    lines += ["'logits' = 'output_projection'", "steps = ''"]
    (tmp_path / "names.toml").write_text("\n".join(lines))
    code, out, err = bring(arrays, *options, "--names", str(tmp_path / "names.toml"))
    assert (code, err) == (0, "")
    assert "left out: steps" in out
    check_same(engine.load_weights(tmp_path / "w.json"), wanted)
    for line, message in (
        ("'a' = 'encoder.#.mlp'", "'a': expected one of our names, such as encoder.#.self_attn"),
        ("a.b = 'embedding'", "'a': expected one of our names"),
        ("'a' = 'encoder.#.norm1'", "'a': expected one # for the number of a layer"),
        ("'a##' = ''", "'a##': expected one # for the number of a layer"),
    ):
        (tmp_path / "names.toml").write_text(line)
        assert message in bring(arrays, *options, "--names", str(tmp_path / "names.toml"))[2]


Change = Callable[[dict[str, np.ndarray]], object]
P = "_orig_mod.module.net."


def moved(old: str, new: str) -> Change:
    def change(arrays: dict[str, np.ndarray]) -> None:
        for name in [name for name in arrays if old in name]:
            arrays[name.replace(old, new)] = arrays.pop(name)

    return change


def put(name: str, shape: tuple[int, ...], value: float = 0.5) -> Change:
    return lambda arrays: arrays.update({P + name: np.full(shape, value)})


def dropped(part: str) -> Change:
    def change(arrays: dict[str, np.ndarray]) -> None:
        for name in [name for name in arrays if part in name]:
            del arrays[name]

    return change


REFUSED: dict[str, tuple[Change, str]] = {
    "T5": (
        put("encoder.layers.0.relative_attention_bias.weight", (4, 2)),
        "file: expected LayerNorm and added positions, found T5's names (relative_attention_bias);"
        " this kind of model is not told",
    ),
    "rotary": (put("rotary.inv_freq", (2,)), "file: expected LayerNorm and added positions"),
    "BART": (put("encoder.layernorm_embedding.weight", (4,)), "found BART's "),
    "gated": (
        put("encoder.layers.0.ffn.wi_1.weight", (6, 4)),
        "encoder.0.ffn: expected two matrices, linear1 and linear2, found a third, wi_1",
    ),
    "added key": (put("encoder.layers.0.self_attn.bias_k", (1, 1, 4)), "tokens only, found one"),
    "wide heads": (
        put("encoder.layers.0.self_attn.in_proj_weight", (24, 4)),
        "encoder.0.self_attn.in_proj.weight: expected 12 x 4, found 24 x 4: heads wider than"
        " d_model / heads are not told",
    ),
    "no encoder": (dropped("encoder"), "config.encoder: expected 1 to 3 layers, found none"),
    "no decoder": (dropped("decoder."), "config.decoder: expected 1 to 3 layers, found none"),
    "no cross-attention": (
        lambda a: [dropped("multihead_attn")(a), dropped("norm3")(a)],
        "config.decoder[1]: expected cross_attn too, as the scenes tell how the target asks",
    ),
    "a layer missing": (
        dropped("encoder.layers.0."),
        "config.encoder: expected layers numbered from 0 on, found layer 1 and none with the number"
        " 0",
    ),
    "a bias missing": (
        dropped("encoder.layers.1.linear2.bias"),
        "encoder.1.ffn.linear2.bias: expected it too, as other layers have it, found no such name",
    ),
    "a matrix missing": (
        dropped("encoder.layers.1.linear2.weight"),
        "matrices: expected encoder.1.ffn.linear2.weight, found no such name",
    ),
    "no words": (dropped("_embed.token"), "names: expected an embedding table for the target's"),
    "no source": (dropped("src_embed.token"), "an embedding table for the source's words too"),
    "nobody's names": (
        moved("encoder.layers.", "enc.l"),
        "names: expected those of nn.Transformer",
    ),
    "a name too many": (
        lambda a: a.update({"encoder.layers.0.bn.weight": np.ones(4)}),
        "hkproj or graykode, found encoder.layers.0.bn.weight; --names FILE maps them",
    ),
    "a long name": (put("a" * 300, (4,)), "names of at most 200 characters"),
    "large numbers": (
        put("decoder.layers.0.linear1.weight", (6, 4), 1001.5),
        "decoder.0.ffn.linear1.weight: expected numbers from -1000 to 1000, which can be read on"
        " screen, found 1001.5",
    ),
    "not finite": (
        put("fc_out.bias", (6,), np.nan),
        "output_projection.bias[0]: expected a finite",
    ),
    "truth values": (
        lambda a: a.update({f"{P}fc_out.bias": np.zeros(6, "U1")}),
        "fc_out.bias: expected real numbers, found type <U1",
    ),
    "words": (put("tgt_embed.token_emb.weight", (9, 4)), "vocabulary: expected 9 words, as"),
    "d_model": (put("tgt_embed.token_emb.weight", (6, 512)), "config.d_model: expected 2 to 8"),
    "d_ff": (put("encoder.layers.0.linear1.weight", (17, 4)), "config.d_ff: expected 1 to 16"),
    "a flat table": (put("tgt_embed.token_emb.weight", (6,)), "expected a table, words x d_model"),
    "one kind of positions": (
        lambda a: a.update({f"{P}src_embed.pos_emb.weight": np.eye(4)[:0]}),
        "config.max_length: expected a whole number of at least 1, found 0",
    ),
    "a buffer that differs": (
        moved("pos_emb.weight", "pe"),
        "away; --position learned takes them",
    ),
    "positions of another width": (
        put("src_embed.pos_emb.weight", (16, 6)),
        "src_embed.pos_emb.weight: expected positions x 4, found 16 x 6",
    ),
    "no arrays": (lambda a: a.clear(), "file: expected a state dict, tensors by name"),
}


@pytest.mark.parametrize("wrong", REFUSED)
def test_what_is_refused(wrong: str, bring: Call, words: list[str], tmp_path: Path) -> None:
    change, message = REFUSED[wrong]
    arrays = learned()[1]
    change(arrays)
    code, _, err = bring(arrays, *words, *OPTIONS["learned"].split())
    assert code == 2
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert len(err) <= 208
    assert message in err
    assert not (tmp_path / "w.json").exists()


def test_a_buffer_may_be_learned(bring: Call, words: list[str], tmp_path: Path) -> None:
    wanted, arrays = learned()
    moved("pos_emb.weight", "pe")(arrays)
    options = [*words, *OPTIONS["learned"].split(), "--position", "learned"]
    assert bring(arrays, *options)[0] == 0
    check_same(engine.load_weights(tmp_path / "w.json"), wanted)


def test_more_positions_than_wanted(bring: Call, words: list[str], tmp_path: Path) -> None:
    arrays = learned()[1]
    options = [*words, *OPTIONS["learned"].split(), "--max-length"]
    assert bring(arrays, *options, "9")[0] == 0
    weights = engine.load_weights(tmp_path / "w.json")
    assert weights.matrices["target_position.weight"].shape == (9, 4)
    assert "config.max_length: expected at most 16" in bring(arrays, *options, "17", "--force")[2]


def test_one_list_for_two_tables(bring: Call, one: list[str], tmp_path: Path) -> None:
    """Tables that are the same become one; others stay two, with the same words."""
    arrays = learned()[1]
    table = arrays[f"{P}tgt_embed.token_emb.weight"]
    arrays[f"{P}src_embed.token_emb.weight"] = table
    assert bring(arrays, *one, *OPTIONS["learned"].split())[0] == 0
    assert engine.load_weights(tmp_path / "w.json").source_vocabulary is None
    arrays[f"{P}src_embed.token_emb.weight"] = table * 0.5
    assert bring(arrays, *one, *OPTIONS["learned"].split(), "--force")[0] == 0
    assert engine.load_weights(tmp_path / "w.json").source_vocabulary == TARGET


def test_copies_must_agree(bring: Call, one: list[str]) -> None:
    arrays = marian()[1]
    arrays["model.encoder.embed_tokens.weight"] = np.ones((6, 4))
    options = [*one, *OPTIONS["marian"].split()]
    assert "expected the numbers of the shared table, found others" in bring(arrays, *options)[2]
    arrays = hkproj()[1]
    arrays["model.projection_layer.proj.bias"] = np.ones(6)
    assert "projection_layer.proj.bias: expected the same numbers as" in bring(arrays, *options)[2]


VOCABULARIES: dict[str, tuple[str, Any]] = {
    "lines": ("v.txt", "\ufeffa\nb\nc\n\n"),
    "list": ("v.json", ["a", "b", "c"]),
    "words and IDs": ("v.json", {"b": 1, "a": 0, "c": 2}),
    "IDs and words": ("v.json", {"1": "b", "0": "a", "2": "c"}),
    "torchtext": ("v.json", {"itos": ["a", "b", "c"], "stoi": {"a": 0}}),
    "tokenizer": (
        "v.json",
        {"model": {"vocab": {"b": 1, "a": 0}}, "added_tokens": [{"id": 2, "content": "c"}]},
    ),
    "unigram": ("v.json", {"model": {"vocab": [["a", 0.0], ["b", -1.5], ["c", -2]]}}),
}


@pytest.mark.parametrize("kind", VOCABULARIES)
def test_vocabularies(kind: str, tmp_path: Path) -> None:
    name, content = VOCABULARIES[kind]
    text = content if isinstance(content, str) else json.dumps(content)
    (tmp_path / name).write_text(text, "utf-8")
    assert read_vocabulary(tmp_path / name) == ("a", "b", "c")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("5", "JSON: expected a list of words, or a dictionary of words and IDs, found 5"),
        ("{}", "JSON: expected a list of words"),
        ("[]", "vocabulary: expected words, found none"),
        ('["a", "a"]', "vocabulary[1]: expected every word once"),
        ('["a b"]', "vocabulary[0]: expected a word without spaces"),
        ('{"a": 0, "b": 2}', "ID 1: expected a word, as there is one for every ID, found none"),
        ('{"a": 0, "b": 0}', "ID 0: expected one word, found 'a' and 'b'"),
        ('{"a": 0.5}', "'a': expected an ID, a whole number, found 0.5"),
        ('{"a": true}', "'a': expected an ID, a whole number, found True"),
        ('{"0": "a", "1": 5}', "'0': expected an ID, a whole number, found 'a'"),
        ('{"model": {"vocab": 5}}', "model.vocab: expected words and their IDs, found 5"),
        ('{"model": {"vocab": {}}, "added_tokens": [1]}', "model.vocab: expected words and their"),
    ],
)
def test_wrong_vocabularies(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "v.json"
    path.write_text(content)
    with pytest.raises(LectureError) as caught:
        read_vocabulary(path)
    assert str(caught.value).startswith(f"{path}: {message}")


def test_other_endings(tmp_path: Path, call: Call) -> None:
    for name, message in (("m.h5", "'.h5'"), ("m", "no ending")):
        (tmp_path / name).write_bytes(b"x")
        run = ("weights", "import", str(tmp_path / name), "-o", str(tmp_path / "w.json"))
        assert (
            f"name ending in .pt, .pth, .bin, .ckpt, .safetensors, .npz, found {message}"
            in call(*run)[2]
        )
