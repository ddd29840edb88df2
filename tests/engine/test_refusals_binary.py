"""Damaged and foreign `.npz` and `.safetensors` files are refused as clearly."""

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

Refusal = Callable[[Path], LectureError]
TEXT = engine.TUTORIAL.read_text(encoding="utf-8")


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_truncated_at_any_place(
    suffix: str, tutorial: Weights, tmp_path: Path, refusal: Refusal
) -> None:
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
def test_wrong_npz(changes: dict[str, Any], message: str, tmp_path: Path, refusal: Refusal) -> None:
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
def test_wrong_npz_members(data: bytes, tmp_path: Path, refusal: Refusal) -> None:
    path = npz(tmp_path, **{TABLE: None})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(f"{TABLE}.npy", data)
    assert refusal(path).field == TABLE


def test_zip_bombs_and_repeated_members(tmp_path: Path, refusal: Refusal) -> None:
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


def test_wrong_safetensors(tmp_path: Path, refusal: Refusal) -> None:
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


def test_half_precision_is_read(tmp_path: Path, tutorial: Weights) -> None:
    """bfloat16 and float16 from the header and the bytes; the numbers are exact in both."""
    table = np.round(tutorial.matrices[TABLE] * 2)  # whole numbers up to 2
    head = json.dumps({name: json.loads(TEXT)[name] for name in ("format", "config", "vocabulary")})
    data = save(tensors(**{TABLE: table.astype(np.float16)}), metadata={"model": head})
    path = tmp_path / "w.safetensors"
    path.write_bytes(data)
    np.testing.assert_array_equal(engine.load_weights(path).matrices[TABLE], table)
    upper = (table.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()
    data = data.replace(table.astype("<f2").tobytes(), upper).replace(b'"F16"', b'"BF16"')
    length = int.from_bytes(data[:8], "little") + 1
    path.write_bytes(length.to_bytes(8, "little") + data[8:])
    np.testing.assert_array_equal(engine.load_weights(path).matrices[TABLE], table)
