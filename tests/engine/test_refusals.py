"""Everything a weight file can get wrong is refused in one line that says what and where."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

import engine
from engine import LectureError, Weights
from engine import files as engine_files

TEXT = engine.TUTORIAL.read_text(encoding="utf-8")
EMBEDDING = "matrices.embedding.weight"

Document = dict[str, Any]


def refusal(path: Path) -> LectureError:
    """The error of loading this file: one line that begins with the file's name."""
    with pytest.raises(LectureError) as caught:
        engine.load_weights(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    assert len(message) < len(str(path)) + 400
    return caught.value


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
def test_wrong_content(wrong: str, tmp_path: Path) -> None:
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
    "byte order mark": (b"\xef\xbb\xbf" + TEXT.encode(), "JSON", "found a byte order mark"),
    "a list": (b"[1]", "JSON", "expected an object, found a list"),
    "deep": (b"[" * 100_000, "JSON", "nested"),
    "long number": (b'{"format": 1' + b"0" * 5000 + b"}", "JSON", "integer string"),
    "binary": (bytes(range(256)), "JSON", "expected UTF-8"),
}


@pytest.mark.parametrize("wrong", RAW)
def test_wrong_bytes(wrong: str, tmp_path: Path) -> None:
    data, field, message = RAW[wrong]
    path = tmp_path / "w.json"
    path.write_bytes(data)
    error = refusal(path)
    assert str(error.field).startswith(field)
    assert message in str(error)


