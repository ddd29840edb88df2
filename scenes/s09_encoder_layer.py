"""Scene 9, steps 27-38: how attention weights become the vectors that an encoder layer puts out.

Claims: a head's output is the sum of the values by their weights; the heads are joined and mixed by
WO; the input is added back; LayerNorm takes the mean off and divides by the root of variance plus
epsilon, and then applies its gain and shift, if it has them; the FFN changes the width, applies its
activation and changes it back; then Add & Norm once more, or Add where norms come first.
Reads of the training pass: ``encoder.input`` and ``encoder.0`` from self_attn.weights to norm2; of
the weights ``encoder.0``: out_proj, linear1, linear2, their biases, the norms' gains and shifts.
"""

from __future__ import annotations

from manim import (
    DOWN,
    LEFT,
    RIGHT,
    UP,
    Create,
    FadeIn,
    FadeOut,
    GrowArrow,
    LaggedStart,
    Line,
    Mobject,
    ReplacementTransform,
    VGroup,
)

from scenes import theme, wording
from scenes.base import LectureScene
from scenes.parts.equation import OVER, Equation, Term
from scenes.parts.formula import formula
from scenes.parts.grid import Grid, outline
from scenes.parts.mixing import WeightedSum
from scenes.parts.motion import Flight, fly
from scenes.parts.phrase import Number, Phrase, Say, row
from scenes.parts.projection import Connections, Projection
from scenes.parts.shapes import Token, arrow, fitting, is_wide
from scenes.parts.strips import (
    ADD,
    AGAIN,
    BOXES,
    FFN,
    MIX,
    NORM,
    AddAndNorm,
    GainAndShift,
    Stages,
    Strip,
)
from scenes.parts.vector import Vector
from scenes.rounding import decimals_needed
from scenes.structure import bias, gain_and_shift, is_pre, sublayers
from scenes.values import Scalar, compute, constant, rounded

LAYER = "encoder.0"
#: The columns of the feed-forward network: left edges; cells of the wide and the narrow ones.
FFN_X, FFN_HEAD_Y, FFN_Y = (-6.54, -2.7, 1.14, 4.99), 1.76, -0.37
WIDE, NARROW = (1.55, 0.41), (1.55, 0.62)
NOTE_X = 3.8


