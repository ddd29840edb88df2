"""What was read: each value by its run and name, with the elements that were looked at, and texts.

Whoever shows values reads them through a :class:`Reads`, whose document says exactly what was
read; :class:`Passes` computes the same values anew, so that two states can be compared by bytes.

Names of values: those of the trace; ``weights:MATRIX``; ``shape:NAME``; ``tokens:source``,
``tokens:target`` and ``tokens:vocabulary``; ``config:FIELD``; ``choices:[WORDS, STEPS]``, the
words that the model writes alone after WORDS; ``differing:RUN``, the matrices whose numbers are
not those of another run.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.files import load_weights
from engine.generation import generate
from engine.model import inference_pass, training_pass
from engine.trace import Trace
from engine.weights import Weights

Path = tuple[str, ...]
_MOST = 4096  # values kept as they are; of more only a digest

#: stands in a path for the names in a table
NAMES = "*"


class Passes:
    """The forward passes of two weight files and a pair of sentences, each made when needed."""

    def __init__(
        self, weights: FilePath, inference_weights: FilePath, source: str, target: str
    ) -> None:
        self._files = weights, inference_weights
        self._weights: dict[FilePath, Weights] = {}
        self._source, self._target = source, target
        self._traces: dict[str, Trace] = {}
        self._values: dict[tuple[str, str], Any] = {}

    def check(self) -> None:
        """Raise LectureError for weight files that are none."""
        for path in self._files:
            self._load(path)

    def trace(self, run: str) -> Trace:
        """``training``, or ``inference K``: of the first K words. Raises LectureError."""
        if run not in self._traces:
            training, inference = self._files
            if run == "training":
                trace = training_pass(self._load(training), self._source, self._target)
            else:
                prefix = self.trace("training").target_tokens[: int(run.rsplit(" ", 1)[1])]
                trace = inference_pass(self._load(inference), prefix, self._source)
            self._traces[run] = trace
        return self._traces[run]

    def value(self, run: str, name: str) -> Any:
        """An array, or plain data. Raises LookupError or ValueError where there is no such."""
        key = run, name
        if key not in self._values:
            self._values[key] = self._find(run, name)
        return self._values[key]

    def _find(self, run: str, name: str) -> Any:
        trace = self.trace(run)
        kind, _, rest = name.partition(":")
        match kind:
            case "weights":
                return trace.weights.matrices[rest]
            case "shape":
                return list(trace[rest].shape)
            case "tokens":
                tokens = {
                    "source": trace.source_tokens,
                    "target": trace.target_tokens,
                    "vocabulary": trace.weights.vocabulary,
                }
                return list(tokens[rest])
            case "config":
                return json.loads(json.dumps(getattr(trace.weights.config, rest)))
            case "choices":
                start, steps = json.loads(rest)
                last = generate(trace.weights, self._source, start, steps)[-1]
                return [*last.input, last.choice]
            case "differing":
                return _differing(trace.weights, self.trace(rest).weights)
        return trace[name]

    def _load(self, path: FilePath) -> Weights:
        if path not in self._weights:
            self._weights[path] = load_weights(path)
        return self._weights[path]


def _differing(one: Weights, other: Weights) -> list[str]:
    """The names of the matrices that are not the same in both."""
    names = dict.fromkeys([*one.matrices, *other.matrices])
    return [
        name
        for name in names
        if name not in one.matrices
        or name not in other.matrices
        or not np.array_equal(one.matrices[name], other.matrices[name])
    ]


class Reads:
    """Remembers what is read; the document is plain data for JSON."""

    def __init__(self) -> None:
        self._arrays: dict[tuple[str, str], tuple[NDArray[Any], NDArray[np.bool_]]] = {}
        self._plain: dict[tuple[str, str], Any] = {}
        self._texts: dict[Path, Any] = {}

    @property
    def names(self) -> set[tuple[str, str]]:
        """Run and name of everything that was read."""
        return {*self._arrays, *self._plain}

    def array(self, run: str, name: str, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Where to mark the elements of an array that are looked at. Its shape counts as read."""
        if (run, name) not in self._arrays:
            self._arrays[run, name] = values, np.zeros(values.shape, dtype=np.bool_)
        return self._arrays[run, name][1]

    def plain(self, run: str, name: str, value: Any) -> None:
        """Words, sizes and the like, read as a whole."""
        self._plain[run, name] = value

    def text(self, path: Path, value: Any) -> None:
        """A text by its keys; None: it was looked for and is not there."""
        self._texts[path] = digest_of(value)

    def document(self) -> dict[str, Any]:
        """``values``: run and name, with elements or plain data; ``texts``: keys and digest."""
        arrays = [
            {"run": run, "name": name, **packed(values, seen)}
            for (run, name), (values, seen) in self._arrays.items()
        ]
        plain = [
            {"run": run, "name": name, "plain": value} for (run, name), value in self._plain.items()
        ]
        texts = [[list(path), digest] for path, digest in sorted(self._texts.items())]
        return {"values": [*plain, *arrays], "texts": texts}


def packed(values: NDArray[Any], seen: NDArray[np.bool_]) -> dict[str, Any]:
    """The elements of an array that were looked at, as plain data."""
    data = np.ascontiguousarray(values[seen]).tobytes()
    few = int(seen.sum()) <= _MOST
    return {
        "shape": list(values.shape),
        "type": values.dtype.str,
        "seen": None if seen.all() else _text(np.packbits(seen).tobytes()),
        **({"data": _text(data)} if few else {"digest": hashlib.sha256(data).hexdigest()}),
    }


def seen_of(entry: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Which elements an entry of a document is about."""
    shape = tuple(entry["shape"])
    if entry["seen"] is None:
        return np.ones(shape, dtype=np.bool_)
    bits = np.frombuffer(base64.b64decode(entry["seen"]), dtype=np.uint8)
    return np.unpackbits(bits, count=int(np.prod(shape))).astype(np.bool_).reshape(shape)


def elements_of(entry: Mapping[str, Any]) -> NDArray[Any] | None:
    """The elements of an entry of a document; None where only their digest was kept."""
    if "data" not in entry:
        return None
    return np.frombuffer(base64.b64decode(entry["data"]), dtype=np.dtype(entry["type"]))


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def digest_of(value: Any) -> str | None:
    """A digest of a text or of other plain data; None for None; all tables are alike."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        return "table"
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:32]


def look_up(table: Mapping[str, Any], path: Sequence[str]) -> Any:
    """The value under a path of keys, None where there is none."""
    found: Any = table
    for key in path:
        if not isinstance(found, Mapping):
            return None
        found = sorted(found) if key == NAMES else found.get(key)
    return found


class Table(Mapping[str, Any]):
    """A table of texts that tells ``read`` the path and the value of whatever is read of it."""

    def __init__(
        self, whole: Mapping[str, Any], read: Callable[[Path, Any], None], path: Path = ()
    ) -> None:
        self._whole, self._read, self._path = whole, read, path

    def __getitem__(self, key: str) -> Any:
        path, value = (*self._path, key), self._whole.get(key)
        if isinstance(value, Mapping):
            return Table(value, self._read, path)
        self._read(path, value)
        return self._whole[key]

    def __contains__(self, key: object) -> bool:
        if isinstance(key, str):
            self._read((*self._path, key), self._whole.get(key))
        return key in self._whole

    def __iter__(self) -> Iterator[str]:
        self._read((*self._path, NAMES), sorted(self._whole))
        return iter(self._whole)

    def __len__(self) -> int:
        self._read((*self._path, NAMES), sorted(self._whole))
        return len(self._whole)
