"""Scene 5, steps 7-11: how does a model know who stands where?

Claims: turned round, a sentence has the same vectors and the same dot products; each dimension of
the positional encoding is a continuous wave, sampled at the whole positions; the second pair of
dimensions is slower; the rows of the table all differ; nothing of it is learned. Where positions
are learned, the table stands for the formula and the waves; where there are none, the scene ends
with the order that the encoder does not know.
Reads of the training pass: positional or source_positional, encoder.embedded.
"""

from __future__ import annotations

from itertools import combinations

from manim import (
    DOWN,
    LEFT,
    RIGHT,
    UP,
    Create,
    DashedLine,
    FadeIn,
    FadeOut,
    LaggedStart,
    MathTypst,
    MoveAlongPath,
    VGroup,
    VMobject,
)

from scenes import theme, wording
from scenes.base import LectureScene
from scenes.parts.equation import Equation, Term
from scenes.parts.flow import Block
from scenes.parts.grid import Grid
from scenes.parts.icons import Lock
from scenes.parts.motion import Flight, fly
from scenes.parts.phrase import Number, Phrase, Say, row
from scenes.parts.plot import Plot
from scenes.parts.shapes import Token
from scenes.parts.wave import COSINE, SINE, Wave, WaveTable, pair_of
from scenes.rounding import decimals_needed
from scenes.structure import has_two_positions, in_one, is_placed, positional, spoken
from scenes.texts import Template
from scenes.values import Scalar, Word, compute, constant

#: Columns of the table and of the small plots above it.
COLUMNS_LEFT, COLUMN_PITCH = -5.6, 3.03
#: The curves run on a little after the last position.
BEYOND = 0.3
#: The beats where positions are learned.
LEARNED = (
    ("question", 7),
    ("order", 7),
    ("table", (8, 10)),
    ("fingerprint", 11),
    ("takeaway", 11),
)
#: The beats where the model has no positions.
NONE = (("question", 7), ("order", (7, 10)), ("takeaway", 11))
#: Letters of a sentence that can be shown both ways in a question.
LONGEST = 12


