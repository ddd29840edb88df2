"""The sentences of the handout: ``assets/handout/{zh,en}.toml``, templates as those on screen.

``{name}`` stands for a fact, ``<q>…</q>`` for a meaning that has a colour, ``$…$`` for a formula
in Typst's notation, in which ``{name}`` is a word set upright.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Any

from engine.errors import LectureError, from_os_error
from render.base.project import ASSETS
from render.documents.handout.content import Mark, Math, Number, Part, Parts
from scenes import texts

FOLDER = ASSETS / "handout"

Fact = str | Number
Facts = Mapping[str, Fact]


@cache
def load(language: str) -> dict[str, Any]:
    """All texts of a language. Raises LectureError where the file is missing or no TOML."""
    path = FOLDER / f"{language}.toml"
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise from_os_error(error, path) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LectureError(where=path, expected="valid TOML", found=str(error)) from error


def entry(language: str, *keys: str) -> str:
    """The text under these keys. Raises LectureError, naming file and keys, where there is none."""
    found: Any = load(language)
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    if not isinstance(found, str):
        raise LectureError(
            where=FOLDER / f"{language}.toml",
            field=".".join(keys),
            expected="a text",
            found="nothing",
        )
    return found


def fill(template: str, facts: Facts) -> Parts:
    """The parts of a template. Raises KeyError where a fact is missing."""
    parts: list[Part] = []
    for n, piece in enumerate(template.split("$")):
        if n % 2:
            parts.append(Math(_filled_formula(piece, facts)))
        elif piece:
            parts += _spans(piece, facts)
    return tuple(parts)


def _spans(piece: str, facts: Facts) -> list[Part]:
    parts: list[Part] = []
    for span in texts.parse(piece):
        value: Fact = facts[span.text] if span.is_fact else span.text
        if span.tag and isinstance(value, str):
            parts.append(Mark(span.tag, value))
        else:
            parts.append(value)
    return parts


def _filled_formula(formula: str, facts: Facts) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: quoted(str(facts[match[1]])), formula)


def quoted(text: str) -> str:
    """``text`` as a string of Typst, upright in a formula."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
