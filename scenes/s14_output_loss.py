"""Scene 14, steps 86-90: from the decoder's output to a word, and how wrong it is.

Claims: a row of the output matrix for each word gives its logit; softmax makes probabilities; the
loss of a position is the negative logarithm of its target's probability, worked out from the
logits where that shows no digit; training lowers the mean of them. Where the target is the token
already in the input, copying is what is learnt. Who is first is decided by the shown logits.
Reads of the training pass: what leaves the decoder, the words to be written,
``logits``, ``probabilities``, ``loss.per_position``, ``loss.mean``; the weight
``output_projection.weight`` or the embedding table, and its bias; the model's objective.
"""

from __future__ import annotations

import itertools

from manim import (
    DOWN,
    LEFT,
    RIGHT,
    UP,
    Create,
    FadeIn,
    FadeOut,
    GrowArrow,
    GrowFromEdge,
    LaggedStart,
    MoveAlongPath,
    VGroup,
)

from scenes import theme, verdicts
from scenes.base import LectureScene
from scenes.parts.curve import LossCurve
from scenes.parts.equation import OVER, PLUS, Equation, Term
from scenes.parts.formula import formula
from scenes.parts.grid import outline
from scenes.parts.logits import OutputProjection
from scenes.parts.losses import Card, LossTable, TargetPairs
from scenes.parts.motion import EARLY, Flight, fly
from scenes.parts.phrase import Number, Phrase, Say
from scenes.parts.shapes import arrow
from scenes.parts.softmax import SoftmaxTable
from scenes.rounding import MINUS, as_decimal
from scenes.structure import bias, decoder_output, output_matrix
from scenes.values import compute, constant, rounded
from scenes.wording import VALUES, Case, whole


