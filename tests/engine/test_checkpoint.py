"""PyTorch checkpoints: those that PyTorch wrote, and what nobody should have written.

checkpoints/ was made with PyTorch 2.13; the `.npz` files there hold the same numbers.
"""

from __future__ import annotations

import io
import os
import pickle
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import LectureError, checkpoint
from engine.arrays import Arrays

FILES = Path(__file__).with_name("checkpoints")
GOLDEN = Path(__file__).with_name("golden")
PATH = Path("model.pt")


def read(path: Path) -> Arrays:
    return checkpoint.read_arrays(path.read_bytes(), path)


def refused(data: bytes) -> str:
    with pytest.raises(LectureError) as caught:
        dict(checkpoint.read_arrays(data, PATH))
    message = str(caught.value)
    assert message.startswith("model.pt: ")
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("file", "numbers"), [("views", "views"), ("training", "linear"), ("protocol5", "linear")]
)
def test_what_pytorch_wrote(file: str, numbers: str) -> None:
    """Views with strides and offsets, every type of number, one inside a training checkpoint."""
    arrays = read(FILES / f"{file}.pt")
    with np.load(FILES / f"{numbers}.npz") as expected:
        assert list(arrays) == expected.files
        for name in expected.files:
            np.testing.assert_array_equal(arrays[name].astype(float), expected[name], strict=True)
            assert arrays.shapes[name] == expected[name].shape


@pytest.mark.parametrize("folder", sorted(path.name for path in GOLDEN.iterdir() if path.is_dir()))
def test_the_same_as_safetensors(folder: str) -> None:
    from safetensors.numpy import load_file

    arrays, expected = (
        read(GOLDEN / folder / "model.pt"),
        load_file(GOLDEN / folder / "model.safetensors"),
    )
    assert set(arrays) == set(expected)
    for name, array in expected.items():
        np.testing.assert_array_equal(arrays[name], array, strict=True)


@pytest.mark.parametrize(
    ("file", "found"),
    [
        (
            "module.pt",
            "found a pickled torch.nn.modules.transformer.Transformer; save model.state_dict()",
        ),
        ("script.pt", "found TorchScript; save model.state_dict()"),
        ("old.pt", "found PyTorch's old format; torch.load(weights_only=True) it"),
    ],
)
def test_other_kinds_of_file_by_name(file: str, found: str) -> None:
    message = refused((FILES / file).read_bytes())
    assert message.startswith("model.pt: file: expected a state dict, ")
    assert found in message


class Storage:
    """Pickled as PyTorch pickles a storage: by a persistent ID."""

    def __init__(self, numbers: int = 6, key: str = "0", kind: str = "FloatStorage") -> None:
        self.id = ("storage", Name(f"torch {kind}"), key, "cpu", numbers)


class Name:
    """A global name, whatever it stands for."""

    def __init__(self, name: str) -> None:
        self.name = name


class Call:
    """A call of a global name."""

    def __init__(self, name: str, *arguments: Any) -> None:
        self.name, self.arguments = Name(name), arguments


class Pickler(pickle._Pickler):  # type: ignore[name-defined]
    """The pickler in Python, which can be made to write what does not exist."""

    def persistent_id(self, value: object) -> Any:
        return value.id if isinstance(value, Storage) else None

    def save(self, value: Any, save_persistent_id: bool = True) -> None:
        if isinstance(value, Name):
            self.write(b"c" + value.name.replace(" ", "\n").encode() + b"\n")
        elif isinstance(value, Call):
            self.save(value.name)
            self.save(value.arguments)
            self.write(pickle.REDUCE)
        else:
            super().save(value, save_persistent_id)


def archive(content: Any, **members: bytes) -> bytes:
    """A checkpoint with this content: bytes as they are, anything else pickled."""
    if not isinstance(content, bytes):
        file = io.BytesIO()
        Pickler(file, 2).dump(content)
        content = file.getvalue()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as written:
        for name, data in {"data.pkl": content, "data/0": bytes(24), **members}.items():
            written.writestr(f"model/{name}", data)
    return file.getvalue()


def tensor(
    storage: Any = None, offset: Any = 0, shape: Any = (2, 3), strides: Any = (3, 1)
) -> Call:
    storage = Storage() if storage is None else storage
    last = (False, Call("collections OrderedDict"))
    return Call("torch._utils _rebuild_tensor_v2", storage, offset, shape, strides, *last)


