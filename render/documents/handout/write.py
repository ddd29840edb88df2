"""From a lesson to its handout: the steps of each scene, key numbers, the tutorial's errata."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import numpy as np

from engine.config import SETTINGS
from engine.errata import Erratum, errata
from engine.recipe import tutorial_weights
from render.base.reads import Needs, Output, Reads, Spec, Tell
from render.documents.handout import (
    html,
    pdf,
    steps_decoder,
    steps_encoder,
    steps_inference,
    steps_input,
)
from render.documents.handout.book import Book, listed, number
from render.documents.handout.content import Fact, Handout, Paragraph, Parts
from render.documents.handout.steps_encoder import cross_layer
from render.documents.handout.steps_inference import Written
from scenes import registry
from scenes.rounding import MINUS
from scenes.values import Values

#: Which functions write the steps of a scene, and the part of the model it tells of.
SCENES: dict[int, tuple[str, tuple[Callable[[Book], None], ...]]] = {
    1: ("both", (steps_input.overview,)),
    2: ("training", (steps_input.two_ways,)),
    3: ("encoder", (steps_input.tokens,)),
    4: ("encoder", (steps_input.embedding,)),
    5: ("encoder", (steps_input.positions,)),
    6: ("encoder", (steps_input.inputs,)),
    7: ("encoder", (steps_encoder.projections,)),
    8: ("encoder", (steps_encoder.scores,)),
    9: ("encoder", (steps_encoder.first_layer,)),
    10: ("encoder", (steps_encoder.second_layer,)),
    11: ("training", (steps_decoder.mask,)),
    12: ("training", (steps_decoder.first_layer, steps_decoder.second_layer)),
    13: ("training", (steps_decoder.cross_attention,)),
    14: ("training", (steps_decoder.output,)),
    15: ("inference", (steps_inference.loop,)),
    16: ("inference", (steps_inference.first,)),
    17: ("inference", (steps_inference.second,)),
    18: ("inference", (steps_inference.last,)),
    19: ("both", (steps_inference.side_by_side,)),
}


def make(spec: Spec, needs: Needs, reads: Reads, into: Path, tell: Tell) -> Output:
    """``handout.pdf`` and ``handout.html`` as the roles ``pdf`` and ``html``. ``spec``:
    ``language``; ``weights``, the names of the two weight files. Raises LectureError."""
    written = handout(reads, spec["language"], *spec["weights"])
    files = {form: into / f"handout.{form}" for form in ("pdf", "html")}
    files["pdf"].write_bytes(pdf.write(written, reads.file))
    page = html.document(written, reads.file)
    files["html"].write_text(page, encoding="utf-8", newline="\n")
    return files


def handout(reads: Reads, language: str, weights: str, inference: str) -> Handout:
    """All numbered steps in order, the key numbers and, for the tutorial's model, its errata.
    ``weights``, ``inference``: what the weight files are called."""
    book = Book(reads, language, {"weights": weights, "inference": inference})
    for scene in registry.SCENES:
        part, writers = SCENES[scene.number]
        book.section(scene.slug, str(reads.entry(language, scene.slug, "title")), part)
        for write in writers:
            write(book)
    key_numbers(book)
    if is_tutorial(book):
        tutorial_errata(book)
    reads.take(book.seen, language)
    return book.handout


def key_numbers(book: Book) -> None:
    """The figures that the tutorial sums itself up with, and where each is worked out."""
    run, source, target = book.training, book.source, book.target
    cross = f"decoder.{cross_layer(book)}.cross_attn"
    rows: list[tuple[Parts, Parts, Parts]] = []

    def add(key: str, step: int, parts: Parts, **facts: Fact) -> None:
        rows.append((book.words(key, **facts), parts, (str(step),)))

    book.section("key_numbers", book.handout.words["key_numbers"], "both")
    book.say("intro")
    for side, step, tokens in (("encoder", 12, source), ("decoder", 13, target)):
        for i, token in enumerate(tokens):
            add("input", step, vector(run[f"{side}.input"][i]), token=token)
    for role, step in (("q", 17), ("k", 18), ("v", 19)):
        for i, token in enumerate(source):
            values = run[f"encoder.0.self_attn.{role}"][0, i]
            add("role", step, vector(values), role=role.upper(), token=token)
    add("score", 24, vector(run["encoder.0.self_attn.scores"][0, 0]), token=source[0])
    for i, token in enumerate(source):
        add("weights", 26, vector(run["encoder.0.self_attn.weights"][0, i], 3), token=token)
    for i, token in enumerate(source):
        add("memory", 50, vector(run["memory"][i]), token=token)
    add("masked", 54, vector(run["decoder.0.self_attn.weights"][0, 1]), token=target[1])
    add("cross", 79, vector(run[f"{cross}.weights"][0, 0], 3), token=target[0])
    add("cross_output", 80, vector(run[f"{cross}.heads"][0, 0]), token=target[0])
    for i, goal in enumerate(run.goals):
        p = run["probabilities"][i, book.vocabulary.index(goal)]
        add("p_goal", 88, (number(p),), token=goal)
    add("loss", 89, listed(run["loss.per_position"]))
    add("mean", 90, (number(run["loss.mean"][()]),))
    for k in range(1, book.last_round + 1):
        found, step = Written(book, k), 92 if k == 1 else 94 if k == book.last_round else 93
        add("logits", step, vector(found.logits), words=book.sentence(found.read))
        add("choice", step, found.guess, words=book.sentence(found.read))
    book.table("caption", ("what", "value", "step"), rows)


def vector(values: Values, decimals: int | None = None) -> Parts:
    """Numbers in square brackets."""
    return ("[", *listed(values, decimals), "]")


def is_tutorial(book: Book) -> bool:
    """Whether the lesson shows the model and the sentences that the errata are about."""
    tutorial = tutorial_weights()

    def setting(path: str) -> object:  # JSON has made lists of tuples
        found = book.reads.value("training", f"config:{path}")
        return tuple(map(tuple, found)) if isinstance(found, list) else found

    try:
        return all(
            tutorial.config.setting(path) == setting(path)
            for path in ("vocabulary_size", *SETTINGS)
        ) and all(
            np.array_equal(book.training.weight(name).array, matrix)
            for name, matrix in tutorial.matrices.items()
        )
    except LookupError:
        return False


@cache
def entries() -> list[Erratum]:
    """Computed once in a process: it trains two models."""
    return errata()


def tutorial_errata(book: Book) -> None:
    """The entries of docs/errata.md, in the handout's language."""
    named = book.handout.words
    blocks = book.section("errata", named["errata"], "both").blocks
    book.say("intro")
    for n, entry in enumerate(entries(), start=1):
        title, *said = (
            filled(book.texts["errata"][entry.key][part], entry.facts)
            for part in ("title", "printed", "computed", "reason")
        )
        blocks.append(Paragraph((f"{n}. {title}",), "heading"))
        for label, text in zip((named["printed"], named["computed"], ""), said, strict=True):
            blocks.append(Paragraph((f"{label}{text}",), "erratum"))


def filled(template: str, facts: Mapping[str, str]) -> str:
    """The template with the facts, and minus signs as the handout has them."""
    return re.sub(r"(?<!\w)-(?=\d)", MINUS, template.format_map(facts))
