"""From a lesson to its handout."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from render.documents.handout import (
    appendices,
    steps_cross,
    steps_decoder,
    steps_encoder,
    steps_inference,
    steps_input,
    words,
)
from render.documents.handout.book import Book
from render.documents.handout.content import Handout
from scenes import registry, texts
from scenes.settings import Settings

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
    13: ("training", (steps_cross.cross_attention,)),
    14: ("training", (steps_cross.output,)),
    15: ("inference", (steps_inference.loop,)),
    16: ("inference", (steps_inference.first,)),
    17: ("inference", (steps_inference.second,)),
    18: ("inference", (steps_inference.last,)),
    19: ("both", (steps_inference.side_by_side,)),
}


def handout(settings: Settings) -> Handout:
    """All numbered steps in order, the key numbers and, for the tutorial's model, its errata."""
    book = Book(settings)
    for scene in registry.SCENES:
        part, writers = SCENES[scene.number]
        title = str(texts.entry(book.language, scene.slug, "title"))
        book.section(scene.slug, title, part)
        for write in writers:
            write(book)
    appendices.key_numbers(book)
    appendices.tutorial_errata(book)
    return book.handout


def made_from(settings: Settings) -> str:
    """Which weights the numbers come from, by the names of their files."""
    template = words.entry(str(settings.language), "names", "made_from")
    first, second = settings.weights, settings.weights_for_inference
    return template.format(weights=Path(first).name, inference=Path(second).name)
