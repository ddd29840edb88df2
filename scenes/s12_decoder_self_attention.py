"""Scene 12, steps 55-73: self-attention in the decoder, first layer and second.

Claims: a row of masked weights is spent on the word itself and those to its left, the first row
on itself alone; what the mask forbids adds exactly nothing to the mix; all rows are worked out at
once, and the second layer does the same with weights of its own.
Reads of the training pass: ``encoder.0.self_attn.weights``; ``decoder.input`` and ``.mask``;
of the first layer self_attn.weights, .v, .heads, the outputs of its sub-layers, what leaves them;
of the last layer self_attn.weights, .output, and what leaves it.
"""

from __future__ import annotations

from collections.abc import Sequence

from manim import (
    DOWN,
    LEFT,
    Create,
    FadeIn,
    FadeOut,
    GrowArrow,
    LaggedStart,
    ReplacementTransform,
    VGroup,
)

from scenes import theme
from scenes.base import LectureScene
from scenes.parts.flow import Block
from scenes.parts.grid import Grid, outline
from scenes.parts.mixing import WeightedSum
from scenes.parts.motion import Flight, hand_over
from scenes.parts.phrase import Phrase, Say
from scenes.parts.shapes import arrow, fitting, is_wide
from scenes.parts.sublayers import SubLayers, strip_keys
from scenes.structure import is_pre, layer_output, sublayer, sublayers
from scenes.values import Scalar, Values, compute
from scenes.wording import layer_weights


