"""Formulas for HTML: Typst's notation becomes MathML, which browsers set themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from engine.errors import LectureError
from render.documents.handout.content import (
    Block,
    Equation,
    Formula,
    Handout,
    Math,
    Matrix,
    Paragraph,
    Parts,
    Table,
)

_MATH = re.compile(r"<math.*?</math>", re.DOTALL)


def of_handout(handout: Handout) -> list[tuple[str, bool]]:
    """Every formula once, each with whether it stands in a line of its own."""
    found: dict[tuple[str, bool], None] = {}
    for section in handout.sections:
        for block in section.blocks:
            found |= dict.fromkeys(_in_block(block))
        for step in section.steps:
            found |= dict.fromkeys(_in_parts(step.title))
            for block in step.blocks:
                found |= dict.fromkeys(_in_block(block))
    return list(found)


def _in_parts(parts: Parts) -> Iterator[tuple[str, bool]]:
    for part in parts:
        if isinstance(part, Math):
            yield part.typst, False


def _in_block(block: Block) -> Iterator[tuple[str, bool]]:
    match block:
        case Formula():
            yield block.typst, True
        case Equation():
            if block.label:
                yield block.label, False
        case Paragraph():
            yield from _in_parts(block.parts)
        case Matrix():
            yield from _in_parts(block.caption)
        case Table():
            for parts in (
                block.caption,
                *block.head,
                *(cell for row in block.rows for cell in row),
            ):
                yield from _in_parts(parts)


def to_mathml(formulas: Iterable[tuple[str, bool]]) -> dict[tuple[str, bool], str]:
    """Formulas as MathML, all in one run of Typst. Raises LectureError where Typst refuses."""
    import typst

    listed = list(formulas)
    lines = [f"$ {text} $" if alone else f"${text}$" for text, alone in listed]
    try:
        page = typst.compile("\n\n".join(lines).encode("utf-8"), format="html")
    except typst.TypstError as error:
        raise LectureError(
            where="formulas", expected="what Typst takes", found=str(error)
        ) from error
    found = _MATH.findall(page.decode("utf-8"))
    if len(found) != len(listed):
        raise LectureError(
            where="formulas", expected=f"{len(listed)} in MathML", found=str(len(found))
        )
    return dict(zip(listed, found, strict=True))
