"""What belongs together in an old and a new list: numbers by their source, sentences by words."""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

#: a number, a word, or a single character
_WORD = re.compile(r"[−-]?\d+(?:\.\d+)?|[A-Za-z']+|\s+|.", re.DOTALL)


@dataclass(frozen=True)
class Shown:
    """A number on screen: where it comes from, its digits, and its place in percent of the
    picture (left, top, width, height); no place where none is known."""

    source: str
    text: str
    box: tuple[float, float, float, float] | None = None


@dataclass(frozen=True)
class Change:
    """A number whose shown digits are others now; None: it is not shown there."""

    source: str
    old: str | None
    new: str | None


def changes(old: Sequence[Shown], new: Sequence[Shown]) -> list[Change]:
    """The numbers that are shown otherwise, each kind once, in the order of the new list. Those of
    one source are matched in order."""
    return list(
        dict.fromkeys(
            Change(source, one.text if one else None, other.text if other else None)
            for source, one, other in _pairs(old, new)
            if one is None or other is None or one.text != other.text
        )
    )


def changed(numbers: Sequence[Shown], others: Sequence[Shown]) -> list[Shown]:
    """Those of ``numbers`` that have no partner with the same digits among ``others``."""
    return [
        one
        for _, one, other in _pairs(numbers, others)
        if one is not None and (other is None or other.text != one.text)
    ]


def _pairs(
    old: Iterable[Shown], new: Iterable[Shown]
) -> Iterator[tuple[str, Shown | None, Shown | None]]:
    waiting: dict[str, list[Shown]] = defaultdict(list)
    for number in old:
        waiting[number.source].append(number)
    for number in new:
        partners = waiting[number.source]
        yield number.source, (partners.pop(0) if partners else None), number
    for source, rest in waiting.items():
        yield from ((source, number, None) for number in rest)


@dataclass(frozen=True)
class Piece:
    """A stretch of a sentence: in both, only in the old, or only in the new."""

    text: str
    kind: str  # "same", "old" or "new"


def sentence(old: str, new: str) -> list[Piece]:
    """Both sentences in one, word by word."""
    first, second = _WORD.findall(old), _WORD.findall(new)
    matcher = difflib.SequenceMatcher(None, first, second, autojunk=False)
    pieces: list[Piece] = []
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            pieces.append(Piece("".join(first[a:b]), "same"))
            continue
        if b > a:
            pieces.append(Piece("".join(first[a:b]), "old"))
        if d > c:
            pieces.append(Piece("".join(second[c:d]), "new"))
    return pieces
