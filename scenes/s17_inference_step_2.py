"""Scene 17, step 93: the second step of inference, beside the training pass.

Claims: the mask has grown to two rows, in which only the first word's view of the second is shut;
the first row comes out as in the step before, so only the last is used; training's row of the
same word has the same words in view; the two rows of logits are, or are not, equal, and the
matrices of the two weight files that differ are named.
Reads the inference passes over the target's first word and first two words: decoder.mask,
decoder.0.self_attn.weights, logits, probabilities; of the training pass decoder.mask, logits,
probabilities; and all matrices of both.
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
    ManimColor,
    VGroup,
)

from scenes import theme
from scenes.inference import InferenceStep
from scenes.parts.flow import Mask, shape_of
from scenes.parts.grid import Grid, outline
from scenes.parts.inputs import Columns
from scenes.parts.motion import Flight, fly
from scenes.parts.phrase import Phrase
from scenes.parts.shapes import arrow
from scenes.parts.step import HEAD_Y, MaskTable
from scenes.parts.weight_map import WeightMap
from scenes.values import Values, joined


class InferenceStep2(InferenceStep):
    beats = (
        ("question", 93),
        ("mask", 93),
        ("rows", 93),
        ("choice", 93),
        ("training", 93),
        ("compare", 93),
        ("why", 93),
        ("takeaway", 93),
    )
    step = 2

    def construct(self) -> None:
        self.read_trace()
        self.question()
        self.mask_of_two()
        self.last_row_only()
        self.choose()
        self.same_view()
        self.compare()
        self.why()
        self.takeaway()

    # -- beats ---------------------------------------------------------------------------------

    def question(self) -> None:
        with self.beat("question", {"words": joined(self.read)}):
            pass

    def mask_of_two(self) -> None:
        run = self.run
        mask = MaskTable(run["decoder.mask"], self.read, cell=1.3, color=theme.INFERENCE)
        mask.at(-5.0, 1.15)
        name = Phrase("Mask", size=theme.HEADING, bold=True)
        sizes = shape_of(*(run.size("decoder.mask", n) for n in (0, 1)), size=theme.HEADING)
        name.place([-5.0, 2.35, 0], LEFT)
        sizes.shift([name.get_right()[0] + 0.2 - sizes.get_left()[0], name.midline, 0])
        weights = Grid.heat(
            run["decoder.0.self_attn.weights"][0],
            rows=self.read,
            columns=self.read,
            cell=(1.7, 1.3),
            size=30,
            decimals=4,
            row_color=theme.QUERY,
            column_color=theme.KEY,
            mask=run["decoder.mask"],
            label_size=theme.HEADING,
        )
        weights.shift([2.3, 1.15, 0] - weights.cells.get_corner(UP + LEFT))
        head = self.label("weights", size=theme.HEADING, color=theme.INK, bold=True)
        head.place(
            [theme.RIGHT_EDGE if head.width > 4.2 else 2.3, 2.35, 0],
            RIGHT if head.width > 4.2 else LEFT,
        )
        y = mask.doors.get_y()
        way = arrow([mask.doors.get_right()[0] + 0.3, y, 0], [weights.get_left()[0] - 0.3, y, 0])
        softmax = self.label("softmax").place([way.get_x(), y + 0.3, 0])
        facts = {"first": self.read[0], "last": self.read[-1]}
        with self.beat("mask", facts):
            self.play(self.answer(), run_time=theme.FADE)
            self.play(FadeIn(name, sizes, mask.grown(1)), run_time=0.5)
            self.play(FadeIn(mask.grown(2), shift=0.15 * DOWN), run_time=theme.MOVE)
            self.play(FadeIn(way, softmax, head), run_time=0.5)
            self.play(FadeIn(weights, shift=0.2 * RIGHT), run_time=theme.MOVE)
        self.old = VGroup(mask, name, sizes, weights, head, way, softmax)

    def last_row_only(self) -> None:
        before = self.inference(self.step - 1)
        top = self.logits_table(before["logits"], 1.2)
        both = self.logits_table(self.run["logits"], -0.6)
        heads = VGroup(
            self.label("step_before", size=22).place([theme.LEFT_EDGE, HEAD_Y, 0], LEFT),
            self.label("this_step", size=22).place([theme.LEFT_EDGE, 0.1, 0], LEFT),
        )
        ring = both.frame(both.row_cells(-1), color=theme.INFERENCE)
        facts = {"first": self.read[0], "last": self.read[-1]}
        with self.beat("rows", facts):
            self.play(FadeOut(self.old), run_time=theme.FADE)
            self.play(FadeIn(top, heads[0]), run_time=0.5)
            self.play(FadeIn(heads[1], both.cells, both.row_labels), run_time=0.5)
            moved = (fly(*pair) for pair in zip(top.numbers, both.row_numbers(0), strict=True))
            self.play(*moved, run_time=theme.MOVE)
            self.play(FadeIn(both.row_numbers(1)), run_time=0.5)
            self.play(
                VGroup(both.row_numbers(0), both.row_labels[0]).animate.fade(0.5),
                both.row_cells(0).animate.set_fill(theme.PANEL),
                Create(ring),
                run_time=0.6,
            )
        self.old = VGroup(top, heads, both.cells, both.row_labels, both.row_numbers(0), ring)
        self.last = both.row_numbers(-1)

    def logits_table(self, values: Values, y: float) -> Grid:
        """Rows of logits, one column a word; the words stand over the first."""
        left = theme.LEFT_EDGE + 1.35
        width = (theme.RIGHT_EDGE - 0.05 - left) / values.shape[1] - 0.05
        tokens = self.read[: values.shape[0]]
        grid = Grid.signed(
            values,
            rows=tokens,
            columns=self.vocabulary if len(tokens) == 1 else (),
            cell=(width, 0.72),
            size=22,
            row_color=theme.INK,
            column_color=theme.INK,
            label_size=theme.BODY,
        )
        grid.shift([left, y, 0] - grid.cell(0, 0).get_left())
        for label in grid.row_labels:
            label.place([theme.LEFT_EDGE, label.midline, 0], LEFT)
        return grid

    def choose(self) -> None:
        kept = VGroup(*(self.last[i] for i in self.shown))
        left_out = [number for number in self.last if number not in kept.submobjects]
        self.tell_choice("choice", [FadeOut(self.old, *left_out)], kept)

    def same_view(self) -> None:
        upper = self.view("their_row", self.training["decoder.mask"], theme.TRAINING, 1.55)
        lower = self.view("our_row", self.run["decoder.mask"], theme.INFERENCE, -0.75)
        facts = {"word": self.read[-1], "words": joined(self.read)}
        with self.beat("training", facts):
            self.play(FadeOut(self.choice_shown), run_time=theme.FADE)
            for name, mask, ring, tokens, doors in (upper, lower):
                self.play(FadeIn(name, mask), run_time=0.5)
                self.play(Create(ring), FadeIn(tokens), run_time=0.5)
                opened = (FadeIn(door, shift=0.15 * UP) for door in doors)
                self.play(LaggedStart(*opened, lag_ratio=0.3), run_time=theme.MOVE)
        self.old = VGroup(*upper, *lower)

    def view(
        self, key: str, values: Values, color: ManimColor, y: float
    ) -> tuple[Phrase, Mask, VGroup, VGroup, VGroup]:
        """A mask with a ring around the row of the last word read; all words, and under each the
        door of that row."""
        at, words = self.step - 1, self.target[: values.shape[0]]
        name = self.label(key, {"word": self.read[-1]}, size=22, color=color, bold=True)
        name.place([theme.LEFT_EDGE, y - 0.35, 0], LEFT)
        mask = Mask(values, cell=min(0.42, 1.88 / len(words) - 0.05), color=color).move_to(
            [-2.5, y - 0.35, 0]
        )
        places = Columns(-0.76, theme.RIGHT_EDGE, len(self.target), gap=0.2)
        size = places.fitting(self.target, theme.HEADING)
        tokens, doors = VGroup(), mask.row(at).copy()
        for i, (word, door) in enumerate(zip(words, doors, strict=True)):
            is_shut = values[at, i].exact < 0
            ink = theme.MUTED if is_shut else color
            token = places.token(i, y, word, color=ink, size=size, height=0.74)
            tokens.add(token)
            if is_shut:
                token.fade(0.5)
            door.move_to([token.get_x(), y - 0.75, 0])
        return name, mask, outline(mask.row(at), stroke=2.5), tokens, doors

    def compare(self) -> None:
        self.tell_comparison("compare", [FadeOut(self.old)])

    def why(self) -> None:
        heads = [self.label(key, size=22) for key in ("self", "cross", "ffn")]
        key = "legend" if self.differing else "legend_same"
        legend = self.label(key, size=22, color=theme.INFERENCE if self.differing else theme.INK)
        plan = WeightMap(self.training, heads, legend)
        marked = plan.lit(self.differing)
        with self.beat("why", variant=self.reason):
            self.play(FadeOut(self.rows, self.verdict), run_time=theme.FADE)
            self.play(FadeIn(plan.heads), run_time=0.3)
            self.play(LaggedStart(*(FadeIn(line) for line in plan.lines), lag_ratio=0.3))
            self.play(FadeIn(plan.legend), run_time=0.3)
            if marked:
                moves = (Flight(plan.boxes[name], box) for name, box in marked.items())
                self.play(LaggedStart(*moves, lag_ratio=0.4), run_time=1.2)

    @property
    def reason(self) -> str:
        """Why the rows are equal or not: one set of weights (same), other weights in decoder
        self-attention alone (self) or elsewhere (other), other weights that changed nothing
        here (anyway)."""
        if not self.differing:
            return "same"
        if self.equal:
            return "anyway"
        parts = [name.split(".") for name in self.differing]
        only = all(part[0] == "decoder" and part[2:3] == ["self_attn"] for part in parts)
        return "self" if only else "other"

    def takeaway(self) -> None:
        variant = "anyway" if self.reason == "anyway" else "equal" if self.equal else "differ"
        with self.beat("takeaway", variant=variant):
            pass
        self.leave()
