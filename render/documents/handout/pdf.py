"""A handout as PDF, set by Typst with the lecture's own font. Typst gets the content as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine.errors import LectureError
from render.base.project import ASSETS
from render.base.template import ReadFile
from render.documents.handout import content
from render.documents.handout.content import Handout, Number, Typst
from scenes.glyphs import FILE as FONT
from scenes.rounding import MINUS

TEMPLATE = ASSETS / "handout" / "handout.typ"
_SIGNS = {"×": "times", "÷": "div", "+": "+", MINUS: "-", "=": "=", "≈": "approx"}
_FUNCTIONS = {
    "": "({})",
    "sqrt": "sqrt({})",
    "square": "({})^2",
    "10000^": "10000^({})",
    "−ln": "(-ln({}))",
}


def write(handout: Handout, read: ReadFile = Path.read_bytes) -> bytes:
    """The PDF. Raises LectureError where Typst refuses."""
    return typeset(
        read(TEMPLATE),
        "what Typst accepts",
        font_paths=[str(FONT.parent)],
        ignore_system_fonts=True,
        sys_inputs={"handout": document(handout)},
    )


def typeset(code: bytes, expected: str, **how: Any) -> bytes:
    """What Typst makes of its code. Raises LectureError where it refuses."""
    import typst

    try:
        return bytes(typst.compile(code, **how))
    except typst.TypstError as error:
        raise LectureError(where="handout", expected=expected, found=str(error)) from error


def document(handout: Handout) -> str:
    """The content as JSON, as the template wants it."""
    return json.dumps(handout, default=_plain, ensure_ascii=False)


def _plain(item: object) -> Any:
    """Content as plain data: a number is its text, a formula its code."""
    match item:
        case Number():
            return item.text
        case content.Math():
            return {"math": item.typst}
        case content.Mark():
            return {"mark": item.tag, "text": item.text}
        case content.Equation():
            return {"kind": item.kind, "math": _equation(item)}
        case content.Matrix():
            rows = [
                (name, [(n.text, colour, round(share, 3)) for n, colour, share in cells])
                for name, cells in zip(item.rows, item.cells(), strict=True)
            ]
            return {**_fields(item), "values": None, "rows": rows}
        case frozenset():
            return sorted(item)
        case content.Block() | content.Step() | content.Section() | Handout():
            return _fields(item)
    raise TypeError(f"{item!r} in a handout")


def _fields(item: Any) -> dict[str, Any]:
    return {"kind": getattr(item, "kind", ""), **vars(item)}


def _equation(equation: content.Equation) -> str:
    sides = zip(equation.signs(), equation.sides, strict=True)
    terms = [f"{_SIGNS[sign]} {_expression(side)}" for sign, side in sides]
    return " ".join([equation.label.typst, *terms])


def _expression(items: content.Expression) -> str:
    """Code of a formula: numbers are strings in it."""
    made = []
    for n, item in enumerate(items):
        if isinstance(item, str):
            made.append(_SIGNS[item])
        elif isinstance(item, content.Group):
            form = _FUNCTIONS.get(item.function, f"{item.function}({{}})")
            made.append(form.format(_expression(item.items)))
        else:
            bracket = n > 0 and item.text.startswith(MINUS)
            made.append(f"({Typst.quoted(item)})" if bracket else Typst.quoted(item))
    return " ".join(made)
