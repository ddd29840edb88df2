"""Text to tokens, as the vocabulary has them, and what a decoder is taught with them."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.errors import LectureError, quoted
from engine.ops import Ids
from engine.weights import Weights
from engine.words import Words


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


def words_of(text: str | Sequence[str], weights: Weights, where: str) -> Words:
    """The words of a text or a sequence as they are, however many; `where` as in `encode`. Raises
    LectureError for an unknown one."""
    vocabulary = weights.source_words if where == "source" else weights.vocabulary
    if isinstance(text, str):
        return tokenize(text, vocabulary, where)
    tokens = tuple(text)
    for token in tokens:
        if token not in vocabulary:
            raise _unknown(token, vocabulary, where)
    return tokens


def encode(text: str | Sequence[str], weights: Weights, where: str) -> tuple[Words, Ids]:
    """Tokens and ids of a text, or of a sequence of tokens. `where` names the input in errors; a
    "source" is read with the source's words and gets the start and end tokens that the model
    wants there; anything else consists of the target's words, just as the decoder reads them.

    Raises LectureError if a token is unknown, there is none, or there are more than max_length.
    """
    tokens, special = words_of(text, weights, where), weights.tokens
    _check_length(tokens, weights, where)
    if where != "source":
        return tokens, _ids(tokens, weights, where)
    if special.source_bos and special.bos is not None:
        tokens = (special.bos, *tokens)
    if special.source_eos and special.eos is not None:
        tokens = (*tokens, special.eos)
    return tokens, _ids(tokens, weights, where)


@dataclass(frozen=True, eq=False)
class Teaching:
    """Teacher forcing: what the decoder reads, (m,), and what its first rows should write, (g,)
    with g <= m, as tokens and as ids."""

    read: Words
    read_ids: Ids
    goals: Words
    goal_ids: Ids


def teach(text: str | Sequence[str], weights: Weights, objective: str | None = None) -> Teaching:
    """What a decoder reads and should write for a target, by the model's own objective if no
    other is given. "copy": row i writes token i, which it has read. "next": start and end token
    are added to the target if the model has them; row i reads token i and writes token i + 1.
    With a start but no end token, the last word is read although nothing follows it.

    Raises LectureError as `encode` does, or if there is nothing to write.
    """
    words, ids = encode(text, weights, "target")
    if (objective or weights.objective) == "copy":
        return Teaching(words, ids, words, ids)
    bos, eos = weights.tokens.bos, weights.tokens.eos
    goals = words if bos is not None else words[1:]
    read = words if eos is not None or bos is not None else words[:-1]
    if bos is not None:
        read = (bos, *read)
    if eos is not None:
        goals = (*goals, eos)
    if not goals:
        raise LectureError(
            where="target", field="length", expected="2 tokens or more to shift", found="1"
        )
    return Teaching(read, _ids(read, weights, "target"), goals, _ids(goals, weights, "target"))


def _ids(tokens: Words, weights: Weights, where: str) -> Ids:
    _check_length(tokens, weights, where)
    words = weights.source_words if where == "source" else weights.vocabulary
    return np.array([words.index(token) for token in tokens], dtype=np.int64)


def _check_length(tokens: Words, weights: Weights, where: str) -> None:
    longest = weights.config.max_length
    if not 1 <= len(tokens) <= longest:
        raise LectureError(
            where=where,
            field="length",
            expected=f"1 to {longest} tokens (the model's max_length)",
            found=str(len(tokens)) if tokens else "none",
        )


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
