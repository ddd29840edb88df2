"""After the steps: the table of key numbers, and the errata of the tutorial."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np

import engine
from engine.errata import Erratum, errata
from engine.errors import LectureError
from render.documents.handout import words
from render.documents.handout.book import Book, number
from render.documents.handout.content import Number, Paragraph, Parts, joined
from render.documents.handout.steps_encoder import cross_layer
from render.documents.handout.steps_inference import Written
from scenes.rounding import MINUS
from scenes.values import Values


def key_numbers(book: Book) -> None:
    """The figures that the tutorial sums itself up with, and where each is worked out."""
    run, source, target = book.training, book.source, book.target
    cross = f"decoder.{cross_layer(book)}.cross_attn"
    rows: list[tuple[Parts, Parts, Parts]] = []

    def add(key: str, steps: str, parts: Parts, **facts: str | Number) -> None:
        rows.append((book.words(key, **facts), parts, (steps,)))

    book.section("key_numbers", book.handout.words["key_numbers"], "both")
    book.say("intro")
    for side, tokens in (("encoder", source), ("decoder", target)):
        for i, token in enumerate(tokens):
            step = "12" if side == "encoder" else "13"
            add("input", step, vector(run[f"{side}.input"][i]), token=token)
    for role, step in (("q", "17"), ("k", "18"), ("v", "19")):
        for i, token in enumerate(source):
            values = run[f"encoder.0.self_attn.{role}"][0, i]
            add("role", step, vector(values), role=role.upper(), token=token)
    add("score", "24", vector(run["encoder.0.self_attn.scores"][0, 0]), token=source[0])
    for i, token in enumerate(source):
        add("weights", "26", vector(run["encoder.0.self_attn.weights"][0, i], 3), token=token)
    for i, token in enumerate(source):
        add("memory", "50", vector(run["memory"][i]), token=token)
    row = run["decoder.0.self_attn.weights"][0, 1]
    add("masked", "54", vector(row), token=target[1])
    add("cross", "79", vector(run[f"{cross}.weights"][0, 0], 3), token=target[0])
    add("cross_output", "80", vector(run[f"{cross}.heads"][0, 0]), token=target[0])
    goals = [int(i) for i in run["target.ids"].array]
    for i, goal in enumerate(goals):
        add("p_goal", "88", (number(run["probabilities"][i, goal]),), token=target[i])
    losses = joined([(number(value),) for value in run["loss.per_position"]], ", ")
    add("loss", "89", tuple(part for part in losses if isinstance(part, (str, Number))))
    add("mean", "90", (number(run["loss.mean"][()]),))
    for k in range(1, len(target)):
        found = Written(book, k)
        told: Parts = (found.choice, " (", number(found.p[found.best]), ")")
        at = str(92 if k == 1 else 94 if k == len(target) - 1 else 93)
        add("logits", at, vector(found.logits), words=book.sentence(found.read))
        add("choice", at, told, words=book.sentence(found.read))
    head = [book.words(key) for key in ("what", "value", "step")]
    book.table(book.words("caption"), head, rows)


def vector(values: Values, decimals: int | None = None) -> Parts:
    """Numbers in square brackets."""
    listed = joined([(number(value, decimals),) for value in values], ", ")
    return ("[", *(part for part in listed if isinstance(part, (str, Number))), "]")


def is_tutorial(book: Book) -> bool:
    """Whether the lesson shows the model and the sentences that the errata are about."""
    try:
        ours = engine.load_weights(Path(book.settings.weights))
        tutorial = engine.load_weights(engine.TUTORIAL)
    except LectureError:
        return False
    same = ours.config == tutorial.config and ours.matrices.keys() == tutorial.matrices.keys()
    return same and all(
        np.array_equal(ours.matrices[name], tutorial.matrices[name]) for name in ours.matrices
    )


@cache
def entries() -> list[Erratum]:
    """Computed once in a process: it trains two models."""
    return errata()


def tutorial_errata(book: Book) -> None:
    """The entries of docs/errata.md, in the handout's language; for the tutorial's model only."""
    if not is_tutorial(book):
        return
    section = book.section("errata", book.handout.words["errata"], "both")
    book.say("intro")
    for n, entry in enumerate(entries(), start=1):
        told = words.load(book.language)["errata"][entry.key]
        section.blocks.append(Paragraph((f"{n}. {filled(told['title'], entry.facts)}",), "heading"))
        for part in ("printed", "computed", "reason"):
            label = book.handout.words[part] if part != "reason" else ""
            text = filled(told[part], entry.facts)
            section.blocks.append(Paragraph((f"{label}{text}",), "erratum"))


def filled(template: str, facts: dict[str, str]) -> str:
    """The template with the facts, and minus signs as the handout has them."""
    text = re.sub(r"\{(\w+)\}", lambda match: facts[match[1]], template)
    return re.sub(r"(?<!\w)-(?=\d)", MINUS, text)