def test_a_checkpoint_made_by_hand() -> None:
    numbers = np.arange(6, dtype="<f4")
    content = {"step": 1, "model": {"w": tensor(shape=(3, 2), strides=(1, 3))}}
    data = archive(content, **{"data/0": numbers.tobytes()})
    arrays = checkpoint.read_arrays(data, PATH)
    np.testing.assert_array_equal(arrays["w"], numbers.reshape(2, 3).T)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"w": Call("os system", "touch owned")}, "found a pickled os.system"),
        ({"w": Call("posix system", "true")}, "found a pickled posix.system"),
        ({"w": Call("builtins eval", "1")}, "found a pickled builtins.eval"),
        ({"w": Call("torch load", "x")}, "found a pickled torch.load"),
        ({"w": Name("torch nn.Module")}, "found a pickled torch.nn.Module"),
        ({"w": Name("torch ComplexFloatStorage")}, "found a pickled torch.ComplexFloatStorage"),
        (b"\x80\x02ios\nsystem\n.", "os.system"),
        (b"\x80\x02(S'true'\nios\nsystem\n.", "found the pickle instruction STRING"),
        (b"\x80\x02}\x81.", "found the pickle instruction NEWOBJ"),
        (b"\x80\x02\x82\x01.", "found the pickle instruction EXT1"),
        (b"\x80\x02}", "a state dict"),
        (b"\x80\x02.", "a state dict"),
        (b"\x80\x02h\x05.", "a state dict"),
        (b"\x80\x05\x8c\x02os\x8c\x06system\x93)R.", "found a pickled os.system"),
        (b"not a pickle", "a state dict"),
        (b"", "a state dict"),
        (b"\x80\x02X\xff\xff\xff\x7fx.", "a state dict"),
        (b"\x80\x02" + b"N" * 2**20 + b".", "data.pkl: expected at most 1 MiB"),
        (b"\x80\x02(" + b"\x85" * 1000 + b".", "a state dict"),
        ({}, "tensors by name, found a dict"),
        ([1, 2], "tensors by name, found a list"),
        (tensor(), "tensors by name, found a tensor"),
        ({"w": 1}, "tensors by name, found a dict"),
        ({"a": {"w": tensor()}, "b": {"w": tensor()}}, "one state dict, found several: a, b"),
        ({"w": tensor(offset=1)}, "ends beyond its storage of 6 numbers"),
        ({"w": tensor(shape=(2, 4))}, "ends beyond its storage"),
        ({"w": tensor(strides=(4, 1))}, "ends beyond its storage"),
        ({"w": tensor(strides=(-1, 1))}, "none can have"),
        ({"w": tensor(offset=-1)}, "none can have"),
        ({"w": tensor(offset=1.5)}, "none can have"),
        ({"w": tensor(shape=(True, 3))}, "none can have"),
        ({"w": tensor(shape=(2,))}, "of the wrong form"),
        ({"w": tensor(shape=(1,) * 99, strides=(1,) * 99)}, "of the wrong form"),
        ({"w": tensor(storage=1)}, "of the wrong form"),
        ({"w": tensor(Storage(7))}, "no storage '0' of 28 bytes"),
        ({"w": tensor(Storage(key="9"))}, "no storage '9'"),
        ({"w": tensor(Storage(key="../data.pkl"))}, "no storage '../data.pkl'"),
        ({"w": tensor(Storage(2**60))}, "no storage"),
        ({"w": tensor(shape=(2**40, 1), strides=(0, 0))}, "bytes of numbers"),
        ({"w": Call("torch._utils _rebuild_tensor_v2")}, "a state dict"),
        ({"w": Call("torch FloatStorage")}, "a call of something that is no function"),
        ({"w": Call("collections OrderedDict", [])}, "an OrderedDict with arguments"),
    ],
)
def test_what_is_refused(content: Any, message: str, tmp_path: Path) -> None:
    here = Path.cwd()
    os.chdir(tmp_path)
    try:
        assert message in refused(archive(content))
    finally:
        os.chdir(here)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_run(tmp_path: Path) -> None:
    """A pickle that PyTorch's own loader would run, were it not forbidden to."""
    mark = tmp_path / "owned"

    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return Path.touch, (mark,)

    data = pickle.dumps({"w": Evil()})
    pickle.loads(data)
    assert mark.exists()
    mark.unlink()
    assert "found a pickled pathlib." in refused(archive(data))
    assert not mark.exists()


def test_dictionaries_that_contain_themselves() -> None:
    looped: dict[str, Any] = {}
    looped.update({f"k{number}": looped for number in range(2000)})
    assert "tensors by name" in refused(archive(looped))


def test_archives_that_are_no_checkpoint() -> None:
    assert "no zip archive" in refused(b"")
    assert "a bare pickle" in refused(pickle.dumps(OrderedDict(a=1)))
    assert "PyTorch's old format" in refused(bytes(257) + b"ustar" + bytes(300))
    assert "a sound PyTorch checkpoint" in refused(b"PK\x03\x04" + bytes(100))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as written:
        written.writestr("a.txt", b"")
    assert "no data.pkl" in refused(file.getvalue())
    big = archive({"w": tensor()}, byteorder=b"big")
    assert "byteorder: expected little, found 'big'" in refused(big)
