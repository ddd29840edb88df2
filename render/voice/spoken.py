"""A sentence of the lecture as it is read aloud: numbers and symbols in words, nothing to guess:
负零点三二, "minus zero point three two".

The tables are ``assets/speech/{zh,en}.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from render.base.project import ASSETS
from render.base.reader import Reader
from scenes import texts

FOLDER = ASSETS / "speech"

#: sign, digits, power of ten, percent sign
_NUMBER = re.compile(
    r"(?<![\w.])(?P<sign>[−+-]?)(?P<digits>\d+(?:\.\d+)?)(?:e(?P<power>-?\d+))?(?P<percent>\s?%)?"
)
#: what is counted with 两 rather than 二, except behind 第
_COUNTED = re.compile(r"\s?[个行列次步层条组头字词句轮倍张套格份遍]")
_DIGITS = {
    "zh": "零一二三四五六七八九",
    "en": ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
}
_SIGNS = {
    "zh": {"−": "负", "-": "负", "+": "正"},
    "en": {"−": "minus ", "-": "minus ", "+": "plus "},
}
_POWER = {"zh": "十的{}次方", "en": "ten to the power of {}"}
_TIMES = {"zh": "{}乘以{}", "en": "{} times {}"}
_PERCENT = {"zh": "百分之{}", "en": "{} percent"}
_HAN = "\u4e00-\u9fff"
_STOPS = "，。：；？！、"


@cache
def load(language: str) -> dict[str, Any]:
    """The table of a language. Raises LectureError where it is missing or no TOML."""
    return Reader().toml(table_of(language), dict[str, Any])


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
    text, table = "".join(pieces), load(language)
    for pattern, by in table["patterns"]:
        text = re.sub(pattern, by, text)
    text = spell(text, language)
    for symbol, word in table["symbols"].items():
        text = text.replace(symbol, word)
    return _tidy(text, language)


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


def spell(text: str, language: str) -> str:
    """``text`` with every number in words; digits after the point are said one by one."""
    return _NUMBER.sub(lambda found: _said(found, language), text)


def _said(found: re.Match[str], language: str) -> str:
    said, power = _plain(found["digits"], language), found["power"]
    if said == "二" and not found["sign"] and _COUNTED.match(found.string, found.end()):
        said = "二" if found.string[: found.start()].rstrip().endswith("第") else "两"
    if power:
        power = _POWER[language].format(spell(power, language))
        said = power if found["digits"] == "1" else _TIMES[language].format(said, power)
    if found["percent"]:
        said = _PERCENT[language].format(said)
    return _SIGNS[language].get(found["sign"], "") + said


def _plain(digits: str, language: str) -> str:
    """Digits with or without a point, no sign."""
    whole, _, rest = digits.partition(".")
    said = _integer(whole, language)
    if not rest:
        return said
    names = [_DIGITS[language][int(digit)] for digit in rest]
    return f"{said}点{''.join(names)}" if language == "zh" else f"{said} point {' '.join(names)}"


def _integer(digits: str, language: str) -> str:
    if language == "en":
        from num2words import num2words

        return str(num2words(int(digits), lang="en"))
    from cn2an import an2cn

    said = str(an2cn(str(int(digits)), "low"))
    return said.removeprefix("一") if said.startswith("一十") else said
