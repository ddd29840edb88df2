"""The pen that the ``steps_…`` modules write with: sentences, equations, matrices and tables.

The sentences are templates of ``assets/handout/{zh,en}.toml``: ``{name}`` stands for a fact,
``<q>…</q>`` for a meaning that has a colour, ``$…$`` for a formula in Typst's notation, in which
``{name}`` is a word set upright. A text may have variants for models with certain traits:
``add_unplaced_scaled`` is the variant of ``add`` for those that have both of these.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from engine import reads as engine_reads
from engine.parameters import ATTENTION_IN, ATTENTION_OUT, FFN, OUTPUT
from engine.reader import refuse
from render.base.project import ASSETS
from render.base.reader import Reader
from render.base.reads import Reads
from render.documents.handout import content
from render.documents.handout.content import Expression, Fact, Number, Part, Parts, Typst, joined
from scenes import structure, texts
from scenes.rounding import decimals_needed, leading
from scenes.texts import Say
from scenes.values import Run, Scalar, Values, compute, constant, words
from scenes.wording import Case


class Book:
    """Writes a handout: ``step`` opens a numbered step, the other methods add to it. ``seen`` has
    the values that were read; ``weights`` names the weight files."""

    def __init__(self, reads: Reads, language: str, weights: Mapping[str, str]) -> None:
        self.reads, self.language = reads, language
        self.seen = engine_reads.Reads()
        reads.uses(path_of(language))
        self.texts = load(language, reads.text(language, "wording"))
        self.inference = cache(lambda length: self._run(f"inference {length}"))
        self.training = self._run("training")
        self.source, self.target = tuple(self.training.source), tuple(self.training.target)
        self.vocabulary = tuple(self.training.vocabulary)
        self.following = tuple(structure.following(self.training))
        self.last_round = len(self.following)
        self.traits = traits_of(self.training)
        names = dict(self.texts["names"])
        origin = str(names["made_from"]).format_map(weights)
        self.handout = content.Handout(language, names["title"], names["subtitle"], names, origin)
        self._table: tuple[str, ...] = ()
        self._facts: dict[str, Fact | Scalar] = {}
        self._blocks: list[content.Block] = []

    def _run(self, label: str) -> Run:
        return Run(label, self.reads.passes, self.seen)

    def sentence(self, tokens: Sequence[str]) -> str:
        """Tokens as one writes them: Chinese without spaces."""
        return structure.in_one(words(tokens))

    def section(self, slug: str, title: str, part: str) -> content.Section:
        made = content.Section(slug, title, part)
        self.handout.sections.append(made)
        self._blocks, self._table, self._facts = made.blocks, (slug,), {}
        return made

    def step(self, number: int, /, *said: str, **facts: Fact | Scalar) -> None:
        """Begin a step, whose texts stand under ``[steps.NUMBER]`` and may use the ``facts``, with
        the sentences ``said``."""
        self._table = ("steps", str(number))
        self._facts = {"zero": whole(0), "one": whole(1), **facts}
        step = content.Step(number, self.words("title"))
        self.handout.sections[-1].steps.append(step)
        self._blocks = step.blocks
        for key in said:
            self.say(key)

    def words(self, key: str, /, **facts: Fact | Scalar | Say) -> Parts:
        """A text of this step; or one shared by all, from ``[labels]``."""
        table = self.texts
        for name in self._table:
            table = table.get(name, {})
        own = self._variant(table, key)
        shared = self._variant(self.texts["labels"], key) or key
        path = (*self._table, own) if own else ("labels", shared)
        template = entry(self.texts, self.language, *path)
        every = {**self._facts, **facts}.items()
        return fill(template, {name: _fact(value) for name, value in every})

    def _variant(self, table: Mapping[str, Any], key: str) -> str:
        """The name of the text, or of its variant for most of the model's traits; "" if none."""
        found = [key] if key in table else []
        for name in table:
            traits = name.removeprefix(f"{key}_").split("_") if name.startswith(f"{key}_") else []
            if traits and self.traits.issuperset(traits):
                found.append(name)
        return max(found, key=lambda name: name.count("_"), default="")

    def plain(self, key: str, /, **facts: Fact | Scalar | Say) -> str:
        """A text in plain letters."""
        return plain(self.words(key, **facts))

    def upright(self, key: str) -> Typst:
        """A short text as the label of an equation."""
        return Typst.quoted(self.plain(key))

    def say(self, key: str, kind: str = "", /, **facts: Fact | Scalar | Say) -> None:
        self._blocks.append(content.Paragraph(self.words(key, **facts), kind))

    def point(self, key: str, /, **facts: Fact | Scalar | Say) -> None:
        """The sentence of a step that is to be kept."""
        self.say(key, "point", **facts)

    def case(self, key: str, case: Case, kind: str = "point", /, **more: Fact) -> None:
        """A sentence of a text that says ``{family.*}``."""
        self.say(f"{key}_{case.name}", kind, **{**more, **case.facts})

    def formula(self, code: Typst) -> None:
        self._blocks.append(content.Formula(content.Math(code, alone=True)))

    def equation(self, label: Typst, *sides: Expression | Number | Scalar) -> None:
        self._blocks.append(content.Equation(content.Math(label), tuple(map(_parts, sides))))

    def matrix(
        self,
        caption: str,
        values: Values | Sequence[Values | Sequence[Number]],
        rows: Sequence[str],
        columns: Sequence[str] | None = None,
        *,
        look: str = "signed",
        decimals: int | None = None,
        closed: Callable[[int, int], bool] | None = None,
        marked: Iterable[int] = (),
        **facts: Fact | Scalar,
    ) -> None:
        """A matrix; a vector of the trace becomes a single row. ``caption``: as for
        :meth:`words`."""
        lines = [values] if isinstance(values, Values) and len(values.shape) == 1 else values
        cells = tuple(
            tuple(numbers(line, decimals) if isinstance(line, Values) else line) for line in lines
        )
        size = range(len(cells)), range(len(cells[0]))
        shut = {(i, j) for i in size[0] for j in size[1] if closed is not None and closed(i, j)}
        names = tuple(columns or (f"d{d}" for d in size[1]))
        said = self.words(caption, **facts)
        where = frozenset(shut), frozenset(marked)
        self._blocks.append(content.Matrix(said, cells, tuple(rows), names, look, *where))

    def table(
        self,
        caption: str,
        head: Sequence[str | Parts],
        rows: Iterable[Sequence[Parts | Part | Scalar]],
        marked: Iterable[int] = (),
        **facts: Fact | Scalar,
    ) -> None:
        """``caption`` and ``head``: as for :meth:`words`; parts stand as they are."""
        names = tuple(self.words(one) if isinstance(one, str) else one for one in head)
        lines = tuple(tuple(map(_parts, row)) for row in rows)
        said = self.words(caption, **facts)
        self._blocks.append(content.Table(said, names, lines, frozenset(marked)))


