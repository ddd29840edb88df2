"""Scene 19, step 95: training and inference, stage by stage.

Claims: the source's IDs, its input vectors and the memory are the same in both (compared number
by number); the decoder's input, mask, queries, rows of probabilities, next input and gradient are
not.
Reads ``source.ids``, ``encoder.embedded``, ``positional``, ``encoder.input``, ``memory``,
``decoder.mask``, ``probabilities``, the cross-attention weights and ``loss.mean`` of the training
pass, and the same, the loss apart, of the inference passes over all proper prefixes of the target.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from manim import (
    DOWN,
    LEFT,
    RIGHT,
    FadeIn,
    FadeOut,
    LaggedStart,
    ManimColor,
    Mobject,
    VGroup,
)

from scenes import theme
from scenes.base import LectureScene
from scenes.inference import likeliest, told
from scenes.parts.contrast import MIDDLES, Contrast, TableLine
from scenes.parts.flow import Block, Mask, cross, shape_of
from scenes.parts.grid import outline
from scenes.parts.icons import Lock
from scenes.parts.machine import LAST, Machine
from scenes.parts.miniature import Miniature, share_fill
from scenes.parts.phrase import Number, Phrase, Say, row
from scenes.parts.shapes import Token, arrow
from scenes.parts.vocabulary import IdRow
from scenes.structure import following, has_two_tables, is_placed, positional
from scenes.values import Run

HEAD_Y = 2.42
ROWS_Y = 1.42, -0.02, -1.46
TABLE_TOP, TABLE_PITCH = 1.96, 0.49


class TrainingVsInference(LectureScene):
    beats = (
        ("question", 95),
        ("same", 95),
        ("input", 95),
        ("mask", 95),
        ("cross", 95),
        ("output", 95),
        ("next", 95),
        ("gradient", 95),
        ("table", 95),
        ("takeaway", 95),
    )
    color = theme.WEIGHT
    lit = ("E+PE", "Enc 1", "Enc 2", "Dec 1", "Dec 2", "Out")

    def construct(self) -> None:
        self.read_trace()
        self.question()
        self.same_stages()
        self.decoder_input()
        self.masked_attention()
        self.cross_attention()
        self.output()
        self.next_input()
        self.gradient()
        self.nine_lines()
        self.takeaway()

    def read_trace(self) -> None:
        run = self.training
        self.target = run.target
        self.runs = told([self.inference(n) for n in range(1, len(following(run)) + 1)])
        self.first, self.last = self.runs[0], self.runs[-1]
        layers = run.layers("decoder")
        asking = next(i for i, kinds in enumerate(layers) if "cross_attn" in kinds)
        self.cross_weights = f"decoder.{asking}.cross_attn.weights"
        best = likeliest(self.first["logits"][-1])[0]
        self.choice = run.vocabulary[best]
        self.page = VGroup()

    def are_same(self, name: str) -> bool:
        """Whether the training pass and the first inference pass have the same numbers."""
        return np.array_equal(self.training[name].array, self.first[name].array)

    # -- beats ---------------------------------------------------------------------------------

    def question(self) -> None:
        with self.beat("question"):
            pass

    def same_stages(self) -> None:
        self.heads = heads = VGroup(
            *(
                self.label(key, size=28, color=color, bold=True).place([x, HEAD_Y, 0])
                for key, color, x in zip(
                    ("training", "inference"),
                    (theme.TRAINING, theme.INFERENCE),
                    MIDDLES,
                    strict=True,
                )
            )
        )
        runs = self.training, self.first
        same = [self.are_same(name) for name in ("source.ids", "encoder.input", "memory")]
        pictures = [
            [picture(run) for run in runs] for picture in (ids_picture, sum_picture, memory_picture)
        ]
        with self.beat("same", variant="" if all(same) else "differ"):
            self.play(self.answer(), run_time=theme.FADE)
            self.play(FadeIn(heads), run_time=0.5)
            for i, pair in enumerate(pictures):
                stage = self.stage(i + 1, *pair, shared=True, same=same[i])
                self.play(FadeIn(stage.name_of_stage, stage.panels), run_time=0.35)
                self.play(FadeIn(stage.training), FadeIn(stage.inference), run_time=0.4)
                self.play(FadeIn(stage.sign), run_time=0.3)

    def stage(self, number: int, *pictures: Mobject, **options: bool) -> Contrast:
        """A stage in its place on its page of three; a new page clears the one before."""
        y = ROWS_Y[(number - 1) % len(ROWS_Y)]
        stage = Contrast(number, self.name_of_stage(number), y, *pictures, **options)
        if number > 1 and y == ROWS_Y[0]:
            self.play(FadeOut(self.page), run_time=theme.FADE)
            self.page = VGroup()
        self.page.add(stage)
        return stage

    def show(self, number: int, training: Mobject, inference: VGroup) -> None:
        """A stage in which they differ; what is done dims. Training's picture comes at once,
        that of inference part by part, as they work."""
        done = [stage.animate.fade(0.35) for stage in self.page[-1:]]
        stage = self.stage(number, training, inference)
        if len(self.page) > 1:
            self.play(*done, FadeIn(stage.name_of_stage), run_time=theme.FADE)
        else:
            self.play(FadeIn(stage.name_of_stage), run_time=0.3)
        left, right = stage.panels
        self.play(FadeIn(left), FadeIn(training, shift=0.15 * RIGHT), run_time=0.6)
        self.play(FadeIn(right), run_time=0.3)
        parts = [FadeIn(part, shift=0.12 * RIGHT) for part in inference]
        self.play(LaggedStart(*parts, lag_ratio=0.6), run_time=0.4 + 0.3 * len(parts))
        self.play(FadeIn(stage.sign), run_time=0.3)

    def decoder_input(self) -> None:
        whole = words_picture([self.target], theme.TRAINING, 0.62, 22)
        prefixes = [run.target for run in self.runs]
        growing = words_picture(prefixes, theme.INFERENCE, 0.32, theme.SMALLEST)
        with self.beat("input"):
            self.show(4, whole, growing)

    def masked_attention(self) -> None:
        run = self.training
        side = 1.02 / len(self.target) - 0.05
        left = mask_picture(run, theme.TRAINING, side)
        side = min(side, 0.85 / len(self.last.target) - 0.05)
        right = VGroup(*(mask_picture(r, theme.INFERENCE, side, last=True) for r in self.runs))
        right.arrange(RIGHT, buff=0.4)
        with self.beat("mask"):
            self.show(5, left, right)

    def cross_attention(self) -> None:
        name = self.cross_weights
        whole = Miniature(self.training[name][0], pitch=0.25, fill=theme.weight_fill)
        left = beside(whole, shape_of(*self.sizes(self.training, name)))
        strips = VGroup(
            *(Miniature([r[name][0][-1]], pitch=0.25, fill=theme.weight_fill) for r in self.runs)
        ).arrange(DOWN, buff=0.13)
        right = VGroup(*strips, *beside(strips, shape_of(*self.sizes(self.first, name)))[1:])
        with self.beat("cross", {"n": Say(self.training.size(name, 1), 0)}):
            self.show(6, left, right)

    def sizes(self, run: Run, name: str) -> list[Any]:
        """Sizes of the last two axes."""
        axes = len(run[name].shape)
        return [run.size(name, axis) for axis in (axes - 2, axes - 1)]

    def output(self) -> None:
        run, name = self.training, "probabilities"
        rows = Miniature(run[name], pitch=0.2, fill=share_fill(theme.TRAINING))
        loss = row(self.label("loss"), Number(run["loss.mean"][()], 4, size=theme.SMALL), gap=0.14)
        left = beside(rows, stacked(shape_of(*self.sizes(run, name)), loss))
        line = Miniature([self.first[name][-1]], pitch=0.2, fill=share_fill(theme.INFERENCE))
        picked = Token(self.choice, color=theme.INFERENCE, size=22, height=0.5)
        size = shape_of(*self.sizes(self.first, name))
        right = beside(stacked(line, size), arrow([0, 0, 0], [0.55, 0, 0]), picked)
        with self.beat("output", {"n": Say(run.size(name, 0), 0)}):
            self.show(7, left, right)

    def next_input(self) -> None:
        left = self.next_word(self.target[1], theme.WEIGHT, "true_word")
        right = self.next_word(self.choice, theme.INFERENCE, "own_word")
        with self.beat("next"):
            self.show(8, left, right)

    def next_word(self, word: str, color: ManimColor, key: str) -> VGroup:
        """The first word, and the one that is read after it."""
        style: dict[str, Any] = {"size": 22, "height": 0.5}
        start = Token(self.target[0], color=theme.MUTED, **style)
        token = Token(word, color=color, **style)
        words = VGroup(start, token).arrange(RIGHT, buff=0.14)
        return stacked(words, self.label(key, color=color))

    def gradient(self) -> None:
        back = arrow([1.1, 0, 0], [-1.1, 0, 0], color=theme.GRADIENT, width=4)
        left = stacked(back, self.label("learns", color=theme.GRADIENT, size=22), gap=0.22)
        way = arrow([1.1, 0, 0], [-1.1, 0, 0], color=theme.MUTED, width=4)
        shut = VGroup(way, cross(0.17, width=6).move_to(way))
        frozen = row(self.label("frozen", color=theme.INFERENCE, size=22))
        right = VGroup(stacked(shut, frozen, gap=0.22), Lock(theme.INFERENCE, 0.6))
        right.arrange(RIGHT, buff=0.35)
        with self.beat("gradient"):
            self.show(9, left, right)

    def name_of_stage(self, number: int) -> str:
        unplaced = number == 2 and not is_placed(self.training)
        return self.text("stage_2_none" if unplaced else f"stage_{number}")

    def nine_lines(self) -> None:
        lines = VGroup()
        for number in range(1, 10):
            name = self.text("short_5") if number == 5 else self.name_of_stage(number)
            y = TABLE_TOP - TABLE_PITCH * (number - 1)
            lines.add(TableLine(number, name, y, self.line_texts(number)))
        self.table = VGroup(self.heads, lines)
        with self.beat("table"):
            self.play(FadeOut(self.page), run_time=theme.FADE)
            for group in (lines[:3], lines[3:6], lines[6:]):
                self.play(
                    LaggedStart(*(FadeIn(x, shift=0.1 * DOWN) for x in group), lag_ratio=0.5),
                    run_time=1.0,
                )
            self.wait(2.0)

    def line_texts(self, number: int) -> list[Phrase]:
        """The texts of a line of the table: one for what is shared, else one for each side."""
        shared = f"line_{number}" in self.words["labels"]
        keys = [f"line_{number}{end}" for end in ([""] if shared else ["_training", "_inference"])]
        if number == 1 and has_two_tables(self.training):
            keys = ["own_words"]
        if number == 2 and not is_placed(self.training):
            keys = ["no_position"]
        facts = self.line_facts(number)
        return [self.label(key, facts, size=22, color=theme.INK) for key in keys]

    def line_facts(self, number: int) -> dict[str, Say]:
        run, first = self.training, self.first
        name = {3: "memory", 5: "decoder.mask", 6: self.cross_weights, 7: "probabilities"}
        if number == 4:
            counts = [r.size("decoder.input", 0) for r in (run, first, self.last)]
            return dict(zip(("all", "one", "most"), (Say(c, 0) for c in counts), strict=True))
        if number not in name:
            return {}
        facts = {}
        for key, source in (("", run), ("first_", first), ("last_", self.last)):
            sizes = self.sizes(source, name[number])
            facts |= {f"{key}rows": Say(sizes[0], 0), f"{key}columns": Say(sizes[1], 0)}
        return facts

    def takeaway(self) -> None:
        """The picture of the first scene again, with both ways through it."""
        machine = Machine(self.training, self.text)
        lane = machine.decoder
        for thing in (*lane.blocks, *lane.tokens):
            thing.box.set_stroke(theme.TRAINING)
        out = machine.output(self.training, theme.INK)
        both = [outline(b.box, color=theme.INFERENCE, buff=0.07, stroke=2.5) for b in lane.blocks]
        keys = [
            self.legend(i, key, color)
            for i, (key, color) in enumerate(
                (
                    ("shared", theme.ENCODER),
                    ("training", theme.TRAINING),
                    ("inference", theme.INFERENCE),
                )
            )
        ]
        with self.beat("takeaway"):
            self.play(FadeOut(self.table), run_time=theme.FADE)
            self.play(FadeIn(machine.everything(), out), run_time=0.8)
            self.play(FadeIn(keys[0]), *machine.reading(), run_time=1.4)
            self.play(FadeIn(keys[1]), *machine.writing(theme.TRAINING), run_time=1.8)
            self.play(FadeIn(keys[2], *both), run_time=theme.FADE)
            self.play(*machine.writing(theme.INFERENCE, 1), run_time=1.8)
        self.leave()

    def legend(self, i: int, key: str, color: ManimColor) -> VGroup:
        """What a colour stands for, at the right of the machine."""
        x, y = LAST + 0.46, 2.1 - 0.5 * i
        box = Block((x, y + 0.14), (x + 0.34, y - 0.14), color=color)
        return VGroup(box, self.label(key, size=22, color=color).place([x + 0.5, y, 0], LEFT))


def beside(*parts: Mobject, gap: float = 0.3) -> VGroup:
    return VGroup(*parts).arrange(RIGHT, buff=gap)


def stacked(*parts: Mobject, gap: float = 0.18) -> VGroup:
    return VGroup(*parts).arrange(DOWN, buff=gap)


def ids_picture(run: Run) -> VGroup:
    """The source's words and their IDs."""
    color = theme.ENCODER
    style: dict[str, Any] = {"cell": (0.9, 0.46), "size": theme.BODY, "gap": 0.1}
    ids = IdRow(run["source.ids"], left=0, y=0, color=color, **style)
    words = VGroup(*(Phrase(word, bold=True) for word in run.source))
    for word, cell in zip(words, ids.cells, strict=True):
        word.place([cell.get_x(), 0.46, 0])
    return VGroup(words, ids)


