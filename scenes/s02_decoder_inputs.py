"""Scene 2, step 1: what the decoder is given in training, and what in inference.

Claims: in training the whole target goes in and every position gets its guess in one run, and no
guess goes back into the input; in inference each run gives one word, which joins the input of the
next, so a target of m words takes m − 1 runs after its first word, and one more for an end token.
Reads the training pass: probabilities (its likeliest words and its length); the last inference
pass: its length.
"""

from __future__ import annotations

from manim import (
    DOWN,
    RIGHT,
    UP,
    Create,
    FadeIn,
    FadeOut,
    Line,
    ManimColor,
    VGroup,
)

from scenes import theme
from scenes.base import LectureScene
from scenes.parts.inputs import InferenceSide, TrainingSide
from scenes.parts.motion import EARLY, LATE, Flight
from scenes.parts.phrase import Phrase, Say
from scenes.structure import following

HEAD_Y = 2.38
FOOT_Y = -1.95
SPLIT = 0.15
TOP, MIDDLE, LOW = 1.6, 0.2, -1.2


class DecoderInputs(LectureScene):
    beats = (
        ("question", 1),
        ("training", 1),
        ("forcing", 1),
        ("inference", 1),
        ("grow", 1),
        ("compare", 1),
        ("takeaway", 1),
    )
    color = theme.TRAINING
    lit = ("Dec 1", "Dec 2")

    def construct(self) -> None:
        self.read_trace()
        self.question()
        self.whole_target()
        self.teacher_forcing()
        self.first_word_only()
        self.word_by_word()
        self.compare()
        self.takeaway()

    def read_trace(self) -> None:
        run = self.training
        self.target, after = run.target, following(run)
        #: what inference reads in the end; where an end token is to come, that is the last run
        self.ends = after[-1] == run.model("tokens.eos")
        self.written = self.target if self.ends else (self.target[0], *after)
        probabilities = run["probabilities"]
        self.guesses = [run.vocabulary[row.argmax()[0]] for row in probabilities]
        self.positions = Say(run.size("probabilities", 0), 0)
        last = self.inference(len(after))
        self.runs = Say(last.size("probabilities", 0), 0)

    def heading(self, key: str, color: ManimColor, x: float) -> Phrase:
        return self.label(key, size=28, color=color).place([x, HEAD_Y, 0])

    # -- beats ---------------------------------------------------------------------------------

    def question(self) -> None:
        with self.beat("question"):
            pass

    def whole_target(self) -> None:
        self.big = big = TrainingSide(
            self.target, self.guesses, left=-5.9, right=5.9, size=32, levels=(TOP, MIDDLE, LOW)
        )
        self.head = self.heading("training", theme.TRAINING, big.block.get_x())
        with self.beat("training", {"n": self.positions}):
            self.play(self.answer(), run_time=theme.FADE)
            self.play(FadeIn(self.head, big.words, shift=0.15 * DOWN), run_time=0.8)
            self.play(FadeIn(big.into, big.block), run_time=0.6)
            self.play(*(wire.flash(theme.TRAINING) for wire in big.into), run_time=0.6)
            self.play(FadeIn(big.out, big.open, shift=0.15 * DOWN), run_time=0.8)

    def teacher_forcing(self) -> None:
        big = self.big
        with self.beat("forcing"):
            self.play(
                FadeOut(big.open, rate_func=EARLY),
                FadeIn(big.guesses, rate_func=LATE),
                run_time=0.7,
            )
            self.play(Create(big.back), run_time=0.9)
            self.play(FadeIn(big.cut), run_time=theme.FADE)
            self.play(
                *(word.box.animate.set_fill(theme.TRAINING, 0.3) for word in big.words),
                run_time=0.6,
            )

    def first_word_only(self) -> None:
        self.home = home = TrainingSide(
            self.target,
            self.guesses,
            left=theme.LEFT_EDGE,
            right=SPLIT - 0.32,
            size=theme.BODY,
            levels=(TOP, MIDDLE, LOW),
        )
        self.right = right = InferenceSide(
            self.written,
            left=SPLIT + 0.4,
            right=theme.RIGHT_EDGE,
            size=theme.BODY,
            top=TOP,
            bottom=LOW,
            more=self.ends,
        )
        small = self.heading("training", theme.TRAINING, home.block.get_x())
        self.other = self.heading("inference", theme.INFERENCE, right.get_x())
        line = Line([SPLIT, 2.6, 0], [SPLIT, -2.1, 0], stroke_width=2, color=theme.HAIRLINE)
        big = self.big
        names = ("words", "block", "guesses", "into", "out", "back", "cut")
        with self.beat("inference", {"word": self.target[0]}):
            self.play(
                *(Flight(getattr(big, n), getattr(home, n)) for n in names),
                Flight(self.head, small),
                run_time=1.0,
            )
            self.play(Create(line), FadeIn(self.other), run_time=0.6)
            self.play(FadeIn(right.rows[0], shift=0.15 * RIGHT), run_time=0.6)
            self.play(FadeIn(right.open[0]), run_time=0.5)

    def word_by_word(self) -> None:
        right = self.right
        with self.beat("grow"):
            for k, row in enumerate(right.rows[1:]):
                copies = VGroup(*right.rows[k]).copy()
                self.play(Flight(copies, VGroup(*row[:-1])), run_time=0.6)
                self.play(FadeIn(right.found[k]), FadeIn(row[-1], shift=0.3 * DOWN), run_time=0.6)
                if k + 1 < len(right.open):
                    self.play(FadeIn(right.open[k + 1]), run_time=0.3)

    def compare(self) -> None:
        feet = VGroup(
            self.label("training_foot", {"n": self.positions}, size=theme.BODY),
            self.label("inference_foot", {"n": self.runs}, size=theme.BODY),
        )
        middles = self.home.block.get_x(), self.right.get_x()
        for foot, x in zip(feet, middles, strict=True):
            foot.place([x, FOOT_Y, 0])
        with self.beat("compare", {"n": self.positions, "runs": self.runs}):
            wires = (*self.home.into, *self.home.out)
            self.play(*(wire.flash(theme.TRAINING) for wire in wires), run_time=0.8)
            self.play(FadeIn(feet[0], shift=0.15 * UP), run_time=0.5)
            for wire in self.right.found:
                self.play(wire.flash(theme.INK), run_time=0.5)
            self.play(FadeIn(feet[1], shift=0.15 * UP), run_time=0.5)

    def takeaway(self) -> None:
        with self.beat("takeaway"):
            pass
        self.leave()
