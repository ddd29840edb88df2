"""The captions of a scene: its beats' sentences in either language, as cues on its frames."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.errors import LectureError
from render.base.reads import Json, Made, Reads
from render.media.captions.breaking import Range, Sentence, broken, is_wide, terms_file
from render.media.captions.rules import GAP, LONGEST, length
from render.media.timedtext import Cue, Track
from scenes import texts


def make(
    spec: Mapping[str, Json],
    needs: Mapping[str, Made],
    reads: Reads,
    into: Path,
    tell: Callable[[int], None],
) -> dict[str, Path]:
    """Facts: ``cues`` of the scene ``slug`` in a ``language``, as :meth:`Track.plain` has them, by
    the beats of its ``pictures``."""

    def entry(language: str, *path: str) -> Any:
        reads.text(language, *path)
        return texts.entry(language, *path)

    language, beats = spec["language"], needs["pictures"].facts["beats"]
    reads.uses(terms_file(language))
    track = track_of(spec["slug"], beats, language, spec["fps"], entry)
    facts = into / "facts.json"
    facts.write_text(json.dumps({"cues": track.plain()}), encoding="utf-8")
    return {"facts": facts}


def track_of(
    slug: str,
    beats: Sequence[Mapping[str, Any]],
    language: str,
    fps: int,
    entry: Callable[..., Any] = texts.entry,
) -> Track:
    """The captions of a scene, from the ``beats`` in its record. Raises LectureError."""
    said = sentences(slug, beats, language, entry)
    return Track(language, tuple(cues(said, language, fps)), fps)


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
            said = said_of(template, beat["facts"])
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
    coloured: tuple[str, int] | None = None
    for span in texts.parse(template):
        if coloured and coloured[0] != span.tag:
            whole.append((coloured[1], len(text)))
            coloured = None
        if span.tag and not coloured:
            coloured = (span.tag, len(text))
        if span.is_fact:
            fact = _one_line(facts[span.text])
            whole += [(len(text) + a, len(text) + b) for a, b in _words(fact)]
            text += fact
            continue
        for index, line in enumerate(span.text.split("\n")):
            if index:
                text = _joined(text, line)
                pauses.append(len(text))
            text += line
    if coloured:
        whole.append((coloured[1], len(text)))
    return Sentence(text, 0.0, 0.0, tuple(whole), tuple(pauses))


def _joined(text: str, after: str) -> str:
    """``text`` with the blank that a line break stands for; none beside Chinese."""
    if not text or text[-1] == " " or is_wide(text[-1]) or (after and is_wide(after[0])):
        return text
    return f"{text} "


def _one_line(fact: str) -> str:
    return " ".join(fact.split())


def _words(text: str) -> list[Range]:
    """The ranges of words between blanks."""
    found, start = [], 0
    for word in text.split(" "):
        found.append((start, start + len(word)))
        start += len(word) + 1
    return found


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
