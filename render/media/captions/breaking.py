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
NUMBER = re.compile(r"[−+-]?\d[\d.,]*(?:e[−-]?\d+)?%?")
_WIDE = "\u2e80-\u9fff\uff00-\uffef“”‘’—…"
_OPEN, _CLOSED, _OPERATOR = (f"[{re.escape(each)}]" for each in (OPENING, CLOSING, "×÷·+−-=≠→≈<>/"))
_QUOTED = "[」』）》”’)]*"
_NUMBER_AT_END = r"(?:^|[^A-Za-z])[−-]?[\d.,]*\d%?"
_NUMBERED = "head|layer|row|column|position|pos|step|scene|id|round"
_COUNTED = r"[\d一两几每这那整] ?[个条行位圈枚组轮步次词字张份句套项层头维]"
_PARTICLES = "的了着地得过吗呢吧们里上下中"
_TO_WHAT_FOLLOWS = "一两几每这那整第没不最很更把从将被让与和跟或若可刚恰"  # belongs to it
_CLINGING = """a an the of in on at to for by with from into no not its his their each every this
    that is are was be been and or but as than so only all both they it we he she you who what there
    how must can may will i"""  # English words that belong to the next one
_LEADING = """and or but so while which that with from into for to by in of on at when where as than
    if because until"""  # that a line had better begin with
_NEAR = 20  # characters before and behind a place that are looked at
_AT, _IN_A_WORD = "[\n\t]", "\t"  # a place; one where BudouX sees no end of a word
#: What it costs to begin a line at a place, by the first pattern that fits; None: that is not done.
_PLACES: tuple[tuple[str, float | None], ...] = (
    (rf"^{_AT}|{_AT}{_CLOSED}|{_OPEN} ?{_AT}|{_AT}{_OPERATOR}|{_OPERATOR} ?{_AT}", None),
    # Q, K and V; not after a clause
    (rf"(?:^|[^A-Za-z])[A-Za-z][、,] ?{_AT}[A-Za-z](?![A-Za-z])", 9.0),
    (rf"(?:[。！？]{_QUOTED} ?|[.!?]{_QUOTED} ){_AT}", 0.0),
    (rf"(?:；{_QUOTED} ?|;{_QUOTED} ){_AT}", 0.5),
    (rf"(?:[：，]{_QUOTED} ?|[:,]{_QUOTED} ){_AT}", 1.0),
    (rf"、{_QUOTED} ?{_AT}", 2.5),
    (rf"第 ?{_AT}|(?i:{_NUMBERED}) ?{_AT}\d", None),
    (rf"{_NUMBER_AT_END} {_AT}[^{_WIDE}]", 14.0),
    (rf"{_NUMBER_AT_END} ?{_AT}|{_COUNTED} ?{_AT}|[{_WIDE}] ?{_IN_A_WORD}[{_WIDE}]", None),
    (rf"[{_TO_WHAT_FOLLOWS}] ?{_AT}[{_WIDE}]|[{_TO_WHAT_FOLLOWS}] {_AT}", None),
    (rf"[{_PARTICLES}] ?{_AT}[{_WIDE}]", 8.5),
    (rf"[{_WIDE}] ?{_AT}[{_WIDE}]", 11.0),
    (rf"(?:[{_WIDE}]{_AT}|[^ ]{_AT}(?=[{_WIDE}])){_OPEN}", 6.0),
    (rf"{_CLOSED}(?:{_AT}[{_WIDE}]|(?<=[{_WIDE}]){_AT})", 6.0),
    (rf"[^ ]{_AT}", None),
    (rf"{_AT}[{_PARTICLES}]", 16.0),
    (rf"[{_WIDE}] {_AT}|{_AT}[{_WIDE}]", 10.0),
    (rf"(?i:(?:^| )(?:{'|'.join(_CLINGING.split())}) {_AT})", 14.0),
    (rf"(?i:{_AT}[,.;:]*(?:{'|'.join(_LEADING.split())})[,.;:]*(?: |$))", 4.5),
    (_AT, 7.0),
)
_PATTERNS = tuple((re.compile(pattern), cost) for pattern, cost in _PLACES)


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
        place = "\n" if position in words else _IN_A_WORD
        seen = f"{text[:position]}{place}{text[position:]}"
        near = position - _NEAR, position + _NEAR
        cost = next(cost for pattern, cost in _PATTERNS if pattern.search(seen, *near))
        if cost is not None:
            found[position] = 0.2 if position in said.pauses else cost
    return found


def kept_whole(said: Sentence, language: str) -> list[Range]:
    """What a line break must not divide: of the sentence itself, terms, numbers."""
    terms_in = (match.span(1) for match in _pattern(language).finditer(said.text))
    numbers = (match.span() for match in NUMBER.finditer(said.text))
    return [*said.whole, *terms_in, *numbers]


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
    """Finds every term, overlapping ones too, however capitalised; Latin ones as whole words."""
    parts = []
    for word in terms(language):
        before = r"(?<![A-Za-z0-9])" if word[0].isascii() else ""
        after = r"(?![A-Za-z0-9])" if word[-1].isascii() else ""
        parts.append(f"{before}{re.escape(word)}{after}")
    return re.compile(f"(?=({'|'.join(parts) or '(?!)'}))", re.IGNORECASE)


def is_wide(char: str) -> bool:
    """Whether a character is Chinese: a letter, or punctuation of full width."""
    return re.match(f"[{_WIDE}]", char) is not None
