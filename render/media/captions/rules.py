"""The rules that captions follow, by language: what readers of captions are used to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rules:
    """``line``: characters in a line; ``speed``: characters a second, blanks counted, a line
    break in English counted as one. ``space``: what a line break stands for."""

    line: int
    speed: float
    space: str


RULES = {"zh": Rules(16, 9.0, ""), "en": Rules(42, 17.0, " ")}
LINES = 2  # in a cue
GAP = 2  # frames between two cues
SHORTEST, LONGEST = 5 / 6, 7.0  # seconds of a cue


def length(lines: tuple[str, ...], language: str) -> int:
    """Characters to be read."""
    return len(RULES[language].space.join(lines))
