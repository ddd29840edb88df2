"""A sentence of the lecture as it is read aloud: numbers and symbols in words, nothing to guess.

The tables are ``assets/speech/{zh,en}.toml``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from engine.errors import LectureError
from render.base.project import ASSETS
from render.voice.numerals import spell
from scenes import texts

FOLDER = ASSETS / "speech"

_HAN = "\u4e00-\u9fff"
_STOPS = "，。：；？！、"


@cache
def load(language: str) -> dict[str, Any]:
    """The table of a language. Raises LectureError where it is missing or no TOML."""
    path = table_of(language)
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LectureError(where=path, expected="a table in TOML", found=str(error)) from error


def table_of(language: str) -> Path:
    return FOLDER / f"{language}.toml"


def sentence(language: str, slug: str, key: str, template: str, facts: Mapping[str, Any]) -> str:
    """What is said in the beat ``key`` of the scene ``slug``, where ``template`` is shown."""
    template = load(language).get(slug, {}).get(key, template)
    return speak(template, facts, language)


def speak(template: str, facts: Mapping[str, Any], language: str) -> str:
    """A filled template as it is read aloud. In English, words that stand for themselves (facts
    that are no numbers) are put in quotes."""
    pieces = []
    for span in texts.parse(template):
        text = str(facts[span.text]) if span.is_fact else span.text
        quote = language == "en" and span.is_fact and isinstance(facts[span.text], str)
        pieces.append(f"“{text}”" if quote else text)
    return _tidy(_in_words("".join(pieces), language), language)


def _in_words(text: str, language: str) -> str:
    table = load(language)
    for pattern, by in table["patterns"]:
        text = re.sub(pattern, by, text)
    text = spell(text, language)
    for symbol, word in table["symbols"].items():
        text = text.replace(symbol, word)
    return text


def _tidy(text: str, language: str) -> str:
    if language == "zh":
        text = re.sub(r"\s*\n\s*", "", text)
        text = re.sub(r"\s*（([^）]*)）", r"，\1，", text)
        text = re.sub(rf"，+(?=[{_STOPS}])", "", text)
        # Latin words keep a blank towards Chinese ones, as in print; Chinese ones need none
        text = re.sub(rf"(?<=[{_HAN}」]) +(?=[{_HAN}「])", "", text)
        text = re.sub(rf"(?<=[{_HAN}])(?=[A-Za-z])|(?<=[A-Za-z])(?=[{_HAN}])", " ", text)
        text = re.sub(r" {2,}", " ", text).strip().rstrip("，")
        return text if text[-1] in _STOPS else f"{text}。"
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r"\s*\(([^)]*)\)", r", \1,", text)
    text = re.sub(r"\s+(?=[,.;:?!])", "", text)
    text = re.sub(r",+(?=[,.;:?!])", "", text).strip()
    return text[0].upper() + text[1:] if text[0].isascii() else text
