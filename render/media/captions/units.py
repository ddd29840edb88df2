"""Where a sentence may be broken, and at what cost: 0 at the end of a sentence, more elsewhere."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from render.media.captions import terms
from render.media.captions.sentences import Range, Sentence, is_wide

OPENING, CLOSING = "「『（《〈【“‘([{", "」』）》〉】”’)]}，。；：！？、,.;:!?…%"
_ENDS = {"。": 0.0, "！": 0.0, "？": 0.0, "!": 0.0, "?": 0.0, ".": 0.0}
_CLAUSES = {"；": 0.5, ";": 0.5, "：": 1.0, ":": 1.0, "，": 1.0, ",": 1.0, "、": 2.5}
_OPERATORS = "×÷·+−-=≠→≈<>/"
_PARTICLES = "的了着地得过吗呢吧们里上下中"
_TO_WHAT_FOLLOWS = "一两几每这那整第不没最很更把从将被让与和跟或若可刚恰"  # belongs to it
_COUNTED = re.compile(r"[\d一两几每这那整] ?[个条行位圈枚组轮步次词字张份句套项层头维]$")
_CLINGING_WORDS = """a an the of in on at to for by with from into no not its his their each every
    this that is are was be been and or but as than so only all both they it we he she you who what
    there how must can may will i"""
_LEADING_WORDS = """and or but so while which that with from into for to by in of on at when where
    as than if because until"""
_CLINGING = frozenset(_CLINGING_WORDS.split())  # English words that belong to the next one
_LEADING = frozenset(_LEADING_WORDS.split())  # that a line had better begin with
_NUMBER = re.compile(r"[−+-]?\d[\d.,]*(?:e[−-]?\d+)?%?")
_NUMBER_AT_END = re.compile(r"(?:^|[^A-Za-z])[−-]?[\d.,]*\d%?$")
_NAMES = re.compile(r"(?:^|[^A-Za-z])[A-Za-z][、,]$")  # Q, K and V; not after a clause
_LETTER = re.compile(r"[A-Za-z](?![A-Za-z])")
_NAME_AT_END = re.compile(r"(?:head|layer|row|column|position|pos|step|scene|id|round)$", re.I)


def costs(said: Sentence, language: str) -> dict[int, float]:
    """Positions of ``said.text`` before which a line may begin, each with its cost."""
    text = said.text
    closed = {
        position
        for start, end in (*said.whole, *terms.ranges(text, language), *numbers(text))
        for position in range(start + 1, end)
    }
    words = _word_starts(text) if language == "zh" else frozenset()
    found = {}
    for position in range(1, len(text)):
        if position in closed or text[position] == " ":
            continue
        cost = _cost(text, position, words)
        if cost is not None:
            found[position] = 0.2 if position in said.pauses else cost
    return found


def numbers(text: str) -> list[Range]:
    """Where numbers stand in a text, with their sign, exponent and per cent sign."""
    return [match.span() for match in _NUMBER.finditer(text)]


def _cost(text: str, position: int, words: frozenset[int]) -> float | None:
    """The cost of beginning a line at ``position``; None where that is not done."""
    after, blank = text[position], text[position - 1] == " "
    before = text[:position].rstrip()
    if not before or after in CLOSING or before[-1] in OPENING:
        return None
    if after in _OPERATORS or before[-1] in _OPERATORS:
        return None
    if _NAMES.search(before) and _LETTER.match(text[position:]):
        return 9.0
    inner = before.rstrip("」』）》”’)")
    mark = before[-1] if before[-1] in _ENDS or before[-1] in _CLAUSES else inner[-1:]
    if mark in _ENDS and (is_wide(mark) or blank):
        return _ENDS[mark]
    if mark in _CLAUSES and (is_wide(mark) or blank):
        return _CLAUSES[mark]
    if before.endswith("第") or (after.isdigit() and _NAME_AT_END.search(before)):
        return None
    if _NUMBER_AT_END.search(before):
        return 14.0 if blank and not is_wide(after) else None
    if is_wide(before[-1]) and _COUNTED.search(before):
        return None
    if is_wide(before[-1]) and is_wide(after):
        return _between_chinese(before[-1], position, words)
    if not blank:
        wide = is_wide(before[-1]) or is_wide(after)
        return 6.0 if wide and (after in OPENING or before[-1] in CLOSING) else None
    if is_wide(before[-1]) or is_wide(after):
        if before[-1] in _TO_WHAT_FOLLOWS:
            return None
        return 16.0 if after in _PARTICLES else 10.0
    return _between_english(before, text[position:])


def _between_chinese(before: str, position: int, words: frozenset[int]) -> float | None:
    if position not in words or before in _TO_WHAT_FOLLOWS:
        return None
    return 8.5 if before in _PARTICLES else 11.0


def _between_english(before: str, rest: str) -> float:
    last, first = before.split(" ")[-1].lower(), rest.split(" ")[0].lower()
    if last in _CLINGING:
        return 14.0
    return 4.5 if first.strip(",.;:") in _LEADING else 7.0


def _word_starts(text: str) -> frozenset[int]:
    """Where words of Chinese text begin."""
    found, position = set(), 0
    for word in _parser().parse(text):
        found.add(position)
        position += len(word)
    return frozenset(found)


@cache
def _parser() -> Any:
    import budoux

    return budoux.load_default_simplified_chinese_parser()
