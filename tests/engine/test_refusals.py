"""Everything a readable weight file can get wrong is refused in one line that says what and
where."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import engine
from engine import LectureError

Refusal = Callable[[Path], LectureError]

TEXT = engine.TUTORIAL.read_text(encoding="utf-8")
EMBEDDING = "matrices.embedding.weight"

Document = dict[str, Any]


def edited(change: Callable[[Document], object]) -> str:
    document = json.loads(TEXT)
    change(document)
    return json.dumps(document)


def embedding(index: int | slice, row: object) -> Callable[[Document], object]:
    return lambda d: d["matrices"]["embedding.weight"].__setitem__(index, row)


def config(name: str, value: object) -> Callable[[Document], object]:
    return lambda d: d["config"].__setitem__(name, value)


def vocabulary(index: int, word: object) -> Callable[[Document], object]:
    return lambda d: d["vocabulary"].__setitem__(index, word)


COUNT = "a whole number of at least 1"
CHANGES: dict[str, tuple[Callable[[Document], object], str, str, str]] = {
    # what is wrong: (change, field, part of "expected", part of "found")
    "missing matrix": (
        lambda d: d["matrices"].pop("memory", d["matrices"].pop("embedding.weight")),
        *("matrices", "embedding.weight", "no such name"),
    ),
    "misspelled matrix": (
        lambda d: d["matrices"].update(embeding=d["matrices"].pop("embedding.weight")),
        *("matrices", "embedding.weight, which is missing", "unknown name 'embeding'"),
    ),
    "extra matrix": (
        lambda d: d["matrices"].update(bias=[[1]]),
        *("matrices", "only the model's matrices", "unknown name 'bias'"),
    ),
    "rows missing": (embedding(slice(0, 2), []), EMBEDDING, "shape 8 x 4", "6 x 4"),
    "no rows": (embedding(slice(0, 8), []), EMBEDDING, "shape 8 x 4", "0"),
    "ragged row": (embedding(1, [1, 2, 3]), f"{EMBEDDING}[1]", "4 numbers", "3"),
    "flat row": (embedding(1, 7), EMBEDDING, "list of rows", "[[0.5"),
    "null row": (embedding(1, None), EMBEDDING, "list of rows", "[[0.5"),
    "text": (embedding(1, [1, 2, "0.5", 4]), f"{EMBEDDING}[1][2]", "a number", "'0.5'"),
    "boolean": (embedding(1, [1, 2, True, 4]), f"{EMBEDDING}[1][2]", "a number", "True"),
    "null": (embedding(1, [1, 2, None, 4]), f"{EMBEDDING}[1][2]", "a number", "None"),
    "nested too deep": (embedding(1, [1, 2, [3], 4]), f"{EMBEDDING}[1][2]", "a number", "[3]"),
    "huge whole number": (embedding(1, [1, 2, 10**400, 4]), EMBEDDING, "float64", "beyond"),
    "matrix a text": (
        lambda d: d["matrices"].update({"embedding.weight": "x"}),
        EMBEDDING,
        "list of rows",
        "'x'",
    ),
    "matrices a list": (lambda d: d.update(matrices=[]), "matrices", "an object", "[]"),
    "repeated word": (vocabulary(3, "爱"), "vocabulary[3]", "every word once", "vocabulary[1]"),
    "repeated but for its encoding": (
        lambda d: d["vocabulary"].__setitem__(slice(0, 2), ["caf\u00e9", "cafe\u0301"]),
        *("vocabulary[1]", "every word once", "vocabulary[0]"),
    ),
    "empty word": (vocabulary(3, ""), "vocabulary[3]", "a word", "''"),
    "word with a space": (vocabulary(3, "I love"), "vocabulary[3]", "a word", "'I love'"),
    "word with a line break": (vocabulary(3, "a\nb"), "vocabulary[3]", "a word", "'a\\nb'"),
    "word a number": (vocabulary(3, 5), "vocabulary[3]", "a word", "5"),
    "word a list": (vocabulary(3, ["a"]), "vocabulary[3]", "a word", "['a']"),
    "no words": (lambda d: d.update(vocabulary=[]), "vocabulary", "words", "none"),
    "vocabulary a text": (lambda d: d.update(vocabulary="我爱"), "vocabulary", "a list", "'我爱'"),
    "one word more": (lambda d: d["vocabulary"].append("猫"), EMBEDDING, "9 x 4", "8 x 4"),
    "d_model text": (config("d_model", "4"), "config.d_model", COUNT, "'4'"),
    "d_model fraction": (config("d_model", 4.5), "config.d_model", COUNT, "4.5"),
    "d_model float": (config("d_model", 4.0), "config.d_model", COUNT, "4.0"),
    "d_model boolean": (config("d_model", True), "config.d_model", COUNT, "True"),
    "d_model negative": (config("d_model", -4), "config.d_model", COUNT, "-4"),
    "heads zero": (config("heads", 0), "config.heads", COUNT, "0"),
    "d_ff null": (config("d_ff", None), "config.d_ff", COUNT, "None"),
    "max_length zero": (config("max_length", 0), "config.max_length", COUNT, "0"),
    "heads do not divide": (config("heads", 3), "config.d_model", "multiple of the 3 heads", "4"),
    "d_model too large": (config("d_model", 10**30), EMBEDDING, f"8 x {10**30}", "8 x 4"),
    "eps zero": (config("layer_norm_eps", 0), "config.layer_norm_eps", "above 0", "0"),
    "eps negative": (config("layer_norm_eps", -1e-5), "config.layer_norm_eps", "above 0", "-1e"),
    "eps text": (config("layer_norm_eps", "1"), "config.layer_norm_eps", "a number", "'1'"),
    "eps list": (config("layer_norm_eps", [1]), "config.layer_norm_eps", "a number", "1"),
    "eps huge": (config("layer_norm_eps", 10**400), "config.layer_norm_eps", "above 0", "1000"),
    "layers a text": (config("encoder", "ffn"), "config.encoder", "a list", "'ffn'"),
    "layer a text": (config("encoder", ["ffn"]), "config.encoder[0]", "a list", "'ffn'"),
    "layers an object": (config("encoder", {"0": []}), "config.encoder", "a list", "'0'"),
    "layer empty": (config("decoder", [[]]), "config.decoder[0]", "at most once", "[]"),
    "layers without end": (
        config("encoder", [["ffn"]] * 100_000),
        *("config.encoder", "at most 64 layers", "100000"),
    ),
    "sub-layer unknown": (config("decoder", [["mlp"]]), "config.decoder[0]", "ffn", "['mlp']"),
    "sub-layer a number": (config("decoder", [[7]]), "config.decoder[0]", "ffn", "[7]"),
    "sub-layer a list": (config("decoder", [[["ffn"]]]), "config.decoder[0]", "ffn", "('ffn',)"),
    "sub-layer twice": (config("decoder", [["ffn", "ffn"]]), "config.decoder[0]", "once", "ffn"),
    "cross-attention in the encoder": (
        config("encoder", [["cross_attn"]]),
        *("config.encoder[0]", "a list of self_attn, ffn", "['cross_attn']"),
    ),
    "config field missing": (
        lambda d: d["config"].pop("heads"),
        "config.heads",
        "present",
        "missing",
    ),
    "config field unknown": (config("dropout", 0), "config.dropout", "only d_model", "unknown"),
    "config a list": (lambda d: d.update(config=[]), "config", "an object", "[]"),
    "config missing": (lambda d: d.pop("config"), "config", "present", "missing"),
    "matrices missing": (lambda d: d.pop("matrices"), "matrices", "present", "missing"),
    "top-level name unknown": (lambda d: d.update(note=1), "note", "only format", "unknown"),
    "other format": (lambda d: d.update(format="x/2"), "format", "lecture-weights/1", "'x/2'"),
}


@pytest.mark.parametrize("wrong", CHANGES)
def test_wrong_content(wrong: str, tmp_path: Path, refusal: Refusal) -> None:
    change, field, expected, found = CHANGES[wrong]
    path = tmp_path / "w.json"
    path.write_text(edited(change), encoding="utf-8")
    error = refusal(path)
    assert error.field == field
    assert expected in str(error.expected)
    assert found in str(error.found)


RAW: dict[str, tuple[bytes, str, str]] = {
    # what is wrong: (bytes, field, part of the message)
    "empty": (b"", "file", "an empty file"),
    "white space": (b" \n ", "line 2 column 2", "Expecting value"),
    "cut short": (TEXT[:3000].encode(), "line 99 column", "valid JSON"),
    "comma missing": (
        TEXT.replace("0.5, -0.3", "0.5 -0.3", 1).encode(),
        "line 15 column 13",
        "expected valid JSON, found Expecting ',' delimiter",
    ),
    "two documents": (TEXT.encode() * 2, "line 220 column 1", "Extra data"),
    "NaN": (TEXT.replace(" 0.5", "NaN", 1).encode(), "JSON", "found NaN"),
    "Infinity": (TEXT.replace(" 0.5", "-Infinity", 1).encode(), "JSON", "found -Infinity"),
    "overflow": (TEXT.replace(" 0.5", "1e999", 1).encode(), f"{EMBEDDING}[0][0]", "found inf"),
    "name twice": (TEXT.replace('"d_ff"', '"heads"', 1).encode(), "JSON", "'heads' twice"),
    "UTF-16": (TEXT.encode("utf-16"), "JSON", "expected UTF-8 text, found byte 0xff at 0"),
    "Latin-1": (
        TEXT.replace("love", "lové").encode("utf-8").replace(b"\xc3\xa9", b"\xe9"),
        "JSON",
        "byte 0xe9",
    ),
    "a list": (b"[1]", "JSON", "expected an object, found a list"),
    "deep": (b"[" * 100_000, "JSON", "nested"),
    "long number": (b'{"format": 1' + b"0" * 5000 + b"}", "JSON", "at most 1000 digits"),
    "binary": (bytes(range(256)), "JSON", "expected UTF-8"),
}


@pytest.mark.parametrize("wrong", RAW)
def test_wrong_bytes(wrong: str, tmp_path: Path, refusal: Refusal) -> None:
    data, field, message = RAW[wrong]
    path = tmp_path / "w.json"
    path.write_bytes(data)
    error = refusal(path)
    assert str(error.field).startswith(field)
    assert message in str(error)


def test_lone_surrogate_in_a_word(tmp_path: Path, refusal: Refusal) -> None:
    path = tmp_path / "w.json"
    path.write_text(TEXT.replace('"easy"', '"\\ud800"'), encoding="utf-8")
    assert refusal(path).field == "vocabulary[6]"


def test_missing_file_directory_and_strange_names(tmp_path: Path, refusal: Refusal) -> None:
    assert "no such file" in str(refusal(tmp_path / "none.json"))
    (tmp_path / "folder.json").mkdir()
    assert "found a directory" in str(refusal(tmp_path / "folder.json"))
    assert ".json, .npz, .safetensors, found '.txt'" in str(refusal(tmp_path / "w.txt"))
    assert "no ending" in str(refusal(tmp_path / "w"))
    with pytest.raises(LectureError, match="null"):
        engine.load_weights(tmp_path / "a\0.json")


def test_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal: Refusal) -> None:
    path = tmp_path / "w.json"
    path.write_text(TEXT, encoding="utf-8")

    def locked(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", locked)
    assert "permission denied" in str(refusal(path))


def test_devices_are_not_weights(tmp_path: Path, refusal: Refusal) -> None:
    (tmp_path / "zero.json").symlink_to("/dev/zero")
    assert "expected a regular file" in str(refusal(tmp_path / "zero.json"))


@pytest.mark.parametrize(("suffix", "most"), [("json", 4), ("npz", 64), ("safetensors", 64)])
def test_gigantic_file(suffix: str, most: int, tmp_path: Path, refusal: Refusal) -> None:
    path = tmp_path / f"w.{suffix}"
    with path.open("wb") as file:
        file.truncate(10 * 2**30)  # sparse: takes no room
    assert f"expected at most {most} MiB, found 10737418240 bytes" in str(refusal(path))