class PositionalEncoding(LectureScene):
    beats = (
        ("question", 7),
        ("order", 7),
        ("formula", 8),
        ("wave", 9),
        ("worked", 9),
        ("table", 10),
        ("slow", 10),
        ("fingerprint", 11),
        ("takeaway", 11),
    )
    color = theme.ENCODER
    lit = ("E+PE",)

    def setup(self) -> None:
        self.position = wording.position(self.training).name
        self.learned = self.position == "learned"
        self.beats = {"learned": LEARNED, "none": NONE}.get(self.position, type(self).beats)
        super().setup()

    def title_key(self) -> str:
        return "title" if is_placed(self.training) else "title_none"

    def construct(self) -> None:
        self.read_trace()
        self.question()
        self.order()
        if self.position != "none":
            self.tell_positions()
        self.takeaway()

    def tell_positions(self) -> None:
        """What is added for the places, and that it differs from place to place."""
        self.read_positions()
        if self.learned:
            self.learned_table()
        else:
            self.from_the_formula()
        self.fingerprints()

    @property
    def variant(self) -> str:
        """Which of the sentences about the formula is the model's."""
        return "halves" if self.halves else ""

    def named(self, d: int) -> Word:
        """A dimension as it is spoken of."""
        return Word(f"d{d}")

    def from_the_formula(self) -> None:
        """The waves, and the table of their points."""
        self.show_formula()
        self.show_waves()
        self.work_out()
        self.fill_table()
        self.slow_waves()

    def read_trace(self) -> None:
        run = self.training
        self.tokens = wording.named(run.source)
        self.embedded = run["encoder.embedded"]
        self.decimals = decimals_needed([s.exact for s in self.embedded.scalars()], 2)
        self.largest = max(abs(s.exact) for s in self.embedded.scalars())

    def read_positions(self) -> None:
        run, table = self.training, positional(self.training, "source")
        assert table is not None
        self.pe, self.size = table, run.size(table.name, 1)
        self.positions, self.dims = range(self.pe.shape[0]), range(self.pe.shape[1])
        self.last = self.pe.shape[0] - 1
        self.halves = len(self.dims) > 2 and run.setting("position.order") == "halves"
        self.waves = [Wave(self.pe, d, self.size, self.halves) for d in self.dims]
        #: the dimensions of one pace, a sine and a cosine each
        self.pairs = [
            [d for d in self.dims if pair_of(d, len(self.dims), self.halves)[0] == pair]
            for pair in range((len(self.dims) + 1) // 2)
        ]
        self.table = WaveTable(
            self.waves, self.pe, left=COLUMNS_LEFT, pitch=COLUMN_PITCH, end=self.last + BEYOND
        )

    # -- beats ---------------------------------------------------------------------------------

    def question(self) -> None:
        words = spoken(self.training, "source")
        facts = {"sentence": in_one(words), "reversed": in_one(words[::-1])}
        long = len(facts["sentence"]) > LONGEST
        with self.beat("question", {} if long else facts, variant="long" if long else ""):
            pass

    def order(self) -> None:
        count = len(self.tokens)
        pair = (0, min(1, count - 1))
        products = [a * b for a, b in zip(*(self.embedded[i] for i in pair), strict=True)]
        self.dot = compute("add", *products)
        places = [self.place_of(k) for k in range(count)]
        heads = VGroup(
            *(
                Phrase(f"pos {k}", size=theme.SMALL, color=theme.MUTED).place([x, 2.5, 0])
                for k, x in enumerate(places)
            )
        )
        self.originals = [self.word(i).move_to([places[i], 1.6, 0]) for i in range(count)]
        self.copies = [self.word(i).move_to([places[i], 1.6, 0]) for i in range(count)]
        for copy in self.copies:
            copy.set_z_index(2)
            copy[1].numbers.set_z_index(3)
        decimals = min(4, 2 * self.decimals)
        with self.beat("order", {"dot": Say(self.dot, decimals)}):
            self.play(self.answer(), run_time=theme.FADE)
            self.play(FadeIn(heads, *self.originals), run_time=0.6)
            for i in range(count):
                self.play(self.move_copy(i, places[-1 - i]), run_time=min(0.65, 2.6 / count))
            links = [self.link(words, pair) for words in (self.originals, self.copies)]
            for link in links:
                self.play(FadeIn(link, shift=0.1 * DOWN), run_time=0.5)
        self.shown = VGroup(heads, *self.originals, *self.copies, *links)

    def move_copy(self, i: int, x: float) -> MoveAlongPath:
        """A word's copy goes down between the rows, along there, and down to its new place."""
        copy = self.copies[i]
        start, drop = copy.get_center(), 1.16 * DOWN
        corners = [start, start + drop, [x, start[1] - 1.16, 0], [x, start[1] - 2.32, 0]]
        path = VMobject().set_points_as_corners(corners)
        return MoveAlongPath(copy, path)

    def place_of(self, k: int) -> float:
        pitch = theme.WIDTH / len(self.tokens)
        return theme.LEFT_EDGE + pitch * (k + 0.5)

    def word(self, i: int) -> VGroup:
        """A token with its vector below."""
        token = Token(self.tokens[i], size=theme.HEADING, height=0.56, width=1.3)
        vector = Grid(
            self.embedded[i],
            decimals=self.decimals,
            cell=(
                min(0.72, (theme.WIDTH / len(self.tokens) - 0.39) / self.embedded.shape[1]),
                0.46,
            ),
            size=22,
            fill=lambda value: theme.signed_fill(value, self.largest),
        )
        return VGroup(token, vector.next_to(token, DOWN, buff=0.12))

    def link(self, words: list[VGroup], pair: tuple[int, int]) -> VGroup:
        """A bracket from one word to the other, with their dot product."""
        left, right = sorted((words[i].get_bottom() + 0.1 * DOWN for i in pair), key=lambda p: p[0])
        depth = 0.16 * DOWN
        bracket = VMobject(stroke_color=theme.WEIGHT, stroke_width=3)
        bracket.set_points_as_corners([left, left + depth, right + depth, right])
        names = Phrase(
            Template("{a} · {b} ="), {"a": self.tokens[pair[0]], "b": self.tokens[pair[1]]}
        )
        decimals = min(4, 2 * self.decimals)
        value = Number(self.dot, decimals, size=theme.HEADING, color=theme.WEIGHT, bold=True)
        said = row(names, value, gap=0.15)
        said.shift((left + right) / 2 + depth + 0.28 * DOWN - said.get_center())
        return VGroup(bracket, said)

    def show_formula(self) -> None:
        columns = (r"i", r"i + d\/2") if self.halves else (r"2i", r"2i+1")
        lines = VGroup(
            *(
                MathTypst(
                    rf'"PE"({{{{"pos" : p}}}}, {column}) = '
                    rf'{function}({{{{"pos" : p}}}} / 10000^(2i\/d))',
                    font_size=50,
                )
                for column, function in zip(columns, ("sin", "cos"), strict=True)
            )
        )
        for line, color in zip(lines, (SINE, COSINE), strict=True):
            line.set_color(color)
        lines.arrange(DOWN, buff=0.35, aligned_edge=LEFT).move_to([0, 1.25, 0])
        cards = VGroup(*(wave.formula() for wave in self.waves))
        for card, wave in zip(cards, self.waves, strict=True):
            card.shift([self.table.column_x(wave.d) - 0.25, -0.75, 0])
        with self.beat("formula", variant=self.variant):
            self.play(FadeOut(self.shown), run_time=theme.FADE)
            for line in lines:
                self.play(FadeIn(line, shift=0.1 * UP), run_time=0.6)
            self.play(LaggedStart(*(FadeIn(c, shift=0.1 * UP) for c in cards), lag_ratio=0.4))
        self.shown = VGroup(lines, cards)

    def show_waves(self) -> None:
        ticks = [constant(k) for k in self.positions]
        self.big = Plot(self.last + BEYOND, 11.2, 3.5, ticks=ticks, levels=True, size=theme.BODY)
        self.big.stand(-5.85, 0.15)
        foot = self.label("position", size=theme.BODY)
        between = self.big.point(self.last - 0.5, 0)[0]
        self.big.add(foot.place([between, self.big.numbers[0].midline, 0]))
        pair = [self.waves[d] for d in self.pairs[0]]
        self.curves = [wave.curve(self.big) for wave in pair]
        self.dots = [wave.dots(self.big) for wave in pair]
        self.stems = [wave.stems(self.big) for wave in pair]
        self.names = [
            wave.title(curve.get_end() + 0.6 * RIGHT)
            for wave, curve in zip(pair, self.curves, strict=True)
        ]
        with self.beat("wave"):
            self.play(FadeOut(self.shown), FadeIn(self.big), run_time=0.6)
            for parts in zip(self.curves, self.names, self.stems, self.dots, strict=True):
                curve, name, stems, dots = parts
                self.play(Create(curve), FadeIn(name), run_time=theme.SLOW)
                self.play(
                    LaggedStart(*(Create(stem) for stem in stems), lag_ratio=0.3),
                    LaggedStart(*(FadeIn(dot, scale=0.5) for dot in dots), lag_ratio=0.3),
                    run_time=1.2,
                )

    def work_out(self) -> None:
        at = min(1, self.last)
        x, top = self.big.point(at, 1)[:2]
        self.plumb = DashedLine(
            self.big.point(at, -1), [x, top + 0.12, 0], stroke_width=3, color=theme.WEIGHT
        )
        self.sums = VGroup()
        left = x - 0.1
        for wave in (self.waves[d] for d in self.pairs[0]):
            term = Term(constant(at), 0, wave.color, function=wave.function)
            result = Term(self.pe[at, wave.d], 4, wave.color, bold=True)
            line = Equation([term], result, size=30).place([left, 2.38], LEFT)
            self.sums.add(line)
            left = line.get_right()[0] + 0.7
        sine, cosine = (Say(self.pe[at, d], 4) for d in self.pairs[0])
        facts = {"one": Say(constant(at), 0), "sine": sine, "cosine": cosine}
        if self.halves:
            facts["second"] = self.named(self.pairs[0][1])
        with self.beat("worked", facts, variant=self.variant):
            others = VGroup(*(dots[p] for dots in self.dots for p in self.positions if p != at))
            self.play(Create(self.plumb), others.animate.set_opacity(theme.DIMMED), run_time=0.7)
            for line, dots in zip(self.sums, self.dots, strict=True):
                self.play(FadeIn(line.left_side()), run_time=theme.FADE)
                arrival = fly(dots[at], line.result)
                self.play(FadeIn(line.sign), arrival, run_time=theme.MOVE)
            self.play(others.animate.set_opacity(1), run_time=theme.FADE)

    def fill_table(self) -> None:
        table, known = self.table, self.pairs[0]
        others = [d for d in self.dims if d not in known]
        shrinking = [
            Flight(old, news[d])
            for olds, news in (
                (self.names, table.heads),
                (self.curves, table.curves),
                (self.dots, table.dots),
            )
            for old, d in zip(olds, known, strict=True)
        ]
        with self.beat("table", {"size": Say(self.size, 0)}):
            self.play(FadeOut(self.sums, self.plumb, *self.stems), run_time=theme.FADE)
            self.play(FadeOut(self.big), run_time=theme.FADE)
            plots = FadeIn(*(table.plots[d] for d in known))
            self.play(plots, *shrinking, run_time=theme.MOVE)
            for d in others:
                curve = Create(table.curves[d])
                self.play(FadeIn(table.plots[d], table.heads[d]), curve, run_time=0.5)
            dots = [table.dots[d] for d in others]
            self.play(FadeIn(*dots, table.grid.row_labels), run_time=theme.FADE)
            for d in self.dims:
                self.play(table.drop(d), run_time=0.8)

    def learned_table(self) -> None:
        """The table where no formula makes it."""
        grid = self.table.grid.move_to([0, 0.2, 0])
        with self.beat("table", {"size": Say(self.size, 0)}, variant="learned"):
            self.play(FadeOut(self.shown), run_time=theme.FADE)
            self.play(FadeIn(grid.row_labels), run_time=theme.FADE)
            for p in self.positions:
                row_ = FadeIn(grid.row_cells(p), grid.row_numbers(p), shift=0.15 * DOWN)
                self.play(row_, run_time=0.6)

    def slow_waves(self) -> None:
        fast = self.waves[0]
        facts: dict[str, Say | Word] = {"fast": Say(fast.period, 2)}
        for pair in self.pairs[1:2]:
            slow = self.waves[pair[0]]
            facts |= {"slow": Say(slow.period, 0), "ratio": Say(slow.rate / fast.rate, 0)}
            if self.halves:
                facts["second"] = self.named(pair[1])
        variant = self.variant or ("more" if self.pairs[1:] else "two")
        grid = self.table.grid
        with self.beat("slow", facts, variant=variant):
            known = self.pairs[0]
            dimmed = VGroup(*(grid.column_cells(d) + grid.column_numbers(d) for d in known))
            if self.pairs[1:]:
                self.play(dimmed.animate.set_opacity(theme.DIMMED), run_time=0.5)
            for pair in self.pairs[:2]:
                changes = [change for d in pair for change in self.table.whole_cycle(d)]
                self.play(*changes, run_time=1.5)

    def nearest(self) -> Scalar:
        """The smallest distance between two rows."""
        pairs = combinations(self.positions, 2)
        return min((self.distance(a, b) for a, b in pairs), key=lambda scalar: scalar.exact)

    def distance(self, a: int, b: int) -> Scalar:
        steps = [self.pe[a, d] - self.pe[b, d] for d in self.dims]
        return compute("sqrt", compute("add", *(step * step for step in steps)))

    def fingerprints(self) -> None:
        strips = self.strips = self.build_strips()
        gaps = VGroup(*(self.gap(strips, p) for p in self.positions[1:]))
        head = self.label("distance", size=theme.BODY)
        head.place([gaps.get_x() + 0.1, strips.column_labels[0].midline, 0])
        case = wording.fingerprints(self.nearest())
        with self.beat("fingerprint", case.facts, variant=case.name):
            if not self.learned:
                self.play(FadeOut(self.table.above()), run_time=theme.FADE)
            self.play(
                *(
                    Flight(old, new)
                    for old, new in (
                        (self.table.grid.cells, strips.cells),
                        (self.table.grid.numbers, strips.numbers),
                        (self.table.grid.row_labels, strips.row_labels),
                    )
                ),
                FadeIn(strips.column_labels),
                run_time=theme.SLOW,
            )
            self.play(FadeIn(head), run_time=0.3)
            self.play(LaggedStart(*(FadeIn(gap) for gap in gaps), lag_ratio=0.5), run_time=1.5)

    def build_strips(self) -> Grid:
        """The table with its rows apart, each a strip of its own."""
        count = len(self.positions)
        pitch = 4.3 / count
        strips = Grid.signed(
            self.pe,
            rows=[f"pos {k}" for k in self.positions],
            columns=[f"d{d}" for d in self.dims],
            cell=(1.65, 0.62 * pitch),
            size=28,
            row_color=theme.INK,
            label_size=theme.BODY,
        )
        strips.shift([-5.4, 2.05, 0] - strips.cells.get_corner(UP + LEFT))
        for p in self.positions:
            y = 2.05 - 0.31 * pitch - p * pitch
            strips.row_all(p).shift([0, y - strips.cell(p, 0).get_y(), 0])
        return strips

    def gap(self, strips: Grid, p: int) -> VGroup:
        """A bracket from a row to the one above, with their distance."""
        ends = [strips.cell(q, -1).get_right() + 0.15 * RIGHT for q in (p - 1, p)]
        inset = 0.12 * UP
        corners = [ends[0] - inset, ends[0] - inset + 0.18 * RIGHT]
        corners += [ends[1] + inset + 0.18 * RIGHT, ends[1] + inset]
        bracket = VMobject(stroke_color=theme.MUTED, stroke_width=3).set_points_as_corners(corners)
        number = Number(self.distance(p - 1, p), 4, size=theme.HEADING)
        return VGroup(bracket, number.beside(bracket, 0.2, RIGHT))

    def takeaway(self) -> None:
        two = has_two_positions(self.training)
        variant = "two" if two else "" if self.position == "sinusoid" else self.position
        with self.beat("takeaway", variant=variant):
            if self.position != "none":
                self.play(FadeIn(self.lock_card(), shift=0.15 * UP), run_time=0.6)
        self.leave()

    def lock_card(self) -> Block:
        """Whether positions are learned, and that training and inference use the same."""
        card = Block((3.2, 1.5), (theme.RIGHT_EDGE - 0.03, -1.35), color=self.color)
        card.add(Lock(self.color, 0.7).move_to(card.box).shift(0.65 * UP))
        name = "learned" if self.learned else "fixed"
        card.write(self.label(name, size=theme.HEADING, color=theme.INK, bold=True), -0.2)
        card.write(self.label("same", size=theme.BODY, color=theme.INK), -0.85)
        return card
