"""The sentences of the lecture: ``assets/text/{zh,en}.toml``. Imports no Manim.

A text is a template. ``{name}`` stands for a fact that the scene computes from the trace (a
number or a token), ``<q>…</q>`` colours what is between (see ``theme.MARKUP`` for the tags).
``{family.*}`` stands for each case of ``[wording.family]`` (see ``wording.py``): such a text
becomes one per case, ``takeaway_one``, ``takeaway_alike`` and so on, unless that key is given
beside it. With ``{family.*:first}`` the facts of the case are ``first_key`` instead of ``key``.

Only a :class:`Template` is ever parsed, and only the text files make them: any other text, a token
above all, is shown letter by letter whatever it looks like.
"""

from __future__ import annotations

import itertools
import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, SupportsIndex

from engine.errors import LectureError

from .values import Scalar, Word, constant

FOLDER = Path(__file__).resolve().parent.parent / "assets" / "text"

#: Characters a second that a student reads, from the project's reading-speed rule.
READING_SPEED = {"zh": 5.0, "en": 15.0}

_TOKEN = re.compile(r"\{(\w+)\}|<(/?)(\w+)>")


#: A place for the cases of a family.
_CASES = re.compile(r"\{(\w+)\.\*(?::(\w+))?\}")
_FACT = re.compile(r"\{(\w+)\}")


class Template(str):
    """A text of ours, in which facts and tags are looked for. Parts of one are made explicitly."""

    __slots__ = ()

    def __str__(self) -> str:
        return self

    def split(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[str]:
        """Its pieces, which are templates too."""
        return [Template(piece) for piece in super().split(sep, maxsplit)]


class Say:
    """A fact for a template that is a number: its scalar and how it is written."""

    def __init__(
        self, scalar: Scalar, decimals: int = 3, *, signed: bool = False, percent: bool = False
    ) -> None:
        self.scalar = scalar * constant(100) if percent else scalar
        self.decimals = decimals
        self.text = self.scalar.written(decimals, signed=signed)

    def __str__(self) -> str:
        return self.text


#: What a template is filled with: words, which are never parsed, and numbers.
Facts = Mapping[str, str | Say]


@cache
def load(language: str) -> dict[str, Any]:
    """All texts of a language: ``load("zh")["08_attention_scores"]["title"]``."""
    path = FOLDER / f"{language}.toml"
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise LectureError(where=str(path), expected="a text file", found="nothing") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LectureError(where=str(path), expected="valid TOML", found=str(error)) from None
    return expand(said, said.get("wording", {}))


def expand(table: Mapping[str, Any], wording: Mapping[str, Any]) -> dict[str, Any]:
    """A table with templates for texts, and a text for each case of the families it speaks of.
    Raises LookupError where ``wording`` has no such family."""
    made: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            made[key] = expand(value, wording)
        elif _CASES.search(str(value)):
            for case, template in _cases(str(value), wording):
                if f"{key}_{case}" not in table:
                    made[f"{key}_{case}"] = Template(template)
        else:
            made[key] = Template(value) if isinstance(value, str) else value
    return made


def _cases(text: str, wording: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The names of the cases that a text is for, joined by ``_``, with the text of each."""
    pieces = _CASES.split(text)
    families = [_family(*of, wording) for of in zip(pieces[1::3], pieces[2::3], strict=True)]
    for chosen in itertools.product(*families):
        names, texts = zip(*chosen, strict=True)
        filled = itertools.zip_longest(pieces[::3], texts, fillvalue="")
        yield "_".join(names), "".join(itertools.chain.from_iterable(filled))


def _family(name: str, prefix: str | None, wording: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The cases of a family, names and texts; a case may itself speak of families."""
    cases = expand(wording[name], wording).items()
    named = rf"{{{prefix}_\1}}" if prefix else r"{\1}"
    return [(case, _FACT.sub(named, text)) for case, text in cases]


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


def with_unit(facts: Mapping[str, Any], look_up: Callable[..., Any]) -> dict[str, Any]:
    """Facts whose ``unit``, if there is one, is the word for a token instead of its case in
    ``[wording.unit]``. ``look_up`` finds a text by its keys."""
    if "unit" not in facts:
        return dict(facts)
    return {**facts, "unit": str(look_up("wording", "unit", str(facts["unit"])))}


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


def letters(fact: str | Say) -> str:
    """A fact as it is drawn, a glyph for each character: accents are part of their letters."""
    return unicodedata.normalize("NFC", str(fact))


def spans(text: str) -> list[Span]:
    """The spans of a template; of any other text the one that it is."""
    return parse(text) if isinstance(text, Template) else [Span(letters(text), False, None)]


def fill(text: str, facts: Facts) -> str:
    """The sentence in plain letters, markup gone and facts filled in. Facts are not parsed."""
    return "".join(letters(facts[s.text]) if s.is_fact else s.text for s in spans(text))


def typed(text: str, facts: Facts) -> str:
    """What a text says itself, with blanks for numbers and tokens: their digits are their own."""
    if isinstance(text, Word):
        return " "
    own = [
        s.text if not s.is_fact else " " if isinstance(facts[s.text], Say | Word) else facts[s.text]
        for s in spans(text)
    ]
    return "".join(map(str, own))


def reading_time(text: str, language: str) -> float:
    """Seconds a student needs for a sentence of ``text`` (markup already gone), at least 1.5."""
    length = len(re.sub(r"\s+", " ", text.strip()))
    return max(1.5, length / READING_SPEED[language])
