"""Break a sentence into cues of one or two lines, at the best places taken together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from render.media.captions.rules import LINES, LONGEST, RULES, SHORTEST, Rules
from render.media.captions.sentences import Sentence
from render.media.captions.units import costs

_CUE = 8.0  # what another cue costs: as much as a bad line break
_BETWEEN_CUES = 1.5  # a break between cues weighs more than one between lines
_UNEVEN = 4.0
_TOO_LONG = 1000.0
_HASTE = 30.0
_FOR_GAPS = 0.15  # seconds

Lines = tuple[str, ...]


@dataclass(frozen=True)
class _Piece:
    """A way to fill one cue."""

    cost: float
    lines: Lines


def broken(said: Sentence, language: str) -> list[Lines]:
    """The lines of each cue, in order. Only a word that is longer than a line makes a line that
    is too long."""
    text = said.text.strip()
    if not text:
        return []
    at = costs(said, language)
    places = [0, *sorted(at), len(said.text)]
    seconds = (said.end - said.start) / len(said.text)
    best: list[tuple[float, list[Lines]]] = [(0.0, [])]
    for end in range(1, len(places)):
        choices: list[tuple[float, list[Lines]]] = []
        for start in range(end - 1, -1, -1):
            if places[end] - places[start] > LINES * RULES[language].line + LINES and choices:
                break
            piece = _piece(said.text, places[start : end + 1], at, RULES[language])
            between = _BETWEEN_CUES * at[places[start]] if start else 0.0
            lasts = seconds * (places[end] - places[start])
            cost = best[start][0] + _CUE + piece.cost + between + _lasting(lasts)
            choices.append((cost, [*best[start][1], piece.lines]))
        best.append(min(choices, key=lambda choice: choice[0]))
    return best[-1][1]


def _lasting(seconds: float) -> float:
    """What it costs that a cue lasts so long."""
    if seconds < SHORTEST + _FOR_GAPS:
        return _HASTE
    return 2.0 * max(0.0, seconds - LONGEST)


def _piece(text: str, places: Sequence[int], at: dict[int, float], rules: Rules) -> _Piece:
    """The best lines for the text from the first to the last of ``places``."""
    start, end = places[0], places[-1]
    whole = text[start:end].strip()
    over = max(0, len(whole) - rules.line)
    choices = [_Piece(_TOO_LONG * (over > 0) + over, (whole,))]
    if not over:
        return choices[0]
    for place in places[1:-1]:
        first, second = text[start:place].strip(), text[place:end].strip()
        long = max(len(first), len(second))
        over = max(0, long - rules.line)
        uneven = _UNEVEN * abs(len(first) - len(second)) / rules.line
        cost = at[place] + uneven + _TOO_LONG * (over > 0) + over
        choices.append(_Piece(cost, (first, second)))
    return min(choices, key=lambda piece: piece.cost)