def sum_picture(run: Run) -> VGroup:
    """E + PE = input, as colours; the input alone where nothing is added for positions."""
    table, whole = positional(run, "source"), Miniature(run["encoder.input"], pitch=0.22)
    if table is None:
        return VGroup(whole)
    parts = [
        Miniature(run["encoder.embedded"], pitch=0.22),
        Phrase("+", color=theme.MUTED),
        Miniature([table[i] for i in range(len(run.source))], pitch=0.22),
        Phrase("=", color=theme.MUTED),
        whole,
    ]
    return beside(*parts, gap=0.2)


def memory_picture(run: Run) -> VGroup:
    data = Miniature(run["memory"], pitch=0.25)
    name = Phrase("memory", color=theme.ENCODER, bold=True)
    size = shape_of(run.size("memory", 0), run.size("memory", 1))
    return beside(data, stacked(name, size))


def words_picture(
    rows: Sequence[Sequence[str]], color: ManimColor, height: float, size: float
) -> VGroup:
    """Words side by side, one row below the other, columns of one width."""
    longest = max(rows, key=len)
    widths = [Token(w, size=size, height=height).width for w in longest]
    room = 4.65 - 0.1 * (len(longest) - 1)
    widths = [w * min(1.0, room / sum(widths)) for w in widths]
    picture = VGroup()
    for i, words in enumerate(rows):
        pen, line = 0.0, VGroup()
        for word, width in zip(words, widths, strict=False):
            token = Token(word, color=color, size=size, height=height, width=width)
            line.add(token.move_to([pen, -(height + 0.07) * i, 0], LEFT))
            pen += width + 0.1
        picture.add(line)
    return picture


def mask_picture(run: Run, color: ManimColor, side: float, *, last: bool = False) -> VGroup:
    """A mask with its size to the right; with ``last``, a ring around its last row."""
    doors = Mask(run["decoder.mask"], cell=side, color=color)
    size = shape_of(run.size("decoder.mask", 0), run.size("decoder.mask", 1), size=theme.SMALL)
    picture = VGroup(doors)
    if last:
        picture.add(outline(doors.row(-1), stroke=2.5))
        return VGroup(picture, size.next_to(picture, DOWN, buff=0.1))
    return beside(picture, size)
