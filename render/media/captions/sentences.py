"""What is said in a video, and when: its beats' sentences, in either language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.errors import LectureError
from scenes import texts

Range = tuple[int, int]


@dataclass(frozen=True)
class Sentence:
    """``text`` in plain letters, said from ``start`` to ``end`` seconds.

    ``whole``: ranges of ``text`` that a line break must not divide: what is coloured on screen, and
    what comes from the model. ``pauses``: places where the screen has a line break.
    """

    text: str
    start: float
    end: float
    whole: tuple[Range, ...] = ()
    pauses: tuple[int, ...] = ()


def sentences(slug: str, beats: Sequence[Mapping[str, Any]], language: str) -> list[Sentence]:
    """Those of a video, from the ``beats`` in its record. Raises LectureError where a text or a
    fact is missing."""
    found = []
    for beat in beats:
        name, variant = beat["name"], beat["variant"]
        key = f"{name}_{variant}" if variant else name
        template = texts.entry(language, slug, "beats", key)
        try:
            said = said_of(template, beat["facts"])
        except (KeyError, ValueError) as error:
            raise LectureError(
                where=texts.FOLDER / f"{language}.toml",
                field=f"{slug}.beats.{key}",
                expected=f"a sentence with the facts {', '.join(beat['facts']) or 'none'}",
                found=str(error),
            ) from error
        found.append(Sentence(said.text, beat["start"], beat["end"], said.whole, said.pauses))
    return found


def said_of(template: str, facts: Mapping[str, str]) -> Sentence:
    """A template filled with facts, without times. Raises KeyError and ValueError."""
    text, whole, pauses = "", [], []
    coloured: tuple[str, int] | None = None
    for span in texts.parse(template):
        if coloured and coloured[0] != span.tag:
            whole.append((coloured[1], len(text)))
            coloured = None
        if span.tag and not coloured:
            coloured = (span.tag, len(text))
        if span.is_fact:
            fact = _one_line(facts[span.text])
            whole += [(len(text) + a, len(text) + b) for a, b in _words(fact)]
            text += fact
            continue
        for index, line in enumerate(span.text.split("\n")):
            if index:
                text = _joined(text, line)
                pauses.append(len(text))
            text += line
    if coloured:
        whole.append((coloured[1], len(text)))
    return Sentence(text, 0.0, 0.0, tuple(whole), tuple(pauses))


def _joined(text: str, after: str) -> str:
    """``text`` with the blank that a line break stands for; none beside Chinese."""
    if not text or text[-1] == " " or is_wide(text[-1]) or (after and is_wide(after[0])):
        return text
    return f"{text} "


def _one_line(fact: str) -> str:
    return " ".join(fact.split())


def _words(text: str) -> list[Range]:
    """The ranges of words between blanks."""
    found, start = [], 0
    for word in text.split(" "):
        found.append((start, start + len(word)))
        start += len(word) + 1
    return found


def is_wide(char: str) -> bool:
    """Whether a character is Chinese: a letter, or punctuation of full width."""
    return "\u2e80" <= char <= "\u9fff" or "\uff00" <= char <= "\uffef" or char in "“”‘’—…"
