"""Scene 13, steps 74-85: where does the decoder look the source sentence up?

Claims: queries come from the decoder, keys and values from memory; no cell is masked; a row of
weights mixes the values; how even the weights are is read from the trace.
Reads of the training pass: ``memory``; of the decoder's last layer all from what goes into
``cross_attn`` to the last sum or norm; ``decoder.norm``.
"""

from __future__ import annotations

import numpy as np
from manim import (
    DOWN,
    LEFT,
    RIGHT,
    UP,
    Create,
    FadeIn,
    FadeOut,
    LaggedStart,
    Mobject,
    VGroup,
)

from engine.parameters import ATTENTION_IN, ATTENTION_OUT
from scenes import theme, wording
from scenes.base import LectureScene
from scenes.parts.attention import AttentionArrows, token_column
from scenes.parts.bridge import Bridge, projections
from scenes.parts.grid import GAP, Grid, cell_width, outline
from scenes.parts.mixing import WeightedSum
from scenes.parts.motion import EARLY, Flight, born_each, hand_over
from scenes.parts.phrase import Phrase, Say
from scenes.parts.score import ScoreLines
from scenes.parts.shapes import Token, arrow, fitting, is_wide
from scenes.parts.softmax import SoftmaxTable
from scenes.parts.strips import ADD, AGAIN, BOXES, FFN, FINAL, MIX, NORM, AddAndNorm, Stages, Strip
from scenes.structure import has, has_final_norm, is_pre, sublayer
from scenes.values import compute, constant
from scenes.wording import ACTIVATIONS


