"""Vocabularies, and the words in them that have a part to play."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path

from engine.errors import LectureError, quoted

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tokens:
    """Special words of the target's vocabulary, None if there is none: `bos` and `eos` begin and
    end a sentence. `source_bos` and `source_eos`: the source gets them too."""

    bos: str | None = None
    eos: str | None = None
    pad: str | None = None
    unk: str | None = None
    source_bos: bool = False
    source_eos: bool = False


TOKEN_FIELDS = tuple(f.name for f in fields(Tokens))


def check_vocabulary(
    vocabulary: Iterable[object], where: str | Path | None = None, field: str = "vocabulary"
) -> None:
    """Words must be non-empty strings without spaces or control characters, none twice. Raises
    LectureError."""
    words = tuple(vocabulary)
    if not words:
        raise LectureError(where=where, field=field, expected="words", found="none")
    seen: dict[str, int] = {}
    for number, word in enumerate(words):
        place = f"{field}[{number}]"
        if not isinstance(word, str) or not word or not word.isprintable() or " " in word:
            raise LectureError(
                where=where,
                field=place,
                expected="a word without spaces or control characters",
                found=quoted(word),
            )
        same = unicodedata.normalize("NFC", word)  # as the tokenizer sees it
        if same in seen:
            raise LectureError(
                where=where,
                field=place,
                expected="every word once",
                found=f"{quoted(word)} again, as in {field}[{seen[same]}]",
            )
        seen[same] = number


def check_tokens(tokens: Tokens, source: Words, target: Words, where: str | Path | None) -> None:
    """Refuse tokens that are not in the vocabularies. Raises LectureError."""
    for name in ("bos", "eos", "pad", "unk"):
        word = getattr(tokens, name)
        if word is not None and word not in target:
            raise LectureError(
                where=where,
                field=f"tokens.{name}",
                expected="a word of the target's vocabulary",
                found=quoted(word),
            )
    for name in ("bos", "eos"):
        added = getattr(tokens, f"source_{name}")
        if type(added) is not bool:
            raise LectureError(
                where=where,
                field=f"tokens.source_{name}",
                expected="true or false",
                found=quoted(added),
            )
        word = getattr(tokens, name)
        if added and word not in source:
            raise LectureError(
                where=where,
                field=f"tokens.source_{name}",
                expected=f"tokens.{name}, a word of the source's vocabulary too",
                found="none" if word is None else quoted(word),
            )
