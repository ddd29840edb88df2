"""Text to tokens: one Chinese character or one English word each, as the vocabulary has them."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np

from engine.errors import LectureError, quoted
from engine.ops import Ids
from engine.weights import Weights


def tokenize(text: str, vocabulary: Sequence[str], where: str | None = None) -> tuple[str, ...]:
    """Cut a text into vocabulary entries: always the longest that fits, and never a piece out of
    the middle of an alphabetic word ("Ilove" is not "I" and "love"). White space separates.

    Raises LectureError naming the first piece the vocabulary does not have.
    """
    words = {unicodedata.normalize("NFC", word): word for word in vocabulary}
    text = unicodedata.normalize("NFC", text)
    longest = max(map(len, words))
    tokens = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        for end in range(min(len(text), at + longest), at, -1):
            if text[at:end] in words and not _splits_a_word(text, end):
                break
        else:
            raise _unknown(_piece(text, at), vocabulary, where)
        tokens.append(words[text[at:end]])
        at = end
    return tuple(tokens)


def encode(text: str | Sequence[str], weights: Weights, where: str) -> tuple[tuple[str, ...], Ids]:
    """Tokens and ids of a text, or of a sequence of tokens. `where` names the input in errors.

    Raises LectureError if a token is unknown, there is none, or there are more than max_length.
    """
    vocabulary = weights.vocabulary
    if isinstance(text, str):
        tokens = tokenize(text, vocabulary, where)
    else:
        tokens = tuple(text)
        for token in tokens:
            if token not in vocabulary:
                raise _unknown(token, vocabulary, where)
    longest = weights.config.max_length
    if not 1 <= len(tokens) <= longest:
        raise LectureError(
            where=where,
            field="length",
            expected=f"1 to {longest} tokens (the model's max_length)",
            found=str(len(tokens)) if tokens else "none",
        )
    return tokens, np.array([vocabulary.index(token) for token in tokens], dtype=np.int64)


def _is_word_character(char: str) -> bool:
    """Letters, digits and combining marks of scripts that write words apart (not Chinese)."""
    if unicodedata.east_asian_width(char) in "WF":
        return False
    return char.isalnum() or unicodedata.category(char).startswith("M")


def _splits_a_word(text: str, end: int) -> bool:
    return end < len(text) and _is_word_character(text[end - 1]) and _is_word_character(text[end])


def _piece(text: str, at: int) -> str:
    """What to call the unknown piece that starts here: the whole word, or one character."""
    end = at + 1
    while end < len(text) and _splits_a_word(text, end):
        end += 1
    return text[at:end]


def _unknown(token: object, vocabulary: Sequence[str], where: str | None) -> LectureError:
    shown = " ".join(vocabulary[:40]) + (" ..." if len(vocabulary) > 40 else "")
    return LectureError(
        where=where,
        field="token",
        expected=f"words of the vocabulary ({shown})",
        found=f"the unknown {quoted(token)}",
    )