class CrossAttention(LectureScene):
    beats = (
        ("question", 74),
        ("bridge", 74),
        ("query", 75),
        ("memory", 76),
        ("score", 77),
        ("softmax", 78),
        ("arrows", 79),
        ("even", 79),
        ("values", 80),
        ("output", 81),
        ("norm", 82),
        ("ffn", (83, 84)),
        ("norm_again", 85),
        ("takeaway", 85),
    )
    color = theme.TRAINING
    lit = ("Dec 2",)
    #: first word and distance of words, of the arrows and of the matrix beside them
    top, pitch = 1.15, 0.89

    def setup(self) -> None:
        self.lit = (f"Dec {len(self.training.layers('decoder'))}",)
        super().setup()

    def construct(self) -> None:
        self.read_trace()
        self.question()
        self.bridge()
        self.queries()
        self.keys_and_values()
        self.one_score()
        self.softmax()
        self.all_arrows()
        self.how_even()
        self.mix_values()
        self.output()
        self.add_and_norm()
        self.feed_forward()
        self.add_and_norm_again()
        self.takeaway()

    def read_trace(self) -> None:
        run = self.training
        self.last = len(run.layers("decoder")) - 1
        part = f"decoder.{self.last}.cross_attn"
        self.targets, self.sources = run.target, run.source
        self.place, self.pre = run.setting("norm.place"), is_pre(run)
        self.final = has_final_norm(run, "decoder")
        self.cross, self.ffn = (
            sublayer(run, "decoder", self.last, kind) for kind in ("cross_attn", "ffn")
        )
        self.biased = has(run, ATTENTION_IN)
        self.x, self.memory = run[self.cross.reads], run["memory"]
        self.q, self.k, self.v = (run[f"{part}.{name}"][0] for name in "qkv")
        self.dots, self.scores = run[f"{part}.dot"][0], run[f"{part}.scores"][0]
        self.exp, self.weights = run[f"{part}.exp"][0], run[f"{part}.weights"][0]
        self.mixed = run[f"{part}.heads"][0]
        self.d_k = run.size(f"{part}.k", 2)
        self.asking = self.asked = 0
        self.pair = {"query": self.targets[self.asking], "key": self.sources[self.asked]}
        self.count = {"count": Say(run.size("memory", 0), 0)}

    # -- where queries, keys and values come from ----------------------------------------------

    def question(self) -> None:
        with self.beat("question"):
            pass

    def bridge(self) -> None:
        self.old = bridge = Bridge(self.targets, self.sources)
        with self.beat("bridge"):
            self.play(self.answer(), FadeIn(bridge.decoder), run_time=theme.MOVE)
            self.play(FadeIn(bridge.memory), run_time=0.6)
            self.play(FadeIn(bridge.middle, bridge.query, shift=0.15 * RIGHT), run_time=0.6)
            self.play(FadeIn(bridge.key, bridge.value, shift=0.15 * LEFT), run_time=0.6)

    def queries(self) -> None:
        inputs = Grid.signed(
            self.x,
            rows=self.targets,
            cell=(1.36, 0.8),
            size=theme.HEADING,
            row_color=theme.TRAINING,
            label_size=theme.HEADING,
        )
        cell = (cell_width(self.q.shape[1], 4.15, 1.6), 0.8)
        queries = Grid.signed(self.q, cell=cell, size=theme.HEADING)
        inputs.shift([-2.15, -0.05, 0] - inputs.cells.get_center())
        x = min(4.55, theme.RIGHT_EDGE - 0.1 - queries.cells.width / 2)
        queries.shift([x, -0.05, 0] - queries.cells.get_center())
        heads = VGroup(
            self.over(inputs, "normed_rows" if self.pre else "decoder_rows", theme.TRAINING),
            self.over(queries, "queries", theme.QUERY),
        )
        times = projections(inputs, queries, (self.map_by("WQ"), theme.QUERY))
        i = self.asking
        marks = VGroup(
            inputs.frame(inputs.row_cells(i)),
            queries.frame(queries.row_cells(i), color=theme.QUERY),
        )
        with self.beat("query", variant="biased" if self.biased else ""):
            self.play(FadeOut(self.old), run_time=theme.FADE)
            self.play(FadeIn(inputs, heads[0]), run_time=0.6)
            self.play(FadeIn(times), FadeIn(queries, heads[1], shift=0.2 * RIGHT), run_time=0.7)
            self.play(Create(marks), run_time=0.5)
        self.old = VGroup(inputs, queries, heads, times, marks)

    def map_by(self, matrix: str) -> str:
        """What an arrow between two matrices says: times a matrix, plus a bias."""
        return f"× {matrix} + b" if self.biased else f"× {matrix}"

    def over(self, grid: Grid, key: str, color: object) -> Phrase:
        """A heading above a matrix."""
        heading = self.label(key, size=theme.HEADING, color=color)
        return heading.place(grid.cells.get_top() + 0.42 * UP)

    def keys_and_values(self) -> None:
        many, usual = self.k.shape[1] > 2, 1.1 if is_wide(self.sources) else 1.28
        memory = Grid.signed(
            self.memory,
            rows=self.sources,
            row_color=theme.ENCODER,
            label_size=theme.HEADING,
            cell=(usual if not many else cell_width(self.memory.shape[1], 3.71, usual), 0.7),
            size=theme.BODY,
        )
        memory.shift([-3.2, -0.05, 0] - memory.cells.get_center())
        edge = theme.LEFT_EDGE - memory.get_left()[0]
        memory.shift([edge if many else max(0.0, edge), 0, 0])
        apart = 0.2  # of keys and values, which share what memory and an arrow leave
        room = theme.RIGHT_EDGE - memory.get_right()[0] - 1.3 - apart
        cell = cell_width(self.k.shape[1], room / 2, 1.28)
        options = {"cell": (cell, 0.7), "size": theme.BODY}
        self.k_grid = keys = Grid.signed(
            self.k, rows=self.sources, row_color=theme.KEY, label_size=theme.HEADING, **options
        )
        values = Grid.signed(self.v, **options)
        middles = (2.3, 5.18)
        if many:
            last = theme.RIGHT_EDGE - values.cells.width / 2
            middles = (last - values.cells.width - apart, last)
        for grid, x in zip((keys, values), middles, strict=True):
            grid.shift([x, -0.05, 0] - grid.cells.get_center())
        heads = VGroup(
            self.over(memory, "memory", theme.ENCODER),
            self.over(keys, "keys", theme.KEY),
            self.over(values, "values", theme.VALUE),
        )
        names = (self.map_by("WK"), theme.KEY), (self.map_by("WV"), theme.VALUE)
        times = projections(memory, keys, *names)
        with self.beat("memory", variant="biased" if self.biased else ""):
            self.play(FadeOut(self.old), run_time=theme.FADE)
            self.play(FadeIn(memory, heads[0]), run_time=0.6)
            self.play(
                FadeIn(times[:2]), FadeIn(keys.body(), heads[1], shift=0.2 * RIGHT), run_time=0.7
            )
            self.play(FadeIn(times[2]), FadeIn(values, heads[2], shift=0.2 * RIGHT), run_time=0.7)
        self.old = VGroup(memory, values, heads[0], heads[2], times)
        self.k_head = heads[1]

    # -- one row, from scores to weights -------------------------------------------------------

    def one_score(self) -> None:
        i, j = self.asking, self.asked
        many = self.q.shape[1] > 2
        cell = (cell_width(self.q.shape[1], 3.9, 1.5), 0.8)
        query = Grid.signed(self.q[i], cell=cell, size=theme.HEADING)
        asking = Token(self.targets[i], color=theme.TRAINING)
        keys = self.k_grid
        aside = theme.RIGHT_EDGE - 0.1 - keys.cells.get_right()[0] if many else 0.55
        shift = np.array([aside, 0.65, 0])
        keys.row_labels.shift(shift)
        query.move_to([-3.3, keys.cell(j, 0).get_y() + shift[1], 0])
        asking.next_to(query, LEFT, buff=0.25)
        if many:
            VGroup(asking, query).shift((theme.LEFT_EDGE - asking.get_left()[0]) * RIGHT)
        head = self.over(query, "query_of", theme.QUERY)
        end = keys.row_labels[j].get_left() + 0.15 * LEFT
        link = arrow(query.get_right() + 0.15 * RIGHT, end, color=theme.WEIGHT)
        names = [Phrase(self.text("dot"), self.pair), Phrase(self.text("score"))]
        self.lines = lines = ScoreLines(
            self.q[i], self.k[j], self.dots[i, j], self.scores[i, j], self.d_k, names
        )
        with self.beat("score", self.pair | {"d_k": Say(self.d_k, 0)}):
            self.play(FadeOut(self.old), run_time=0.3)
            moved = VGroup(keys.body(), self.k_head).animate.shift(shift)
            self.play(moved, FadeIn(query, asking, head), run_time=0.7)
            mark = outline(keys.row_cells(j), color=theme.KEY, stroke=4)
            self.play(FadeIn(keys.row_labels, names[0]), Create(mark), Create(link), run_time=0.5)
            for d in range(self.q.shape[1]):
                self.play(*lines.product(d, query.number(0, d), keys.number(j, d)), run_time=0.7)
            self.play(lines.total(), run_time=0.3)
            self.play(*lines.scaling(), run_time=0.6)
            self.play(lines.result(), run_time=0.3)
        self.old = VGroup(query, asking, head, link, mark, lines.all_but_result())
        self.old.add(keys.body(), keys.row_labels, self.k_head)

    def softmax(self) -> None:
        i, j = self.asking, self.asked
        heads = [self.label(f"{name}_head") for name in ("score", "exp", "weight")]
        self.table = table = SoftmaxTable(
            self.scores[i], self.exp[i], self.weights[i], self.sources, heads
        )
        asking = Phrase(self.text("row_of"), self.pair, size=theme.HEADING, bold=True)
        asking.place([table.keys.get_left()[0], table.heads[0].midline, 0], LEFT)
        table.heads.add(asking)
        others = [number for n, number in enumerate(table.scores) if n != j]
        total = Say(self.weights[i].sum(), 0)
        with self.beat("softmax", self.pair | self.count | {"row_sum": total}):
            self.play(
                FadeOut(self.old, rate_func=EARLY),
                Flight(self.lines.score.result, table.scores[j]),
                run_time=0.6,
            )
            self.play(FadeIn(table.keys, asking, table.heads[0], *others), run_time=0.5)
            self.play(FadeIn(table.heads[1]), table.show_exp(), run_time=0.9)
            self.play(table.show_total())
            self.play(FadeIn(table.heads[2]), table.show_weights())

    # -- all rows ------------------------------------------------------------------------------

    def all_arrows(self) -> None:
        asking = token_column(self.targets, -5.6, self.top, self.pitch, theme.TRAINING)
        asked = token_column(self.sources, -1.2, self.top, self.pitch, theme.ENCODER)
        self.map = AttentionArrows(self.weights, asking, asked)
        self.heat = heat = self.heat_map()
        self.mark = outline(asking[0], buff=0.07)
        heads = VGroup(
            self.label("target").place([asking.get_x(), 1.87, 0]),
            self.label("source").place([asked.get_x(), 1.87, 0]),
            self.label("head").place([heat.cells.get_x(), 2.45, 0]),
        )
        arrive = hand_over(self.table.bars.numbers, self.map.beside[0])
        with self.beat("arrows"):
            gone = self.table.all_but_weights()
            self.play(FadeOut(gone), FadeIn(asking, asked, heads[:2]), *arrive, run_time=0.7)
            self.play(FadeIn(self.mark, heads[2], heat.column_labels), run_time=0.3)
            for i in range(len(self.targets)):
                self.one_row(i)
            brighten = [fan.animate.fade_to(1) for fan in self.map.fans[:-1]]
            self.play(FadeOut(self.mark, self.map.beside[-1]), *brighten, run_time=0.4)
        self.map_heads = heads
        self.old = VGroup(self.map, heads)

    def heat_map(self) -> Grid:
        """The matrix of weights, its rows level with the words of the arrows."""
        heat = Grid.heat(
            self.weights,
            rows=self.targets,
            columns=self.sources,
            cell=(0.98, self.pitch - GAP),
            row_color=theme.QUERY,
            column_color=theme.KEY,
            label_size=min(fitting(self.sources, 0.95), fitting(self.targets, 1.35)),
        )
        return heat.shift([4.42, self.top - 1.5 * self.pitch, 0] - heat.cells.get_center())

    def one_row(self, i: int) -> None:
        """The arrows of a row grow, and its weights go to the matrix."""
        heat, fans, numbers = self.heat, self.map.fans, self.map.beside[i]
        first = [fans[i].grow()]
        if i:
            first += [self.mark.animate.move_to(self.map.asking[i])]
            first += [fans[i - 1].animate.fade_to(0.3)]
            gone = FadeOut(self.map.beside[i - 1])
            first.append(LaggedStart(gone, FadeIn(numbers), lag_ratio=0.7))
        self.play(*first, run_time=0.6)
        moves = born_each(heat.row_numbers(i), numbers)
        self.play(FadeIn(heat.row_cells(i), heat.row_labels[i]), *moves, run_time=0.5)

    def how_even(self) -> None:
        queries, keys = wording.named(self.targets), wording.named(self.sources)
        case = wording.cross(self.weights, queries, keys)
        ends = {
            key: Say(compute(operation, *self.weights.scalars()), wording.SHARES)
            for key, operation in (("least", "min"), ("most", "max"))
        }
        told = list(wording.top(self.weights).at)
        if case.name in ("one", "even"):
            told = [self.weights.argmin(), self.weights.argmax()]
        if case.name == "alike":
            told = []
        marks = VGroup(*(outline(VGroup(self.heat.cell(*place)), stroke=4) for place in told))
        bright = [self.map.arrow_of(*place) for place in told]
        rest = [arrow for fan in self.map.fans for arrow in fan if arrow not in bright]
        with self.beat("even", {**case.facts, **ends}, variant=case.name):
            if told:
                self.play(*(each.animate.fade_to(0.3) for each in rest), run_time=0.5)
            for mark in marks:
                self.play(Create(mark), run_time=0.6)
        self.old.add(marks)

    def mix_values(self) -> None:
        i, heat = self.asking, self.heat
        heads = [self.label(key) for key in ("weight", "value", "product")]
        self.mix = mix = WeightedSum(self.weights[i], self.v, self.mixed[i], self.sources, heads)
        asking = Phrase(self.text("row_of"), self.pair, size=theme.HEADING, bold=True)
        mix.title(asking)
        moves = hand_over(heat.row_numbers(i), mix.weights)
        gone = [heat.cells, heat.row_labels, heat.column_labels]
        gone += [heat.row_numbers(n) for n in range(len(self.targets)) if n != i]
        with self.beat("values", self.pair | self.count):
            self.play(FadeOut(self.old, *gone), run_time=0.3)
            self.play(*moves, FadeIn(mix.keys, mix.heads[0], asking), run_time=0.7)
            self.play(FadeIn(mix.signs, mix.values, mix.heads[1]), run_time=0.5)
            self.play(FadeIn(mix.heads[2]), mix.multiply(), run_time=1.8)
            self.play(FadeIn(mix.rule), run_time=0.3)
            self.play(*mix.add_up(), run_time=0.7)
        self.old = VGroup(mix.all_but_sums(), asking)

    # -- the rest of the layer, for one token --------------------------------------------------

    def stage(self, n: int) -> Stages:
        names = [self.text(f"stage_{name}") for name in BOXES[self.place]]
        if self.pre:
            names[1] = self.text("stage_short")
        if self.final:
            names.append(self.text("stage_only_norm"))
        return Stages(names, self.place, n, theme.TRAINING)

    def strip(self, name: str, key: str, line: int, **options: object) -> Strip:
        """The asking token's row of a value of the trace."""
        values = self.training[name][self.asking]
        return Strip(values, self.label(key, size=theme.BODY, color=theme.INK), line, **options)

    def output(self) -> None:
        single = self.training.setting("heads") == 1
        concat = f"decoder.{self.last}.cross_attn.concat"
        joined = self.strip(concat, "joined_single" if single else "joined", 1)
        added = has(self.training, ATTENTION_OUT)
        self.change = self.strip(self.cross.output, "out_biased" if added else "out", 2)
        self.stages = self.stage(MIX)
        token = Token(self.targets[self.asking], color=theme.TRAINING, filled=True)
        token.move_to([theme.LEFT_EDGE + token.width / 2, Strip.y(0), 0])
        cells, numbers, d_v = joined.grid.cells, joined.numbers, self.v.shape[1]
        heads = VGroup()
        for n in range(len(cells) // d_v):
            half = VGroup(*cells[n * d_v : (n + 1) * d_v])
            name = self.label("head_n", {"n": Say(constant(n + 1), 0)})
            heads.add(name.place([half.get_x(), half.get_top()[1] + 0.27, 0]))
        moves = [Flight(a, b) for a, b in zip(self.mix.sums, numbers, strict=False)]
        case = wording.all_heads(self.training.setting("heads"))
        variant = f"biased_{case.name}" if added else case.name
        with self.beat("output", case.facts, variant=variant):
            self.play(FadeOut(self.old), FadeIn(self.stages), run_time=0.4)
            self.play(*moves, FadeIn(joined.caption, cells[:d_v], heads[0], token), run_time=0.6)
            rest = VGroup(cells[d_v:], numbers[d_v:], heads[1:])
            self.play(FadeIn(rest, shift=0.2 * LEFT), run_time=0.5)
            self.play(FadeIn(self.change, shift=0.2 * DOWN), run_time=0.6)
        self.old = VGroup(joined.caption, cells, numbers, heads, token)

    def next_stage(self, n: int) -> None:
        """Light the next box, and clear what the last one needed."""
        old, self.stages = self.stages, self.stage(n)
        self.play(FadeOut(old, self.old), FadeIn(self.stages), run_time=theme.FADE)

    def add_and_norm(self) -> None:
        x = self.strip(self.cross.x, "before", 0)
        norm = self.ffn.norm if self.pre else self.cross.norm
        with self.beat("norm", self.pair):
            self.next_stage(ADD)
            self.play(self.change.animate.go_to(1), FadeIn(x), run_time=0.6)
            self.normed = self.sum_and_norm(x, self.change, self.cross.total, norm)

    def sum_and_norm(self, x: Strip, change: Strip, add: str, norm: str | None) -> Strip:
        """Add two strips, and normalise if there is a norm."""
        total, normed, notes = self.strip(add, "total", 2), None, []
        if norm is not None:
            normed, notes = self.strip(f"{norm}.output", "normed", 3), self.statistics(norm)
        block = AddAndNorm(x, change, total, normed, notes, self.learned_note())
        self.play(*block.write(), run_time=0.3)
        self.play(*block.add_up(), run_time=0.7)
        if norm is not None:
            if self.pre:
                old, self.stages = self.stages, self.stage(NORM)
                self.play(FadeOut(old), FadeIn(self.stages), run_time=theme.FADE)
            self.play(FadeIn(block.notes), run_time=0.3)
            self.play(*block.normalise(), run_time=0.7)
        self.regroup(block)
        self.old = block.all_but_last()
        return block.last

    def statistics(self, norm: str) -> list[Phrase]:
        """The mean and the variance that a norm works with."""
        facts = {
            name: Say(self.training[f"{norm}.{name}"][self.asking], 4)
            for name in ("mean", "variance")
        }
        return [self.label(name, facts) for name in facts]

    def learned_note(self) -> Phrase | None:
        """What a norm does besides, as a remark beside its result."""
        name = wording.learned_norm(self.training.model("groups")).name
        return None if name == "none" else self.label(f"learned_{name}")

    def regroup(self, *whole: Mobject) -> None:
        """Put what came in pieces back together; nothing changes on screen."""
        for mobject in whole:
            self.remove(*mobject.get_family())
        self.add(*whole)

    def feed_forward(self) -> None:
        wide = {"cell": 1.2, "size": theme.BODY, "decimals": 3}
        width, case = self.ffn_case()
        part = f"decoder.{self.last}.ffn"
        hidden = self.strip(f"{part}.hidden", f"hidden_{width}", 1, **wide)
        kind = ACTIVATIONS[self.training.setting("activation")]
        key = f"activated_{kind}"
        active = self.strip(f"{part}.activated", key, 2, bare_zeros=kind == "relu", **wide)
        zeros = (number.scalar.exact == 0 for number in active.numbers)
        dead = [n for n, zero in enumerate(zeros) if zero and kind == "relu"]
        marks = VGroup(*(outline(VGroup(active.grid.cells[n]), color=theme.MUTED) for n in dead))
        back = self.strip(self.ffn.output, "back", 3)
        sizes = {n: self.training.size(f"{part}.{n}", 1) for n in ("hidden", "output")}
        facts = {name: Say(size, 0) for name, size in sizes.items()}
        with self.beat("ffn", facts, variant=case):
            self.next_stage(FFN)
            self.play(self.normed.animate.go_to(0), run_time=0.6)
            self.play(FadeIn(hidden, shift=0.2 * DOWN), run_time=0.7)
            self.play(*active.born_of(hidden), run_time=0.8)
            if dead:
                drawn = (Create(mark) for mark in marks)
                self.play(LaggedStart(*drawn, lag_ratio=0.15), run_time=0.7)
            self.play(FadeIn(back, shift=0.2 * DOWN), run_time=0.7)
            self.regroup(active)
        self.old, self.change = VGroup(hidden, active, marks), back

    def ffn_case(self) -> tuple[str, str]:
        """What the FFN does to the width, and that with its activation: whether ReLU finds
        negative numbers, or which other one there is."""
        run = self.training
        sizes = (run.size(f"decoder.{self.last}.ffn.{name}", 1) for name in ("output", "hidden"))
        row = run[f"decoder.{self.last}.ffn.hidden"][self.asking]
        width, kind = wording.ffn(*sizes).name, ACTIVATIONS[run.setting("activation")]
        if kind != "relu":
            return width, f"{width}_{kind}"
        cut = wording.activation("relu", row).name != "none"
        return width, f"{width}_{'cut' if cut else 'whole'}"

    def add_and_norm_again(self) -> None:
        told = {"pre": self.pre, "final": self.final}
        x = self.normed
        with self.beat("norm_again", variant="_".join(name for name, so in told.items() if so)):
            self.next_stage(AGAIN)
            if self.pre:
                x = self.strip(self.ffn.x, "before", 0)
                self.play(FadeOut(self.normed), FadeIn(x), run_time=theme.FADE)
            self.play(self.change.animate.go_to(1), run_time=0.6)
            norm = None if self.pre else self.ffn.norm
            self.normed = self.sum_and_norm(x, self.change, self.ffn.total, norm)
            if self.final:
                self.final_norm()
            self.final_frame = self.normed.grid.frame(color=theme.TRAINING)
            self.play(Create(self.final_frame), run_time=0.4)

    def final_norm(self) -> None:
        """The norm that ends the decoder."""
        self.wait(0.6)
        self.next_stage(FINAL)
        self.play(self.normed.animate.go_to(0), run_time=0.6)
        last = self.strip("decoder.norm.output", "final", 1)
        right = last.grid.get_right()[0] + 0.3
        notes = VGroup(*self.statistics("decoder.norm"))
        for n, note in enumerate(notes):
            note.place([right, Strip.y(0) + (0.2, -0.2)[n], 0], LEFT)
        remark = self.learned_note()
        if remark is not None:
            notes.add(remark.place([right, Strip.y(1), 0], LEFT))
        self.play(FadeIn(notes), *last.born_of(self.normed), run_time=0.7)
        self.regroup(last)
        self.old = VGroup(self.normed, notes)
        self.normed = last

    def takeaway(self) -> None:
        i = self.asking
        query, keys = wording.named(self.targets)[i], wording.named(self.sources)
        case, best = wording.largest(self.weights[i], query, keys), wording.top(self.weights[i])
        heat = self.heat_map()
        marked = best.at if best.kind != "alike" else ()
        marks = (outline(VGroup(heat.cell(i, at[0])), stroke=4) for at in marked)
        mark = VGroup(*marks)
        for n, fan in enumerate(self.map.fans):
            fan.fade_to(1 if n == i else 0.3)
        with self.beat("takeaway", case.facts, variant=case.name):
            self.play(
                FadeOut(self.old, self.normed, self.stages, self.final_frame), run_time=theme.FADE
            )
            self.play(FadeIn(self.map, self.map_heads, heat), run_time=0.6)
            if marked:
                self.play(Create(mark), run_time=0.5)
        self.leave()
