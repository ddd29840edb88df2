"""A handout as HTML. Every number carries where it comes from, so that it can be checked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from markupsafe import Markup

from engine.reader import refuse
from render.base import template
from render.base.project import ASSETS
from render.base.template import ReadFile
from render.documents.handout.book import plain
from render.documents.handout.content import Block, Handout, Math, Matrix, Table, formulas_in
from render.documents.handout.pdf import typeset

STYLE, SCROLL = (ASSETS / "web" / "page" / name for name in ("handout.css", "scroll.js"))
LANGUAGES = {"zh": "zh-CN", "en": "en"}
_MATHML = re.compile(r"<math.*?</math>", re.DOTALL)


def document(handout: Handout, read: ReadFile = Path.read_bytes) -> str:
    """A page of its own, in one file."""
    return fill(
        "templates/handout.html",
        handout,
        read,
        style=Markup(read(STYLE).decode("utf-8")),
        scroll=Markup(read(SCROLL).decode("utf-8")),
    )


def fill(name: str, handout: Handout, read: ReadFile = Path.read_bytes, **values: Any) -> str:
    """A template that may set the full text of a handout (``templates/text.html``)."""
    given = {
        "handout": handout,
        "lang": LANGUAGES[handout.language],
        "formulas": mathml(formulas_in(handout)),
        "beside": beside,
        "plain": plain,
    }
    return template.render(name, read, **given, **values)


def beside(blocks: Iterable[Block]) -> Iterator[list[Block]]:
    """Matrices and tables that follow each other stand side by side where there is room."""
    for tables, members in groupby(blocks, lambda block: isinstance(block, (Matrix, Table))):
        together = list(members)
        yield from [together] if tables else [[block] for block in together]


def mathml(formulas: Iterable[Math]) -> dict[Math, Markup]:
    """Each formula in MathML, which browsers set themselves; all in one run of Typst. Raises
    LectureError where Typst refuses."""
    listed = [formula for formula in dict.fromkeys(formulas) if formula.typst]
    lines = [f"$ {each.typst} $" if each.alone else f"${each.typst}$" for each in listed]
    page = typeset("\n\n".join(lines).encode(), "formulas that Typst accepts", format="html")
    found = _MATHML.findall(page.decode("utf-8"))
    if len(found) != len(listed):
        refuse("handout", None, f"{len(listed)} formulas in MathML", str(len(found)))
    return dict(zip(listed, map(Markup, found), strict=True))
