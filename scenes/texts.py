"""The sentences of the lecture: ``assets/text/{zh,en}.toml``. Imports no Manim.

A text is a template. ``{name}`` stands for a fact that the scene computes from the trace (a
number or a token), ``<q>…</q>`` colours what is between (see ``theme.MARKUP`` for the tags).
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from engine.errors import LectureError

FOLDER = Path(__file__).resolve().parent.parent / "assets" / "text"

#: Characters a second that a student reads, from the project's reading-speed rule.
READING_SPEED = {"zh": 5.0, "en": 15.0}

_TOKEN = re.compile(r"\{(\w+)\}|<(/?)(\w+)>")


@cache
def load(language: str) -> dict[str, Any]:
    """All texts of a language: ``load("zh")["08_attention_scores"]["title"]``."""
    path = FOLDER / f"{language}.toml"
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise LectureError(where=str(path), expected="a text file", found="nothing") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LectureError(where=str(path), expected="valid TOML", found=str(error)) from None


def entry(language: str, *keys: str) -> Any:
    """What stands under ``[08_attention_scores.beats] question`` and the like: a text, or a table
    of them. Raises LectureError, naming the file and the keys, where nothing does."""
    found: Any = load(language)
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
        if found is None:
            raise LectureError(
                where=FOLDER / f"{language}.toml",
                field=".".join(keys),
                expected="a text",
                found="nothing",
            )
    return found


@dataclass(frozen=True)
class Span:
    """A piece of a template: plain text, or the name of a fact; with the tag it stands in."""

    text: str
    is_fact: bool
    tag: str | None


def parse(template: str) -> list[Span]:
    """Split a template into spans. Raises ValueError where tags do not match."""
    spans: list[Span] = []
    tag: str | None = None
    position = 0
    for match in _TOKEN.finditer(template):
        if match.start() > position:
            spans.append(Span(template[position : match.start()], False, tag))
        position = match.end()
        fact, closing, name = match.groups()
        if fact:
            spans.append(Span(fact, True, tag))
        elif closing:
            if tag != name:
                raise ValueError(f"</{name}> closes nothing in {template!r}")
            tag = None
        elif tag is not None:
            raise ValueError(f"<{name}> inside <{tag}> in {template!r}")
        else:
            tag = name
    if tag is not None:
        raise ValueError(f"<{tag}> is not closed in {template!r}")
    if position < len(template):
        spans.append(Span(template[position:], False, tag))
    return spans


def reading_time(text: str, language: str) -> float:
    """Seconds a student needs for a sentence of ``text`` (markup already gone), at least 1.5."""
    length = len(re.sub(r"\s+", " ", text.strip()))
    return max(1.5, length / READING_SPEED[language])
