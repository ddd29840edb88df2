"""PyTorch checkpoints (`.pt`, `.pth`, `.bin`), read without PyTorch and without unpickling.

Such a file is a zip archive: `data.pkl` says which tensor is a view of which storage, and each
storage is a member of its own. The pickle is interpreted here, with the few instructions that a
state dict needs: texts, numbers, tuples, lists and dictionaries, and calls of three functions,
all of them ours. Everything else is refused by name, and nothing in the file is ever executed.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.archive import Archive
from engine.arrays import AXES, Arrays, Entry, Shape, count, from_bytes
from engine.errors import quoted
from engine.reader import WEIGHT_BYTES, guarded, refuse

_KIND = "PyTorch checkpoint"
_PICKLE = "data.pkl"
_PICKLE_BYTES = 2**20  # some thousand tensors
_OLD_FORMAT = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."  # before PyTorch 1.6
_STORAGES = {
    "DoubleStorage": "<f8",
    "FloatStorage": "<f4",
    "HalfStorage": "<f2",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "ShortStorage": "<i2",
    "CharStorage": "|i1",
    "ByteStorage": "|u1",
    "BoolStorage": "|b1",
}
_STATE_KEYS = ("state_dict", "model_state_dict", "model_state", "model", "net", "module")


@dataclass(frozen=True, slots=True)
class Global:
    """A name such as torch.FloatStorage. It is looked up in our own table, never imported."""

    name: str


@dataclass(frozen=True, slots=True)
class Storage:
    """Numbers of one type in a member of the archive."""

    dtype: str
    key: str
    numbers: int


@dataclass(frozen=True, slots=True)
class Tensor:
    """A view of a storage."""

    storage: Storage
    offset: int
    shape: Shape
    strides: Shape  # in numbers, not bytes


def read_arrays(data: bytes, path: Path) -> Arrays:
    """The tensors of a state dict by name. A training checkpoint that holds one is looked
    through. Raises LectureError."""
    folder, archive = _open(data, path)
    size = archive.size(folder + _PICKLE)
    if size > _PICKLE_BYTES:
        refuse(path, _PICKLE, f"at most {_PICKLE_BYTES >> 20} MiB", f"{size} bytes")
    pickled = archive.read(folder + _PICKLE)
    with guarded(path, _PICKLE, "a state dict"):
        content = Machine(path).run(pickled)
    tensors = _state_dict(content, path)
    total = sum(count(t.shape) * _itemsize(t.storage.dtype) for t in tensors.values())
    if total > WEIGHT_BYTES:
        refuse(path, "file", f"at most {WEIGHT_BYTES >> 20} MiB", f"{total} bytes of numbers")
    storages = _Storages(archive, folder)
    return Arrays({name: storages.entry(name, tensor) for name, tensor in tensors.items()})


def _open(data: bytes, path: Path) -> tuple[str, Archive]:
    """The archive and the folder in it that holds everything; other kinds of file by name."""
    if data.startswith(_OLD_FORMAT) or data[257:262] == b"ustar":
        found = "PyTorch's old format; torch.load(weights_only=True) it and torch.save it again"
        refuse(path, "file", "a state dict", found)
    if not data.startswith(b"PK"):
        found = "a bare pickle" if data.startswith(b"\x80") else "no zip archive"
        refuse(path, "file", "a state dict that torch.save has written", found)
    archive = Archive(data, path, _KIND)
    names = archive.names()
    places = [name for name in names if name == _PICKLE or name.endswith(f"/{_PICKLE}")]
    if len(places) != 1:
        refuse(path, "file", "a state dict that torch.save has written", f"no {_PICKLE}")
    folder = places[0].removesuffix(_PICKLE)
    if any(name.startswith((f"{folder}code/", f"{folder}constants.pkl")) for name in names):
        refuse(path, "file", "a state dict", "TorchScript; save model.state_dict()")
    order = f"{folder}byteorder"
    if order in names and archive.read(order, 16) != b"little":
        refuse(path, "byteorder", "little", quoted(archive.read(order, 16).decode("latin-1")))
    return folder, archive


class Machine:
    """Runs a pickle: a stack, a memo, and the instructions of `_step`. Only what a state dict is
    made of can come out: dicts, lists, tuples, texts, numbers, `Tensor` and `Storage`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stack: list[Any] = []
        self.marks: list[list[Any]] = []
        self.memo: dict[int, Any] = {}

    def run(self, data: bytes) -> Any:
        """The value of the pickle. Raises LectureError, and for malformed ones other errors."""
        for code, argument, _ in pickletools.genops(data):
            if code.name == "STOP":
                return self.stack.pop()
            self._step(code.name, argument)
        raise ValueError("a pickle without an end")

    def _step(self, code: str, argument: Any) -> None:
        if code in _VALUES:
            self.stack.append(_VALUES[code](argument))
        elif code in _TUPLES:
            size = _TUPLES[code]
            self.stack[len(self.stack) - size :] = [tuple(self._last(size))]
        elif code in ("BINPUT", "LONG_BINPUT", "MEMOIZE"):
            self.memo[len(self.memo) if argument is None else argument] = self.stack[-1]
        elif code in ("BINGET", "LONG_BINGET"):
            self.stack.append(self.memo[argument])
        elif code == "MARK":
            self.marks.append(self.stack)
            self.stack = []
        elif code in ("TUPLE", "LIST", "APPENDS", "SETITEMS"):
            self._collect(code)
        elif code == "APPEND":
            value = self.stack.pop()
            self._top(list).append(value)
        elif code == "SETITEM":
            pair = self._last(2)
            del self.stack[-2:]
            self._set(pair)
        elif code in ("GLOBAL", "INST"):
            self.stack.append(self._named(str(argument).replace(" ", ".")))
        elif code == "STACK_GLOBAL":
            module, name = self._last(2)
            self.stack[-2:] = [self._named(f"{module}.{name}")]
        elif code == "BINPERSID":
            self.stack.append(_storage(self.stack.pop()))
        elif code == "REDUCE":
            function, arguments = self._last(2)
            self.stack[-2:] = [self._call(function, arguments)]
        elif code == "BUILD":  # attributes of a state dict, such as its _metadata: not needed
            self.stack.pop()
            self._top(dict)
        elif code not in ("PROTO", "FRAME"):
            refuse(self.path, "file", "a state dict", f"the pickle instruction {code}")

    def _collect(self, code: str) -> None:
        """What was stacked since the last mark, as a tuple or list, or into the value below."""
        items, self.stack = self.stack, self.marks.pop()
        if code == "APPENDS":
            self._top(list).extend(items)
        elif code == "SETITEMS":
            self._set(items)
        else:
            self.stack.append(tuple(items) if code == "TUPLE" else items)

    def _set(self, items: list[Any]) -> None:
        target = self._top(dict)
        for key, value in zip(items[::2], items[1::2], strict=True):
            if not isinstance(key, str | int | float | None):
                raise ValueError("a key that is no text and no number")
            target[key] = value

    def _top(self, kind: type[Any]) -> Any:
        if type(self.stack[-1]) is not kind:
            raise ValueError(f"no {kind.__name__} where one is needed")
        return self.stack[-1]

    def _last(self, size: int) -> list[Any]:
        if len(self.stack) < size:
            raise ValueError("an empty stack")
        return self.stack[-size:]

    def _named(self, name: str) -> Global:
        storage = name.startswith("torch.") and name.removeprefix("torch.") in _STORAGES
        if name not in _CALLS and not storage:
            refuse(self.path, "file", "a state dict", f"a pickled {name}; save model.state_dict()")
        return Global(name)

    def _call(self, function: Any, arguments: Any) -> Any:
        """One of the three functions, all of them below."""
        if not isinstance(function, Global) or function.name not in _CALLS:
            raise ValueError("a call of something that is no function")
        if not isinstance(arguments, tuple):
            raise ValueError("a call without arguments")
        return _CALLS[function.name](*arguments)


