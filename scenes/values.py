"""Numbers with a birth certificate: where in the trace a value stands, or how it was computed.

Scenes read arrays through :class:`Run` and :class:`Values`, which index like NumPy arrays and
remember the name and the index; a single element is a :class:`Scalar`. Arithmetic on scalars
keeps the recipe, so that anyone holding the trace can recompute what is on the screen. Whatever
is read is noted (``engine.reads``), so that a video can be told to be up to date.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.passes import Passes
from engine.reads import Reads

from .rounding import MINUS, probability, shown


class Word(str):
    """A token of the lesson: data, whatever it looks like, and its digits are its own."""

    __slots__ = ()


def words(texts: Sequence[str]) -> tuple[Word, ...]:
    """These texts as words."""
    return tuple(map(Word, texts))


def joined(words: Sequence[str], between: str = " ") -> Word:
    """Several words as one text, as little parsed as each of them."""
    return Word(between.join(words))


def _entropy(*shares: float) -> float:
    """Entropy in nats of shares that sum to 1."""
    return -math.fsum(share * math.log(share) for share in shares if share > 0)


def _count_greater(*terms: float) -> float:
    """In how many places the first half of the terms is greater than the second half."""
    half = len(terms) // 2
    return float(sum(a > b for a, b in zip(terms[:half], terms[half:], strict=True)))


def _rounded(value: float, decimals: float) -> float:
    """The number that is read off the screen."""
    return float(shown(value, int(decimals)).replace(MINUS, "-"))


OPERATIONS: dict[str, Callable[..., float]] = {
    "add": lambda *terms: math.fsum(terms),
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "negate": lambda a: -a,
    "sqrt": lambda a: math.sqrt(a),
    "exp": lambda a: math.exp(a),
    "log": lambda a: math.log(a),
    "ln": lambda a: math.log(a),
    "−ln": lambda a: -math.log(a) if a > 0 else math.inf,
    "sin": lambda a: math.sin(a),
    "cos": lambda a: math.cos(a),
    "power": lambda a, b: a**b,
    "max": lambda *terms: max(terms),
    "min": lambda *terms: min(terms),
    "mean": lambda *terms: math.fsum(terms) / len(terms),
    "rank": lambda value, *others: 1.0 + sum(other > value for other in others),
    "count": lambda *terms: float(len(terms)),
    "count_equal": lambda value, *terms: float(sum(term == value for term in terms)),
    "count_greater": _count_greater,
    "count_below": lambda value, *terms: float(sum(term < value for term in terms)),
    "rounded": _rounded,
    "entropy": _entropy,
    "count_zeros": lambda *terms: float(sum(term == 0 for term in terms)),
    "constant": lambda a: a,
}


@dataclass(frozen=True, eq=False)
class Scalar:
    """One exact value and where it comes from.

    ``source`` is ``(run, name, index)`` for an element of a trace, a weight or a size, and
    ``(operation, operands)`` for what was computed from others.
    """

    exact: float
    source: tuple[Any, ...]

    def __deepcopy__(self, memo: object) -> Scalar:
        return self

    def __add__(self, other: Scalar) -> Scalar:
        return compute("add", self, other)

    def __sub__(self, other: Scalar) -> Scalar:
        return compute("subtract", self, other)

    def __mul__(self, other: Scalar) -> Scalar:
        return compute("multiply", self, other)

    def __truediv__(self, other: Scalar) -> Scalar:
        return compute("divide", self, other)

    def __neg__(self) -> Scalar:
        return compute("negate", self)

    @property
    def is_traced(self) -> bool:
        return len(self.source) == 3

    def written(self, decimals: int, *, signed: bool = False) -> str:
        """The digits of the value, by the kind of value that it is."""
        if self.is_traced and is_probability(self.source[1]):
            return probability(self.exact, decimals)
        return shown(self.exact, decimals, signed=signed)

    def recipe(self) -> dict[str, Any]:
        """The source as plain data, for ``numbers.json``."""
        if self.is_traced:
            run, name, index = self.source
            return {"run": run, "name": name, "index": list(index)}
        operation, operands = self.source
        if operation == "constant":
            return {"constant": operands[0]}
        return {"operation": operation, "of": [operand.recipe() for operand in operands]}


def is_probability(name: str) -> bool:
    """Whether the trace's value of this name is a word's probability."""
    return name == "probabilities"


def compute(operation: str, *operands: Scalar) -> Scalar:
    """The result of an operation of :data:`OPERATIONS`, with its recipe."""
    exact = OPERATIONS[operation](*(operand.exact for operand in operands))
    return Scalar(float(exact), (operation, operands))


def constant(value: float) -> Scalar:
    """A number that belongs to a formula (the 2 of a square, the position 1), not to the trace."""
    return Scalar(float(value), ("constant", (value,)))


def rounded(scalar: Scalar, decimals: int) -> Scalar:
    """A value as it is shown, for what is decided by the digits."""
    return compute("rounded", scalar, constant(decimals))


class Values:
    """A part of one array of a run: indexes like the array and remembers where it stands.

    Elements that are looked at are noted in ``reads``.
    """

    def __init__(
        self,
        run: str,
        name: str,
        whole: np.ndarray,
        index: tuple[int, ...] = (),
        reads: Reads | None = None,
    ) -> None:
        self.run = run
        self.name = name
        self.index = index
        self._whole = whole
        self._reads = Reads() if reads is None else reads
        self._seen = self._reads.array(run, name, whole)

    def __deepcopy__(self, memo: object) -> Values:
        return self

    @property
    def array(self) -> np.ndarray:
        """The numbers, all of which count as looked at."""
        self._seen[self.index] = True
        return self._whole[self.index] if self.index else self._whole

    @property
    def shape(self) -> tuple[int, ...]:
        return self._whole.shape[len(self.index) :]

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: int | tuple[int, ...]) -> Any:
        """A smaller part; a :class:`Scalar` once every axis has its index."""
        more = (index,) if isinstance(index, (int, np.integer)) else index
        axes = self.shape
        whole = tuple(int(i) % axes[axis] for axis, i in enumerate(more))
        full = self.index + whole
        if len(full) == self._whole.ndim:
            self._seen[full] = True
            return Scalar(float(self._whole[full]), (self.run, self.name, full))
        return Values(self.run, self.name, self._whole, full, self._reads)

    def argmax(self) -> tuple[int, ...]:
        """Index of the largest element, first one on a tie; as many numbers as there are axes."""
        return self._place("argmax", np.argmax)

    def argmin(self) -> tuple[int, ...]:
        """Index of the smallest element, as :meth:`argmax`."""
        return self._place("argmin", np.argmin)

    def _place(self, what: str, find: Callable[[np.ndarray], Any]) -> tuple[int, ...]:
        """Where it is counts as read; the elements do not."""
        part = self._whole[self.index]
        place = [int(i) for i in np.unravel_index(find(part), part.shape)]
        asked = json.dumps([self.name, self.index])
        self._reads.plain(self.run, f"{what}:{asked}", place)
        return tuple(place)

    def scalars(self) -> list[Scalar]:
        """Every element, in row-major order."""
        return [self[index] for index in np.ndindex(self.shape)]

    def sum(self) -> Scalar:
        """The sum of all elements, as a computed scalar."""
        return compute("add", *self.scalars())


class Run:
    """One forward pass, by the names of its trace; also its weights, tokens and sizes.

    There is no way past ``reads`` to a value.
    """

    def __init__(self, label: str, passes: Passes, reads: Reads | None = None) -> None:
        self.label = label
        self._passes = passes
        self._reads = Reads() if reads is None else reads

    def __getitem__(self, name: str) -> Values:
        whole = np.asarray(self._passes.value(self.label, name))
        return Values(self.label, name, whole, reads=self._reads)

    def weight(self, name: str) -> Values:
        """A matrix of the weights file, shape (out, in)."""
        return self[f"weights:{name}"]

    def size(self, name: str, axis: int) -> Scalar:
        """Length of an axis of a traced array, as a scalar to show."""
        shape = self._plain(f"shape:{name}")
        return Scalar(float(shape[axis]), (self.label, f"shape:{name}", (axis,)))

    @property
    def source(self) -> tuple[Word, ...]:
        return words(self._plain("tokens:source"))

    @property
    def target(self) -> tuple[Word, ...]:
        """What the decoder reads."""
        return words(self._plain("tokens:target"))

    @property
    def goals(self) -> tuple[Word, ...]:
        """What the first rows of the training pass are to write."""
        return words(self._plain("tokens:goal"))

    @property
    def vocabulary(self) -> tuple[Word, ...]:
        """The words that the model writes."""
        return words(self._plain("tokens:vocabulary"))

    @property
    def source_vocabulary(self) -> tuple[Word, ...]:
        return words(self._plain("tokens:source_vocabulary"))

    def setting(self, path: str) -> Any:
        """A setting of the model by its name in a weight file: ``norm.place``, ``activation``."""
        return self._plain(f"config:{path}")

    def model(self, path: str) -> Any:
        """``objective``, ``groups`` of optional arrays, ``tokens.bos`` and the like."""
        found = self._plain(f"model:{path}")
        return Word(found) if path.startswith("tokens.") and isinstance(found, str) else found

    def layers(self, side: str) -> list[list[str]]:
        """The layers of "encoder" or "decoder", each as the names of its sub-layers."""
        return self._plain(f"config:{side}")

    @property
    def layer_norm_eps(self) -> float:
        return float(self._plain("config:layer_norm_eps"))

    def alone(self, start: Sequence[str], steps: int) -> list[Word]:
        """``start`` and the words that the model writes after it when it is left alone."""
        asked = json.dumps([list(start), steps], ensure_ascii=False)
        return list(words(self._plain(f"choices:{asked}")))

    def differing(self, other: Run) -> list[str]:
        """The names of the matrices whose numbers are not the same as another run's."""
        return list(self._plain(f"differing:{other.label}"))

    def _plain(self, name: str) -> Any:
        value = self._passes.value(self.label, name)
        self._reads.plain(self.label, name, value)
        return value
