"""Scene 10, steps 39-51: what a second encoder layer changes, and the memory that comes out.

Claims: layer 2 has the same sub-layers, and other weights or the same; how evenly each layer
spreads a row of attention, by its entropy, is computed for every row and head; the last layer's
output is the memory from which each cross-attention of the decoder makes its keys and values.
Where there is only one encoder layer, it stands where the two are compared.
Reads of the training pass: the first encoder layer's output and ``self_attn.weights``; of the last
one self_attn.weights, the output of each sub-layer, and each norm or sum; ``memory``; and, of the
decoder's last layer that has one, ``cross_attn.k`` and ``.v``.
"""

from __future__ import annotations

from manim import (
    DOWN,
    LEFT,
    RIGHT,
    Create,
    FadeIn,
    FadeOut,
    GrowArrow,
    GrowFromEdge,
    LaggedStart,
    ReplacementTransform,
    VGroup,
)

from engine.parameters import ATTENTION_IN
from scenes import theme, wording
from scenes.base import LectureScene
from scenes.parts.flow import Block, Wire
from scenes.parts.formula import formula
from scenes.parts.grid import Grid, cell_width, outline
from scenes.parts.icons import tick
from scenes.parts.lookup import sized
from scenes.parts.motion import Flight, hand_over
from scenes.parts.phrase import Number, Phrase, Say
from scenes.parts.ruler import Change, Ruler
from scenes.parts.shapes import Bars, arrow, fitting, is_wide
from scenes.parts.softmax import strongest
from scenes.parts.sublayers import SubLayers, boxes_of, strip_keys
from scenes.rounding import shown
from scenes.structure import has, has_final_norm, is_pre, layer_output, sublayers
from scenes.values import Scalar, Values, compute, constant, rounded


