"""From sentences to cues on the frames of a video."""

from __future__ import annotations

import math
from collections.abc import Sequence

from render.media.captions.breaking import broken
from render.media.captions.cues import Cue, length
from render.media.captions.rules import GAP, LONGEST
from render.media.captions.sentences import Sentence


def cues(said: Sequence[Sentence], language: str, fps: int) -> list[Cue]:
    """The cues of a video: each sentence in its own time, its cues as long as their text is."""
    found: list[Cue] = []
    for sentence in said:
        lines = broken(sentence, language)
        start, end = math.ceil(sentence.start * fps - 1e-6), math.floor(sentence.end * fps + 1e-6)
        weights = [length(each, language) for each in lines]
        longest = math.floor(LONGEST * fps)
        found += _shared_out(lines, weights, start, end, longest)
    return found


def _shared_out(
    lines: Sequence[tuple[str, ...]], weights: Sequence[int], start: int, end: int, longest: int
) -> list[Cue]:
    """Cues from frame ``start``, with a gap after each, the last one too: what follows may begin at
    ``end``. None lasts more than ``longest`` frames."""
    room = end - start - GAP * len(lines)
    found, before = [], 0
    for index, (each, weight) in enumerate(zip(lines, weights, strict=True)):
        first = start + GAP * index + round(room * before / sum(weights))
        before += weight
        last = start + GAP * index + round(room * before / sum(weights))
        found.append(Cue(first, max(first + 1, min(last, first + longest)), each))
    return found
