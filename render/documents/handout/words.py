"""The sentences of the handout: ``assets/handout/{zh,en}.toml``, templates as those on screen.

``{name}`` stands for a fact, ``<q>…</q>`` for a meaning that has a colour, ``$…$`` for a formula
in Typst's notation, in which ``{name}`` is a word set upright.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.errors import LectureError, from_os_error
from engine.reader import parse_toml
from render.base.project import ASSETS
from render.base.template import ReadFile
from render.documents.handout.content import Mark, Math, Number, Part, Parts, Typst
from scenes import texts

FOLDER = ASSETS / "handout"

Fact = str | Number
Facts = Mapping[str, Fact]
Texts = Mapping[str, Any]


def load(language: str, wording: Texts, read: ReadFile = Path.read_bytes) -> dict[str, Any]:
    """All texts of a language, with one for each case of the families of sentences that are in
    ``wording``. Raises LectureError where the file is missing or no TOML."""
    path = FOLDER / f"{language}.toml"
    try:
        return dict(texts.expand(parse_toml(read(path), path), wording))
    except OSError as error:
        raise from_os_error(error, path) from error


def entry(table: Texts, language: str, *keys: str) -> str:
    """The text under these keys. Raises LectureError, naming file and keys, where there is none."""
    found: Any = table
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    if not isinstance(found, str):
        where, field = FOLDER / f"{language}.toml", ".".join(keys)
        raise LectureError(where=where, field=field, expected="a text", found="nothing")
    return found


def fill(template: str, facts: Facts) -> Parts:
    """The parts of a template. Raises KeyError where a fact is missing."""
    parts: list[Part] = []
    for n, piece in enumerate(template.split("$")):
        if n % 2:
            parts.append(Math(Typst.of(piece, **facts)))
        elif piece:
            parts += _spans(piece, facts)
    return tuple(parts)


def _spans(piece: str, facts: Facts) -> list[Part]:
    parts: list[Part] = []
    for span in texts.parse(piece):
        value: Fact = facts[span.text] if span.is_fact else span.text
        marked = span.tag and isinstance(value, str)
        parts.append(Mark(str(span.tag), str(value)) if marked else value)
    return parts


def plain(parts: Parts) -> str:
    """Parts in plain letters."""
    return "".join(
        part if isinstance(part, str) else str(part.typst if isinstance(part, Math) else part.text)
        for part in parts
    )