class Memory(LectureScene):
    beats = (
        ("question", 39),
        ("layers", 39),
        ("attention", (40, 42)),
        ("row", 43),
        ("even", 43),
        ("rows", 43),
        ("vector", (44, 49)),
        ("memory", 50),
        ("kept", 51),
        ("takeaway", 51),
    )
    color = theme.ENCODER
    lit = ("Enc 2",)
    #: left edges of the two halves of the picture
    HALVES = (-6.5, 0.5)

    def construct(self) -> None:
        self.read_trace()
        self.question()
        self.same_layers()
        self.both_maps()
        self.one_row()
        self.how_even()
        self.every_row()
        self.through_the_layer()
        self.memory_matrix()
        self.keys_and_values()
        self.takeaway()

    def read_trace(self) -> None:
        run = self.training
        self.tokens = wording.named(run.source)
        self.last = len(run.layers("encoder")) - 1
        self.single = self.last == 0
        self.first_output = layer_output(run, "encoder", 0)
        self.parts = sublayers(run, "encoder", self.last)
        self.input = run[self.parts[0].x]
        self.final = has_final_norm(run, "encoder")
        self.layers = (0,) if self.single else (0, self.last)
        self.weights = [run[f"encoder.{layer}.self_attn.weights"] for layer in self.layers]
        self.memory = run["memory"]
        self.shape = run.size("memory", 0), run.size("memory", 1)
        looking = [i for i, kinds in enumerate(run.layers("decoder")) if "cross_attn" in kinds]
        self.asking_layers, self.asking_layer = looking, looking[-1] + 1
        part = f"decoder.{looking[-1]}.cross_attn"
        self.k, self.v = run[f"{part}.k"][0], run[f"{part}.v"][0]
        self.biased = has(run, ATTENTION_IN)
        self.full = compute("log", self.shape[0])
        self.asking = 0

    def rows_of(self, head: int, i: int) -> list[Values]:
        """A row of attention in each layer that is shown."""
        return [weights[head, i] for weights in self.weights]

    def entropies(self, head: int, i: int) -> list[Scalar]:
        return [compute("entropy", *row) for row in self.rows_of(head, i)]

    def case(self, several: wording.Case, **facts: Say | str) -> wording.Case:
        """What is said of several layers; of a single one its own sentence, with ``facts``."""
        return wording.Case("single", facts) if self.single else several

    # -- beats ---------------------------------------------------------------------------------

    def question(self) -> None:
        with self.beat("question", variant="single" if self.single else ""):
            pass

    def same_layers(self) -> None:
        stacks = VGroup(self.stack(0, -5.2), self.stack(self.last, 5.2))
        grid = Grid.signed(self.first_output, rows=self.tokens, cell=(1.35, 0.74), size=28)
        grid.shift([0.2, 0, 0] - grid.cells.get_center())
        grid.keep_inside(float(stacks[0].get_right()[0]) + 0.45, slack=0.4)
        heading = self.label("first_output", size=theme.HEADING, color=theme.INK)
        heading.place([grid.cells.get_x(), grid.cells.get_top()[1] + 0.42, 0])
        left, right = grid.get_left()[0], grid.cells.get_right()[0]
        ways = VGroup(
            arrow([stacks[0].get_right()[0], 0, 0], [left, 0, 0], buff=0.12, color=self.color),
            arrow([right, 0, 0], [stacks[1].get_left()[0], 0, 0], buff=0.12, color=self.color),
        )
        case = self.case(wording.layer_weights(self.training, "encoder", 0, self.last))
        with self.beat("layers", variant=case.name):
            self.play(self.answer(), FadeIn(stacks[0]), run_time=theme.MOVE)
            self.play(GrowArrow(ways[0]), run_time=0.4)
            self.play(FadeIn(grid, heading, shift=0.2 * RIGHT), run_time=theme.MOVE)
            if not self.single:
                self.play(GrowArrow(ways[1]), run_time=0.4)
                boxes = (FadeIn(box, shift=0.15 * DOWN) for box in stacks[1])
                self.play(LaggedStart(*boxes, lag_ratio=0.35), run_time=1.6)
        shown = len(self.layers)
        self.old = VGroup(*stacks[:shown], grid, heading, *ways[:shown])

    def stack(self, layer: int, x: float) -> VGroup:
        """A layer's name over its sub-layers, and the norm that ends the stack."""
        half, name = 1.3, f"Encoder L{layer + 1}"
        whole = VGroup(
            Phrase(name, size=theme.HEADING, color=self.color, bold=True).place([x, 2.15, 0])
        )
        boxes = [box for part in self.parts for box in boxes_of(self.training, part.kind)]
        if self.final and layer == self.last:
            boxes.append("Norm")
        pitch = min(0.83, 2.9 / (len(boxes) - 1))
        for n, text in enumerate(boxes):
            y, up = 1.25 - pitch * n, min(0.31, 0.42 * pitch)
            box = Block((x - half, y + up), (x + half, y - up), color=self.color)
            box.write(Phrase(text, size=theme.BODY))
            whole.add(box)
        return whole

    def heat(self, layer: int) -> Grid:
        grid = Grid.heat(
            self.weights[layer][0],
            rows=self.tokens,
            columns=self.tokens,
            cell=(1.12, 0.86),
            row_color=theme.QUERY,
            column_color=theme.KEY,
            label_size=fitting(self.tokens, 1.0),
        )
        x = -3.3 + 6.75 * layer + (0.3 if is_wide(self.tokens) else 0)
        return grid.shift([x, -0.25, 0] - grid.cells.get_center())

    def heading(self, layer: int) -> Phrase:
        color = self.color if layer else theme.INK
        made = self.label(f"layer_{layer + 1}", size=theme.HEADING, color=color, bold=True)
        return made.place([-3.3 + 6.75 * layer, 2.45, 0])

    def both_maps(self) -> None:
        count = range(len(self.layers))
        self.maps = maps = [self.heat(layer) for layer in count]
        self.headings = VGroup(*(self.heading(layer) for layer in count))
        with self.beat("attention", variant="single" if self.single else ""):
            self.play(FadeOut(self.old), run_time=theme.FADE)
            self.play(FadeIn(maps[0], self.headings[0]), run_time=theme.MOVE)
            for grid, name in zip(maps[1:], self.headings[1:], strict=True):
                self.play(FadeIn(grid.row_labels, grid.column_labels, name), run_time=0.5)
                for i in range(len(self.tokens)):
                    row = FadeIn(grid.row_cells(i), grid.row_numbers(i), shift=0.15 * DOWN)
                    self.play(row, run_time=0.5)

    def one_row(self) -> None:
        i, maps = self.asking, self.maps
        self.charts = [self.chart(layer) for layer in range(len(maps))]
        marks = VGroup(*(grid.frame(grid.row_cells(i)) for grid in maps))
        case = self.both_rows()
        with self.beat("row", case.facts, variant=case.name):
            self.play(Create(marks), run_time=0.6)
            rows = [grid.row_numbers(i) for grid in maps]
            for grid, row in zip(maps, rows, strict=True):
                grid.numbers.remove(*row)
            bright = (row.animate.set_color(theme.INK) for row in rows)
            self.play(FadeOut(*maps, marks), *bright, run_time=0.5)
            pairs = zip(rows, self.charts, strict=True)
            moves = [move for row, chart in pairs for move in hand_over(row, chart.numbers)]
            self.play(*moves, run_time=theme.MOVE)
            self.play(FadeIn(*(chart.labels for chart in self.charts)), run_time=theme.FADE)
            for chart in self.charts:
                self.play(
                    LaggedStart(*(GrowFromEdge(bar, LEFT) for bar in chart.bars), lag_ratio=0.2),
                    run_time=theme.MOVE,
                )

    def both_rows(self) -> wording.Case:
        """What the row that is asked about looks at most, in the first layer and in the second."""
        rows = self.rows_of(0, self.asking)
        query = self.tokens[self.asking]
        cases = [wording.largest(row, query, self.tokens) for row in rows]
        if self.single:
            return wording.Case("single") + cases[0]
        if any(case.name != "one" for case in cases):
            return cases[0].named("first") + cases[1].named("second")
        keys = [case.facts["key"] for case in cases]
        if keys[0] != keys[1]:
            return wording.Case("differ", {"query": query, "key_1": keys[0], "key_2": keys[1]})
        digits = [[shown(value.exact, wording.SHARES) for value in row] for row in rows]
        name = "equal" if digits[0] == digits[1] else "same"
        return wording.Case(name, {"query": query, "key_1": keys[0]})

    def chart(self, layer: int) -> Bars:
        """The row that is asked about, as bars; both layers by the same scale."""
        i = self.asking
        largest = max(s.exact for row in self.rows_of(0, i) for s in row)
        bars = Bars(
            self.weights[layer][0, i],
            self.tokens,
            width=3.6,
            full=largest,
            pitch=0.56,
            size=theme.HEADING,
            label_size=fitting(self.tokens, 0.84),
            label_color=theme.KEY,
            strongest=strongest(self.weights[layer][0, i]),
        )
        left = self.HALVES[layer] + (1.15 if is_wide(self.tokens) else 0.85)
        return bars.shift([left - bars.bars.get_left()[0], 1.75 - bars.bars[0].get_y(), 0])

    def how_even(self) -> None:
        values = self.entropies(0, self.asking)
        first, query = values[0], self.tokens[self.asking]
        general = formula(r"H = -a_1 ln a_1 - a_2 ln a_2 - dots.c", size=40, at=(0, -0.62, 0))
        ruler = Ruler(-3.6, 3.6, -1.55, self.full.exact)
        ends = ruler.name_ends(
            Phrase(self.text("peaked"), {"zero": Say(constant(0), 0)}, color=theme.MUTED),
            Phrase(self.text("even"), {"full": Say(self.full, 3)}, color=theme.MUTED),
        )
        marks = [ruler.mark(first, "L1", theme.INK)]
        if not self.single:
            marks.append(ruler.mark(values[1], "L2", self.color, below=True))
        case = self.case(
            wording.entropy(query, first, values[-1]), query=query, first=Say(first, 3)
        )
        with self.beat("even", case.facts, variant=case.name):
            self.play(FadeIn(general), run_time=0.6)
            self.play(Create(ruler), FadeIn(ends), run_time=theme.MOVE)
            for mark in marks:
                self.play(FadeIn(mark, shift=0.15 * DOWN), run_time=0.7)
        self.old = VGroup(*self.charts, self.headings, general, ruler, ends, *marks)

    def every_row(self) -> None:
        heads = self.weights[0].shape[0]
        panels = [self.panel(head) for head in range(heads)]
        pairs = [self.entropies(head, i) for head in range(heads) for i in range(len(self.tokens))]
        total = compute("count", *(pair[0] for pair in pairs))
        case = self.case(
            wording.entropy_rows([(pair[0], pair[-1]) for pair in pairs], heads),
            total=Say(total, 0),
        )
        name = "two" if heads == 2 and case.name == "some_none" else case.name
        with self.beat("rows", case.facts, variant=name):
            self.play(FadeOut(self.old), run_time=theme.FADE)
            for panel in panels:
                self.play(FadeIn(panel[0]), run_time=0.5)
                rows = (FadeIn(row, shift=0.15 * DOWN) for row in panel[1:])
                self.play(LaggedStart(*rows, lag_ratio=0.35), run_time=1.6)
        self.old = VGroup(*panels)

    def panel(self, head: int) -> VGroup:
        """A head: for each token the entropy in both layers, as numbers and on a ruler."""
        x, wide = self.HALVES[head], is_wide(self.tokens)
        places = (x + 4.3, x + 5.4)[: len(self.layers)]
        name = Phrase(f"Head {head + 1}", size=theme.HEADING, bold=True).place([x, 2.3, 0], LEFT)
        whole = VGroup(VGroup(name))
        for at, layer in zip(places, ("L1", "L2"), strict=False):
            ink = self.color if layer == "L2" else theme.INK
            head_of = Phrase(layer, color=ink, bold=True).place([at, 2.3, 0], RIGHT)
            whole[0].add(head_of)
        for i, token in enumerate(self.tokens):
            y = 1.4 - 0.95 * i
            values = self.entropies(head, i)
            ruler = Ruler(x + (1.15 if wide else 0.6), x + 3.0, y, self.full.exact)
            size = fitting(self.tokens, 0.95)
            row = VGroup(Phrase(token, size=size, color=theme.QUERY, bold=True))
            row[0].place([x, y, 0], LEFT)
            change = (
                Change(ruler, *values, self.color)
                if values[1:]
                else ruler.dot(values[0], theme.INK)
            )
            row.add(ruler, change)
            inks = theme.INK, self.color
            for at, value, ink in zip(places, values, inks, strict=False):
                row.add(Number(value, 3, color=ink).place([at, y, 0], RIGHT))
            read = [rounded(value, wording.SHARES).exact for value in values]
            if read[-1] > read[0]:
                row.add(tick(theme.WEIGHT).move_to([x + 5.75, y, 0]))
            whole.add(row)
        return whole

    def through_the_layer(self) -> None:
        i, run = self.asking, self.training
        values = [self.input[i]]
        keys = ["strip_first" if self.single else "strip_input"]
        for part in self.parts:
            values += [run[part.output][i], run[part.leaves][i]]
            keys += strip_keys(run, part.kind)
        if self.final:
            values.append(self.memory[i])
            keys.append("strip_final")
        captions = [self.label(key, {"token": self.tokens[i]}, size=theme.BODY) for key in keys]
        residuals = [self.label("residual") for _ in self.parts]
        self.passing = passing = SubLayers(values, captions, residuals)
        told = {"single": self.single, "pre": is_pre(run), "final": self.final}
        with self.beat("vector", variant="_".join(name for name, so in told.items() if so)):
            self.play(FadeOut(self.old), run_time=theme.FADE)
            self.play(FadeIn(passing.strips[0]), run_time=0.5)
            for line in range(1, len(values)):
                self.play(*passing.step(line), run_time=theme.MOVE)
            self.play(passing.last.caption.animate.set_color(self.color), run_time=theme.FADE)
        self.old = passing.all_but_last()

    def memory_matrix(self) -> None:
        i, last = self.asking, self.passing.last.grid
        grid = Grid.signed(self.memory, rows=self.tokens, cell=(1.7, 0.86), size=30, label_size=30)
        grid.shift([0, -0.15, 0] - grid.cells.get_center())
        name = Phrase("Memory", size=30, color=self.color, bold=True)
        heading = sized(name, self.shape)
        heading.shift([grid.cells.get_x() - heading.get_x(), 2.25 - name.midline, 0])
        frame = outline(grid.cells, color=self.color, buff=0.08)
        others = [n for n in range(len(self.tokens)) if n != i]
        with self.beat("memory", {"count": Say(self.shape[0], 0)}):
            self.play(FadeOut(self.old), run_time=theme.FADE)
            self.play(
                *(Flight(a, b) for a, b in zip(last.numbers, grid.row_numbers(i), strict=True)),
                ReplacementTransform(last.cells, grid.row_cells(i)),
                FadeIn(grid.row_labels[i]),
                run_time=theme.MOVE,
            )
            for n in others:
                self.play(FadeIn(grid.row_all(n), shift=0.15 * DOWN), run_time=0.5)
            self.play(FadeIn(heading), run_time=theme.FADE)
            self.play(Create(frame), run_time=0.6)
        self.memory_frame = frame
        self.grid, self.memory_name = grid, heading

    def keys_and_values(self) -> None:
        self.build_lookup()
        small, old = self.small, self.grid
        pairs = (
            *zip(old.numbers, small.numbers, strict=True),
            *zip(old.cells, small.cells, strict=True),
            *zip(old.row_labels, small.row_labels, strict=True),
        )
        case = self.who_asks()
        with self.beat("kept", case.facts, variant=case.name):
            self.play(
                *(Flight(a, b) for a, b in pairs),
                ReplacementTransform(self.memory_frame, outline(small.cells, color=self.color)),
                self.memory_name.animate.shift(self.name_shift),
                run_time=theme.MOVE,
            )
            for grid, name, wire in zip(self.grids, self.grid_names, self.wires, strict=True):
                self.play(Create(wire), run_time=0.5)
                self.play(FadeIn(grid, name, shift=0.2 * RIGHT), run_time=theme.MOVE)
            self.play(*(GrowArrow(way) for way in self.ways), run_time=0.5)
            self.play(FadeIn(self.decoder), run_time=0.5)

    def who_asks(self) -> wording.Case:
        """Which decoder layers look into the memory: one, or several that each make their own."""
        if len(self.asking_layers) == 1:
            return wording.Case("")
        layers = wording.whole(len(self.asking_layers))
        return wording.Case(
            "several", {"layers": layers, "layer": wording.whole(self.asking_layer)}
        )

    def build_lookup(self) -> None:
        """The memory at the left, K and V made from it, the cross-attention that uses them."""
        many = self.k.shape[1] > 2
        self.small = small = Grid.signed(
            self.memory,
            rows=self.tokens,
            cell=(0.89 if many else 0.92 if is_wide(self.tokens) else 1.12, 0.62),
            size=theme.BODY,
        )
        small.shift([-3.65, -0.1, 0] - small.cells.get_center())
        if many:
            small.shift((theme.LEFT_EDGE - small.get_left()[0]) * RIGHT)
        small.keep_inside()
        target = [small.cells.get_x(), small.cells.get_top()[1] + 0.45]
        name = self.memory_name[0]
        self.name_shift = [target[0] - self.memory_name.get_x(), target[1] - name.midline, 0]
        self.grids, self.grid_names, self.wires, self.ways = VGroup(), VGroup(), VGroup(), VGroup()
        right = small.cells.get_right()[0]
        middle, cell = 1.6, 1.35
        if many:
            labels = small.cells.get_left()[0] - small.get_left()[0]
            start, end = right + 0.82 + labels, 3.4
            middle, cell = (start + end) / 2, cell_width(self.k.shape[1], end - start, cell)
        kinds = (self.k, "K", theme.KEY, 1.3), (self.v, "V", theme.VALUE, -1.25)
        for values, letter, color, y in kinds:
            grid = Grid.signed(values, rows=self.tokens, cell=(cell, 0.4), row_color=color, size=22)
            grid.shift([middle, y, 0] - grid.cells.get_center())
            typst = f"{{{{{letter} : {letter.lower()}}}}} = M W_{letter}^top"
            if self.biased:
                typst += f" + b_{letter}"
            self.grids.add(grid)
            top = y + 1.24
            name = formula(typst, size=32 if self.biased else 36)
            name.move_to([grid.cells.get_x() - (0.9 if self.biased else 0.6), top, 0])
            head = Phrase("Head 1", size=theme.SMALL, color=theme.MUTED)
            head.place([grid.cells.get_right()[0], top, 0], RIGHT)
            self.grid_names.add(VGroup(name, head))
            bend, end = right + 0.4, grid.get_left()[0] - 0.12
            y_from = small.cells.get_y()
            self.wires.add(
                Wire([right + 0.1, y_from], [bend, y_from], [bend, y], [end, y], color=color)
            )
            x = grid.cells.get_right()[0]
            self.ways.add(arrow([x, y, 0], [4.1, y * 0.55, 0], buff=0.12, color=color))
        self.decoder = Block((4.1, 1.25), (6.5, -1.25), color=theme.TRAINING)
        self.decoder.write(Phrase(f"Decoder L{self.asking_layer}", size=theme.BODY, bold=True), 0.4)
        self.decoder.write(Phrase("Cross-Attention", size=theme.SMALL), -0.3)

    def takeaway(self) -> None:
        facts = {"rows": Say(self.shape[0], 0), "columns": Say(self.shape[1], 0)}
        with self.beat("takeaway", facts):
            pass
        self.leave()