def test_lone_surrogate_in_a_word(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    path.write_text(TEXT.replace('"easy"', '"\\ud800"'), encoding="utf-8")
    assert refusal(path).field == "vocabulary[6]"


def test_missing_file_directory_and_strange_names(tmp_path: Path) -> None:
    assert "no such file" in str(refusal(tmp_path / "none.json"))
    (tmp_path / "folder.json").mkdir()
    assert "found a directory" in str(refusal(tmp_path / "folder.json"))
    assert ".json, .npz, .safetensors, found '.txt'" in str(refusal(tmp_path / "w.txt"))
    assert "no ending" in str(refusal(tmp_path / "w"))
    with pytest.raises(LectureError, match="null"):
        engine.load_weights(tmp_path / "a\0.json")


def test_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "w.json"
    path.write_text(TEXT, encoding="utf-8")

    def locked(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", locked)
    assert "permission denied" in str(refusal(path))


def test_devices_are_not_weights(tmp_path: Path) -> None:
    (tmp_path / "zero.json").symlink_to("/dev/zero")
    assert "expected a regular file" in str(refusal(tmp_path / "zero.json"))


def test_gigantic_file(tmp_path: Path) -> None:
    with (tmp_path / "w.json").open("wb") as file:
        file.truncate(10 * 2**30)  # sparse: takes no room
    assert "expected at most 64 MiB, found 10737418240 bytes" in str(refusal(tmp_path / "w.json"))
    assert engine_files.MAX_BYTES == 64 * 2**20


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_truncated_at_any_place(suffix: str, tutorial: Weights, tmp_path: Path) -> None:
    path = tmp_path / f"w{suffix}"
    engine.save_weights(tutorial, path)
    whole = path.read_bytes()
    for end in (1, 7, 8, 9, 100, len(whole) // 2, len(whole) - 100, len(whole) - 1):
        path.write_bytes(whole[:end])
        refusal(path)


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_damaged_bytes_never_escape(suffix: str, tutorial: Weights, tmp_path: Path) -> None:
    """Whatever single byte is flipped: either a clear refusal or sound weights."""
    path = tmp_path / f"w{suffix}"
    engine.save_weights(tutorial, path)
    whole = bytearray(path.read_bytes())
    for place in range(0, len(whole), max(1, len(whole) // 400)):
        broken = bytearray(whole)
        broken[place] ^= 0x55
        path.write_bytes(broken)
        try:
            weights = engine.load_weights(path)
        except LectureError as error:
            assert "\n" not in str(error)
        else:
            assert all(np.isfinite(matrix).all() for matrix in weights.matrices.values())


def npz(tmp_path: Path, **changes: Any) -> Path:
    """The tutorial as .npz with some arrays replaced, or left out where None."""
    engine.save_weights(engine.tutorial_weights(), tmp_path / "good.npz")
    with np.load(tmp_path / "good.npz") as archive:
        arrays = {name: archive[name] for name in archive.files}
    arrays.update(changes)
    path = tmp_path / "w.npz"
    np.savez(path, **{name: value for name, value in arrays.items() if value is not None})
    return path


TABLE = "embedding.weight"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metadata": None}, "metadata: expected present, found missing"),
        ({"metadata": np.array("{")}, "line 1 column 2: expected valid JSON"),
        ({"metadata": np.array("{}")}, "format: expected present"),
        ({"metadata": np.zeros(3)}, "metadata: expected a text"),
        ({"metadata": np.array(["a", "b"])}, "metadata: expected a text"),
        ({TABLE: None}, "expected embedding.weight, found no such name"),
        ({TABLE: np.zeros((4, 8))}, "expected shape 8 x 4, found 4 x 8"),
        ({TABLE: np.zeros(32)}, "expected shape 8 x 4, found 32"),
        ({TABLE: np.float64(1.0)}, "expected shape 8 x 4, found ()"),
        ({TABLE: np.full((8, 4), np.nan)}, "[0][0]: expected a finite number, found nan"),
        ({TABLE: np.full((8, 4), "x")}, "expected real numbers, found type <U1"),
        ({TABLE: np.zeros((8, 4), bool)}, "expected an array of numbers, found type bool"),
        ({TABLE: np.zeros((8, 4), complex)}, "expected an array of numbers, found type complex"),
        ({TABLE: np.array([[None] * 4] * 8)}, "expected an array of numbers, found type object"),
        ({"extra": np.zeros(1)}, "unknown name 'extra'"),
    ],
)
def test_wrong_npz(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    assert message in str(refusal(npz(tmp_path, **changes)))


def test_other_number_types_and_orders_are_read(tmp_path: Path, tutorial: Weights) -> None:
    table = np.asfortranarray(np.round(tutorial.matrices[TABLE] * 10))
    for kind in ("<f4", ">f8", "<i8", "<f2", "<i2"):
        weights = engine.load_weights(npz(tmp_path, **{TABLE: table.astype(kind)}))
        np.testing.assert_array_equal(weights.matrices[TABLE], table)


def member(header: str) -> bytes:
    """A `.npy` file with this header and 16 bytes of data."""
    text = header.encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(16)


@pytest.mark.parametrize(
    "data",
    [
        member("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999,)}"),
        member("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -2)}"),
        member("{'descr': '<f8', 'fortran_order': False}"),
        member("{'descr': '<V0', 'fortran_order': False, 'shape': ()}"),
        member("{'descr': '|O', 'fortran_order': False, 'shape': (2,)}"),
        member("not a header"),
        member("(" * 5000),
        b"\x93NUMPY\x09\x00",
        b"",
        b"cos\nsystem\n(S'true'\ntR.",
    ],
)
def test_wrong_npz_members(data: bytes, tmp_path: Path) -> None:
    path = npz(tmp_path, **{TABLE: None})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(f"{TABLE}.npy", data)
    assert refusal(path).field == TABLE


def test_zip_bombs_and_repeated_members(tmp_path: Path) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.npy", bytes(65 * 2**20))
    (tmp_path / "w.npz").write_bytes(file.getvalue())
    assert "unpacked" in str(refusal(tmp_path / "w.npz"))
    path = npz(tmp_path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(TABLE, member("{}"))
    assert refusal(path).found == "twice"


def tensors(**changes: np.ndarray) -> dict[str, np.ndarray]:
    return {**engine.tutorial_weights().matrices, **changes}


def test_wrong_safetensors(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    path.write_bytes(save(tensors()))
    assert "__metadata__.model: expected present" in str(refusal(path))
    path.write_bytes(save(tensors(), metadata={"model": "[]"}))
    assert "model: expected an object" in str(refusal(path))
    head = json.dumps({name: json.loads(TEXT)[name] for name in ("format", "config", "vocabulary")})
    path.write_bytes(save(tensors(), metadata={"model": head}))
    assert engine.load_weights(path).vocabulary[0] == "我"
    path.write_bytes(save(tensors(**{TABLE: np.zeros((8, 4), bool)}), metadata={"model": head}))
    assert "expected real numbers, found type bool" in str(refusal(path))
    path.write_bytes(save(tensors(**{TABLE: np.full((8, 4), np.inf)}), metadata={"model": head}))
    assert "found inf" in str(refusal(path))
    path.write_bytes((2**60).to_bytes(8, "little") + b"{}")
    assert "a sound safetensors file" in str(refusal(path))


def test_bfloat16_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    header = b'{"x":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}}'
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(2))
    refusal(path)