_PLAIN = (
    *("BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE"),
    *("BINSTRING", "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES"),
)
_VALUES: dict[str, Callable[[Any], Any]] = {
    "NONE": lambda _: None,
    "NEWTRUE": lambda _: True,
    "NEWFALSE": lambda _: False,
    "EMPTY_DICT": lambda _: {},
    "EMPTY_LIST": lambda _: [],
    "EMPTY_TUPLE": lambda _: (),
    **dict.fromkeys(_PLAIN, lambda value: value),
}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


def _storage(said: Any) -> Storage:
    """("storage", type, key, device, how many numbers), as PyTorch refers to a storage."""
    _, kind, key, _, numbers = said
    if not (isinstance(kind, Global) and isinstance(key, str) and type(numbers) is int):
        raise ValueError("a storage of the wrong form")
    return Storage(_STORAGES[kind.name.removeprefix("torch.")], key, numbers)


def _ordered_dict(*pairs: Any) -> dict[str, Any]:
    if pairs:
        raise ValueError("an OrderedDict with arguments")
    return {}


def _rebuild_tensor(storage: Any, offset: Any, shape: Any, strides: Any, *_: Any) -> Tensor:
    """A view that lies wholly within its storage, or ValueError."""
    places = (offset, *shape, *strides)
    if not isinstance(storage, Storage) or len(shape) != len(strides) or len(shape) > AXES:
        raise ValueError("a tensor of the wrong form")
    if not all(type(n) is int and 0 <= n < 2**48 for n in places):
        raise ValueError("a tensor with a shape or strides that none can have")
    last = offset + sum((side - 1) * step for side, step in zip(shape, strides, strict=True))
    if count(shape) and last >= storage.numbers:
        raise ValueError(f"a tensor that ends beyond its storage of {storage.numbers} numbers")
    return Tensor(storage, offset, tuple(shape), tuple(strides))


