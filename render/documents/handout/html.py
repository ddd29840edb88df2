"""A handout as HTML. Every number carries where it comes from, so that it can be checked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

from render.base.project import ASSETS
from render.documents.handout import formulas
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
    Step,
    Table,
)
from scenes.rounding import MINUS

_FILES = ASSETS / "web" / "page"
STYLE, SCROLL = _FILES / "handout.css", _FILES / "scroll.js"
_FUNCTIONS = {"exp": "exp", "−ln": "−ln", "sin": "sin", "cos": "cos", "": ""}


def steps_of(section: Section) -> tuple[int, int]:
    return section.steps[0].number, section.steps[-1].number


def body(handout: Handout) -> str:
    """All sections as one piece of HTML, to be put into a page."""
    return _Setter(handout).body()


def contents(handout: Handout) -> str:
    """A list of links to the sections."""
    lines = []
    for section in handout.sections:
        steps = f' <span class="steps">{_steps(handout, section)}</span>' if section.steps else ""
        lines.append(f'<li><a href="#text-{section.slug}">{escape(section.title)}</a>{steps}</li>')
    return "<ol>\n" + "\n".join(lines) + "\n</ol>"


def document(handout: Handout, made_from: str) -> str:
    """A page of its own, in one file."""
    words = handout.words
    lang = {"zh": "zh-CN", "en": "en"}[handout.language]
    return f"""<!doctype html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(handout.title)}</title>
