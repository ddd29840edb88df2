"""Forty lessons that invite mistakes: which are told, and what is true of those that are.

`tests/lessons/adversarial` holds them, each with the verdict and the facts that sentences may be
made of. Facts are about the digits that are shown: attention and entropy with three decimals,
everything else with four.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine import LectureError, Trace, family

FOLDER = Path(__file__).resolve().parents[1] / "lessons" / "adversarial"
LESSONS = {path.name: path for path in sorted(FOLDER.iterdir())}
EXPECTED = {
    name: json.loads((path / "expect.json").read_text(encoding="utf-8"))
    for name, path in LESSONS.items()
}
NEEDS_A_FONT = {"37_emoji"}  # refused for its glyph, by whoever knows the font
TOLD = [name for name in LESSONS if EXPECTED[name]["verdict"] == "film"]
REFUSED = [name for name in LESSONS if name not in TOLD and name not in NEEDS_A_FONT]

Fact = dict[str, Any]


def lesson_of(name: str) -> tuple[Trace, str, str]:
    """The training pass and the sentences of a lesson."""
    path = LESSONS[name] / "lesson.toml"
    said = tomllib.loads(path.read_text(encoding="utf-8"))
    weights = engine.load_weights(path.with_name(said["weights"]))
    source, target = said["source"], said["target"]
    return family.check_lesson(weights, source, target, path), source, target


def test_all_lessons_are_there() -> None:
    assert (len(LESSONS), len(TOLD), len(REFUSED)) == (40, 33, 6)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    with pytest.raises(LectureError) as caught:
        lesson_of(name)
    line = str(caught.value)
    assert line.startswith(f"{LESSONS[name]}/")
    for words in EXPECTED[name]["line_has"]:
        assert words in line


def shown(value: float, decimals: int) -> str:
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def largest(values: np.ndarray, decimals: int) -> Fact:
    """Where the largest of some values is, as far as the digits tell."""
    digits = {index: shown(float(values[index]), decimals) for index in np.ndindex(values.shape)}
    top = max(digits.values(), key=float)
    at = [list(index) for index, text in digits.items() if text == top]
    kind = "one" if len(at) == 1 else "shared"
    if len(at) == values.size:
        kind = "only" if values.size == 1 else "alike"
    return {"kind": kind, "at": at, "shown": top}


def entropy(row: np.ndarray) -> str:
    return shown(-sum(p * math.log(p) for p in row.tolist() if p > 0), 3)


def change(before: str, after: str) -> str:
    if before == after:
        return "same"
    return "rises" if float(after) > float(before) else "falls"


def place_of(goal: int, logits: np.ndarray, probabilities: np.ndarray) -> Fact:
    """How a word that is to be written stands among all words."""
    z = [shown(float(value), 4) for value in logits]
    p = [shown(float(value), 4) for value in probabilities]
    top = max(z, key=float)
    alike = [i for i, text in enumerate(z) if text == z[goal]]
    rank = 1 + sum(float(text) > float(z[goal]) for text in z)
    kind = "hit" if rank == 1 else "miss"
    if len(alike) > 1:
        kind = "alike" if len(alike) == len(z) else f"shared_{kind}"
    return {
        "kind": kind,
        "rank": rank,
        "of": len(z),
        "with": alike,
        "best": [i for i, text in enumerate(z) if text == top],
        "p": p[goal],
        "p_best": max(p, key=float),
        "p_like": [i for i, text in enumerate(p) if text == p[goal] and i not in alike],
    }


def encoder_facts(trace: Trace) -> Iterable[tuple[str, Any]]:
    config = trace.weights.config
    first, last = (trace[f"encoder.{i}.self_attn.weights"] for i in (0, len(config.encoder) - 1))
    for head in range(config.heads):
        yield f"s08.head{head + 1}", largest(first[head], 3)
    yield "s08.first_row", largest(first[0, 0], 3)
    hidden = [shown(float(value), 4) for value in trace["encoder.0.ffn.hidden"][0]]
    negative = sum(text.startswith("-") for text in hidden)
    zero = sum(float(text) == 0 for text in hidden)
    yield "s09.relu", {"negative": negative, "zero": zero, "of": config.d_ff}
    widths = {-1: "narrower", 0: "same", 1: "wider"}
    yield "s09.width", widths[int(np.sign(config.d_ff - config.d_model))]
    if len(config.encoder) == 1:
        return  # nothing to compare
    yield "s10.first_row", [largest(first[0, 0], 3), largest(last[0, 0], 3)]
    before, after = entropy(first[0, 0]), entropy(last[0, 0])
    yield "s10.entropy", {"kind": change(before, after), "from": before, "to": after}
    rows = [
        change(entropy(one), entropy(two))
        for one, two in zip(
            first.reshape(-1, first.shape[-1]), last.reshape(-1, last.shape[-1]), strict=True
        )
    ]
    yield "s10.rows", {kind: rows.count(kind) for kind in ("rises", "falls", "same")}


def cross_facts(trace: Trace) -> Iterable[tuple[str, Any]]:
    """Of a pass over the whole target: also of a last word that is written but not read."""
    layers = trace.weights.config.decoder
    looks = max(i for i, kinds in enumerate(layers) if "cross_attn" in kinds)
    cross = trace[f"decoder.{looks}.cross_attn.weights"][0]
    yield "s13.map", largest(cross, 3)
    even = 1 / cross.shape[1]
    yield "s13.even", bool((np.abs(cross - even) <= 0.2 * even).all())
    yield "s13.first_row", largest(cross[0], 3)


def output_facts(trace: Trace) -> Iterable[tuple[str, Any]]:
    goals = [trace.weights.vocabulary.index(word) for word in trace.goal_tokens]
    places = [
        place_of(goal, z, p)
        for goal, z, p in zip(goals, trace["logits"], trace["probabilities"], strict=False)
    ]
    kinds = [place["kind"] for place in places]
    yield "s14.positions", places
    shared = sum(kind == "shared_hit" or kind == "alike" for kind in kinds)
    yield "s14.right", [kinds.count("hit"), shared, len(goals)]
    yield "s14.largest_loss", largest(trace["loss.per_position"], 4)
    yield "s14.hidden_p", [i for i, place in enumerate(places) if place["p"] == "0.0000"]


def steps_facts(trace: Trace, source: str) -> Iterable[tuple[str, Any]]:
    """Every prefix of the target with the word that follows it."""
    weights, read = trace.weights, trace.target_tokens
    following = trace.goal_tokens if weights.objective == "next" else read[1:]
    places = []
    for length, word in enumerate(following, start=1):
        step = engine.inference_pass(weights, read[:length], source)
        goal = weights.vocabulary.index(word)
        places.append(place_of(goal, step["logits"][-1], step["probabilities"][-1]))
    yield "s16-18.steps", places


@pytest.mark.parametrize("name", TOLD)
def test_facts(name: str) -> None:
    trace, source, target = lesson_of(name)
    found = dict(encoder_facts(trace))
    found |= dict(cross_facts(engine.inference_pass(trace.weights, target, source)))
    found |= dict(output_facts(trace))
    found |= dict(steps_facts(trace, source))
    assert found == EXPECTED[name]["facts"]