class DecoderSelfAttention(LectureScene):
    beats = (
        ("question", 55),
        ("compare", 55),
        ("rows", 56),
        ("mix", 57),
        ("layer", (58, 65)),
        ("output", 66),
        ("again", (67, 70)),
        ("residual", (71, 73)),
        ("handover", 73),
        ("takeaway", 73),
    )
    color = theme.TRAINING
    lit = ("Dec 1",)
    #: where the cells of the two maps begin
    LEFT_MAP, RIGHT_MAP = -5.1, 1.5

    def construct(self) -> None:
        self.read_trace()
        self.question()
        self.beside_the_encoder()
        self.first_and_last_row()
        self.mix_values()
        self.through_the_layer()
        self.four_rows()
        self.second_layer()
        self.second_residual()
        self.hand_over()
        self.takeaway()

    def read_trace(self) -> None:
        run = self.training
        self.tokens, self.source = run.target, run.source
        self.encoder = run["encoder.0.self_attn.weights"][0]
        self.mask = run["decoder.mask"]
        self.layers = run.layers("decoder")
        self.last = len(self.layers) - 1
        self.weights = [run[f"decoder.{n}.self_attn.weights"] for n in range(len(self.layers))]
        self.attending = sublayer(run, "decoder", self.last, "self_attn")
        self.handed = run[self.attending.leaves]
        self.output = layer_output(run, "decoder", 0) if self.last else self.handed
        self.count = run.size("decoder.input", 0)
        self.asking = max(0, min(1, len(self.tokens) - 2))

    # -- beats ---------------------------------------------------------------------------------

    def question(self) -> None:
        with self.beat("question"):
            pass

    def map(self, values: Values, left: float, **options: object) -> Grid:
        """A map of weights whose cells begin at ``left``."""
        grid = Grid.heat(
            values,
            **{
                "rows": self.tokens,
                "columns": self.tokens,
                "cell": (1.2, 0.88),
                "mask": self.mask,
                "row_color": theme.QUERY,
                "column_color": theme.KEY,
                "label_size": 22,
                **options,
            },
        )
        return grid.shift([left - grid.cells.get_left()[0], -0.2 - grid.cells.get_y(), 0])

    def heading(self, key: str, grid: Grid, color: object = theme.INK) -> Phrase:
        made = self.label(key, size=theme.HEADING, color=color, bold=True)
        return made.place([grid.cells.get_x(), 2.45, 0])

    def closed_zeros(self, weights: Values) -> Scalar:
        """How many of the weights that the mask forbids are exactly 0."""
        rows = range(len(self.tokens))
        places = [(i, j) for i in rows for j in rows if self.mask.array[i, j] < 0]
        return compute("count_zeros", *(weights[i, j] for i, j in places))

    def beside_the_encoder(self) -> None:
        words = {"rows": self.source, "columns": self.source, "mask": None}
        left = self.LEFT_MAP - (0.1 if is_wide(self.source) else 0.7)
        size = fitting(self.source, 0.95)
        plain = self.map(self.encoder, left, **words, label_size=size)
        masked = self.map(self.weights[0][0], self.RIGHT_MAP)
        names = (
            self.heading("encoder", plain, theme.ENCODER),
            self.heading("decoder", masked, theme.TRAINING),
        )
        facts = {"zeros": Say(self.closed_zeros(self.weights[0][0]), 0)}
        with self.beat("compare", facts):
            self.play(self.answer(), run_time=theme.FADE)
            self.play(FadeIn(plain, names[0]), run_time=theme.MOVE)
            self.play(FadeIn(masked.row_labels, masked.column_labels, names[1]), run_time=0.5)
            for i in range(len(self.tokens)):
                cells = masked.row_cells(i), masked.row_hatches(i), masked.row_numbers(i)
                self.play(FadeIn(*cells, shift=0.15 * DOWN), run_time=0.6)
        self.plain, self.masked, self.names = plain, masked, names

    def first_and_last_row(self) -> None:
        one = self.masked
        others = range(1, self.weights[0].shape[0])
        maps = [one, *(self.map(self.weights[0][n], self.RIGHT_MAP) for n in others)]
        style = {"size": theme.HEADING, "color": theme.INK}
        heads = [self.label(f"head_{n}", **style) for n in range(1, len(maps) + 1)]
        move = [self.LEFT_MAP - one.cells.get_left()[0], 0, 0]
        heads[0].place([one.cells.get_x() + move[0], 2.45, 0])
        for head, two in zip(heads[1:], maps[1:], strict=True):
            head.place([two.cells.get_x(), 2.45, 0])
        first = self.weights[0][0, 0, 0]
        facts = {"first": self.tokens[0], "last": self.tokens[-1], "one": Say(first, 0)}
        with self.beat("rows", facts):
            self.play(FadeOut(self.plain, *self.names), run_time=theme.FADE)
            self.play(one.animate.shift(move), run_time=theme.MOVE)
            self.play(FadeIn(*maps[1:], *heads), run_time=theme.MOVE)
            marks = [VGroup(*(g.frame(g.row_cells(i)) for g in maps)) for i in (0, -1)]
            for mark in marks:
                self.play(Create(mark), run_time=0.7)
        self.old = VGroup(*maps[1:], *heads, *marks)

    def mix_values(self) -> None:
        i, one = self.asking, self.masked
        v = self.training["decoder.0.self_attn.v"][0]
        result = self.training["decoder.0.self_attn.heads"][0, i]
        heads = [self.label(f"{name}_head") for name in ("weight", "value", "product")]
        mix = WeightedSum(
            self.weights[0][0, i], v, result, self.tokens, heads, key_color=theme.VALUE
        )
        closed = [j for j in range(len(self.tokens)) if self.mask.array[i, j] < 0]
        zero = self.weights[0][0, i, -1]
        facts = {"query": self.tokens[i], "zero": Say(zero, 0)}
        mark = one.frame(one.row_cells(i))
        with self.beat("mix", facts):
            self.play(FadeOut(self.old), Create(mark), run_time=0.6)
            numbers = one.row_numbers(i)
            one.numbers.remove(*numbers)
            bright = numbers.animate.set_color(theme.INK)
            self.play(FadeOut(one, mark), bright, run_time=0.5)
            self.play(*hand_over(numbers, mix.weights), run_time=theme.MOVE)
            self.play(FadeIn(mix.keys, mix.heads[0]), run_time=theme.FADE)
            self.play(FadeIn(mix.values, mix.heads[1], mix.signs), run_time=0.6)
            self.play(FadeIn(mix.heads[2]), run_time=0.2)
            self.play(mix.multiply(), run_time=1.4)
            dimmed = [part[j] for j in closed for part in (mix.keys, mix.weights, mix.products)]
            if dimmed:
                self.play(*(part.animate.fade(0.4) for part in dimmed), run_time=theme.FADE)
            self.play(FadeIn(mix.rule), *mix.add_up(), run_time=theme.MOVE)
        self.old = mix

    def through_the_layer(self) -> None:
        i, run = self.asking, self.training
        parts = sublayers(run, "decoder", 0) if self.last else [self.attending]
        values, keys = [run["decoder.input"][i]], ["strip_input"]
        for part in parts:
            values += [run[part.output][i], run[part.leaves][i]]
            keys += strip_keys(run, part.kind)
        self.passing = passing = self.strips(values, keys)
        self.layer_strips = passing.strips
        variant = "single" if not self.last else "cross" if len(parts) > 2 else ""
        with self.beat("layer", variant=variant):
            self.play(FadeOut(self.old), run_time=theme.FADE)
            self.play(FadeIn(passing.strips[0]), run_time=0.5)
            for line in range(1, len(values)):
                self.play(*passing.step(line), run_time=theme.MOVE)
        self.old = passing.all_but_last()

    def strips(self, values: Sequence[Values], keys: Sequence[str]) -> SubLayers:
        token = {"token": self.tokens[self.asking]}
        captions = [self.label(key, token, size=theme.BODY) for key in keys]
        residuals = [self.label("residual") for _ in range(len(values) // 2)]
        return SubLayers(values, captions, residuals)

    def matrix(self, values: Values, x: float) -> Grid:
        """The rows of all tokens, with room for a heading above."""
        grid = Grid.signed(
            values, rows=self.tokens, cell=(1.5, 0.86), size=28, row_color=theme.TRAINING
        )
        return grid.shift([x, -0.15, 0] - grid.cells.get_center())

    def four_rows(self) -> None:
        i, last = self.asking, self.passing.last.grid
        grid = self.matrix(self.output, 0.5)
        heading = self.label(
            "output" if self.last else "handed_single",
            size=theme.HEADING,
            color=self.color,
            bold=True,
        )
        heading.place([grid.cells.get_x(), 2.2, 0])
        frame = outline(grid.cells, color=self.color, buff=0.08)
        others = [n for n in range(len(self.tokens)) if n != i]
        with self.beat("output", {"count": Say(self.count, 0)}):
            self.play(FadeOut(self.old), run_time=theme.FADE)
            self.rows_from(last, grid, i)
            self.play(FadeIn(*(grid.row_all(n) for n in others)), run_time=theme.MOVE)
            self.play(FadeIn(heading), run_time=theme.FADE)
            self.play(Create(frame), run_time=0.6)
        self.old = VGroup(grid, heading, frame)

    def rows_from(self, strip: Grid, grid: Grid, i: int) -> None:
        """A strip becomes a row of a matrix."""
        self.play(
            *(Flight(a, b) for a, b in zip(strip.numbers, grid.row_numbers(i), strict=True)),
            *(
                ReplacementTransform(a, b)
                for a, b in zip(strip.cells, grid.row_cells(i), strict=True)
            ),
            FadeIn(grid.row_labels[i]),
            run_time=theme.MOVE,
        )

    def second_layer(self) -> None:
        lefts = self.LEFT_MAP, self.RIGHT_MAP
        maps = [
            self.map(weights, left)
            for weights, left in zip(self.weights[self.last], lefts, strict=False)
        ]
        name = "second" if self.last else "head"
        heads = [self.heading(f"{name}_{n}", grid) for n, grid in enumerate(maps, 1)]
        zeros = compute("add", *(self.closed_zeros(weights) for weights in self.weights[self.last]))
        variant, lit = "single", ("Dec 1",)
        if self.last:
            variant = layer_weights(self.training, "decoder", 0, self.last).name
            lit = ("Dec 2",)
        with self.beat("again", {"zeros": Say(zeros, 0)}, variant=variant):
            self.play(FadeOut(self.old), *self.header.relight(lit), run_time=theme.FADE)
            for grid, head in zip(maps, heads, strict=True):
                self.play(FadeIn(grid.row_labels, grid.column_labels, head), run_time=0.4)
                rows = (
                    FadeIn(grid.row_cells(i), grid.row_hatches(i), grid.row_numbers(i))
                    for i in range(len(self.tokens))
                )
                self.play(LaggedStart(*rows, lag_ratio=0.3), run_time=theme.SLOW)
        self.old = VGroup(*maps, *heads)

    def second_residual(self) -> None:
        i, run = self.asking, self.training
        values = [run[self.attending.x][i], run[self.attending.output][i], self.handed[i]]
        first = "strip_second" if self.last else "strip_input"
        keys = (first, *strip_keys(run, "self_attn"))
        self.passing = passing = self.strips(values, keys).shift(0.95 * DOWN)
        told = {"single": not self.last, "pre": is_pre(run)}
        with self.beat("residual", variant="_".join(name for name, so in told.items() if so)):
            self.play(FadeOut(self.old), run_time=theme.FADE)
            self.play(FadeIn(passing.strips[0]), run_time=0.5)
            for line in (1, 2):
                self.play(*passing.step(line), run_time=theme.MOVE)
        self.old = passing.all_but_last()

    def hand_over(self) -> None:
        i, last = self.asking, self.passing.last.grid
        grid = self.matrix(self.handed, -1.8)
        heading = self.label(
            "handed" if self.last else "handed_single",
            size=theme.HEADING,
            color=self.color,
            bold=True,
        )
        heading.place([grid.cells.get_x(), 2.2, 0])
        y, left, right = 0.6, 3.7, theme.RIGHT_EDGE
        cross = Block((left, y + 0.85), (right, y - 0.85), color=theme.TRAINING)
        cross.write(Phrase("Cross-Attention", bold=True))
        memory = Block((left, -1.1), (right, -1.9), color=theme.ENCODER)
        memory.write(Phrase("Memory", color=theme.ENCODER, bold=True))
        x = memory.get_x()
        ways = (
            arrow([grid.cells.get_right()[0], y, 0], [left, y, 0], buff=0.15, color=theme.QUERY),
            arrow([x, -1.1, 0], [x, y - 0.85, 0], buff=0.1, color=theme.ENCODER),
        )
        asking = self.label("q").place([ways[0].get_x(), y + 0.35, 0])
        asked = self.label("kv").place([x + 0.3, -0.67, 0], LEFT)
        others = [n for n in range(len(self.tokens)) if n != i]
        with self.beat("handover", {"count": Say(self.count, 0)}):
            self.play(FadeOut(self.old), run_time=theme.FADE)
            self.rows_from(last, grid, i)
            self.play(FadeIn(heading, *(grid.row_all(n) for n in others)), run_time=theme.MOVE)
            self.play(GrowArrow(ways[0]), FadeIn(asking), run_time=0.6)
            self.play(FadeIn(cross), run_time=theme.FADE)
            self.play(FadeIn(memory), GrowArrow(ways[1]), FadeIn(asked), run_time=0.6)

    def takeaway(self) -> None:
        with self.beat("takeaway", {"count": Say(self.count, 0)}):
            pass
        self.leave()
