"""Scene 18, step 94: the last step of inference, and what one wrong word does.

Claims: the mask has grown to three rows, and the last word sees all that is written; its row
gives the last word; it stands at training position 2, not 3, and is, or is not, equal to it;
some of the sentence's words were the model's own first choice; left alone after a wrong word, the
model goes on from that word.
Reads the inference passes over all proper prefixes of the target: decoder.mask,
decoder.0.self_attn.weights, logits, probabilities; of the training pass logits, probabilities;
and greedy generation with the same weights.
"""

from __future__ import annotations

from collections.abc import Sequence

from manim import (
    DOWN,
    LEFT,
    RIGHT,
    UP,
    Create,
    FadeIn,
    FadeOut,
    LaggedStart,
    ManimColor,
    VGroup,
)

from scenes import theme, verdicts
from scenes.inference import InferenceStep, likeliest, standing_at
from scenes.parts.flow import cross, shape_of
from scenes.parts.grid import Grid, outline
from scenes.parts.inputs import Columns
from scenes.parts.motion import Flight
from scenes.parts.phrase import Number, Phrase, Say
from scenes.parts.shapes import Token, arrow, fitting, token_row
from scenes.parts.step import HEAD_Y, MaskTable
from scenes.structure import following
from scenes.values import constant, joined