def traits_of(run: Run) -> frozenset[str]:
    """What a model has or lacks, by the names that variants of texts end with."""
    groups, activation = run.model("groups"), run.setting("activation")
    heads, d_k = (run.size("encoder.0.self_attn.q", axis).exact for axis in (0, 2))
    layers = {side: len(run.layers(side)) for side in ("encoder", "decoder")}
    found = {
        "pre": structure.is_pre(run),
        "unbiased": run.setting("norm.variance") == "unbiased",
        "outside": run.setting("norm.eps_in") == "outside",
        "gelu": activation.startswith("gelu"),
        "silu": activation == "silu",
        "scaled": structure.is_scaled(run),
        "two": structure.has_two_tables(run),
        "unplaced": not structure.is_placed(run),
        "learned": run.setting("position.kind") == "learned",
        "tables": structure.has_two_positions(run),
        "halves": run.setting("position.order") == "halves",
        "tied": run.setting("tied_output"),
        "inbias": ATTENTION_IN in groups,
        "outbias": ATTENTION_OUT in groups,
        "ffnbias": FFN in groups,
        "zbias": OUTPUT in groups,
        "onehead": heads == 1,
        "narrow": d_k == 1,
        "oneencoder": layers["encoder"] == 1,
        "onedecoder": layers["decoder"] == 1,
        "next": run.model("objective") == "next",
    }
    return frozenset(name for name, holds in found.items() if holds)


def _fact(said: Fact | Scalar | Say) -> Fact:
    if isinstance(said, Say):
        return Number(said.scalar, said.decimals)
    return number(said) if isinstance(said, Scalar) else said


