"""A handout as PDF, set by Typst with the lecture's own font."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path

from engine.errors import LectureError
from render.base.project import ASSETS
from render.documents.handout.content import (
    Block,
    Equation,
    Expression,
    Formula,
    Group,
    Handout,
    Mark,
    Math,
    Matrix,
    Number,
    Paragraph,
    Part,
    Parts,
    Section,
    Table,
)
from render.documents.handout.html import steps_of
from render.documents.handout.words import quoted
from scenes.rounding import MINUS

_LONG = 9  # rows of a table that needs the whole width
TEMPLATE = ASSETS / "handout" / "handout.typ"
_MARKS = {"e": "encoder", "t": "training", "i": "inference", "q": "query", "k": "key", "v": "value"}
_OPERATORS = {"×": "times", "÷": "div", "+": "+", MINUS: "-"}


def write(handout: Handout, made_from: str) -> bytes:
    """The PDF. Raises LectureError where the font is missing or Typst refuses."""
    import typst

    package = find_spec("manimgx_fonts_cjk")
    if package is None or package.origin is None:
        raise LectureError(where="fonts", expected="the package manimgx-fonts-cjk", found="nothing")
    source = document(handout, made_from).encode("utf-8")
    folder = str(Path(package.origin).parent)
    try:
        return bytes(
            typst.compile(
                source,  # type: ignore[misc]
                font_paths=[folder],
                ignore_system_fonts=True,
            )
        )
    except typst.TypstError as error:
        raise LectureError(
            where="handout", expected="what Typst takes", found=str(error)
        ) from error


def document(handout: Handout, made_from: str) -> str:
    words = handout.words
    named = {
        "title": handout.title,
        "subtitle": handout.subtitle,
        "lang": handout.language,
        "contents": words["contents"],
        "rounding": words["rounding"],
        "made_from": made_from,
    }
    head = [TEMPLATE.read_text(encoding="utf-8"), "#show: handout.with("]
    head += [f"  {key}: {quoted(value)}," for key, value in named.items()]
    return "\n".join([*head, ")", *(_section(handout, section) for section in handout.sections)])


def _section(handout: Handout, section: Section) -> str:
    steps = ""
    if section.steps:
        first, last = steps_of(section)
        key = "steps" if first != last else "one_step"
        steps = handout.words[key].format(first=first, last=last)
    lines = [f"#scene({quoted(section.title)}, {quoted(steps)}, {quoted(section.part)})"]
    lines += _blocks(section.blocks)
    for step in section.steps:
        lines.append(f"#step({step.number}, {quoted(section.part)})[{_parts(step.title)}]")
        lines += _blocks(step.blocks)
    return "\n\n".join(lines)


def _blocks(blocks: Sequence[Block]) -> list[str]:
    """Matrices and short tables that follow each other stand side by side."""
    lines = []
    for small, members in groupby(blocks, _is_small):
        if small:
            lines.append("#flow(" + ", ".join(_block(block)[1:] for block in members) + ")")
        else:
            lines += [_block(block) for block in members]
    return lines


def _is_small(block: Block) -> bool:
    return isinstance(block, Matrix) or (isinstance(block, Table) and len(block.rows) < _LONG)


def _block(block: Block) -> str:
    match block:
        case Paragraph(kind="heading"):
            return f"#minor[{_parts(block.parts)}]"
        case Paragraph(kind="point"):
            return f"#point[{_parts(block.parts)}]"
        case Paragraph():
            return f"#par[{_parts(block.parts)}]"
        case Formula():
            return f"$ {block.typst} $"
        case Equation():
            return _equation(block)
        case Matrix():
            return _matrix(block)
        case Table():
            return _table(block)


def _parts(parts: Parts) -> str:
    return "".join(map(_part, parts))


def _part(part: Part) -> str:
    if isinstance(part, Math):
        return f"${part.typst}$"
    if isinstance(part, Mark):
        return f"#mark({quoted(_MARKS.get(part.tag, ''))}, {quoted(part.text)})"
    return f"#{quoted(part.text if isinstance(part, Number) else part)};"


def _equation(equation: Equation) -> str:
    signs = {"=": "=", "≈": "approx"}
    sides = [
        f"{signs[sign]} {_expression(side)}"
        for sign, side in zip(equation.signs(), equation.sides, strict=True)
    ]
    return f"#eq[${equation.label} {' '.join(sides)}$]"


def _expression(items: Expression) -> str:
    made = []
    for n, item in enumerate(items):
        if isinstance(item, str):
            made.append(_OPERATORS[item])
        elif isinstance(item, Group):
            made.append(_group(item))
        else:
            bracket = n > 0 and item.text.startswith(MINUS)
            made.append(f"({quoted(item.text)})" if bracket else quoted(item.text))
    return " ".join(made)


def _group(item: Group) -> str:
    inner = _expression(item.items)
    match item.function:
        case "sqrt":
            return f"sqrt({inner})"
        case "square":
            return f"({inner})^2"
        case "10000^":
            return f"10000^({inner})"
        case "−ln":
            return f"(-ln({inner}))"
        case "":
            return f"({inner})"
        case name:
            return f"{name}({inner})"


def _matrix(matrix: Matrix) -> str:
    largest = max((abs(n.scalar.exact) for row in matrix.values for n in row), default=0.0) or 1.0
    names = ", ".join(quoted(name) for name in matrix.columns)
    rows = []
    for i, row in enumerate(matrix.values):
        cells = []
        for j, value in enumerate(row):
            exact = value.scalar.exact
            share = min(1.0, abs(exact)) if matrix.look == "heat" else abs(exact) / largest
            kind = "heat" if matrix.look == "heat" else "pos" if exact > 0 else "neg"
            kind = "closed" if (i, j) in matrix.closed else kind if matrix.look != "plain" else ""
            cells.append(f"({quoted(value.text)}, {quoted(kind)}, {share:.3f})")
        rows.append(f"({quoted(matrix.rows[i])}, ({', '.join(cells)},))")
    caption = f"[{_parts(matrix.caption)}]"
    return f"#matrix({caption}, ({names},), ({', '.join(rows)},))"


def _table(table: Table) -> str:
    head = ", ".join(f"[{_parts(cell)}]" for cell in table.head)
    rows = ", ".join(f"({', '.join(f'[{_parts(cell)}]' for cell in row)},)" for row in table.rows)
    marked = ", ".join(map(str, sorted(table.marked)))
    return (
        f"#words([{_parts(table.caption)}], ({head},), ({rows},), ({marked}{',' * bool(marked)}))"
    )
