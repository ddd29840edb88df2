"""Scene 16, step 92: the first step of inference, from one word to the next.

Claims: the input is one row; a mask of one cell closes nothing, so the word attends to itself
alone; its row gives the logits, softmax the probabilities, and the likeliest word is chosen,
which is, or is not, the word hoped for; training's row of the same word is, or is not, equal;
whatever is chosen stands in every later input.
Reads the inference pass over the target's first word: decoder.embedded, positional,
decoder.input, decoder.mask, decoder.0.self_attn.weights, memory, logits, probabilities; and of
the training pass logits and probabilities.
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
    LaggedStart,
    Line,
    VGroup,
)

from scenes import theme
from scenes.inference import InferenceStep, likeliest
from scenes.parts.equation import PLUS
from scenes.parts.flow import Wire
from scenes.parts.grid import Grid
from scenes.parts.inputs import InferenceSide
from scenes.parts.loop import WORDS_Y, DecoderSide, SourceSide
from scenes.parts.motion import Flight
from scenes.parts.phrase import Phrase, Say
from scenes.parts.step import HEAD_Y, grow_bars, in_lines, probability_bars
from scenes.parts.strips import Strip
from scenes.rounding import decimals_needed
from scenes.structure import is_scaled, positional


class InferenceStep1(InferenceStep):
    beats = (
        ("question", 92),
        ("input", 92),
        ("decoder", 92),
        ("logits", 92),
        ("softmax", 92),
        ("hoped", 92),
        ("training", 92),
        ("chain", 92),
        ("takeaway", 92),
    )
    step = 1

    def construct(self) -> None:
        self.read_trace()
        self.question()
        self.input_row()
        self.through_decoder()
        self.logits_out()
        self.softmax()
        self.hoped_for()
        self.training_row()
        self.chain_of_errors()
        self.takeaway()

    # -- beats ---------------------------------------------------------------------------------

    def question(self) -> None:
        with self.beat("question", {"word": self.read[0]}):
            pass

    def input_row(self) -> None:
        run, word = self.run, {"word": self.read[0]}
        table = positional(run, "target")
        rows = [run["decoder.embedded"][0], run["decoder.input"][0]]
        if table is not None:
            rows.insert(1, table[0])
        places = decimals_needed([float(v) for row in rows for v in row.array], 4)
        keys = ["scaled_row" if is_scaled(run) else "row_of_e", "position", "sum"]
        if table is None:
            del keys[1]
        style = {"size": theme.BODY, "color": theme.INK}
        strips = [
            Strip(row, self.label(key, word, **style), line, cell=2.4, size=30, decimals=places)
            for line, (row, key) in enumerate(zip(rows, keys, strict=True))
        ]
        *terms, total = strips
        total.shift(0.2 * DOWN)
        x, y = Strip.LEFT_OF_CELLS, Strip.y(len(terms) - 0.4)
        more = VGroup(*terms[1:])
        if table is not None:
            more.add(Phrase(PLUS, size=32, color=theme.MUTED).place([x - 0.32, Strip.y(1), 0]))
        ends = [x, y, 0], [strips[0].grid.get_right()[0], y, 0]
        rule = Line(*ends, stroke_width=2, color=theme.MUTED)
        sizes = {key: Say(run.size("decoder.input", n), 0) for n, key in enumerate(("n", "size"))}
        with self.beat("input", {**word, **sizes}, variant="none" if table is None else ""):
            self.play(self.answer(), run_time=theme.FADE)
            self.play(FadeIn(terms[0], shift=0.2 * DOWN), run_time=0.6)
            if table is not None:
                self.play(FadeIn(more, shift=0.2 * DOWN), run_time=0.6)
            self.play(Create(rule), run_time=0.3)
            self.play(*total.born_of(*terms), run_time=theme.MOVE)
        self.worked = VGroup(terms[0], more, rule, total.caption)
        self.sum = total.grid

    def through_decoder(self) -> None:
        run = self.run
        self.source = SourceSide(run, self.text("once"))
        VGroup(self.source.words, self.source.block, self.source.wires).fade(0.5)
        self.decoder = DecoderSide(self.text("self"), self.text("cross"))
        self.token = self.decoder.words(self.read)
        row = Grid.signed(
            run["decoder.input"][0],
            cell=(0.94, 0.56),
            size=theme.BODY,
            decimals=self.sum.decimals,
        )
        row.move_to([self.token.get_right()[0] + 0.2, WORDS_Y, 0], LEFT)
        mask = self.decoder.mask(run, len(self.target) - 1)
        weight = Say(run["decoder.0.self_attn.weights"][0, 0, 0], 0)
        share = self.label("weight", {"weight": weight}, color=theme.WEIGHT)
        share.place([0.62, mask[1][0].midline, 0], RIGHT)
        y = self.decoder.cross.get_y()
        kv_wire = Wire([-3.95, y], [-2.81, y], color=theme.ENCODER)
        in_wire = Wire([-1.0, 1.93], [-1.0, 1.54])
        sizes = {key: Say(run.size("decoder.mask", n), 0) for n, key in enumerate("rc")}
        with self.beat("decoder", {"word": self.read[0], "weight": weight, **sizes}):
            self.play(FadeOut(self.worked), run_time=theme.FADE)
            self.play(Flight(self.sum, row), FadeIn(self.token), run_time=theme.MOVE)
            self.play(FadeIn(self.decoder, in_wire), run_time=0.5)
            self.play(in_wire.flash(theme.INFERENCE), run_time=0.5)
            self.play(FadeIn(mask, share), run_time=0.5)
            self.play(FadeIn(self.source, kv_wire), run_time=0.5)
            self.play(kv_wire.flash(theme.INK), run_time=0.6)
        self.flow = VGroup(self.source, self.decoder, self.token, row, mask, share)
        self.flow.add(kv_wire, in_wire)

    def logits_out(self) -> None:
        self.build_choice()
        table = self.table
        moved = VGroup(table.words, table.logits, table.heads[0])
        self.away = theme.RIGHT_EDGE - 0.1 - table.LOGIT
        moved.shift([self.away, 0, 0])
        table.words.shift([-0.2, 0, 0])
        wire = Wire([0.99, 0.1], [2.85, 0.1])
        name = self.label("output_matrix").place([1.9, 0.4, 0])
        lines = in_lines([table.words, table.logits])
        with self.beat("logits", {"n": Say(self.count, 0)}):
            self.play(FadeIn(wire, name), run_time=theme.FADE)
            self.play(wire.flash(theme.INFERENCE), run_time=0.5)
            self.play(FadeIn(table.heads[0]), run_time=0.3)
            self.play(
                LaggedStart(*(FadeIn(line, shift=0.2 * RIGHT) for line in lines), lag_ratio=0.2),
                run_time=theme.SLOW,
            )
        self.flow.add(wire, name)

    def softmax(self) -> None:
        table = self.table
        case = self.lead()
        back = VGroup(table.logits, table.heads[0])
        facts = {**case.facts, "n": Say(self.count, 0)}
        with self.beat("softmax", facts, variant=case.name):
            self.play(FadeOut(self.flow), run_time=theme.FADE)
            self.play(
                table.words.animate.shift([0.2 - self.away, 0, 0]),
                back.animate.shift([-self.away, 0, 0]),
                run_time=theme.MOVE,
            )
            self.play(FadeIn(table.heads[1]), run_time=0.3)
            self.play(table.grow(), run_time=1.5)
            self.play(FadeIn(self.chosen_card, shift=0.2 * UP), run_time=0.5)

    def hoped_for(self) -> None:
        case = self.verdict_on_choice()
        with self.beat("hoped", case.facts, variant=case.name):
            self.play(*self.table.turn_gold(), run_time=0.6)
            self.play(FadeIn(self.hoped_card, shift=0.2 * UP), run_time=0.6)

    def training_row(self) -> None:
        table = self.table
        gone = VGroup(table.logits, table.heads, self.chosen_card, self.hoped_card)
        first = likeliest(self.theirs)[0]
        theirs = probability_bars(self.theirs_p, self.shown, first, self.full, theme.TRAINING)
        theirs.shift([1.7 - theirs.bars.get_left()[0], 0, 0])
        move = -4.65 - table.bars.bars.get_left()[0]
        heads = VGroup(
            self.label("ours", color=theme.INFERENCE).place([-4.65, HEAD_Y, 0], LEFT),
            self.label("theirs", color=theme.TRAINING).place([1.7, HEAD_Y, 0], LEFT),
        )
        facts = {"word": self.read[0]}
        with self.beat("training", facts, variant="equal" if self.equal else "differ"):
            self.play(FadeOut(gone), run_time=theme.FADE)
            self.play(table.bars.animate.shift([move, 0, 0]), FadeIn(heads[0]), run_time=theme.MOVE)
            self.play(FadeIn(heads[1]), run_time=0.3)
            self.play(grow_bars(theirs), run_time=1.5)
        self.old = VGroup(table.words, table.bars, heads, theirs)

    def chain_of_errors(self) -> None:
        right, wrong = self.vocabulary[self.wanted], self.vocabulary[self.wrong]
        written = self.choice == self.wanted
        first, second = (right, wrong) if written else (wrong, right)
        keys = ("own", "slip") if written else ("own", "lecture")
        facts = {"other": wrong} if written else {"choice": wrong, "word": right}
        variant = "hit" if written else "miss"
        panels = self.panel(keys[0], first, -6.54, -0.45), self.panel(keys[1], second, 0.45, 6.54)
        with self.beat("chain", facts, variant=variant):
            self.play(FadeOut(self.old), run_time=theme.FADE)
            for head, side in panels:
                self.play(FadeIn(head, side.rows[0], side.open[0]), run_time=0.5)
                for k, wire in enumerate(side.found):
                    new = VGroup(side.rows[k + 1], *side.open[k + 1 : k + 2])
                    self.play(FadeIn(wire, new, shift=0.15 * DOWN), run_time=0.5)

    def panel(self, key: str, word: str, left: float, right: float) -> tuple[Phrase, InferenceSide]:
        """The inputs of all steps if the first one adds ``word``."""
        words = [self.read[0], word, "?", "?"][: len(self.target)]
        side = InferenceSide(
            words, left=left, right=right, size=theme.HEADING, top=1.55, bottom=-1.75
        )
        color = theme.WEIGHT if word == self.vocabulary[self.wanted] else theme.INFERENCE
        for row in side.rows[1:]:
            row[1].box.set_fill(color).set_stroke(color)
            row[1].label.set_color(theme.ink_on(color))
            for unknown in row[2:]:
                unknown.label.set_color(theme.MUTED)
        head = self.label(key, size=theme.HEADING, color=theme.INK, bold=True)
        return head.place([left, HEAD_Y, 0], LEFT), side

    def takeaway(self) -> None:
        with self.beat("takeaway", {"n": Say(self.count, 0)}):
            pass
        self.leave()
