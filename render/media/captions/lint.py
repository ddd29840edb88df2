"""Check cues against the rules, from what is finally shown; knows nothing of how they were made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from render.media.captions.breaking import (
    CLOSING,
    GAP,
    LINES,
    LONGEST,
    OPENING,
    RULES,
    SHORTEST,
    Sentence,
    kept_whole,
)
from render.media.timedtext import Cue


def faults(said: Sequence[Sentence], cues: Sequence[Cue], language: str, fps: int) -> list[str]:
    """What is wrong with the captions of a video, a line for each thing."""
    found = [f"{_shown(cue)}: {fault}" for cue in cues for fault in _of_cue(cue, language, fps)]
    for before, after in pairwise(cues):
        if after.start - before.end < GAP:
            found.append(f"{_shown(after)}: {after.start - before.end} frames after the one before")
    rest = list(cues)
    for sentence in said:
        first, last = sentence.start * fps - 1e-3, sentence.end * fps + 1e-3
        inside = [first <= cue.start and cue.end <= last for cue in rest]
        count = [*inside, False].index(False)
        lines, rest = [line for cue in rest[:count] for line in cue.lines], rest[count:]
        text = RULES[language].space.join(lines)
        if "".join(text.split()) == "".join(sentence.text.split()):
            found += _breaks(sentence, lines, language)
        else:
            found.append(f"{sentence.text!r}: captioned as {text!r}")
    found += (f"{_shown(cue)}: at no sentence's time" for cue in rest)
    return found


def speed(cue: Cue, fps: int, language: str) -> float:
    """Characters a second."""
    start, end = cue.milliseconds(fps)
    return RULES[language].length(cue.lines) * 1000 / (end - start)


def _of_cue(cue: Cue, language: str, fps: int) -> Iterator[str]:
    rules, seconds = RULES[language], (cue.end - cue.start) / fps
    if not 1 <= len(cue.lines) <= LINES:
        yield f"{len(cue.lines)} lines, at most {LINES}"
    for line in cue.lines:
        if len(line) > rules.line:
            yield f"a line of {len(line)} characters, at most {rules.line}"
        if not line.strip() or line != line.strip():
            yield "a line with blanks at its ends"
    if speed(cue, fps, language) > rules.speed:
        yield f"{speed(cue, fps, language):.1f} characters a second, at most {rules.speed:g}"
    if seconds < SHORTEST - 0.5 / fps or seconds > LONGEST:
        yield f"{seconds:.2f} s long, not {SHORTEST:.2f} to {LONGEST:g} s"


def _breaks(said: Sentence, lines: Sequence[str], language: str) -> Iterator[str]:
    text, start = said.text, 0
    for before, line in pairwise(["", *lines]):
        at = text.index(line.strip(), start)
        start = at + len(line.strip())
        if not before:
            continue
        divided = [(a, b) for a, b in kept_whole(said, language) if a < at < b]
        yield from (f"{text[a:b]!r} is divided" for a, b in dict.fromkeys(divided))
        if line[0] in CLOSING:
            yield f"{line!r} begins with punctuation"
        if before[-1] in OPENING:
            yield f"{before!r} ends with an opening mark"
        latin = at and text[at - 1].isascii() and text[at - 1].isalnum()
        if latin and line[0].isascii() and line[0].isalnum():
            yield f"a word is divided before {line!r}"


def _shown(cue: Cue) -> str:
    return repr(" | ".join(cue.lines))
