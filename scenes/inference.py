"""What the three steps of inference have in common: scenes 16, 17 and 18. Itself no scene.

Step k reads the first k words of the target and takes the last row of what comes out. That row
is compared with the training pass at the same position; both have read the same words, so with
the same weights they are equal, which is computed, not assumed. Who is first is decided by the
logits' shown digits; of several first words the loop writes the likeliest, or the lowest ID.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from manim import (
    LEFT,
    RIGHT,
    UP,
    Animation,
    FadeIn,
    LaggedStart,
    ManimColor,
    VGroup,
)

from scenes import theme, verdicts
from scenes.base import LectureScene
from scenes.parts.icons import tick
from scenes.parts.motion import Flight
from scenes.parts.phrase import Number, Say
from scenes.parts.step import Choice, RowComparison, WordCard
from scenes.rounding import shown
from scenes.structure import following
from scenes.values import Run, Scalar, Values, compute, rounded
from scenes.wording import VALUES, Case, whole

Item = TypeVar("Item")

#: At most so many words get a line of their own.
MOST = 8


def told(rounds: Sequence[Item]) -> list[Item]:
    """The rounds that are shown side by side: the first, the second and the last."""
    return list(rounds) if len(rounds) <= 3 else [*rounds[:2], rounds[-1]]


def standing_at(run: Run, word: str) -> verdicts.Standing:
    """How the word to be written after all that a run reads stands among all words."""
    row = run["logits"][-1], run["probabilities"][-1]
    return verdicts.standing_of(run.vocabulary.index(word), *row, run.vocabulary)


def likeliest(logits: Values) -> list[int]:
    """Word numbers by their logits, the largest first; of equals the lowest first."""
    exact = [logit.exact for logit in logits]
    return sorted(range(len(exact)), key=lambda i: -exact[i])


class InferenceStep(LectureScene):
    """The step's run, its last row, and the row of training it is compared with."""

    color = theme.INFERENCE
    lit = ("Dec 1", "Dec 2", "Out")
    #: how many words are read
    step: int = 1

    def read_trace(self) -> None:
        step = self.step
        self.run, self.target = self.inference(step), self.training.target
        self.vocabulary, self.read = self.run.vocabulary, self.target[:step]
        self.logits, self.p = self.run["logits"][-1], self.run["probabilities"][-1]
        self.standing = standing_at(self.run, following(self.training)[step - 1])
        self.wanted, self.choice = self.standing.goal, self.standing.choice
        self.right, self.count = self.standing.is_hit, self.standing.count
        self.theirs = self.training["logits"][step - 1]
        self.theirs_p = self.training["probabilities"][step - 1]
        self.equal = self.is_equal()
        self.differing = self.training.differing(self.run)
        self.shown = self.words_shown()

    def is_equal(self) -> bool:
        """Whether the rows are the same but for the rounding of float64."""
        ours, theirs = self.logits.array, self.theirs.array
        largest = max(1.0, float(abs(ours).max()))
        return bool(abs(ours - theirs).max() <= 1e-9 * largest)

    def words_shown(self) -> list[int]:
        """The whole vocabulary; of a long one the words mentioned and the likeliest."""
        order = likeliest(self.logits)
        first = self.wanted, self.choice, likeliest(self.theirs)[0]
        return sorted(list(dict.fromkeys([*first, *order]))[:MOST])

    @property
    def wrong(self) -> int:
        """The word that would go wrong: the model's own choice, or where that is right the next
        likeliest."""
        return next(i for i in likeliest(self.logits) if i != self.wanted)

    @property
    def largest_difference(self) -> Scalar:
        """The largest distance of two logits of the same word."""
        apart = [a - b for a, b in zip(self.logits, self.theirs, strict=True)]
        return compute("max", *(d if d.exact >= 0 else -d for d in apart))

    # -- choosing ------------------------------------------------------------------------------

    def build_choice(self) -> None:
        """The table of words, and what is said about two of them."""
        self.full = max(p.exact for p in (*self.p, *self.theirs_p))
        self.table = Choice(
            self.vocabulary,
            self.logits,
            self.p,
            self.shown,
            choice=self.choice,
            wanted=self.wanted,
            full=self.full,
            heads=(self.label("logit_head"), self.label("p_head")),
        )
        self.chosen_card = self.card("chosen", self.choice, 1.15, theme.INFERENCE)
        self.hoped_card = self.card("hoped", self.wanted, -0.95, theme.WEIGHT)

    def card(self, key: str, i: int, y: float, color: ManimColor) -> WordCard:
        """A word of the table, with its probability and its rank."""
        digits = [rounded(logit, VALUES) for logit in self.logits]
        rank = compute("rank", digits[i], *digits)
        facts = {"rank": Say(rank, 0), "count": Say(self.count, 0)}
        remark, ties = self.label("rank", facts), len(self.standing.best)
        if key == "chosen" and ties > 1:
            remark = self.label(f"tied_{self.tie}", {"n": whole(ties)})
        return WordCard(
            self.label(key),
            self.vocabulary[i],
            self.p[i],
            remark,
            y=y,
            color=color,
            right=self.right and key == "hoped",
        )

    @property
    def tie(self) -> str:
        """What decides between words whose logits show the same: "id", or "unseen" digits."""
        return "id" if self.choice == self.standing.best[0] else "unseen"

    def lead(self) -> Case:
        """How far the word that is chosen is ahead of the others."""
        found = self.standing
        facts: dict[str, str | Say] = {"choice": self.vocabulary[self.choice]}
        logit, ties = {"logit": Say(self.logits[self.choice], VALUES)}, len(found.best)
        if ties == len(found.logits):
            return Case(f"level_{self.tie}", facts | logit)
        if ties > 1:
            return Case(f"tied_{self.tie}", facts | logit | {"ties": whole(ties)})
        digits = [shown(p.exact, VALUES) for p in self.p]
        if digits.count(digits[self.choice]) > 1:
            return Case("hair", facts | logit)
        return Case("one", facts | {"p": Say(self.p[self.choice], VALUES)})

    def verdict_on_choice(self) -> Case:
        """What is said of the word to be written, as :func:`scenes.verdicts.standing` tells it."""
        case = verdicts.standing(self.standing)
        return Case(case.name, {"word": self.vocabulary[self.wanted], **case.facts})

    def tell_choice(self, beat: str, leaving: Sequence[Animation], parents: VGroup | None) -> None:
        """Logits to probabilities, then the choice and the word hoped for, in one beat."""
        self.build_choice()
        table = self.table
        case = self.verdict_on_choice()
        with self.beat(beat, case.facts, variant=case.name):
            if leaving:
                self.play(*leaving, run_time=theme.FADE)
            self.play(*self.logits_arrive(parents), run_time=theme.SLOW if parents else theme.MOVE)
            self.play(FadeIn(table.heads[1]), table.grow(), run_time=theme.SLOW)
            self.play(FadeIn(self.chosen_card, shift=0.2 * UP), run_time=0.5)
            self.play(
                *table.turn_gold(), FadeIn(self.hoped_card, shift=0.2 * UP), run_time=theme.MOVE
            )

    def logits_arrive(self, parents: VGroup | None) -> list[Animation]:
        """The words with their logits, which come from where they stood before."""
        table = self.table
        rest = [FadeIn(table.words, table.heads[0])]
        if parents is None:
            return [*rest, FadeIn(table.logits, shift=0.2 * RIGHT)]
        pairs = zip(parents, table.logits, strict=True)
        moves = (Flight(a, b) for a, b in pairs)
        return [*rest, LaggedStart(*moves, lag_ratio=0.35)]

    @property
    def choice_shown(self) -> VGroup:
        return VGroup(self.table, self.chosen_card, self.hoped_card)

    # -- comparing -----------------------------------------------------------------------------

    @property
    def row_facts(self) -> dict[str, str | Say]:
        """What names the row: its word or its position in training."""
        return {"word": self.read[-1]}

    def build_comparison(self) -> RowComparison:
        """This step's row minus training's, and the largest difference below."""
        facts = self.row_facts
        names = (
            self.label("our_row", facts, size=22, color=theme.INFERENCE, bold=True),
            self.label("their_row", facts, size=22, color=theme.TRAINING, bold=True),
            self.label("difference", size=22),
        )
        words = [self.vocabulary[i] for i in self.shown]
        ours, theirs = ([row[i] for i in self.shown] for row in (self.logits, self.theirs))
        self.rows = RowComparison(words, ours, theirs, names)
        name = self.label("largest", size=theme.HEADING, color=theme.INK)
        number = Number(self.largest_difference, 4, size=30, color=theme.INK, bold=True)
        name.place([self.rows.CELLS, -1.65, 0], LEFT)
        number.beside(name, 0.3)
        self.verdict = VGroup(name, number)
        if self.equal:
            self.verdict.add(tick().next_to(number, RIGHT, buff=0.3))
        return self.rows

    def tell_comparison(self, beat: str, leaving: Sequence[Animation]) -> None:
        rows = self.build_comparison()
        ours, theirs, _ = rows.rows
        with self.beat(beat, self.row_facts, variant="equal" if self.equal else "differ"):
            self.play(*leaving, run_time=theme.FADE)
            self.play(FadeIn(rows.words, rows.names[0], ours), run_time=0.6)
            self.play(FadeIn(rows.names[1], rows.minus, theirs), run_time=0.6)
            self.play(FadeIn(rows.rule, rows.equal, rows.names[2]), run_time=0.3)
            self.play(*rows.subtract(), run_time=theme.MOVE)
            if not self.equal:
                self.verdict.add(rows.largest())
            self.play(FadeIn(self.verdict), run_time=0.5)