def _parts(said: Any) -> tuple[Any, ...]:
    """What may stand alone, as the parts of a sentence or an expression."""
    if isinstance(said, tuple):
        return said
    return (number(said) if isinstance(said, Scalar) else said,)


def path_of(language: str) -> Path:
    return ASSETS / "handout" / f"{language}.toml"


def load(language: str, wording: Mapping[str, Any]) -> dict[str, Any]:
    """All texts of a language, with one for each case of the families of sentences that are in
    ``wording``. Raises LectureError where the file is missing or no TOML."""
    table = Reader().toml(path_of(language), dict[str, Any])
    return dict(texts.expand(table, wording))


def entry(table: Mapping[str, Any], language: str, *keys: str) -> str:
    """The text under these keys. Raises LectureError, naming file and keys, where there is none."""
    found: Any = table
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    if not isinstance(found, str):
        refuse(path_of(language), ".".join(keys), "a text", "nothing")
    return found


def fill(template: str, facts: Mapping[str, Fact]) -> Parts:
    """The parts of a template. Raises KeyError where a fact is missing."""
    parts: list[Part] = []
    for n, piece in enumerate(template.split("$")):
        if n % 2:
            parts.append(content.Math(Typst.of(piece, **facts)))
        elif piece:
            parts += _spans(piece, facts)
    return tuple(parts)


def _spans(piece: str, facts: Mapping[str, Fact]) -> list[Part]:
    parts: list[Part] = []
    for span in texts.parse(piece):
        value: Fact = facts[span.text] if span.is_fact else span.text
        marked = span.tag and isinstance(value, str)
        parts.append(content.Mark(str(span.tag), str(value)) if marked else value)
    return parts


def plain(parts: Parts) -> str:
    """Parts in plain letters."""
    said = (part.typst if isinstance(part, content.Math) else part for part in parts)
    return "".join(part if isinstance(part, str) else part.text for part in said)


def number(scalar: Scalar, decimals: int | None = None) -> Number:
    """A value as the lecture writes it: four decimals, a mask's −1e9 by its leading digit, ids and
    sizes whole, attention weights in maps with three (say so)."""
    if decimals is None:
        decimals = 4
        if abs(scalar.exact) >= 1e6:
            decimals = leading(scalar.exact)
        elif scalar.is_traced and (
            scalar.source[1].startswith("shape:") or scalar.source[1].endswith(".ids")
        ):
            decimals = 0
    return Number(scalar, decimals)


def visible(scalar: Scalar) -> Number:
    """A share or a probability with four decimals; a tiny one with so many that it is not 0."""
    tiny = 0 < scalar.exact < 0.00005
    return number(scalar, min(15, 1 - math.floor(math.log10(scalar.exact))) if tiny else None)


def whole(value: float | Scalar) -> Number:
    """A number without decimals: a position, a size, a count."""
    return Number(value if isinstance(value, Scalar) else constant(value), 0)


def exactly(scalars: Iterable[Scalar], most: int = 4) -> list[Number]:
    """Values with as few decimals as write all of them exactly, ``most`` where none do."""
    listed = list(scalars)
    decimals = decimals_needed([scalar.exact for scalar in listed], most)
    return [number(s, None if abs(s.exact) >= 1e6 else decimals) for s in listed]


def of(name: str, *indices: str | int) -> Typst:
    """A name with indices as a formula: ``of("q", "我", 0)``; a name of several letters upright."""
    letter = name.rstrip("'")
    base = Typst(name) if len(letter) == 1 and letter.isalpha() else Typst.quoted(name)
    inside = ", ".join(map(Typst.quoted, indices))
    return Typst(f"{base}_({inside})") if inside else base


def numbers(values: Iterable[Scalar], decimals: int | None = None) -> list[Number]:
    return [number(value, decimals) for value in values]


def listed(values: Iterable[Scalar], decimals: int | None = None, sign: str = ", ") -> Parts:
    """Numbers in a row, as parts of a sentence."""
    return tuple(part for one in numbers(values, decimals) for part in (sign, one))[1:]


def paired(xs: Iterable[Number], ws: Iterable[Number]) -> Expression:
    """The sum of each x times its w."""
    return joined((x, content.TIMES, w) for x, w in zip(xs, ws, strict=True))


def product(a: Number, b: Number) -> Number:
    """a × b with the decimals that write it exactly, four at most."""
    return number(compute("multiply", a.scalar, b.scalar), min(4, a.decimals + b.decimals))
