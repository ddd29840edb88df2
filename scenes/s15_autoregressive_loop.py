"""Scene 15, step 91: how a translation is written that does not exist yet.

Claims: the encoder runs once and its memory serves every round; each round reads only the last
row of the probabilities and makes the input one word longer, the mask one row and one column
larger; with these weights the likeliest word is, or is not, the target's word that the lecture
goes on with; keys of earlier words stay the same from round to round.
Reads the inference passes over all proper prefixes of the target: memory, decoder.mask,
probabilities, decoder.0.self_attn.k; and greedy generation with the same weights.
"""

from __future__ import annotations

from manim import (
    DOWN,
    LEFT,
    UP,
    Create,
    FadeIn,
    FadeOut,
    GrowFromEdge,
    LaggedStart,
    ReplacementTransform,
    TransformFromCopy,
    VGroup,
)

import engine
from scenes import theme
from scenes.base import LectureScene
from scenes.parts import (
    Bars,
    Block,
    Grid,
    Mask,
    Phrase,
    Say,
    Token,
    Wire,
    row,
    shape_of,
    token_row,
)
from scenes.values import Run

ROW_Y = 2.25
ROW_X = -2.95
GONE_BY = 0.5


class AutoregressiveLoop(LectureScene):
    beats = (
        ("question", 91),
        ("encoder", 91),
        ("first", 91),
        ("choose", 91),
        ("again", 91),
        ("last", 91),
        ("free", 91),
        ("cache", 91),
        ("takeaway", 91),
    )
    color = theme.INFERENCE
    lit = ("Dec 1", "Dec 2", "Out")

    def construct(self) -> None:
        self.read_trace()
        self.build_encoder()
        self.build_decoder()
        self.question()
        self.run_encoder()
        self.first_round()
        self.choose_word()
        self.more_rounds()
        self.last_round()
        self.left_alone()
        self.kv_cache()
        self.takeaway()

    def read_trace(self) -> None:
        self.words_wanted = self.training.target
        self.rounds = len(self.words_wanted) - 1
        self.runs = [self.inference(length) for length in range(1, self.rounds + 1)]
        weights = self.runs[0].trace.weights
        steps = engine.generate(weights, self.settings.source, self.words_wanted[:1], self.rounds)
        self.alone = (*steps[-1].input, steps[-1].choice)

    def best(self, run: Run) -> int:
        return run["probabilities"][-1].argmax()[0]

    # -- the diagram ---------------------------------------------------------------------------

    def build_encoder(self) -> None:
        run = self.runs[0]
        memory = run["memory"]
        self.source = token_row(run.source, gap=0.1, height=0.56, size=theme.BODY)
        self.source.move_to([-5.2, ROW_Y, 0])
        if self.source.width > 2.7:
            self.source.scale(2.7 / self.source.width)
        self.encoder = Block((-6.4, 1.5), (-4.0, 0.55), color=theme.ENCODER)
        self.encoder.write(Phrase("Encoder", size=theme.HEADING, bold=True), 0.17)
        self.encoder.write(self.label("once", color=theme.ENCODER), -0.24)
        rows, columns = memory.shape
        cell = (2.4 / columns - 0.05, 1.5 / rows - 0.05)
        grid = Grid.signed(memory, cell=cell, size=theme.SMALLEST).cells
        self.memory = grid.move_to([-5.2, -1.18, 0])
        size = shape_of(run.size("memory", 0), run.size("memory", 1), size=theme.SMALL)
        name = Phrase("memory", size=theme.BODY, color=theme.ENCODER, bold=True)
        self.memory_name = VGroup(*row(name, *size, gap=0.12))
        self.memory_name.move_to([-5.2, -0.19, 0])
        self.to_encoder = Wire([-5.2, 1.93], [-5.2, 1.54])
        self.to_memory = Wire([-5.2, 0.51], [-5.2, 0.03])

    def build_decoder(self) -> None:
        self.decoder = Block((ROW_X, 1.5), (0.75, -1.93), color=theme.INFERENCE)
        self.decoder.write(Phrase("Decoder", size=theme.HEADING, bold=True), 1.42)
        inside = {"fill": theme.BACKGROUND, "stroke": 1.5}
        self.self_part = Block((ROW_X + 0.18, 0.9), (0.57, -0.6), **inside)
        self.cross_part = Block((ROW_X + 0.18, -0.76), (0.57, -1.75), **inside)
        cross = VGroup(*(Phrase(line) for line in self.text("cross").split("\n")))
        for index, line in enumerate(cross):
            line.place([self.cross_part.get_x(), self.cross_part.get_y() - 0.36 * index, 0])
        cross.shift(0.18 * (len(cross) - 1) * UP)
        self.cross_part.add(cross)
        name = VGroup()
        for index, line in enumerate(self.text("self").split("\n")):
            name.add(Phrase(line).place([ROW_X + 0.38, 0.55 - 0.38 * index, 0], LEFT))
        self.self_part.add(name)
        y = self.cross_part.get_y()
        self.keys_values = Wire([-3.95, y], [ROW_X + 0.14, y], color=theme.ENCODER)
        self.to_decoder = Wire([-1.1, 1.93], [-1.1, 1.54])
        self.to_output = Wire([0.79, 0.15], [1.4, 0.15])

    def tokens_upto(self, count: int) -> VGroup:
        tokens = token_row(self.words_wanted[:count], gap=0.16, color=theme.INFERENCE)
        return tokens.move_to([ROW_X, ROW_Y, 0], LEFT)

    def slot(self, count: int) -> Token:
        """The open place after ``count`` words."""
        place = self.tokens_upto(count).get_right()[0] + 0.16
        slot = Token("?", color=theme.MUTED, dashed=True)
        return slot.move_to([place, ROW_Y, 0], LEFT)

    def mask(self, index: int) -> VGroup:
        """The mask of a round with its size, at its place in the decoder."""
        run = self.runs[index]
        part = run["decoder.mask"]
        cell = min(0.4, 1.3 / self.rounds - 0.05)
        doors = Mask(part, cell=cell)
        doors.move_to([0.42 - 1.3, 0.8, 0], UP + LEFT)
        size = shape_of(*(run.size("decoder.mask", axis) for axis in (0, 1)), size=theme.BODY)
        size.shift([ROW_X + 0.38 - size.get_left()[0], -0.24, 0])
        return VGroup(doors, size)

    def table(self, index: int) -> dict[str, VGroup]:
        """The likeliest words of a round and the target's, and what is said of them."""
        run = self.runs[index]
        last = run["probabilities"][-1]
        order = sorted(range(len(last)), key=lambda i: -last[i].exact)
        wanted = run.vocabulary.index(self.words_wanted[index + 1])
        shown = order[:3] + ([wanted] if wanted not in order[:3] else order[3:4])
        bars = Bars(
            [last[i] for i in shown],
            [run.vocabulary[i] for i in shown],
            width=2.3,
            full=last[order[0]].exact,
            pitch=0.56,
            color=theme.INFERENCE,
            size=theme.BODY,
            strongest=0,
        )
        bars.shift([3.05 - bars.bars.get_left()[0], 0.72 - bars.bars[0].get_y(), 0])
        bars.labels[shown.index(wanted)].set_color(theme.WEIGHT)
        return {"bars": bars, "wanted": bars.labels[shown.index(wanted)]}

    def verdict(self, index: int) -> VGroup:
        run = self.runs[index]
        facts = {"word": run.vocabulary[self.best(run)]}
        lines = VGroup(
            self.label("model", facts, size=theme.BODY),
            self.label("lecture", {"word": self.words_wanted[index + 1]}, size=theme.BODY),
        )
        for line, y in zip(lines, (-1.43, -1.86), strict=True):
            line.place([1.6, y, 0], LEFT)
        return lines

    # -- beats ---------------------------------------------------------------------------------

    def question(self) -> None:
        with self.beat("question"):
            pass

    def run_encoder(self) -> None:
        with self.beat("encoder"):
            self.play(self.answer(), FadeIn(self.source), run_time=0.6)
            self.play(FadeIn(self.to_encoder, self.encoder, shift=0.15 * DOWN), run_time=0.6)
            self.play(self.to_encoder.flash(theme.ENCODER), run_time=0.6)
            self.play(FadeIn(self.to_memory), run_time=0.3)
            rows = self.runs[0].trace["memory"].shape[0]
            width = len(self.memory) // rows
            lines = [VGroup(*self.memory[i * width : (i + 1) * width]) for i in range(rows)]
            self.play(
                LaggedStart(*(FadeIn(line, shift=0.2 * DOWN) for line in lines), lag_ratio=0.3),
                FadeIn(self.memory_name),
                run_time=1.0,
            )

    def first_round(self) -> None:
        self.input = self.tokens_upto(1)
        self.open = self.slot(1)
        self.doors = self.mask(0)
        self.head = self.label("probabilities").place([1.6, 1.3, 0], LEFT)
        with self.beat("first", {"word": self.words_wanted[0]}):
            done = (self.source, self.to_encoder, self.encoder, self.to_memory)
            self.play(
                *(mobject.animate.fade(GONE_BY) for mobject in done),
                FadeIn(self.decoder, self.self_part, self.cross_part),
                run_time=0.6,
            )
            self.play(FadeIn(self.input, self.open, self.to_decoder, self.doors), run_time=0.6)
            self.play(self.to_decoder.flash(theme.INFERENCE), run_time=0.5)
            self.play(FadeIn(self.keys_values), run_time=0.3)
            self.predict(0)

    def predict(self, index: int) -> None:
        """Memory into the decoder, probabilities out of it."""
        self.now = self.table(index)
        bars = self.now["bars"]
        self.play(self.keys_values.flash(theme.INK), run_time=0.6)
        first = [FadeIn(self.to_output, self.head)] if index == 0 else []
        self.play(*first, self.to_output.flash(theme.INFERENCE), run_time=0.5)
        self.play(
            FadeIn(bars.labels),
            LaggedStart(*(GrowFromEdge(bar, LEFT) for bar in bars.bars), lag_ratio=0.2),
            LaggedStart(*(FadeIn(number) for number in bars.numbers), lag_ratio=0.2),
            run_time=0.9,
        )

    def choose_word(self) -> None:
        run = self.runs[0]
        best = self.best(run)
        facts = {
            "choice": run.vocabulary[best],
            "p": Say(run["probabilities"][-1][best], 3),
            "word": self.words_wanted[1],
        }
        agrees = facts["choice"] == facts["word"]
        with self.beat("choose", facts, variant="agree" if agrees else "differ"):
            self.append(0)

    def append(self, index: int) -> None:
        """What the model says, what the lecture takes; the word goes to the end of the input."""
        self.said = self.verdict(index)
        self.play(FadeIn(self.said[0]), run_time=theme.FADE)
        self.play(FadeIn(self.said[1]), run_time=theme.FADE)
        row_now = self.tokens_upto(index + 2)
        if index == 0:
            end = self.tokens_upto(len(self.words_wanted)).get_right()[0] + 0.2
            self.back = Wire([5.9, 1.55], [5.9, ROW_Y], [end, ROW_Y], color=theme.INFERENCE)
            name = self.label("append", color=theme.INFERENCE)
            self.back_name = name.place([(end + 5.9) / 2, ROW_Y + 0.26, 0])
            self.play(Create(self.back), FadeIn(self.back_name), run_time=0.6)
        self.play(self.back.flash(theme.INK), run_time=0.6)
        word = row_now[-1]
        self.play(
            FadeOut(self.open),
            FadeIn(word.box),
            TransformFromCopy(self.now["wanted"], word.label),
            run_time=theme.MOVE,
        )
        self.add(word)
        self.input = VGroup(*self.input, word)

    def clear_round(self) -> FadeOut:
        return FadeOut(self.now["bars"], self.said)

    def next_round(self, index: int) -> None:
        doors, old = self.mask(index), self.doors
        self.open = self.slot(index + 1)
        self.play(self.clear_round(), FadeIn(self.open), run_time=theme.FADE)
        self.play(self.to_decoder.flash(theme.INFERENCE), run_time=0.5)
        self.play(
            ReplacementTransform(old[0], doors[0].inner(index)),
            FadeIn(doors[0].rest(index)),
            FadeOut(old[1]),
            FadeIn(doors[1]),
            run_time=theme.MOVE,
        )
        self.doors = doors
        self.predict(index)
        self.append(index)

    def more_rounds(self) -> None:
        run = self.runs[1]
        facts = {
            "words": " ".join(self.words_wanted[:2]),
            "rows": Say(run.size("decoder.mask", 0), 0),
            "columns": Say(run.size("decoder.mask", 1), 0),
        }
        with self.beat("again", facts):
            for index in range(1, self.rounds - 1):
                self.next_round(index)

    def last_round(self) -> None:
        with self.beat("last", {"word": self.words_wanted[-1]}):
            self.next_round(self.rounds - 1)

    def left_alone(self) -> None:
        target = tuple(self.words_wanted)
        kept = self.input
        gone = VGroup(*(m for m in self.mobjects if m not in (self.header, self.header.badge)))
        same = self.alone == target
        with self.beat("free", variant="same" if same else "differ"):
            pass

    def kv_cache(self) -> None:
        with self.beat("cache"):
            pass

    def takeaway(self) -> None:
        with self.beat("takeaway", {"rounds": Say(self.runs[-1].size("probabilities", 0), 0)}):
            pass
        self.leave()