class InferenceStep3(InferenceStep):
    beats = (
        ("question", 94),
        ("mask", 94),
        ("choice", 94),
        ("position", 94),
        ("compare", 94),
        ("sentence", 94),
        ("carry", 94),
        ("beam", 94),
        ("takeaway", 94),
    )
    #: columns of the table of what is read, written and should be, and how wide a word is
    READ_X, WRITE_X, SHOULD_X = -5.2, 2.45, 5.5

    def construct(self) -> None:
        self.read_trace()
        self.question()
        self.mask_of_three()
        self.choose()
        self.position()
        self.compare()
        self.sentence()
        self.carry_on()
        self.beam_search()
        self.takeaway()

    def read_trace(self) -> None:
        self.step = len(following(self.training))
        super().read_trace()
        self.whole = (self.target[0], *following(self.training))
        self.runs = [self.inference(k) for k in range(1, self.step + 1)]
        pairs = zip(self.runs, self.whole[1:], strict=True)
        self.standings = [standing_at(run, word) for run, word in pairs]
        self.first = self.runs[0]["probabilities"][-1]
        self.order = likeliest(self.runs[0]["logits"][-1])
        self.read_alone()

    def read_alone(self) -> None:
        """The words the model writes alone, fewer if it ends early; if they are those wanted, the
        words after a first one that is only the second likeliest."""
        self.alone = self.run.alone(self.target[:1], self.step)
        self.forced = self.alone == list(self.whole)
        if self.forced:
            start = self.target[0], self.vocabulary[self.order[1]]
            self.alone = self.run.alone(start, self.step - 1)

    # -- beats ---------------------------------------------------------------------------------

    def question(self) -> None:
        with self.beat("question", {"words": joined(self.read)}):
            pass

    def mask_of_three(self) -> None:
        run = self.run
        side = min(1.0, 3.1 / self.step - 0.05)
        mask = MaskTable(run["decoder.mask"], self.read, cell=side, color=theme.INFERENCE)
        mask.at(-5.0, 1.3)
        name = Phrase("Mask", size=theme.HEADING, bold=True).place([-5.0, 2.35, 0], LEFT)
        weights = Grid.heat(
            run["decoder.0.self_attn.weights"][0],
            rows=self.read,
            columns=self.read,
            cell=(min(1.4, 4.4 / self.step - 0.05), side),
            size=28,
            decimals=4,
            row_color=theme.QUERY,
            column_color=theme.KEY,
            mask=run["decoder.mask"],
            label_size=fitting(self.read, min(1.4, 4.4 / self.step - 0.05)),
        )
        weights.shift([2.1, 1.3, 0] - weights.cells.get_corner(UP + LEFT))
        head = self.label("weights", size=theme.HEADING, color=theme.INK, bold=True)
        head.place([2.1, 2.35, 0], LEFT)
        y = mask.doors.get_y()
        way = arrow([mask.doors.get_right()[0] + 0.3, y, 0], [weights.get_left()[0] - 0.3, y, 0])
        softmax = self.label("softmax").place([way.get_x(), y + 0.3, 0])
        ring = outline(VGroup(*weights.row_cells(-1)), color=theme.INFERENCE)
        with self.beat("mask", {"word": self.read[-1]}):
            self.play(self.answer(), FadeIn(name), run_time=theme.FADE)
            sizes = VGroup()
            for k, each in enumerate(self.runs, start=1):
                old, sizes = (
                    sizes,
                    shape_of(*(each.size("decoder.mask", n) for n in (0, 1)), size=theme.HEADING),
                )
                sizes.shift([name.get_right()[0] + 0.2 - sizes.get_left()[0], name.midline, 0])
                self.play(FadeOut(old), FadeIn(sizes, mask.grown(k)), run_time=0.6)
                self.wait(0.45)
            self.play(FadeIn(way, softmax, head), run_time=theme.FADE)
            self.play(FadeIn(weights, shift=0.2 * RIGHT), run_time=0.6)
            self.play(Create(ring), run_time=0.5)
        self.old = VGroup(mask, name, sizes, weights, head, way, softmax, ring)

    def choose(self) -> None:
        self.tell_choice("choice", [FadeOut(self.old)], None)

    def position(self) -> None:
        """Training has read the same words in its row of this number; in the next, where there is
        one, it has read one more."""
        rows = [
            ("our_row", self.step, theme.INFERENCE, 1.75),
            ("their_row", self.step, theme.TRAINING, 0.15),
            ("their_row", self.step + 1, theme.TRAINING, -1.45),
        ]
        more = self.step < len(self.target)
        if not more:
            rows.pop()
        places = Columns(-3.6, 4.9, len(self.target))
        size = places.fitting(self.target, 28)
        heads, lines = VGroup(), VGroup()
        for key, length, color, y in rows:
            at = {"n": Say(constant(length - 1), 0)}
            head = self.label(key, at, size=theme.HEADING, color=color, bold=True)
            heads.add(head.place([theme.LEFT_EDGE, y, 0], LEFT))
            words = self.target[:length]
            style = {"color": color, "size": size, "height": 0.84}
            lines.add(VGroup(*(places.token(i, y, w, **style) for i, w in enumerate(words))))
        signs = VGroup(
            *(
                Phrase(s, size=40, bold=True).place([5.9, y, 0])
                for s, y in (("=", 0.15), ("≠", -1.45))[: len(rows) - 1]
            )
        )
        marks = VGroup(*(outline(line[-1], buff=0.07) for line in lines[:2]))
        facts = {**self.row_facts, "word": self.read[-1]}
        if more:
            facts |= {"next": self.target[self.step], "m": Say(constant(self.step), 0)}
        with self.beat("position", facts, variant="" if more else "end"):
            self.play(FadeOut(self.choice_shown), run_time=theme.FADE)
            self.play(FadeIn(heads[0], lines[0]), run_time=0.5)
            self.play(FadeIn(heads[1], lines[1]), run_time=0.5)
            self.play(Create(marks), FadeIn(signs[0]), run_time=0.6)
            if more:
                last = VGroup(heads[2], lines[2])
                self.play(FadeIn(last), run_time=0.5)
                self.play(FadeIn(signs[1]), last.animate.fade(0.45), run_time=0.5)
        self.old = VGroup(heads, lines, signs, marks)

    @property
    def row_facts(self) -> dict[str, str | Say]:
        return {"n": Say(constant(self.step - 1), 0)}

    def compare(self) -> None:
        self.tell_comparison("compare", [FadeOut(self.old)])

    def sentence(self) -> None:
        source = token_row(self.run.source, gap=0.2, height=0.8, size=30)
        source.move_to([0, 2.1, 0])
        places = Columns(-4.4, theme.RIGHT_EDGE, len(self.whole), gap=0.2)
        size = places.fitting(self.whole, 32)
        style = {"color": theme.WEIGHT, "size": size, "height": 0.9}
        words = VGroup(*(places.token(i, 0.55, w, **style) for i, w in enumerate(self.whole)))
        source.set_x(words.get_x())
        way = arrow([words.get_x(), 1.62, 0], [words.get_x(), 1.08, 0])
        heads = VGroup(
            self.label("probability", size=22).place([theme.LEFT_EDGE, -0.5, 0], LEFT),
            self.label("place", size=22).place([theme.LEFT_EDGE, -1.25, 0], LEFT),
        )
        columns = VGroup()
        for k, found in enumerate(self.standings):
            x = places.x(k + 1)
            first = found.is_hit
            ink = theme.WEIGHT if first else theme.INK
            columns.add(
                VGroup(
                    Number(found.p, 4, size=theme.HEADING).place([x, -0.5, 0]),
                    Number(found.rank, 0, size=30, color=ink, bold=first).place([x, -1.25, 0]),
                )
            )
        case = verdicts.hits(self.standings)
        with self.beat("sentence", case.facts, variant=case.name):
            self.play(FadeOut(self.rows, self.verdict), run_time=theme.FADE)
            self.play(FadeIn(source), run_time=theme.FADE)
            self.play(FadeIn(way, words[0]), run_time=theme.FADE)
            self.play(
                LaggedStart(*(FadeIn(w, shift=0.2 * RIGHT) for w in words[1:]), lag_ratio=0.5),
                run_time=1.0,
            )
            self.play(FadeIn(heads), run_time=0.3)
            self.play(
                LaggedStart(*(FadeIn(c, shift=0.15 * DOWN) for c in columns), lag_ratio=0.5),
                run_time=1.0,
            )
        self.old = VGroup(source, way, words, heads, columns)

    def carry_on(self) -> None:
        """A line for each step: what is read, what is written, what should be."""
        lines = [self.carry_line(k) for k in range(len(self.alone) - 1)]
        heads = VGroup(
            self.label("reads").place([self.READ_X, HEAD_Y, 0], LEFT),
            self.label("writes").place([self.WRITE_X, HEAD_Y, 0]),
            self.label("should").place([self.SHOULD_X, HEAD_Y, 0]),
        )
        pairs = zip(self.alone, self.whole, strict=False)
        slip = next(i for i, (word, target) in enumerate(pairs) if word != target)
        facts = {"word": self.alone[slip]}
        if not self.forced:
            facts["hoped"] = self.whole[slip]
        freely = "last" if slip == self.step else "alone"
        with self.beat("carry", facts, variant="forced" if self.forced else freely):
            self.play(FadeOut(self.old), run_time=theme.FADE)
            self.play(FadeIn(heads), run_time=0.3)
            before = None
            for name, read, way, written, sign, should in lines:
                kept = VGroup(name, *(read[:-1] if before is not None else read))
                self.play(FadeIn(kept), run_time=0.3)
                if before is not None:
                    self.play(Flight(before.copy(), read[-1]), run_time=0.6)
                self.play(FadeIn(way, written, shift=0.2 * RIGHT), run_time=0.5)
                self.play(FadeIn(sign, should), run_time=0.4)
                before = written
        self.old = VGroup(heads, *(part for line in lines for part in line))

    def carry_line(self, k: int) -> Sequence[VGroup]:
        pitch, target = min(1.35, 2.7 / max(1, self.step - 1)), self.whole[k + 1]
        y, width = 1.55 - pitch * k, min(1.66, 5.6 / self.step - 0.16)
        fitting = Columns(0, width, 1).fitting([*self.alone, *self.whole], theme.HEADING)
        style = {"width": width, "size": fitting, "height": min(0.8, pitch - 0.15)}
        read = VGroup(
            *(
                Token(word, color=self.color_of(i, word), **style).move_to(
                    [self.READ_X + (width + 0.16) * i, y, 0], LEFT
                )
                for i, word in enumerate(self.alone[: k + 1])
            )
        )
        number = Say(self.runs[k].size("decoder.mask", 0), 0)
        name = self.label("step", {"n": number}, size=22).place([theme.LEFT_EDGE, y, 0], LEFT)
        word = self.alone[k + 1]
        written = Token(word, color=self.color_of(k + 1, word), **style)
        written.move_to([self.WRITE_X, y, 0])
        way = arrow([read.get_right()[0] + 0.12, y, 0], [written.get_left()[0] - 0.12, y, 0])
        sign = Phrase("=" if word == target else "≠", size=34, bold=True)
        sign.place([(self.WRITE_X + self.SHOULD_X) / 2, y, 0])
        should = Token(target, color=theme.WEIGHT, **style).move_to([self.SHOULD_X, y, 0])
        return name, read, way, written, sign, should

    def color_of(self, i: int, word: str) -> ManimColor:
        return theme.WEIGHT if word == self.whole[i] else theme.INFERENCE

    def beam_search(self) -> None:
        """The likeliest first words; greedy keeps one of them, a beam of two keeps two."""
        best = self.order[:3]
        start = Token(self.target[0], color=theme.INFERENCE, size=30, height=0.9, width=1.4)
        start.move_to([-5.6, 0.3, 0])
        branches = VGroup()
        for i, y in zip(best, (1.55, 0.3, -0.95), strict=True):
            word = Token(self.vocabulary[i], color=theme.INFERENCE, size=30, height=0.9, width=2.2)
            word.move_to([-1.7, y, 0])
            number = Number(self.first[i], 4, size=theme.HEADING)
            number.place([-0.35, y, 0], LEFT)
            way = arrow([-4.8, 0.3, 0], [-2.92, y, 0])
            branches.add(VGroup(way, word, number))
        onward = VGroup(
            *(arrow([1.15, y, 0], [2.4, y, 0], color=theme.INFERENCE) for y in (1.55, 0.3))
        )
        cut = cross(0.2, width=6).move_to([1.5, -0.95, 0])
        names = VGroup(
            self.label("greedy", size=theme.HEADING, color=theme.INK).place([2.65, 1.55, 0], LEFT),
            self.label("beam", size=theme.HEADING, color=theme.INK).place([2.65, 0.3, 0], LEFT),
        )
        with self.beat("beam"):
            self.play(FadeOut(self.old), run_time=theme.FADE)
            self.play(FadeIn(start), run_time=theme.FADE)
            self.play(
                LaggedStart(*(FadeIn(b, shift=0.2 * RIGHT) for b in branches), lag_ratio=0.4),
                run_time=1.0,
            )
            self.play(FadeIn(onward[0], names[0]), run_time=0.6)
            self.play(FadeIn(onward[1], names[1]), run_time=0.6)
            self.play(FadeIn(cut), branches[2].animate.fade(0.5), run_time=0.5)

    def takeaway(self) -> None:
        with self.beat("takeaway"):
            pass
        self.leave()
