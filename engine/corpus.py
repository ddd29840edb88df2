"""Corpora: sentence pairs to train on, perhaps with the word that each target word translates.

A text file has one pair on a line: source, tab, target, and perhaps a tab and the alignment,
pairs of places counted from 0 such as ``0-0 2-1``, source first. Words stand apart. Empty lines and
lines that begin with ``#`` are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from engine.errors import LectureError, quoted
from engine.reader import read_text
from engine.words import Words

LARGEST = 10_000  # pairs
_LINK = re.compile(r"(\d{1,4})-(\d{1,4})")


@dataclass(frozen=True)
class Pair:
    """A source and its target, in words; ``alignment``: for target words, the place of the source
    word that they translate, as (source place, target place)."""

    source: Words
    target: Words
    alignment: tuple[tuple[int, int], ...] = ()


def read_corpus(path: str | Path) -> tuple[Pair, ...]:
    """The pairs of a file. Raises LectureError, with the number of the line."""
    path = Path(path)
    found = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if line.strip() and not line.startswith("#"):
            found.append(_pair(line, path, f"line {number}"))
    if not 1 <= len(found) <= LARGEST:
        raise LectureError(
            where=path, field="pairs", expected=f"1 to {LARGEST}", found=str(len(found))
        )
    return tuple(found)


def _pair(line: str, path: Path, field: str) -> Pair:
    parts = line.split("\t")
    if len(parts) not in (2, 3) or not all(part.strip() for part in parts[:2]):
        expected = "source, tab, target, and perhaps a tab and the alignment"
        raise LectureError(where=path, field=field, expected=expected, found=quoted(line))
    source, target = (tuple(part.split()) for part in parts[:2])
    links = []
    for link in parts[2].split() if len(parts) == 3 else ():
        match = _LINK.fullmatch(link)
        places = tuple(map(int, match.groups())) if match else (len(source), 0)
        if places[0] >= len(source) or places[1] >= len(target):
            expected = f"places from 0-0 to {len(source) - 1}-{len(target) - 1}"
            raise LectureError(
                where=path, field=f"{field}: alignment", expected=expected, found=quoted(link)
            )
        links.append((places[0], places[1]))
    return Pair(source, target, tuple(links))


def words_in(pairs: Iterable[Pair]) -> Words:
    """All words of a corpus as they first occur, those of sources before those of targets."""
    pairs = tuple(pairs)
    found = dict.fromkeys(word for pair in pairs for word in pair.source)
    found |= dict.fromkeys(word for pair in pairs for word in pair.target)
    return tuple(found)