class EncoderLayer(LectureScene):
    beats = (
        ("question", 27),
        ("mix", 27),
        ("second", 28),
        ("concat", 29),
        ("project", 30),
        ("residual", 31),
        ("statistics", 32),
        ("normalise", 33),
        ("expand", 34),
        ("relu", 35),
        ("contract", 36),
        ("again", 37),
        ("all", 38),
        ("takeaway", 38),
    )
    color = theme.ENCODER
    lit = ("Enc 1",)

    def construct(self) -> None:
        self.read_trace()
        self.question()
        self.first_component()
        self.second_component()
        self.join_heads()
        self.project()
        self.residual()
        self.mean_and_variance()
        self.normalise()
        self.expand()
        self.relu()
        self.contract()
        self.second_add_and_norm()
        self.all_tokens()
        self.takeaway()

    def read_trace(self) -> None:
        run, part = self.training, f"{LAYER}.self_attn"
        self.place = run.setting("norm.place")
        self.pre = is_pre(run)
        self.attention, self.ffn = sublayers(run, "encoder", 0)
        #: the norm between the two sub-layers
        self.norm = (self.ffn if self.pre else self.attention).norm
        self.learned = gain_and_shift(run, self.norm)
        self.tokens, self.asking = wording.named(run.source), 0
        self.token = {"token": self.tokens[self.asking]}
        self.weights, self.values = run[f"{part}.weights"], run[f"{part}.v"]
        self.mixed = run[f"{part}.heads"]
        self.hidden, self.active = (
            list(run[f"{LAYER}.ffn.{name}"][self.asking]) for name in ("hidden", "activated")
        )
        self.sizes = {
            "rows": Say(run.size("encoder.input", 0), 0),
            "d": Say(run.size("encoder.input", 1), 0),
            "d_ff": Say(run.size(f"{LAYER}.ffn.hidden", 1), 0),
            "heads": Say(run.size(f"{part}.weights", 0), 0),
        }
        self.heads = wording.all_heads(self.weights.shape[0]).name
        self.width = wording.ffn(self.sizes["d"].scalar, self.sizes["d_ff"].scalar)

    def matrix(self, name: str) -> list[list[Scalar]]:
        """A weight matrix of the layer, row by row."""
        return [list(weights) for weights in self.training.weight(f"{LAYER}.{name}.weight")]

    # -- parts ---------------------------------------------------------------------------------

    def stage(self, n: int) -> Stages:
        names = [self.text(f"stage_{name}") for name in BOXES[self.place]]
        return Stages(names, self.place, n, theme.ENCODER)

    def next_stage(self, n: int, *gone: Mobject) -> None:
        """Light the next box, and clear what the last one needed."""
        old, self.stages = self.stages, self.stage(n)
        self.play(FadeOut(old, *gone), FadeIn(self.stages), run_time=theme.FADE)

    def strip(self, name: str, key: str, line: float, **options: float) -> Strip:
        """The token's row of an array of the trace."""
        values = self.training[name][self.asking]
        return Strip(values, self.caption(key), line, **options)

    def caption(self, key: str) -> Phrase:
        return self.label(key, size=theme.BODY, color=theme.INK)

    def settle(self, row_: Strip | Vector, *also: Mobject) -> None:
        """The cells of a row come down into their places, one column after the other."""
        body = row_.grid if isinstance(row_, Strip) else row_
        pairs = zip(body.cells, body.numbers, strict=True)
        columns = (FadeIn(VGroup(*pair), shift=0.25 * DOWN) for pair in pairs)
        others = (FadeIn(mobject) for mobject in also)
        self.play(*others, LaggedStart(*columns, lag_ratio=0.2), run_time=0.8)
        self.regroup(row_)

    def regroup(self, *whole: Mobject) -> None:
        """Put what came in pieces back together; nothing changes on screen."""
        for mobject in whole:
            self.remove(*mobject.get_family())
        self.add(*whole)

    # -- attention -----------------------------------------------------------------------------

    def question(self) -> None:
        with self.beat("question"):
            pass

    def first_component(self) -> None:
        i = self.asking
        heads = [self.label(key) for key in ("weight", "value", "product")]
        self.mix = mix = WeightedSum(
            self.weights[0][i], self.values[0], self.mixed[0][i], self.tokens, heads
        )
        asking = Phrase(self.text("row_of"), self.token, size=theme.HEADING, bold=True)
        mix.title(asking)
        with self.beat("mix", self.token):
            self.play(self.answer(), run_time=theme.FADE)
            self.play(FadeIn(mix.keys, mix.heads[0], mix.weights, asking), run_time=0.5)
            self.play(FadeIn(mix.signs, mix.values, mix.heads[1]), run_time=0.5)
            self.play(FadeIn(mix.heads[2]), run_time=0.3)
            self.multiply(0, 0.3)
            self.play(FadeIn(mix.rule), run_time=0.3)
            self.play(FadeIn(mix.sums[0], shift=0.3 * DOWN), run_time=0.5)
        self.old = VGroup(mix.all_but_sums(), asking)

    def multiply(self, d: int, pace: float) -> None:
        """Component ``d`` of every value times its weight, line by line."""
        mix, mark = self.mix, VGroup()
        for j, products in enumerate(mix.products):
            pair = VGroup(
                outline(VGroup(mix.weights[j]), color=theme.WEIGHT, buff=0.1),
                outline(VGroup(mix.values.cell(j, d)), color=theme.VALUE, stroke=4),
            )
            self.play(ReplacementTransform(mark, pair) if j else FadeIn(pair), run_time=pace)
            self.play(FadeIn(products[d], shift=0.4 * RIGHT), run_time=pace)
            mark = pair
        self.play(FadeOut(mark), run_time=0.3)

    def second_component(self) -> None:
        case = wording.query_rows(self.values.shape[2])
        with self.beat("second", case.facts, variant=case.name):
            for d in range(1, self.values.shape[2]):
                self.multiply(d, 0.25)
                self.play(FadeIn(self.mix.sums[d], shift=0.3 * DOWN), run_time=0.5)

    def join_heads(self) -> None:
        name = f"{LAYER}.self_attn.concat"
        key = "joined_single" if self.heads == "one" else "joined"
        self.joined = joined = self.strip(name, key, 1.6, cell=2.2, size=34)
        self.stages = self.stage(MIX)
        token = Token(self.token["token"], color=theme.ENCODER, size=30, filled=True)
        token.move_to([theme.LEFT_EDGE + token.width / 2, Strip.y(0.65), 0])
        d_v, halves = self.values.shape[2], []
        for n in range(len(joined.numbers) // d_v):
            part = slice(n * d_v, (n + 1) * d_v)
            cells = VGroup(*joined.grid.cells[part])
            head = Phrase(f"Head {n + 1}", size=theme.HEADING, color=theme.INK)
            head.place([cells.get_x(), cells.get_top()[1] + 0.36, 0])
            halves.append(VGroup(cells, VGroup(*joined.numbers[part]), head))
        self.mix.sums.set_z_index(2)
        apart = 0.35 * RIGHT
        first, rest = halves[0].shift(-apart), VGroup(*halves[1:]).shift(apart)
        moves = [Flight(a, b) for a, b in zip(self.mix.sums, first[1], strict=True)]
        with self.beat("concat", {"d": self.sizes["d"]}, variant=self.heads):
            self.play(FadeOut(self.old), FadeIn(self.stages), run_time=theme.FADE)
            self.play(*moves, FadeIn(first[0], first[2], token), run_time=0.7)
            together = [first.animate.shift(apart)]
            if len(rest):
                self.play(FadeIn(rest, shift=0.3 * LEFT), run_time=0.6)
                together.append(rest.animate.shift(-apart))
            self.play(*together, run_time=0.6)
            self.play(FadeIn(joined.caption), run_time=0.3)
            self.regroup(joined)
        self.old = VGroup(token, *(half[2] for half in halves))

    def project(self) -> None:
        weights = self.matrix("self_attn.out_proj")
        added = bias(self.training, f"{LAYER}.self_attn.out_proj")
        decimals = decimals_needed([w.exact for line in weights for w in line], 3)
        self.output = list(self.training[f"{LAYER}.self_attn.output"][self.asking])
        self.product = product = Projection(
            self.joined.grid.values,
            weights,
            self.output,
            left=Strip.LEFT_OF_CELLS,
            top=1.5,
            cell=(1.7 if added is None else 1.36, 0.62),
            result=(4.6, 1.94),
            bias=None if added is None else list(added),
            decimals=(4, decimals, 4),
            size=28,
            apart=0.36,
        )
        name = VGroup(formula("W_O", size=44, at=(-4.3, product.rows.get_y(), 0)))
        for column in product.bias_parts[:-1]:
            name.add(formula("b_O", size=40, at=(column.get_x(), 1.5, 0)))
        head = self.label("projected", size=theme.BODY, color=theme.INK)
        head.place([product.results.get_x(), 1.5, 0])
        joined = self.joined
        facts = {} if self.heads == "one" else {"heads": self.sizes["heads"]}
        case = "one" if self.heads == "one" else "more"
        with self.beat("project", facts, variant=case if added is None else f"biased_{case}"):
            self.play(FadeOut(self.old), run_time=0.3)
            self.play(
                joined.caption.animate.place([theme.LEFT_EDGE, 1.5, 0], LEFT),
                ReplacementTransform(joined.grid.cells, product.input.cells),
                Flight(joined.numbers, product.input.numbers),
                run_time=0.7,
            )
            self.play(FadeIn(product.rows, product.bias_parts, name), run_time=0.5)
            self.play(FadeIn(head), run_time=0.3)
            for i in range(len(weights)):
                self.play(
                    GrowArrow(product.arrows[i]), FadeIn(product.results.whole(i)), run_time=0.4
                )
        self.old = VGroup(joined.caption, product.input, product.rows, product.arrows, name, head)
        self.old.add(product.bias_parts)

    # -- the first Add & Norm ------------------------------------------------------------------

    def residual(self) -> None:
        x = self.strip(self.attention.x, "input", 0)
        change = self.strip(self.attention.output, "output", 1)
        self.total = total = self.strip(self.attention.total, "total", 2)
        learned = any(part is not None for part in self.learned)
        kind, key = ("normalised", "normalised") if learned else ("output", "normed")
        self.normed = normed = self.strip(f"{self.norm}.{kind}", key, 3)
        block = AddAndNorm(x, change, total, normed, [])
        results = self.product.results
        with self.beat("residual", self.token):
            self.next_stage(ADD, self.old)
            self.play(
                ReplacementTransform(results.cells, change.grid.cells),
                Flight(results.numbers, change.numbers),
                FadeIn(change.caption),
                run_time=0.7,
            )
            self.play(FadeIn(x, shift=0.2 * DOWN), run_time=0.6)
            self.play(*block.write(), run_time=0.3)
            self.settle(total, total.caption)
            self.regroup(change)
        self.old = VGroup(x, change, block.sign, block.rule)

    def line(self, scalars: list[Scalar], caption: str, n: int) -> tuple[Vector, Mobject]:
        """Numbers worked out, in the n-th line, with a formula in front."""
        vector = Vector(scalars, cell=(1.7, Strip.HEIGHT), size=28)
        vector.at(Strip.LEFT_OF_CELLS, Strip.y(n))
        made = formula(caption, size=38, at=(0, Strip.y(n), 0))
        return vector, made.shift((theme.LEFT_EDGE - made.get_left()[0]) * RIGHT)

    def mean_of(self, scalars: list[Scalar], mean: Scalar, key: str, n: int) -> VGroup:
        """How a mean is worked out, to the right of the n-th line."""
        count = self.sizes["d"].scalar
        if key == "variance" and self.training.setting("norm.variance") == "unbiased":
            count = count - constant(1)
        for decimals in range(4, -1, -1):
            left = [Term(compute("add", *scalars), decimals), OVER, Term(count, 0, theme.MUTED)]
            result = Term(mean, decimals, theme.ENCODER, bold=True)
            made = Equation(left, result, size=22, gap=0.1)
            room = theme.RIGHT_EDGE - NOTE_X
            if made.width * theme.SMALLEST <= room * 22:
                break
        if made.width > room:
            made.scale(room / made.width)
        name = self.label(key, size=theme.SMALL).place([NOTE_X, Strip.y(n) + 0.23, 0], LEFT)
        return VGroup(name, made.place([NOTE_X, Strip.y(n) - 0.19]))

    def mean_and_variance(self) -> None:
        run, i = self.training, self.asking
        values = list(run[self.attention.total][i])
        self.mean, self.variance = (run[f"{self.norm}.{name}"][i] for name in ("mean", "variance"))
        apart = [value - self.mean for value in values]
        squares = [value * value for value in apart]
        self.apart, apart_name = self.line(apart, "x - mu", 1)
        squared, squared_name = self.line(squares, "(x - mu)^2", 2)
        mean = self.mean_of(values, self.mean, "mean", 0)
        variance = self.mean_of(squares, self.variance, "variance", 2)
        with self.beat("statistics", {"d": self.sizes["d"]}):
            if self.pre:
                self.next_stage(NORM, self.old)
            else:
                self.play(FadeOut(self.old), run_time=0.3)
            self.play(self.total.animate.go_to(0), run_time=0.6)
            self.play(FadeIn(mean, shift=0.2 * RIGHT), run_time=0.5)
            self.settle(self.apart, apart_name)
            self.settle(squared, squared_name)
            self.play(FadeIn(variance, shift=0.2 * RIGHT), run_time=0.5)
        self.old = VGroup(self.total, mean, apart_name, self.apart, squared_name, squared, variance)

    def normalise(self) -> None:
        run, eps = self.training, constant(self.training.layer_norm_eps)
        outside = run.setting("norm.eps_in") == "outside"
        deviation = compute("sqrt", self.variance if outside else self.variance + eps)
        if outside:
            deviation = deviation + eps
        y = Strip.y(3)
        over = formula(
            "div (sigma + epsilon)" if outside else "div sqrt(sigma^2 + epsilon)", size=34
        )
        over.move_to([NOTE_X + over.width / 2, y + 0.2, 0])
        number = Number(deviation, 4, size=22, color=theme.ENCODER, bold=True)
        equal = Phrase("=", size=22, color=theme.MUTED)
        worked = row(equal, number, gap=0.1, at=[NOTE_X, y - 0.26, 0])
        groups = run.model("groups")
        case, learned = wording.flat(groups, self.variance), wording.learned_norm(groups)
        if case.name == "none":
            case = wording.divisor(run, self.variance)
            if learned.name != "none":
                case = wording.Case("learned") + case + learned
        with self.beat("normalise", case.facts, variant=case.name):
            self.play(FadeIn(over, worked, shift=0.2 * RIGHT), run_time=0.5)
            mark, frame = (
                outline(row_.cells, color=theme.ENCODER, stroke=4)
                for row_ in (self.apart, self.normed.grid)
            )
            self.play(Create(mark), run_time=0.4)
            self.settle(self.normed, self.normed.caption)
            self.play(ReplacementTransform(mark, frame), run_time=0.4)
            self.regroup(self.normed.caption, self.normed.grid.cells, self.normed.numbers)
            self.old.add(over, worked, frame)
            if learned.name != "none":
                self.wait(1.0)
                self.times_gain_plus_shift()

    def times_gain_plus_shift(self) -> None:
        """The learned part of the norm: γ times what is normalised, plus β."""
        gain, shift = (
            None if values is None else Strip(values, self.caption(key), 0)
            for key, values in zip(("gain", "shift"), self.learned, strict=True)
        )
        result = self.strip(f"{self.norm}.output", "normed", 0)
        learned = GainAndShift(self.normed, gain, shift, result)
        self.play(FadeOut(self.old), run_time=0.3)
        self.play(self.normed.animate.go_to(0), run_time=0.6)
        for line, sign in zip(learned.lines, learned.signs, strict=True):
            self.play(FadeIn(line, sign, shift=0.2 * DOWN), run_time=0.5)
        self.play(Create(learned.rule), run_time=0.3)
        self.settle(result, result.caption)
        self.old = VGroup(self.normed, *learned.lines, *learned.signs, learned.rule)
        self.normed = result
        self.regroup(result.caption, result.grid.cells, result.numbers)

    # -- the feed-forward network --------------------------------------------------------------

    def column(self, scalars: list[Scalar], n: int, *, wide: bool) -> Vector:
        """A vector that stands upright in the n-th column."""
        cell = WIDE if wide else NARROW
        made = Vector(scalars, cell=cell, size=22 if wide else 24, down=True, bare_zeros=wide)
        return made.at(FFN_X[n], 0).shift((FFN_Y - made.cells.get_y()) * UP)

    def column_name(self, key: str, column: Vector, size: str = "") -> Phrase:
        facts = {"size": self.sizes[size]} if size else {}
        name = self.label(key, facts, size=22, color=theme.INK)
        return name.place([column.cells.get_x(), FFN_HEAD_Y, 0])

    def fan_name(self, n: int, one: Vector, other: Vector) -> Mobject:
        """What lies between two columns: a matrix, or a matrix times them plus a bias."""
        biased = bias(self.training, f"{LAYER}.ffn.linear{n}") is not None
        typst = f"W_{n} x + b_{n}" if biased else f"W_{n}"
        x = (one.cells.get_right()[0] + other.cells.get_left()[0]) / 2
        return formula(typst, size=36, at=(x, FFN_HEAD_Y, 0))

    def expand(self) -> None:
        normed, values = self.normed, list(self.normed.grid.values)
        self.narrow = self.column(values, 0, wide=False)
        self.wide = self.column(self.hidden, 1, wide=True)
        fan = Connections(self.narrow, self.wide, self.matrix("ffn.linear1"))
        names = VGroup(
            self.column_name("narrow", self.narrow, "d"),
            self.fan_name(1, self.narrow, self.wide),
            self.column_name("wide", self.wide, "d_ff"),
        )
        with self.beat("expand", self.width.facts, variant=self.width.name):
            self.next_stage(FFN, self.old, normed.caption)
            self.play(
                ReplacementTransform(normed.grid.cells, self.narrow.cells),
                Flight(normed.numbers, self.narrow.numbers),
                FadeIn(names[0]),
                run_time=0.8,
            )
            self.play(FadeIn(names[1:]), run_time=0.3)
            rows = (
                LaggedStart(Create(lines), FadeIn(self.wide.whole(j)), lag_ratio=0.5)
                for j, lines in enumerate(fan)
            )
            self.play(LaggedStart(*rows, lag_ratio=0.3), run_time=2.2)
        self.old = VGroup(self.narrow, self.wide, fan, names)

    def relu(self) -> None:
        self.kept = kept = self.column(self.active, 2, wide=True)
        kind = self.training.setting("activation")
        name = self.column_name(wording.ACTIVATIONS[kind], kept)
        ways = VGroup(*(self.way(j) for j in range(len(self.active))))
        dead = [j for j in range(len(self.hidden)) if self.is_negative(j)]
        marks = VGroup(*(outline(VGroup(kept.cells[j]), color=theme.MUTED, buff=0) for j in dead))
        case = wording.activation(kind, self.hidden)
        with self.beat("relu", case.facts, variant=case.name):
            self.play(FadeIn(name), run_time=0.3)
            moves = (
                LaggedStart(FadeIn(ways[j]), FadeIn(kept.cells[j]), fly(a, b), lag_ratio=0.2)
                for j, (a, b) in enumerate(zip(self.wide.numbers, kept.numbers, strict=True))
            )
            self.play(LaggedStart(*moves, lag_ratio=0.3), run_time=2)
            if dead:
                self.play(FadeIn(marks), run_time=0.4)
            self.regroup(kept)
        self.old.add(kept, name, ways, marks)

    def is_negative(self, j: int) -> bool:
        """Whether a hidden number shows below zero, so that ReLU stops it."""
        if self.training.setting("activation") != "relu":
            return False
        return rounded(self.hidden[j], wording.VALUES).exact < 0

    def way(self, j: int) -> VGroup:
        """From a hidden number to the activated one: open, or shut where it shows below zero."""
        start = self.wide.cells[j].get_right() + 0.15 * RIGHT
        end = self.kept.cells[j].get_left() + 0.15 * LEFT
        if not self.is_negative(j):
            return VGroup(arrow(start, end, color=theme.INK))
        middle, bar = (start + end) / 2, 0.11 * UP
        stops = Line(middle - bar, middle + bar)
        ways = VGroup(Line(start, middle), stops)
        return ways.set_stroke(theme.MUTED, width=3)

    def contract(self) -> None:
        values = list(self.training[self.ffn.output][self.asking])
        self.back = self.column(values, 3, wide=False)
        fan = Connections(self.kept, self.back, self.matrix("ffn.linear2"))
        names = VGroup(
            self.fan_name(2, self.kept, self.back),
            self.column_name("narrow", self.back, "d"),
        )
        with self.beat("contract", {"d": self.sizes["d"]}, variant=self.width.name):
            self.play(FadeIn(names), run_time=0.3)
            rows = (
                LaggedStart(Create(lines), FadeIn(self.back.whole(j)), lag_ratio=0.5)
                for j, lines in enumerate(fan)
            )
            self.play(LaggedStart(*rows, lag_ratio=0.5), run_time=2)
        self.old.remove(self.narrow)
        self.old.add(fan, names)

    # -- the second addition, and all tokens ---------------------------------------------------

    def second_add_and_norm(self) -> None:
        x = self.strip(self.ffn.x, "before_ffn" if self.pre else "ffn_input", 0)
        change = self.strip(self.ffn.output, "ffn_output", 1)
        total = self.strip(self.ffn.total, "total", 2)
        normed, notes = None, []
        if not self.pre:
            places = {n: self.training[f"{self.ffn.norm}.{n}"] for n in ("mean", "variance")}
            notes = [self.note(name, values[self.asking]) for name, values in places.items()]
            normed = self.strip(self.ffn.leaves, "normed", 3)
        block = AddAndNorm(x, change, total, normed, notes, self.learned_note())
        self.last = normed or total
        arrives = [FadeIn(x)] if self.pre else self.becomes(self.narrow, x)
        gone = [self.narrow] if self.pre else []
        with self.beat("again", self.token, variant="pre" if self.pre else ""):
            self.next_stage(AGAIN, self.old, *gone)
            self.play(*arrives, *self.becomes(self.back, change), run_time=0.8)
            self.play(*block.write(), run_time=0.3)
            self.settle(total, total.caption)
            if normed is not None:
                self.play(FadeIn(block.notes), run_time=0.3)
                self.settle(normed, normed.caption, *block.remarks)
            frame = self.last.grid.frame(color=theme.ENCODER)
            self.play(Create(frame), run_time=0.4)
            self.regroup(block, frame)
        self.old = VGroup(block.all_but_last(), frame)

    def learned_note(self) -> Phrase | None:
        """What the norm does besides, as a remark beside its result."""
        name = wording.learned_norm(self.training.model("groups")).name
        return None if name == "none" else self.label(f"learned_{name}", size=22, color=theme.INK)

    def note(self, name: str, scalar: Scalar) -> Phrase:
        """A mean or a variance beside the sum, with as many decimals as there is room for."""
        for decimals in range(4, -1, -1):
            said = {"value": Say(scalar, decimals)}
            made = self.label(f"{name}_is", said, size=22, color=theme.INK)
            if made.width < theme.RIGHT_EDGE - NOTE_X:
                break
        return made

    def becomes(self, column: Vector, strip: Strip) -> list[object]:
        """A column lies down and becomes a strip."""
        return [
            ReplacementTransform(column.cells, strip.grid.cells),
            Flight(column.numbers, strip.numbers),
            FadeIn(strip.caption),
        ]

    def whole(self, name: str, left: float, key: str) -> tuple[Grid, Phrase]:
        """An array of all tokens with its heading."""
        wide = is_wide(self.tokens)
        grid = Grid.signed(
            self.training[name],
            rows=self.tokens,
            cell=(1.0 if wide else 1.18, 0.82),
            size=theme.BODY,
            row_color=theme.INK,
            label_size=fitting(self.tokens, 0.95, 28),
        )
        corner = grid.cell(0, 0).get_left()
        left += 0.65 if wide else 0
        grid.shift([left - corner[0], 1.35 - corner[1], 0])
        head = self.label(key, size=theme.HEADING, color=theme.ENCODER)
        return grid, head.place([grid.cells.get_x(), 2.25, 0])

    def all_tokens(self) -> None:
        before, before_head = self.whole(self.attention.x, -5.95, "before")
        after, after_head = self.whole(self.ffn.leaves, 1.6, "after")
        i, y = self.asking, float(before.cells.get_y())
        start = float(before.cells.get_right()[0]) + 0.2
        way = arrow([start, y, 0], [start + 1.6, y, 0], color=theme.ENCODER, width=5, tip=0.22)
        name = Phrase("Encoder L1", size=22, color=theme.ENCODER, bold=True).place(
            [start + 0.8, y + 0.35, 0]
        )
        others = [j for j in range(len(self.tokens)) if j != i]
        with self.beat("all", {"rows": self.sizes["rows"]}):
            self.play(FadeOut(self.old, self.stages, self.last.caption), run_time=theme.FADE)
            self.play(
                ReplacementTransform(self.last.grid.cells, after.row_cells(i)),
                Flight(self.last.numbers, after.row_numbers(i)),
                FadeIn(after.row_labels[i], after_head),
                run_time=theme.MOVE,
            )
            self.play(FadeIn(before, before_head), run_time=0.6)
            self.play(FadeIn(name), GrowArrow(way), run_time=0.5)
            rows = (FadeIn(after.row_all(j), shift=0.3 * RIGHT) for j in others)
            self.play(LaggedStart(*rows, lag_ratio=0.4), run_time=1.4)

    def takeaway(self) -> None:
        with self.beat("takeaway", variant="pre" if self.pre else ""):
            pass
        self.leave()
