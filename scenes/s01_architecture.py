"""Scene 1, steps 0-1: the whole model, and the two ways through it.

Claims: the source's tokens become vectors, and those the memory; the decoder sees the target so
far and looks into the memory in those layers that have cross-attention; the output is a row of
probabilities for each position; in training the whole target goes in, and all rows are compared
with it; in inference the words so far go in, and the last row gives the next word; the encoder's
side is the same in both.
Reads sizes and colours only, and the mean loss: ``encoder.input``, ``encoder.L.norm2.output``,
``memory``, ``decoder.input``, the last norm of each decoder layer, ``probabilities``, of the
training pass and of the inference pass over the first word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from manim import (
    DOWN,
    RIGHT,
    UP,
    Create,
    FadeIn,
    FadeOut,
    LaggedStart,
    ManimColor,
    ReplacementTransform,
    Square,
    VGroup,
    VMobject,
    interpolate_color,
    there_and_back_with_pause,
)

from scenes import theme
from scenes.base import LectureScene
from scenes.parts.card import SizeCard
from scenes.parts.flow import Block, Wire
from scenes.parts.grid import outline
from scenes.parts.light import Beam
from scenes.parts.machine import (
    FIRST,
    LAST,
    LOW_Y,
    OUTPUT_X,
    TOKENS,
    Machine,
    parcel,
)
from scenes.parts.motion import Flight
from scenes.parts.phrase import Number, Phrase, Say, row
from scenes.parts.shapes import Token
from scenes.structure import embedding, has_two_tables, in_one, outputs, spoken
from scenes.values import Scalar, compute

LOOP_Y = -2.04


class Architecture(LectureScene):
    beats = (
        ("question", 0),
        ("pair", 0),
        ("encoder", 0),
        ("decoder", 0),
        ("output", 0),
        ("card", 0),
        ("training", 1),
        ("inference", 1),
        ("again", 1),
        ("takeaway", 1),
    )
    color = theme.ENCODER
    lit = ("E+PE", "Enc 1", "Enc 2", "Dec 1", "Dec 2", "Out")

    def construct(self) -> None:
        self.read_trace()
        self.question()
        self.black_box()
        self.open_encoder()
        self.open_decoder()
        self.open_output()
        self.show_card()
        self.training_path()
        self.inference_path()
        self.loop_back()
        self.takeaway()

    def read_trace(self) -> None:
        run = self.training
        self.first = self.inference(1)
        self.machine = Machine(run, self.text)
        self.encoder, self.decoder = self.machine.encoder, self.machine.decoder
        self.memory = self.machine.memory
        self.rows = Say(run.size("probabilities", 0), 0)
        self.vocabulary_size = Say(run.size("probabilities", 1), 0)

    # -- beats ---------------------------------------------------------------------------------

    def question(self) -> None:
        run = self.training
        pair = {side: in_one(spoken(run, side)) for side in ("source", "target")}
        with self.beat("question", pair):
            pass

    def black_box(self) -> None:
        run = self.training
        self.big_source = self.column(run.source, -4.75, theme.ENCODER)
        self.big_target = self.column(spoken(run, "target"), 4.75, theme.WEIGHT)
        self.box = Block((-2.1, 1.5), (2.1, -1.0), color=theme.INK).set_z_index(2)
        self.box_name = Phrase("Transformer", size=40, bold=True)
        self.box_name.place(self.box.get_center()).set_z_index(3)
        y = self.box.get_y()
        ends = [self.big_source.get_right()[0] + 0.15, -2.18, 2.18, 0.0]
        ends[3] = float(self.big_target.get_left()[0]) - 0.15
        self.box_wires = VGroup(Wire([ends[0], y], [ends[1], y]), Wire([ends[2], y], [ends[3], y]))
        rows = len(self.big_source), len(self.big_target)
        into = Beam([ends[0], y], [0, y], color=theme.ENCODER, rows=rows[0], pitch=0.3)
        out = Beam([0, y], [ends[3], y], color=theme.WEIGHT, rows=rows[1], pitch=0.3)
        with self.beat("pair"):
            self.play(self.answer(), run_time=theme.FADE)
            self.play(FadeIn(self.big_source, shift=0.2 * RIGHT), run_time=0.7)
            self.play(FadeIn(self.box, self.box_name, self.box_wires), run_time=0.6)
            self.play(*into.flashes(), into.pulse(self.box, 0.35), run_time=1.2)
            self.play(*out.flashes(), out.pulse(self.box, 0.35), run_time=1.0)
            self.play(FadeIn(self.big_target, shift=0.3 * RIGHT), run_time=0.7)

    def column(self, words: Sequence[str], x: float, color: ManimColor) -> VGroup:
        """Tokens one above the other, large."""
        pitch = min(0.94, 3.9 / len(words))
        width = max(1.1, *(Token(word, size=36).width for word in words))
        tokens = VGroup()
        for i, word in enumerate(words):
            token = Token(word, size=36, color=color, width=width, height=pitch - 0.16)
            tokens.add(token.move_to([x, 0.25 + pitch * ((len(words) - 1) / 2 - i), 0]))
        return tokens

    def open_encoder(self) -> None:
        machine, lane, memory = self.machine, self.encoder, self.memory
        result = VGroup(memory.data, memory.title, memory.shape)
        with self.beat("encoder", {"n": Say(self.training.size("memory", 0), 0)}):
            self.play(
                ReplacementTransform(self.box.box, machine.frame),
                Flight(self.box_name, machine.title),
                Flight(self.big_source, lane.tokens),
                FadeOut(self.box_wires, self.big_target),
                run_time=1.2,
            )
            self.build([*lane.pieces(), memory.wire, result], 2.2, FadeIn(lane.title))
            self.play(*machine.reading(), run_time=1.8)

    def build(self, pieces: Sequence[VMobject], seconds: float, *along: Any) -> None:
        """One piece of the flow after another."""
        self.play(
            LaggedStart(*(FadeIn(p, shift=0.15 * RIGHT) for p in pieces), lag_ratio=0.6),
            *along,
            run_time=seconds,
        )

    def open_decoder(self) -> None:
        lane, memory = self.decoder, self.memory
        for token in lane.tokens:
            token.box.set_stroke(theme.WEIGHT)
        with self.beat("decoder"):
            self.play(FadeIn(lane.tokens, shift=0.15 * UP), run_time=0.5)
            self.build(lane.pieces()[:-2], 2.0, FadeIn(lane.title))
            self.play(Create(memory.bridges), FadeIn(memory.carried), run_time=0.7)
            self.play(*memory.light(), run_time=1.0)

    def open_output(self) -> None:
        machine, lane = self.machine, self.decoder
        self.out = machine.output(self.training, theme.INK)
        title = self.label("probabilities").place([OUTPUT_X, LOW_Y + 0.66, 0])
        with self.beat("output", {"words": self.vocabulary_size}):
            self.build(lane.pieces()[-2:], 1.0)
            light = lane.light(machine.out_wire.get_right()[0], theme.INK)
            self.play(FadeIn(machine.out_wire), *light, run_time=1.8)
            self.play(
                FadeIn(title, self.out.shape),
                LaggedStart(*(FadeIn(r) for r in self.out.data.rows), lag_ratio=0.4),
                run_time=0.9,
            )

    def show_card(self) -> None:
        self.card = SizeCard(
            self.label("card", size=theme.SMALL, bold=True, color=theme.INK),
            self.sizes(),
            LAST + 0.38,
            2.7,
        )
        with self.beat("card"):
            self.play(FadeIn(self.card.panel, self.card.title), run_time=0.5)
            for line, told in zip(self.card.lines, self.told_by_card(), strict=True):
                self.play(FadeIn(line, shift=0.1 * DOWN), *told, run_time=0.7)

    def told_by_card(self) -> list[list[Any]]:
        """For each line of the card, what lights up in the picture."""
        rate = {"rate_func": there_and_back_with_pause}
        lanes = self.encoder, self.decoder
        widths = [parcel.shape[2] for lane in lanes for parcel in lane.parcels]
        blocks = [*self.encoder.blocks[1:], *self.decoder.blocks[1:-1]]
        lit = interpolate_color(theme.PANEL, theme.INK, 0.3)
        return [
            [w.animate(**rate).set_color(theme.INK) for w in (*widths, self.memory.shape[2])],
            [],
            [],
            [block.box.animate(**rate).set_fill(lit) for block in blocks],
            [self.out.shape[2].animate(**rate).set_color(theme.INK)],
        ]

    def sizes(self) -> list[tuple[str, list[Scalar]]]:
        """The lines of the card."""
        run = self.training
        layers = [
            compute("count", *(run.size(name, 0) for name in outputs(run, side)[1:]))
            for side in ("encoder", "decoder")
        ]
        sides = "encoder", "decoder"
        assert [count.exact for count in layers] == [len(run.layers(side)) for side in sides]
        queries = "encoder.0.self_attn.q"
        tables = ("source", "target") if has_two_tables(run) else ("target",)
        return [
            ("d_model", [run.size("encoder.input", 1)]),
            (self.text("heads"), [run.size(queries, 0)]),
            ("d_k", [run.size(queries, 2)]),
            (self.text("layers"), layers),
            (self.text("words"), [run.size(embedding(run, side), 0) for side in tables]),
        ]

    def recolor(self, color: ManimColor) -> list[Any]:
        """The decoder's side in the colour of the way through it."""
        return [
            thing.box.animate.set_stroke(color)
            for thing in (*self.decoder.blocks, *self.decoder.tokens)
        ]

    def training_path(self) -> None:
        run = self.training
        out = self.machine.output(run, theme.TRAINING)
        loss = row(
            Phrase(self.text("loss"), size=theme.BODY, color=theme.TRAINING),
            Number(run["loss.mean"][()], 4, bold=True, color=theme.TRAINING),
            gap=0.14,
        )
        loss.shift([theme.RIGHT_EDGE - loss.get_right()[0], -1.84, 0])
        with self.beat("training", {"n": self.rows}):
            self.play(*self.recolor(theme.TRAINING), FadeOut(self.out), run_time=0.5)
            self.play(*self.machine.reading(), run_time=1.6)
            self.play(*self.machine.writing(theme.TRAINING), run_time=2.4)
            self.play(FadeIn(out), run_time=0.5)
            self.play(FadeIn(loss, shift=0.15 * DOWN), run_time=0.5)
        self.out, self.loss = out, loss

    def inference_path(self) -> None:
        run, lane = self.first, self.decoder
        new = [
            parcel(run, name, old.data.get_x(), LOW_Y)
            for name, old in zip(outputs(run, "decoder"), lane.parcels, strict=True)
        ]
        count = Number(run.size("target.ids", 0), 0, size=theme.SMALL)
        count.place([lane.ids[0].get_x(), lane.ids[0].midline, 0])
        style: dict[str, Any] = {"size": theme.SMALL, "height": 0.36, "dashed": True}
        self.slot = Token("?", color=theme.MUTED, width=TOKENS[1] - TOKENS[0], **style)
        self.slot.move_to(lane.tokens[1])
        out = self.machine.output(run, theme.INFERENCE)
        rest = VGroup(*lane.tokens[1:])
        with self.beat("inference"):
            self.play(
                FadeOut(self.out, self.loss, rest, lane.ids[0], lane.parcels),
                *self.recolor(theme.INFERENCE)[: -len(rest)],
                run_time=0.5,
            )
            self.play(FadeIn(count, *new), FadeIn(self.slot), run_time=0.5)
            self.play(*self.machine.reading(), run_time=1.6)
            self.play(*self.machine.writing(theme.INFERENCE, 1), run_time=2.4)
            self.play(FadeIn(out), run_time=0.5)
        self.out = out
        (best,) = run["probabilities"][-1].argmax()
        cell = out.data.rows[-1][best]
        self.best = Square(0.24, stroke_width=3, color=theme.INK).move_to(cell).set_z_index(3)

    def loop_back(self) -> None:
        x = sum(TOKENS) / 2
        choose = self.label("choose", size=theme.SMALL, color=theme.INFERENCE)
        choose.place([OUTPUT_X, -1.62, 0])
        end = [x, self.slot.get_bottom()[1] - 0.08]
        path = [OUTPUT_X, -1.78], [OUTPUT_X, LOOP_Y], [x, LOOP_Y], end
        back = Wire(*path, color=theme.INFERENCE)
        name = self.label("append", size=theme.SMALL, color=theme.INFERENCE)
        name.place([0, LOOP_Y + 0.22, 0])
        beam = Beam(*path, color=theme.INFERENCE)
        with self.beat("again"):
            self.play(Create(self.best), FadeIn(choose), run_time=0.6)
            self.play(Create(back), FadeIn(name), run_time=0.8)
            self.play(*beam.flashes(), run_time=1.2)
            self.play(self.slot.box.animate.set_stroke(theme.INFERENCE, opacity=1), run_time=0.4)
            self.play(Create(outline(self.memory.data, color=theme.ENCODER)), run_time=0.6)

    def takeaway(self) -> None:
        same = self.label("same", size=theme.BODY, color=theme.ENCODER, bold=True)
        other = self.label("other", size=theme.BODY, bold=True)
        room = float(self.memory.bridges.get_left()[0]) - 0.15 - FIRST
        other.scale(min(1.0, room / other.width))
        same.place([FIRST + same.width / 2, 0.6, 0])
        other.place([FIRST + other.width / 2, 0.16, 0])
        both = VGroup(
            *(
                outline(block.box, color=theme.TRAINING, buff=0.07, stroke=2.5)
                for block in self.decoder.blocks
            )
        )
        with self.beat("takeaway"):
            self.play(FadeIn(same), *self.machine.reading(), run_time=1.4)
            self.play(FadeIn(other), FadeIn(both), run_time=0.7)
        self.leave()
