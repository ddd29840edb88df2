"""The captions of a scene: its beats' sentences in either language, as cues on its frames."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any

import msgspec

from engine.errors import LectureError
from render.base.reads import Needs, Output, Reads, Spec, Tell
from render.media.captions.breaking import (
    GAP,
    LONGEST,
    RULES,
    SHORTEST,
    Sentence,
    broken,
    is_wide,
    terms_file,
)
from render.media.timedtext import Cue
from scenes import texts


def make(spec: Spec, needs: Needs, reads: Reads, into: Path, tell: Tell) -> Output:
    """Facts: ``cues`` of the scene ``slug`` in a ``language``, by the beats of its ``pictures``."""
    language, beats = spec["language"], needs["pictures"].facts["beats"]
    reads.uses(terms_file(language))
    said = sentences(spec["slug"], beats, language, reads.entry)
    return {"facts": {"cues": msgspec.to_builtins(cues(said, language, spec["fps"]))}}


def sentences(
    slug: str,
    beats: Sequence[Mapping[str, Any]],
    language: str,
    entry: Callable[..., Any] = texts.entry,
) -> list[Sentence]:
    """What is said in a video, from the ``beats`` in its record; ``entry`` looks texts up. Raises
    LectureError where a text or a fact is missing."""
    found = []
    for beat in beats:
        name, variant = beat["name"], beat["variant"]
        key = f"{name}_{variant}" if variant else name
        template = entry(language, slug, "beats", key)
        try:
            facts = texts.with_unit(beat["facts"], partial(entry, language))
            said = said_of(template, facts)
        except (KeyError, ValueError) as error:
            raise LectureError(
                where=texts.FOLDER / f"{language}.toml",
                field=f"{slug}.beats.{key}",
                expected=f"a sentence with the facts {', '.join(beat['facts']) or 'none'}",
                found=str(error),
            ) from error
        found.append(Sentence(said.text, beat["start"], beat["end"], said.whole, said.pauses))
    return found


def said_of(template: str, facts: Mapping[str, str]) -> Sentence:
    """A template filled with facts, without times. Raises KeyError and ValueError."""
    text, whole, pauses = "", [], []
    for tag, spans in groupby(texts.parse(template), lambda span: span.tag):
        coloured = len(text)
        for span in spans:
            if span.is_fact:
                fact = " ".join(facts[span.text].split())
                words = (match.span() for match in re.finditer(r"\S+", fact))
                whole += [(len(text) + a, len(text) + b) for a, b in words]
                text += fact
                continue
            first, *others = span.text.split("\n")
            text += first
            for line in others:
                text = _joined(text, line)
                pauses.append(len(text))
                text += line
        if tag:
            whole.append((coloured, len(text)))
    return Sentence(text, 0.0, 0.0, tuple(whole), tuple(pauses))


def _joined(text: str, after: str) -> str:
    """``text`` with the blank that a line break stands for; none beside Chinese."""
    if not text or text[-1] == " " or is_wide(text[-1]) or (after and is_wide(after[0])):
        return text
    return f"{text} "


def cues(said: Sequence[Sentence], language: str, fps: int) -> list[Cue]:
    """The cues of a video: each sentence in its own time, its cues as long as their text is. There
    is a gap after each, since what follows may begin where a sentence ends."""
    found: list[Cue] = []
    for sentence in said:
        broken_up = broken(sentence, language)
        start, end = math.ceil(sentence.start * fps - 1e-6), math.floor(sentence.end * fps + 1e-6)
        room = end - start - GAP * len(broken_up)
        weights = [RULES[language].length(lines) for lines in broken_up]
        shares = _shares(room, weights, math.ceil(SHORTEST * fps))
        ends = [round(end) for end in accumulate(shares, initial=0)]
        for index, lines in enumerate(broken_up):
            first, last = (start + GAP * index + each for each in ends[index : index + 2])
            last = min(last, first + math.floor(LONGEST * fps))
            found.append(Cue(first, max(first + 1, last), lines))
    return found


def _shares(room: float, weights: Sequence[int], least: int) -> list[float]:
    """``room`` in proportion to ``weights``, but each at least ``least`` if there is enough."""
    short = set[int]()
    while True:
        rest, whole = room - least * len(short), sum(weights) - sum(weights[i] for i in short)
        shares = [
            least if i in short else rest * weight / max(1, whole)
            for i, weight in enumerate(weights)
        ]
        more = {i for i, share in enumerate(shares) if share < least} - short
        if not more or least * len(weights) > room:
            return shares
        short |= more
