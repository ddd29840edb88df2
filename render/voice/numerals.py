"""Numbers as they are spoken: 负零点三二, "minus zero point three two"."""

from __future__ import annotations

import re

#: sign, digits, power of ten, percent sign
_NUMBER = re.compile(
    r"(?<![\w.])(?P<sign>[−+-]?)(?P<digits>\d+(?:\.\d+)?)(?:e(?P<power>-?\d+))?(?P<percent>\s?%)?"
)
#: what is counted with 两 rather than 二, except behind 第
_COUNTED = "个行列次步层条组头字词句轮倍张套格份遍"
_DIGITS = {
    "zh": "零一二三四五六七八九",
    "en": ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
}
_SIGNS = {
    "zh": {"−": "负", "-": "负", "+": "正"},
    "en": {"−": "minus ", "-": "minus ", "+": "plus "},
}


def spell(text: str, language: str) -> str:
    """``text`` with every number in words; digits after the point are said one by one."""
    if language == "en":
        return _NUMBER.sub(_in_english, text)
    return _NUMBER.sub(_in_chinese, text)


def _in_chinese(found: re.Match[str]) -> str:
    said = _plain(found["digits"], "zh")
    if said == "二" and not found["sign"] and re.match(rf"\s?[{_COUNTED}]", _behind(found)):
        said = "二" if found.string[: found.start()].rstrip().endswith("第") else "两"
    if found["power"]:
        power = f"十的{spell(found['power'], 'zh')}次方"
        said = power if found["digits"] == "1" else f"{said}乘以{power}"
    sign = _SIGNS["zh"].get(found["sign"], "")
    return f"{sign}百分之{said}" if found["percent"] else sign + said


def _in_english(found: re.Match[str]) -> str:
    said = _plain(found["digits"], "en")
    if found["power"]:
        power = f"ten to the power of {spell(found['power'], 'en')}"
        said = power if found["digits"] == "1" else f"{said} times {power}"
    return _SIGNS["en"].get(found["sign"], "") + said + (" percent" if found["percent"] else "")


def _behind(found: re.Match[str]) -> str:
    return found.string[found.end() : found.end() + 2]


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