class OutputLoss(LectureScene):
    beats = (
        ("question", 86),
        ("logit", 86),
        ("softmax", 87),
        ("rank", 88),
        ("loss", 89),
        ("table", 89),
        ("mean", 90),
        ("learn", 90),
        ("shift", 90),
        ("takeaway", 90),
    )
    color = theme.TRAINING
    lit = ("Out",)

    def construct(self) -> None:
        self.read_trace()
        self.question()
        self.one_logit()
        self.softmax()
        self.rank_of_target()
        self.one_loss()
        self.all_losses()
        self.mean_loss()
        self.most_to_learn()
        self.shifted_targets()
        self.takeaway()

    def read_trace(self) -> None:
        run = self.training
        self.vocabulary, self.target = run.vocabulary, run.target
        self.out = decoder_output(run)
        self.w_out, self.b_out = output_matrix(run), bias(run, "output_projection")
        told = {"tied": run.setting("tied_output"), "biased": self.b_out is not None}
        self.map_case = "_".join(name for name, so in told.items() if so)
        self.map_formula = r'z = h W_"out"^top' + ("" if self.b_out is None else " + b")
        self.logits, self.p = run["logits"], run["probabilities"]
        self.losses, self.mean = run["loss.per_position"], run["loss.mean"][()]
        self.count = run.size("loss.per_position", 0)
        self.wanted = run.goals
        self.goals = [self.vocabulary.index(word) for word in self.wanted]
        rows = zip(self.goals, self.logits, self.p, strict=False)
        self.standings = [verdicts.standing_of(*row, self.vocabulary) for row in rows]
        self.at = 0
        self.goal, self.here = self.goals[self.at], self.standings[self.at]

    # -- beats ---------------------------------------------------------------------------------

    def question(self) -> None:
        with self.beat("question"):
            pass

    def one_logit(self) -> None:
        i, goal = self.at, self.goal
        self.projection = out = OutputProjection(
            self.out[i],
            self.w_out,
            self.logits[i],
            self.target[i],
            self.vocabulary,
            goal,
            self.b_out,
        )
        vector = self.label("vector", {"word": self.target[i]}).place([5.0, -0.25, 0])
        room = theme.RIGHT_EDGE - float(out.logits.get_right()[0]) - 0.25
        vector.scale(min(1.0, max(theme.SMALLEST / vector.size, room / vector.width)))
        vector.shift([min(0.0, theme.RIGHT_EDGE - vector.get_right()[0]), 0, 0])
        notes = (
            formula(self.map_formula, size=54 if self.b_out is None else 42, at=(5.0, 0.65, 0)),
            vector,
            self.label("tied_row" if "tied" in self.map_case else "word_row").place([5.0, -0.7, 0]),
        )
        with self.beat("logit", {"word": self.vocabulary[goal]}, variant=self.map_case):
            self.play(self.answer(), FadeIn(out.vector, out.token), run_time=theme.MOVE)
            self.play(FadeIn(out.matrix, out.all_of_bias, *notes), run_time=theme.MOVE)
            self.play(Create(out.marks), run_time=0.5)
            for d in range(self.out.shape[1]):
                moves, signs = out.product(d)
                self.play(*moves, FadeIn(signs), run_time=0.6)
            moves, signs = out.plus_bias()
            if moves:
                self.play(*moves, FadeIn(signs), run_time=0.6)
            self.play(FadeIn(out.line.right_side(), shift=0.2 * LEFT), run_time=theme.FADE)
            self.play(
                fly(out.line.result, out.logits[goal]),
                FadeIn(out.head),
                GrowArrow(out.arrows[goal]),
                run_time=0.6,
            )
            self.play(
                FadeIn(*(out.logits[j] for j in out.others()), shift=0.2 * RIGHT),
                *(GrowArrow(out.arrows[j]) for j in out.others()),
                run_time=theme.MOVE,
            )
        self.old = VGroup(out.all_but_words_and_logits(), *notes)

    def softmax(self) -> None:
        i = self.at
        row = self.logits[i]
        largest = compute("max", *row)
        exp = [compute("exp", logit - largest) for logit in row]
        heads = [self.label(f"{name}_head") for name in ("logit", "exp", "share")]
        self.table = table = SoftmaxTable(
            row,
            exp,
            self.p[i],
            self.vocabulary,
            heads,
            top=1.85,
            pitch=0.48,
            head_gap=0.62,
            key_color=theme.INK,
            bar_color=theme.TRAINING,
        )
        words = zip(self.projection.matrix.row_labels, table.keys, strict=True)
        scores = zip(self.projection.logits, table.scores, strict=True)
        count = Say(self.training.size("logits", 1), 0)
        facts = {"count": count, "sum": Say(self.p[i].sum(), 0)}
        with self.beat("softmax", facts):
            self.play(FadeOut(self.old), run_time=theme.FADE)
            self.play(
                *(Flight(a, b) for a, b in (*words, *scores)),
                FadeIn(table.heads[0]),
                run_time=theme.MOVE,
            )
            self.play(FadeIn(table.heads[1]), run_time=0.3)
            self.play(table.show_exp())
            self.play(table.show_total())
            self.play(FadeIn(table.heads[2]), run_time=0.3)
            self.play(table.show_weights())

    def rank_of_target(self) -> None:
        i, goal, guess = self.at, self.goal, self.here.choice
        table, bars = self.table, self.table.bars
        gone = VGroup(table.heads, table.scores, table.exp, table.total)
        move = [-3.95 - bars.bars.get_left()[0], 0, 0]
        ranks = VGroup()
        shown = [rounded(logit, VALUES) for logit in self.logits[i]]
        for j, key in enumerate(table.keys):
            rank = compute("rank", shown[j], *shown)
            ink = theme.WEIGHT if j == goal else theme.MUTED
            ranks.add(Number(rank, 0, color=ink, bold=j == goal).place([1.3, key.midline, 0]))
        head = self.label("rank_head").place([1.3, table.heads[0].midline, 0])
        first = len(self.here.best)
        name = self.label("guess_of", {"n": whole(first)}) if first > 1 else self.label("guess")
        chosen = (
            (self.label("target"), goal, theme.WEIGHT, 1.15),
            (name, guess, theme.TRAINING, -0.85),
        )
        cards = [
            Card(head, self.vocabulary[j], self.p[i, j], color, y) for head, j, color, y in chosen
        ]
        case = verdicts.standing(self.here)
        facts = {"target": self.vocabulary[goal], **case.facts}
        gold = VGroup(table.keys[goal], bars.numbers[goal])
        with self.beat("rank", facts, variant=case.name):
            self.play(FadeOut(gone), run_time=theme.FADE)
            self.play(bars.animate.shift(move), run_time=theme.MOVE)
            self.play(
                gold.animate.set_color(theme.WEIGHT),
                bars.bars[goal].animate.set_fill(theme.WEIGHT, opacity=1),
                FadeIn(cards[0], shift=0.2 * UP),
                run_time=theme.MOVE,
            )
            self.play(FadeIn(cards[1], shift=0.2 * UP), run_time=0.6)
            self.play(FadeIn(head, ranks), run_time=theme.FADE)
        self.old = VGroup(table.keys, bars, ranks, head, cards[0].rest, cards[1])
        self.p_shown = cards[0].number

    def one_loss(self) -> None:
        i = self.at
        p, loss = self.p[i, self.goal], self.losses[i]
        highest = min(verdicts.LARGEST_LOSS, max(3.2, *(each.exact for each in self.losses)))
        names = self.label("axis_p"), self.label("axis_loss")
        curve = LossCurve((0.9, -1.65), (5.2, 3.7), 1.12 * highest, *names)
        dot, guides = curve.dot(), curve.guides(p)
        way, beyond = curve.stretch(1.0, p.exact), curve.beyond(loss)
        word = curve.beside(p, Phrase(self.wanted[i], color=theme.WEIGHT, bold=True))
        general = formula(r'L = -ln p("target")', size=60, at=(-4.0, 1.1, 0))
        general.shift([theme.LEFT_EDGE - general.get_left()[0], 0, 0])
        line = self.loss_line().place([theme.LEFT_EDGE, -0.4])
        facts = {"one": Say(constant(1), 0), "zero": Say(constant(0), 0)}
        variant = "" if self.shows_a_digit else "hidden"
        if not self.shows_a_digit:
            facts = self.hidden_facts
        with self.beat("loss", facts, variant=variant):
            self.play(FadeOut(self.old), run_time=theme.FADE)
            term = line.terms[0]
            around = [part for part in term if part is not term.number] if variant == "" else []
            arrives = (
                Flight(self.p_shown, term.number)
                if self.shows_a_digit
                else FadeIn(line.left_side(), shift=0.2 * LEFT)
            )
            if not self.shows_a_digit:
                self.play(FadeOut(self.p_shown), run_time=theme.FADE)
            self.play(FadeIn(general), arrives, run_time=theme.MOVE)
            self.play(FadeIn(curve.axes, curve.ticks, curve.names), run_time=0.5)
            self.play(Create(curve.curve), run_time=theme.MOVE)
            self.add(dot)
            self.play(MoveAlongPath(dot, way), run_time=theme.SLOW)
            self.play(Create(guides), FadeIn(word, beyond), run_time=0.6)
            self.play(FadeIn(*around, line.right_side()), run_time=0.5)
        self.old = VGroup(curve, dot, guides, beyond, word, general, *around, line.sign)
        if not self.shows_a_digit:
            self.old.add(line.left_side())
        self.line = line

    @property
    def shows_a_digit(self) -> bool:
        """Whether the target's probability does: else its loss is worked out from the logits."""
        return bool(as_decimal(self.here.p_shown))

    @property
    def hidden_facts(self) -> dict[str, str | Say]:
        return {"word": self.wanted[self.at], "p": Say(self.here.p, VALUES)}

    def loss_line(self) -> Equation:
        """The loss from p, or from the largest logit, the target's, and the exponentials' sum."""
        result = Term(self.losses[self.at], 4, theme.TRAINING, bold=True)
        if self.shows_a_digit:
            return Equation([Term(self.here.p, 4, theme.WEIGHT, function="−ln")], result, size=36)
        row = self.logits[self.at]
        largest = compute("max", *row)
        total = compute("add", *(compute("exp", logit - largest) for logit in row))
        terms = [Term(largest), MINUS, Term(row[self.goal], 4, theme.WEIGHT)]
        terms += [PLUS, Term(total, function="ln")]
        return Equation(terms, result, size=28, width=7.0)

    def all_losses(self) -> None:
        heads = [self.label(key) for key in ("target", "guess", "p_target", "loss")]
        ties = [
            self.label("tied", {"n": whole(len(each.best))}, size=theme.BODY, color=theme.INK)
            if len(each.best) > 1
            else None
            for each in self.standings
        ]
        self.table = table = LossTable(self.standings, self.losses, ties, heads)
        numbers = table.bars.numbers
        case = verdicts.hits(self.standings)
        first = (
            Flight(self.line.terms[0].number, table.p_target[0])
            if self.shows_a_digit
            else FadeIn(table.p_target[0])
        )
        with self.beat("table", case.facts, variant=case.name):
            self.play(FadeOut(self.old), run_time=theme.FADE)
            self.play(
                first,
                Flight(self.line.result, numbers[0]),
                FadeIn(table.heads),
                run_time=theme.MOVE,
            )
            grows = GrowFromEdge(table.bars.bars[0], LEFT)
            self.play(FadeIn(table.rows[0]), grows, run_time=0.6)
            for i in range(1, len(self.losses)):
                row = table.rows[i], table.p_target[i]
                self.play(FadeIn(*row, shift=0.15 * DOWN), run_time=0.5)
                bar = GrowFromEdge(table.bars.bars[i], LEFT)
                self.play(bar, FadeIn(numbers[i]), run_time=0.4)

    def mean_loss(self) -> None:
        total = self.losses.sum()
        terms: list[Term | str] = []
        for loss in self.losses:
            terms += [PLUS] if terms else []
            terms.append(Term(loss, 4))
        adding = Equation(terms, Term(total, 4), size=26, width=theme.WIDTH)
        adding.place([theme.LEFT_EDGE, -1.4])
        mean = Term(self.mean, 4, theme.TRAINING, bold=True)
        dividing = Equation([Term(total, 4), OVER, Term(self.count, 0)], mean, size=26)
        dividing.place([theme.LEFT_EDGE, -1.98])
        facts = {"count": Say(self.count, 0), "mean": Say(self.mean, 4)}
        with self.beat("mean", facts):
            numbers = zip(self.table.bars.numbers, adding.terms[::2], strict=True)
            self.play(
                LaggedStart(*(fly(a, b) for a, b in numbers), lag_ratio=0.3),
                FadeIn(*adding.terms[1::2]),
                run_time=theme.SLOW,
            )
            self.play(FadeIn(adding.right_side(), shift=0.2 * LEFT), run_time=theme.FADE)
            self.play(
                fly(adding.result, dividing.terms[0]),
                FadeIn(*dividing.terms[1:]),
                run_time=0.6,
            )
            self.play(FadeIn(dividing.right_side(), shift=0.2 * LEFT), run_time=theme.FADE)
        self.sums = VGroup(adding, *dividing.terms, dividing.sign)
        self.mean_shown = dividing.result

    def most_to_learn(self) -> None:
        table, worst = self.table, self.table.worst
        self.build_way_back()
        others = [table.whole(i) for i in range(len(self.losses)) if i not in worst]
        marks = VGroup()
        if others:
            lines = (table.whole(i) for i in worst)
            marks.add(*(outline(line, buff=0.14, color=theme.TRAINING) for line in lines))
        case = self.largest_loss()
        mean, name, back, label, weights = self.way_back
        with self.beat("learn", case.facts, variant=case.name):
            self.play(
                FadeOut(self.sums, rate_func=EARLY),
                Flight(self.mean_shown, mean),
                FadeIn(name),
                run_time=theme.MOVE,
            )
            if others:
                fading = (row.animate.fade(0.5) for row in others)
                self.play(*(Create(mark) for mark in marks), *fading, run_time=0.6)
            self.play(GrowArrow(back), FadeIn(label), run_time=theme.MOVE)
            self.play(FadeIn(weights), run_time=theme.FADE)
        self.old = VGroup(table, marks, self.way_back)

    def largest_loss(self) -> Case:
        """Which position costs most; where it is one, with its target's probability."""
        case = verdicts.largest_loss(self.losses, self.wanted)
        if case.name != "one":
            return case
        return case + verdicts.probability(self.standings[self.table.worst[0]].p)

    def build_way_back(self) -> None:
        """From the mean loss, the gradient runs back to the weights."""
        y = -1.75
        mean = Number(self.mean, 4, size=28, color=theme.TRAINING, bold=True)
        mean.place([theme.RIGHT_EDGE, y, 0], RIGHT)
        name = self.label("mean", size=theme.BODY, color=theme.INK).beside(mean, 0.2, LEFT)
        weights = self.label("weights", size=theme.BODY, color=theme.INK)
        weights.place([theme.LEFT_EDGE, y, 0], LEFT)
        ends = name.get_left()[0], weights.get_right()[0]
        back = arrow(*([x, y, 0] for x in ends), color=theme.GRADIENT, width=5, tip=0.24, buff=0.25)
        label = self.label("gradient", color=theme.GRADIENT).place([back.get_x(), y + 0.32, 0])
        self.way_back = VGroup(mean, name, back, label, weights)

    def shifted_targets(self) -> None:
        """What each position is to write: the target as printed beside the shifted one where the
        model learns to copy, else what it is taught."""
        kind = self.training.model("objective")
        chosen = ("as_printed", self.target, -6.1), ("shifted", [*self.target[1:], None], 0.75)
        if kind == "next":
            goals = [*self.wanted, *[None] * (len(self.target) - len(self.wanted))]
            chosen = (("shifted", goals, -2.7),)
        style = {"size": theme.HEADING, "color": theme.INK, "bold": True}
        self.panels = VGroup(
            *(TargetPairs(self.label(key, **style), self.target, to, x) for key, to, x in chosen)
        )
        case = verdicts.objective(kind, min(1, len(self.goals) - 1), self.target, self.wanted)
        with self.beat("shift", case.facts, variant=case.name):
            self.play(FadeOut(self.old), run_time=theme.FADE)
            for pairs in self.panels:
                self.play(FadeIn(pairs.head, pairs.inputs), run_time=0.5)
                arrows = (GrowArrow(each) for each in pairs.arrows)
                self.play(LaggedStart(*arrows, lag_ratio=0.2), run_time=0.6)
                self.play(FadeIn(pairs.outputs, shift=0.2 * RIGHT), run_time=0.5)

    def takeaway(self) -> None:
        steps = (
            self.map_formula,
            r'p = "softmax"(z)',
            r'L = -ln p("target")',
        )
        line = VGroup(*(formula(step, size=46) for step in steps))
        for step, x in zip(line, (-5.0, -0.75, 4.3), strict=True):
            step.move_to([x, 0.35, 0])
        line[0].shift([max(0.0, theme.LEFT_EDGE - line[0].get_left()[0]), 0, 0])
        arrows = VGroup(
            *(
                arrow([a.get_right()[0], 0.35, 0], [b.get_left()[0], 0.35, 0], buff=0.3)
                for a, b in itertools.pairwise(line)
            )
        )
        with self.beat("takeaway", {"mean": Say(self.mean, 4)}):
            self.play(FadeOut(self.panels), run_time=theme.FADE)
            self.play(FadeIn(line[0]), run_time=theme.FADE)
            for link, step in zip(arrows, line[1:], strict=True):
                self.play(GrowArrow(link), FadeIn(step), run_time=0.6)
        self.leave()