def _rebuild_parameter(tensor: Any, *_: Any) -> Any:
    return tensor


_CALLS: dict[str, Callable[..., Any]] = {
    "collections.OrderedDict": _ordered_dict,
    "torch._utils._rebuild_tensor_v2": _rebuild_tensor,
    "torch._utils._rebuild_parameter": _rebuild_parameter,
}


def _state_dict(content: Any, path: Path) -> dict[str, Tensor]:
    """The one dictionary of named tensors in what was saved."""
    found = dict(_candidates(content))
    if len(found) > 1:
        usual = [name for name in found if name.rpartition(".")[2] in _STATE_KEYS]
        if len(usual) != 1:
            refuse(path, "file", "one state dict", f"several: {', '.join(found)}")
        return found[usual[0]]
    if not found:
        kind = "a tensor" if isinstance(content, Tensor) else f"a {type(content).__name__}"
        refuse(path, "file", "a state dict, tensors by name", kind)
    return next(iter(found.values()))


def _candidates(content: Any) -> Iterator[tuple[str, dict[str, Tensor]]]:
    """Dictionaries of nothing but named tensors, under text keys, each once."""
    waiting, seen = [("", content)], set()
    while waiting:
        name, value = waiting.pop(0)
        if not isinstance(value, dict) or not value or id(value) in seen:
            continue
        seen.add(id(value))
        if all(isinstance(k, str) and isinstance(item, Tensor) for k, item in value.items()):
            yield name, value
            continue
        waiting += [
            (f"{name}.{key}" if name else key, item)
            for key, item in value.items()
            if isinstance(key, str) and isinstance(item, dict)
        ]


class _Storages:
    """The storages of an archive, each read once."""

    def __init__(self, archive: Archive, folder: str) -> None:
        self.archive, self.folder = archive, folder
        self.read: dict[str, NDArray[Any]] = {}

    def entry(self, name: str, tensor: Tensor) -> Entry:
        """A tensor whose storage is there and has the size it should have."""
        storage = tensor.storage
        member = f"{self.folder}data/{storage.key}"
        size = storage.numbers * _itemsize(storage.dtype)
        if member not in self.archive.names() or self.archive.size(member) != size:
            raise self.archive.damaged(name, f"no storage {quoted(storage.key)} of {size} bytes")
        return Entry(tensor.shape, storage.dtype, partial(self._load, member, tensor))

    def _load(self, member: str, tensor: Tensor) -> NDArray[Any]:
        if member not in self.read:
            data, storage = self.archive.read(member), tensor.storage
            self.read[member] = from_bytes(data, storage.dtype, (storage.numbers,))
        flat = self.read[member][tensor.offset :]
        steps = [step * flat.itemsize for step in tensor.strides]
        view = np.lib.stride_tricks.as_strided(flat, tensor.shape, steps, writeable=False)
        return view.copy()


def _itemsize(dtype: str) -> int:
    return 2 if dtype == "bfloat16" else np.dtype(dtype).itemsize
