"""Words that captions do not divide: ``assets/captions/{zh,en}.toml``."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

from render.base.project import ASSETS
from engine.errors import LectureError

FOLDER = ASSETS / "captions"


@cache
def load(language: str) -> tuple[str, ...]:
    """Terms and words, longest first. Raises LectureError where the file is not as it should be."""
    path = FOLDER / f"{language}.toml"
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        found = [*table["terms"], *table["words"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LectureError(
            where=path, expected="lists of words: terms, words", found=str(error)
        ) from error
    bad = [word for word in found if not isinstance(word, str) or not word.strip()]
    if bad:
        raise LectureError(where=path, expected="words", found=repr(bad[0]))
    return tuple(sorted(set(found), key=lambda word: (-len(word), word)))


@cache
def pattern(language: str) -> re.Pattern[str]:
    """Finds every term, however it is capitalised; Latin ones as whole words only."""
    parts = []
    for word in load(language):
        before = r"(?<![A-Za-z0-9])" if word[0].isascii() else ""
        after = r"(?![A-Za-z0-9])" if word[-1].isascii() else ""
        parts.append(f"{before}{re.escape(word)}{after}")
    return re.compile("|".join(parts) or r"(?!)", re.IGNORECASE)


def ranges(text: str, language: str) -> list[tuple[int, int]]:
    """Where terms stand in ``text``, overlapping ones too."""
    found, start = [], 0
    while match := pattern(language).search(text, start):
        found.append(match.span())
        start = match.start() + 1
    return found
