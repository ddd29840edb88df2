"""Where a sentence of the lecture is broken into cues and lines: the best places taken together.

Words that are never divided stand in ``assets/captions/{zh,en}.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import msgspec

from engine.errors import LectureError
from render.base.project import ASSETS
from render.base.reader import Reader

FOLDER = ASSETS / "captions"
Range = tuple[int, int]
Lines = tuple[str, ...]


@dataclass(frozen=True)
class Rules:
    """What readers of captions in a language are used to. ``line``: characters in a line;
    ``speed``: characters a second, blanks counted, a line break in English counted as one.
    ``space``: what a line break stands for."""

    line: int
    speed: float
    space: str

    def length(self, lines: Lines) -> int:
        """Characters to be read."""
        return len(self.space.join(lines))


RULES = {"zh": Rules(16, 9.0, ""), "en": Rules(42, 17.0, " ")}
LINES = 2  # in a cue
GAP = 2  # frames between two cues
SHORTEST, LONGEST = 5 / 6, 7.0  # seconds of a cue

_CUE = 8.0  # what another cue costs: as much as a bad line break
_BETWEEN_CUES = 1.5  # a break between cues weighs more than one between lines
_UNEVEN = 4.0
_TOO_LONG = 1000.0
_HASTE = 30.0
_FOR_GAPS = 0.15  # seconds

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
NUMBER = re.compile(r"[−+-]?\d[\d.,]*(?:e[−-]?\d+)?%?")
_NUMBER_AT_END = re.compile(r"(?:^|[^A-Za-z])[−-]?[\d.,]*\d%?$")
_NAMES = re.compile(r"(?:^|[^A-Za-z])[A-Za-z][、,]$")  # Q, K and V; not after a clause
_LETTER = re.compile(r"[A-Za-z](?![A-Za-z])")
_NAME_AT_END = re.compile(r"(?:head|layer|row|column|position|pos|step|scene|id|round)$", re.I)


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


def broken(said: Sentence, language: str) -> list[Lines]:
    """The lines of each cue, in order. Only a word that is longer than a line makes a line that
    is too long."""
    text = said.text.strip()
    if not text:
        return []
    at, rules = _costs(said, language), RULES[language]
    places = [0, *sorted(at), len(said.text)]
    seconds = (said.end - said.start) / len(said.text)
    best: list[tuple[float, list[Lines]]] = [(0.0, [])]
    for end in range(1, len(places)):
        choices: list[tuple[float, list[Lines]]] = []
        for start in range(end - 1, -1, -1):
            size = places[end] - places[start]
            if size > LINES * (rules.line + 1) and choices:
                break
            cost, lines = _filled(said.text, places[start : end + 1], at, rules.line)
            between = _BETWEEN_CUES * at[places[start]] if start else 0.0
            hasty = seconds * size < SHORTEST + _FOR_GAPS
            lasting = _HASTE if hasty else 2.0 * max(0.0, seconds * size - LONGEST)
            before, cues = best[start]
            choices.append((before + _CUE + cost + between + lasting, [*cues, lines]))
        best.append(min(choices, key=lambda choice: choice[0]))
    return best[-1][1]


def _filled(
    text: str, places: Sequence[int], at: dict[int, float], most: int
) -> tuple[float, Lines]:
    """What a cue with the text from the first to the last of ``places`` costs, and its lines, of at
    most ``most`` characters if possible."""

    def cost(lines: Lines, place: int) -> float:
        over = max(0, max(map(len, lines)) - most)
        uneven = _UNEVEN * abs(len(lines[0]) - len(lines[-1])) / most
        return at.get(place, 0.0) + uneven + _TOO_LONG * (over > 0) + over

    start, end = places[0], places[-1]
    whole: Lines = (text[start:end].strip(),)
    choices = [(cost(whole, -1), whole)]
    for place in places[1:-1] if len(whole[0]) > most else ():
        lines = text[start:place].strip(), text[place:end].strip()
        choices.append((cost(lines, place), lines))
    return min(choices, key=lambda choice: choice[0])


def _costs(said: Sentence, language: str) -> dict[int, float]:
    """Positions of ``said.text`` before which a line may begin, each with its cost."""
    text = said.text
    closed = {
        position for start, end in kept_whole(said, language) for position in range(start + 1, end)
    }
    words: frozenset[int] = frozenset()
    if language == "zh":
        words = frozenset(accumulate(map(len, _parser().parse(text)), initial=0))
    found = {}
    for position in range(1, len(text)):
        if position in closed or text[position] == " ":
            continue
        cost = _cost(text, position, words)
        if cost is not None:
            found[position] = 0.2 if position in said.pauses else cost
    return found


def kept_whole(said: Sentence, language: str) -> list[Range]:
    """What a line break must not divide: of the sentence itself, terms, numbers."""
    numbers = (match.span() for match in NUMBER.finditer(said.text))
    return [*said.whole, *term_ranges(said.text, language), *numbers]


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
        if position not in words or before[-1] in _TO_WHAT_FOLLOWS:
            return None
        return 8.5 if before[-1] in _PARTICLES else 11.0
    if not blank:
        wide = is_wide(before[-1]) or is_wide(after)
        return 6.0 if wide and (after in OPENING or before[-1] in CLOSING) else None
    if is_wide(before[-1]) or is_wide(after):
        if before[-1] in _TO_WHAT_FOLLOWS:
            return None
        return 16.0 if after in _PARTICLES else 10.0
    return _between_english(before, text[position:])


def _between_english(before: str, rest: str) -> float:
    last, first = before.split(" ")[-1].lower(), rest.split(" ")[0].lower()
    if last in _CLINGING:
        return 14.0
    return 4.5 if first.strip(",.;:") in _LEADING else 7.0


@cache
def _parser() -> Any:
    """Finds words of Chinese text."""
    import budoux

    return budoux.load_default_simplified_chinese_parser()


def terms_file(language: str) -> Path:
    """The table of words that captions do not divide."""
    return FOLDER / f"{language}.toml"


class _Table(msgspec.Struct):
    terms: list[str]
    words: list[str]


@cache
def terms(language: str) -> tuple[str, ...]:
    """Terms and words, longest first. Raises LectureError for an invalid file."""
    path = terms_file(language)
    table = Reader().toml(path, _Table)
    found = [*table.terms, *table.words]
    if any(not word.strip() for word in found):
        raise LectureError(where=path, expected="words", found="an empty one")
    return tuple(sorted(set(found), key=lambda word: (-len(word), word)))


@cache
def _pattern(language: str) -> re.Pattern[str]:
    """Finds every term, however it is capitalised; Latin ones as whole words only."""
    parts = []
    for word in terms(language):
        before = r"(?<![A-Za-z0-9])" if word[0].isascii() else ""
        after = r"(?![A-Za-z0-9])" if word[-1].isascii() else ""
        parts.append(f"{before}{re.escape(word)}{after}")
    return re.compile("|".join(parts) or r"(?!)", re.IGNORECASE)


def term_ranges(text: str, language: str) -> list[Range]:
    """Where terms stand in ``text``, overlapping ones too."""
    found, start = [], 0
    while match := _pattern(language).search(text, start):
        found.append(match.span())
        start = match.start() + 1
    return found


def is_wide(char: str) -> bool:
    """Whether a character is Chinese: a letter, or punctuation of full width."""
    return "\u2e80" <= char <= "\u9fff" or "\uff00" <= char <= "\uffef" or char in "“”‘’—…"