<style>
{STYLE.read_text(encoding="utf-8")}</style>
</head>
<body class="handout-page">
<header class="handout-head">
<h1>{escape(handout.title)}</h1>
<p class="subtitle">{escape(handout.subtitle)}</p>
<p class="small">{escape(words["rounding"])}</p>
<p class="small">{escape(made_from)}</p>
<nav class="contents" aria-label="{escape(words["contents"])}">
<h2>{escape(words["contents"])}</h2>
{contents(handout)}
</nav>
</header>
<main class="handout">
{body(handout)}
</main>
<script>
{SCROLL.read_text(encoding="utf-8")}</script>
</body>
</html>
"""


def _steps(handout: Handout, section: Section) -> str:
    first, last = steps_of(section)
    template = handout.words["steps" if first != last else "one_step"]
    return escape(template.format(first=first, last=last))


class _Setter:
    """Sets one handout; formulas are made once, together."""

    def __init__(self, handout: Handout) -> None:
        self.handout = handout
        self.formulas = formulas.to_mathml(formulas.of_handout(handout))

    def body(self) -> str:
        return "\n".join(map(self.section, self.handout.sections))

    def section(self, section: Section) -> str:
        steps = f'<p class="steps">{_steps(self.handout, section)}</p>' if section.steps else ""
        return "\n".join(
            [
                f'<section class="scene part-{section.part}" id="text-{section.slug}" '
                f'data-slug="{section.slug}" aria-labelledby="title-{section.slug}">',
                f'<h2 id="title-{section.slug}">{escape(section.title)}</h2>{steps}',
                *self.blocks(section.blocks),
                *map(self.step, section.steps),
                "</section>",
            ]
        )

    def step(self, step: Step) -> str:
        word = escape(self.handout.words["step"])
        return "\n".join(
            [
                f'<article class="step" id="step-{step.number}" data-step="{step.number}">',
                f'<h3><span class="badge"><span class="visually-hidden">{word} </span>'
                f"{step.number}</span> {self.parts(step.title)}</h3>",
                *self.blocks(step.blocks),
                "</article>",
            ]
        )

    def blocks(self, blocks: Sequence[Block]) -> Iterator[str]:
        """Matrices and tables that follow each other stand side by side where there is room."""
        for tables, members in groupby(blocks, lambda block: isinstance(block, (Matrix, Table))):
            made = list(map(self.block, members))
            yield from (
                ['<div class="beside">', *made, "</div>"] if len(made) > 1 and tables else made
            )

    def block(self, block: Block) -> str:
        match block:
            case Paragraph(kind="heading"):
                return f"<h3>{self.parts(block.parts)}</h3>"
            case Paragraph():
                kind = f' class="{block.kind}"' if block.kind else ""
                return f"<p{kind}>{self.parts(block.parts)}</p>"
            case Formula():
                return f'<div class="formula">{self.formulas[block.typst, True]}</div>'
            case Equation():
                return self.equation(block)
            case Matrix():
                return self.matrix(block)
            case Table():
                return self.table(block)

    # -- inline --------------------------------------------------------------------------------

    def parts(self, parts: Parts) -> str:
        return "".join(map(self.part, parts))

    def part(self, part: Part) -> str:
        if isinstance(part, Number):
            return number(part)
        if isinstance(part, Math):
            return self.formulas[part.typst, False]
        if isinstance(part, Mark):
            return f'<b class="m-{part.tag}">{escape(part.text)}</b>'
        return escape(part, quote=False)

    def equation(self, equation: Equation) -> str:
        label = self.formulas[equation.label, False] if equation.label else ""
        sides = [
            f'<span class="rel">{sign}</span> <span class="side">{expression(side)}</span>'
            for sign, side in zip(equation.signs(), equation.sides, strict=True)
        ]
        return f'<p class="eq"><span class="lhs">{label}</span> {" ".join(sides)}</p>'

    # -- tables --------------------------------------------------------------------------------

    def matrix(self, matrix: Matrix) -> str:
        largest = max((abs(n.scalar.exact) for row in matrix.values for n in row), default=0.0)
        head = "".join(f'<th scope="col">{escape(name)}</th>' for name in matrix.columns)
        lines = [
            f'<div class="scroll" role="group" aria-label="{self.label(matrix)}">',
            f'<table class="matrix {matrix.look}"><caption>{self.parts(matrix.caption)}</caption>',
            f"<thead><tr><td></td>{head}</tr></thead><tbody>",
        ]
        for i, row in enumerate(matrix.values):
            cells = "".join(
                self.cell(matrix, value, largest, (i, j) in matrix.closed)
                for j, value in enumerate(row)
            )
            marked = ' class="marked"' if i in matrix.marked else ""
            lines.append(f'<tr{marked}><th scope="row">{escape(matrix.rows[i])}</th>{cells}</tr>')
        return "\n".join([*lines, "</tbody></table></div>"])

    def cell(self, matrix: Matrix, value: Number, largest: float, closed: bool) -> str:
        exact = value.scalar.exact
        if closed:
            return f'<td class="closed">{number(value)}</td>'
        if matrix.look == "heat":
            return f'<td style="--w:{min(1.0, max(0.0, exact)):.2f}">{number(value)}</td>'
        if matrix.look == "signed" and largest and exact:
            kind = "pos" if exact > 0 else "neg"
            return f'<td class="{kind}" style="--w:{abs(exact) / largest:.2f}">{number(value)}</td>'
        return f"<td>{number(value)}</td>"

    def table(self, table: Table) -> str:
        head = "".join(f'<th scope="col">{self.parts(cell)}</th>' for cell in table.head)
        lines = [
            f'<div class="scroll" role="group" aria-label="{self.label(table)}">',
            f'<table class="words"><caption>{self.parts(table.caption)}</caption>',
            f"<thead><tr>{head}</tr></thead><tbody>",
        ]
        for i, row in enumerate(table.rows):
            marked = ' class="marked"' if i in table.marked else ""
            cells = "".join(f"<td>{self.parts(cell)}</td>" for cell in row)
            lines.append(f"<tr{marked}>{cells}</tr>")
        return "\n".join([*lines, "</tbody></table></div>"])

    def label(self, block: Matrix | Table) -> str:
        """The caption in plain letters."""
        said = []
        for part in block.caption:
            if isinstance(part, (Number, Mark)):
                said.append(part.text)
            else:
                said.append(part.typst if isinstance(part, Math) else part)
        return escape("".join(said))


def number(value: Number, *, bracket: bool = False) -> str:
    """A number with its source: ``run name index`` of the trace, or the recipe in JSON."""
    recipe = value.recipe()
    if "name" in recipe:
        index = ",".join(map(str, recipe["index"]))
        source = f"{recipe['run']}|{recipe['name']}|{index}"
    else:
        source = json.dumps(recipe, ensure_ascii=False, separators=(",", ":"))
    text = value.text
    shown = f'<span class="n" data-v="{escape(source)}" data-d="{value.decimals}">{text}</span>'
    return f"({shown})" if bracket and text.startswith(MINUS) else shown


def expression(items: Expression) -> str:
    """Terms and operators; a line may break before + and −, not around × and ÷."""
    made: list[str] = []
    for n, item in enumerate(items):
        if isinstance(item, str):
            space = " " if item in ("+", MINUS) else "\u00a0"
            made.append(f"{space}{item}\u00a0")
        elif isinstance(item, Number):
            made.append(number(item, bracket=n > 0))
        else:
            made.append(group(item))
    return "".join(made)


def group(item: Group) -> str:
    inner = expression(item.items)
    match item.function:
        case "sqrt":
            return f'<span class="root">√<span class="radicand">{inner}</span></span>'
        case "square":
            return f"({inner})<sup>2</sup>"
        case "10000^":
            return f"10000<sup>{inner}</sup>"
        case name:
            return f"{_FUNCTIONS[name]}({inner})"
