"""Scene 14, steps 86-90: from the decoder's output to a word, and how wrong it is.

Claims: a row of the output matrix for each word gives its logit; softmax makes probabilities; the
loss of a position is the negative logarithm of its target's probability; training lowers the mean
of them. Where the target is the token already in the input, copying is what is learnt.
Reads of the training pass: ``decoder.1.norm3.output``, ``target.ids``, ``logits``,
``probabilities``, ``loss.per_position``, ``loss.mean``; the weight ``output_projection.weight``.
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
    ManimColor,
    MoveAlongPath,
    ReplacementTransform,
    TransformFromCopy,
    VGroup,
)

from scenes import theme
from scenes.base import LectureScene
from scenes.parts import (
    OVER,
    PLUS,
    TIMES,
    Bars,
    Block,
    Equation,
    Grid,
    Number,
    Phrase,
    Say,
    SoftmaxTable,
    Term,
    Token,
    arrow,
    formula,
    outline,
)
from scenes.parts.curve import LossCurve
from scenes.parts.icons import tick
from scenes.rounding import decimals_needed
from scenes.values import Scalar, compute, constant


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
    #: left edge of the table
    LEFT = -6.3

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
        self.out = run["decoder.1.norm3.output"]
        self.w_out = run.weight("output_projection.weight")
        self.logits, self.p = run["logits"], run["probabilities"]
        self.losses, self.mean = run["loss.per_position"], run["loss.mean"][()]
        self.count = run.size("loss.per_position", 0)
        self.goals = [int(i) for i in run["target.ids"].array]
        self.guesses = [row.argmax()[0] for row in self.p]
        self.ranks = [
            compute("rank", row[goal], *row) for row, goal in zip(self.p, self.goals, strict=True)
        ]
        self.at = 0
        self.goal, self.guess = self.goals[self.at], self.guesses[self.at]

    # -- beats ---------------------------------------------------------------------------------

    def question(self) -> None:
        with self.beat("question"):
            pass

    def one_logit(self) -> None:
        i, goal = self.at, self.goal
        self.build_product()
        vector, matrix = self.vector, self.matrix
        terms: list[Term | str] = []
        for d in range(self.out.shape[1]):
            terms += [PLUS] if d else []
            terms += [Term(self.out[i, d]), TIMES, Term(self.w_out[goal, d], matrix.decimals)]
        result = Term(self.logits[i, goal], 4, theme.WEIGHT, bold=True)
        line = Equation(terms, result, size=26, width=theme.WIDTH - 0.3)
        line.place([theme.LEFT_EDGE, -1.92])
        marks = VGroup(vector.frame(), outline(matrix.row_cells(goal), color=theme.WEIGHT))
        with self.beat("logit", {"word": self.vocabulary[goal], "count": self.word_count()}):
            self.play(self.answer(), FadeIn(vector, self.vector_name), run_time=theme.MOVE)
            self.play(FadeIn(matrix, self.product), run_time=theme.MOVE)
            self.play(Create(marks), run_time=0.5)
            for d in range(self.out.shape[1]):
                signs = [line.terms[4 * d + 1], *([line.terms[4 * d - 1]] if d else [])]
                self.play(
                    *(FadeIn(sign) for sign in signs),
                    TransformFromCopy(vector.number(0, d), line.terms[4 * d]),
                    TransformFromCopy(matrix.number(goal, d), line.terms[4 * d + 2]),
                    run_time=0.6,
                )
            self.play(FadeIn(line.right_side(), shift=0.2 * LEFT), run_time=theme.FADE)
            self.play(
                TransformFromCopy(line.result, self.scores[goal]),
                FadeIn(self.score_head),
                GrowArrow(self.arrows[goal]),
                run_time=0.6,
            )
            others = [j for j in range(len(self.vocabulary)) if j != goal]
            self.play(
                FadeIn(*(self.scores[j] for j in others), shift=0.2 * RIGHT),
                *(GrowArrow(self.arrows[j]) for j in others),
                run_time=theme.MOVE,
            )
        self.old = VGroup(vector, self.vector_name, matrix.body(), self.product, marks, line)
        self.old.add(self.arrows, self.score_head)

    def word_count(self) -> Say:
        return Say(self.training.size("logits", 1), 0)

    def build_product(self) -> None:
        """The decoder's row over the matrix, its logits beside the rows."""
        i, cell = self.at, (1.25, 0.37)
        used = decimals_needed(self.w_out.array.ravel(), 4)
        self.matrix = matrix = Grid.signed(
            self.w_out, rows=self.vocabulary, cell=cell, decimals=used, row_color=theme.INK
        )
        matrix.shift([-1.95, 0.2, 0] - matrix.cells.get_center())
        self.vector = Grid.signed(self.out[i], cell=(cell[0], 0.48), size=theme.BODY)
        self.vector.move_to([matrix.cells.get_x(), 2.42, 0])
        name = Phrase(self.target[i], color=theme.TRAINING, bold=True)
        self.vector_name = VGroup(name.beside(self.vector, 0.22, LEFT))
        self.scores, self.arrows = VGroup(), VGroup()
        x = matrix.cells.get_right()[0]
        for j in range(len(self.vocabulary)):
            y = matrix.cell(j, 0).get_y()
            ink = theme.WEIGHT if j == self.goal else theme.INK
            number = Number(self.logits[i, j], color=ink, bold=j == self.goal)
            self.scores.add(number.place([x + 2.5, y, 0], RIGHT))
            self.arrows.add(arrow([x + 0.15, y, 0], [x + 0.75, y, 0], tip=0.12, width=2.5))
        head = Phrase("logit", color=theme.MUTED).place([x + 2.5, 2.42, 0], RIGHT)
        self.score_head = head
        product = formula(r'z = h W_"out"^top', size=54, at=(5.0, 0.65, 0))
        notes = (
            self.label("vector", {"word": self.target[i]}).place([5.0, -0.25, 0]),
            self.label("word_row").place([5.0, -0.7, 0]),
        )
        self.product = VGroup(product, *notes)

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
        words = zip(self.matrix.row_labels, table.keys, strict=True)
        scores = zip(self.scores, table.scores, strict=True)
        facts = {"count": self.word_count(), "sum": Say(self.p[i].sum(), 0)}
        with self.beat("softmax", facts):
            self.play(FadeOut(self.old), run_time=theme.FADE)
            self.play(
                *(ReplacementTransform(a, b) for a, b in (*words, *scores)),
                FadeIn(table.heads[0]),
                run_time=theme.MOVE,
            )
            self.play(FadeIn(table.heads[1]), run_time=0.3)
            self.play(table.show_exp())
            self.play(table.show_total())
            self.play(FadeIn(table.heads[2]), run_time=0.3)
            self.play(table.show_weights())

    def rank_of_target(self) -> None:
        i, goal, guess = self.at, self.goal, self.guess
        table, bars = self.table, self.table.bars
        gone = VGroup(table.heads, table.scores, table.exp, table.total)
        move = [-3.95 - bars.bars.get_left()[0], 0, 0]
        ranks = VGroup()
        for j, key in enumerate(table.keys):
            rank = compute("rank", self.p[i, j], *self.p[i])
            ink = theme.WEIGHT if j == goal else theme.MUTED
            ranks.add(Number(rank, 0, color=ink, bold=j == goal).place([1.3, key.midline, 0]))
        head = self.label("rank_head").place([1.3, table.heads[0].midline, 0])
        cards = VGroup(
            self.card("target", self.vocabulary[goal], self.p[i, goal], theme.WEIGHT, 1.15),
            self.card("guess", self.vocabulary[guess], self.p[i, guess], theme.TRAINING, -0.85),
        )
        facts = {"target": self.vocabulary[goal]}
        if goal != guess:
            facts |= {"guess": self.vocabulary[guess], "rank": Say(self.ranks[i], 0)}
        gold = VGroup(table.keys[goal], bars.numbers[goal])
        with self.beat("rank", facts, variant="right" if goal == guess else "wrong"):
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
        self.old = VGroup(table.keys, bars, ranks, head, cards[0][0], cards[1])
        self.p_shown = cards[0][1]

    def card(self, key: str, word: str, p: Scalar, color: ManimColor, y: float) -> VGroup:
        """What is meant, the word, its probability, on a panel."""
        left, right = 2.35, theme.RIGHT_EDGE
        panel = Block((left, y + 0.8), (right, y - 0.8), color=color)
        name = self.label(key).place([left + 0.35, y + 0.38, 0], LEFT)
        shown = Phrase(word, size=34, color=color, bold=True)
        number = Number(p, 4, size=30, color=color).place([right - 0.35, y - 0.25, 0], RIGHT)
        shown.place([left + 0.35, y - 0.25, 0], LEFT)
        return VGroup(VGroup(panel, name, shown), number)

    def one_loss(self) -> None:
        i = self.at
        p, loss = self.p[i, self.goal], self.losses[i]
        top = 1.12 * max(3.2, *(each.exact for each in self.losses))
        names = self.label("axis_p"), self.label("axis_loss")
        curve = LossCurve((0.9, -1.65), (5.2, 3.7), top, *names)
        dot, guides = curve.dot(), curve.guides(p)
        way = curve.stretch(1.0, p.exact)
        word = curve.beside(p, Phrase(self.target[i], color=theme.WEIGHT, bold=True))
        general = formula(r'L = -ln p("target")', size=60, at=(-4.0, 1.1, 0))
        general.shift([theme.LEFT_EDGE - general.get_left()[0], 0, 0])
        line = Equation(
            [Term(p, 4, theme.WEIGHT, function="−ln")],
            Term(loss, 4, theme.TRAINING, bold=True),
            size=36,
        ).place([theme.LEFT_EDGE, -0.4])
        facts = {"one": Say(constant(1), 0), "zero": Say(constant(0), 0)}
        with self.beat("loss", facts):
            self.play(FadeOut(self.old), run_time=theme.FADE)
            term = line.terms[0]
            around = [part for part in term if part is not term.number]
            self.play(
                FadeIn(general),
                ReplacementTransform(self.p_shown, term.number),
                run_time=theme.MOVE,
            )
            self.play(FadeIn(curve.axes, curve.ticks, curve.names), run_time=0.5)
            self.play(Create(curve.curve), run_time=theme.MOVE)
            self.add(dot)
            self.play(MoveAlongPath(dot, way), run_time=theme.SLOW)
            self.play(Create(guides), FadeIn(word), run_time=0.6)
            self.play(FadeIn(*around, line.right_side()), run_time=0.5)
        self.old = VGroup(curve, dot, guides, word, general, *around, line.sign)
        self.line = line

    def all_losses(self) -> None:
        self.build_table()
        rows, bars = self.rows, self.bars
        right = compute("count_equal", constant(1), *self.ranks)
        facts = {"count": Say(self.count, 0), "right": Say(right, 0)}
        with self.beat("table", facts):
            self.play(FadeOut(self.old), run_time=theme.FADE)
            first = rows[0]
            self.play(
                ReplacementTransform(self.line.terms[0].number, first[-1]),
                ReplacementTransform(self.line.result, bars.numbers[0]),
                FadeIn(self.heads),
                run_time=theme.MOVE,
            )
            self.play(FadeIn(*first[:-1]), GrowFromEdge(bars.bars[0], LEFT), run_time=0.6)
            for row, bar, number in zip(rows[1:], bars.bars[1:], bars.numbers[1:], strict=True):
                self.play(FadeIn(row, shift=0.15 * DOWN), run_time=0.5)
                self.play(GrowFromEdge(bar, LEFT), FadeIn(number), run_time=0.4)

    def build_table(self) -> None:
        """A line for each position: target, guess, p(target), loss as a bar."""
        top, pitch = 1.65, 0.75
        self.rows = VGroup()
        for i, (goal, guess) in enumerate(zip(self.goals, self.guesses, strict=True)):
            y = top - pitch * i
            hit = goal == guess
            style = {"size": theme.HEADING, "bold": True}
            target = Phrase(self.vocabulary[goal], color=theme.WEIGHT, **style)
            word = Phrase(self.vocabulary[guess], color=theme.WEIGHT if hit else theme.INK, **style)
            row = VGroup(target.place([self.LEFT, y, 0], LEFT), word.place([-4.3, y, 0], LEFT))
            row.add(Number(self.p[i, guess], 4).place([-1.55, y, 0], RIGHT))
            if hit:
                row.add(tick(theme.WEIGHT).move_to([-1.2, y, 0]))
            row.add(Number(self.p[i, goal], 4).place([0.75, y, 0], RIGHT))
            self.rows.add(row)
        (worst,) = self.losses.argmax()
        bars = Bars(
            self.losses,
            decimals=4,
            width=3.5,
            full=max(self.losses[worst].exact, 1e-9),
            pitch=pitch,
            color=theme.TRAINING,
            size=theme.BODY,
        )
        self.bars = bars.shift([1.5 - bars.bars.get_left()[0], top - bars.bars[0].get_y(), 0])
        self.worst = worst
        places = {"target": (self.LEFT, LEFT), "guess": (-4.3, LEFT)}
        places |= {"p_target": (0.75, RIGHT), "loss": (1.5, LEFT)}
        self.heads = VGroup(
            *(self.label(key).place([x, 2.4, 0], side) for key, (x, side) in places.items())
        )

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
            numbers = zip(self.bars.numbers, adding.terms[::2], strict=True)
            self.play(
                LaggedStart(*(TransformFromCopy(a, b) for a, b in numbers), lag_ratio=0.3),
                FadeIn(*adding.terms[1::2]),
                run_time=theme.SLOW,
            )
            self.play(FadeIn(adding.right_side(), shift=0.2 * LEFT), run_time=theme.FADE)
            self.play(
                TransformFromCopy(adding.result, dividing.terms[0]),
                FadeIn(*dividing.terms[1:]),
                run_time=0.6,
            )
            self.play(FadeIn(dividing.right_side(), shift=0.2 * LEFT), run_time=theme.FADE)
        self.sums = VGroup(adding, *dividing.terms, dividing.sign)
        self.mean_shown = dividing.result

    def most_to_learn(self) -> None:
        worst = self.worst
        y, x = -1.75, theme.RIGHT_EDGE
        mean = Number(self.mean, 4, size=28, color=theme.TRAINING, bold=True)
        mean.place([x, y, 0], RIGHT)
        name = self.label("mean", size=theme.BODY, color=theme.INK).beside(mean, 0.2, LEFT)
        weights = self.label("weights", size=theme.BODY, color=theme.INK)
        weights.place([theme.LEFT_EDGE, y, 0], LEFT)
        back = arrow(
            [name.get_left()[0] - 0.25, y, 0],
            [weights.get_right()[0] + 0.25, y, 0],
            color=theme.GRADIENT,
            width=5,
            tip=0.24,
        )
        label = self.label("gradient", color=theme.GRADIENT).place([back.get_x(), y + 0.32, 0])
        whole = [VGroup(self.rows[i], self.bars.item(i)) for i in range(len(self.losses))]
        others = [row for i, row in enumerate(whole) if i != worst]
        mark = outline(whole[worst], buff=0.14, color=theme.TRAINING)
        facts = {
            "target": self.vocabulary[self.goals[worst]],
            "p": Say(self.p[worst, self.goals[worst]], 4),
        }
        with self.beat("learn", facts):
            self.play(
                FadeOut(self.sums),
                ReplacementTransform(self.mean_shown, mean),
                FadeIn(name),
                run_time=theme.MOVE,
            )
            self.play(Create(mark), *(row.animate.fade(0.5) for row in others), run_time=0.6)
            self.play(GrowArrow(back), FadeIn(label), run_time=theme.MOVE)
            self.play(FadeIn(weights), run_time=theme.FADE)
        self.old = VGroup(self.rows, self.bars, self.heads, mark, mean, name, weights, back, label)

    def shifted_targets(self) -> None:
        left = self.pairs("as_printed", self.target, -6.1)
        right = self.pairs("shifted", [*self.target[1:], None], 0.75)
        self.panels = VGroup(left, right)
        with self.beat("shift"):
            self.play(FadeOut(self.old), run_time=theme.FADE)
            for panel in (left, right):
                self.play(FadeIn(panel[0], panel[1]), run_time=0.5)
                arrows = (GrowArrow(each) for each in panel[2])
                self.play(LaggedStart(*arrows, lag_ratio=0.2), run_time=0.6)
                self.play(FadeIn(panel[3], shift=0.2 * RIGHT), run_time=0.5)

    def pairs(self, key: str, targets: list[str | None], x: float) -> VGroup:
        """Each input token with the token that its position is to predict."""
        head = self.label(key, size=theme.HEADING, color=theme.INK, bold=True)
        head.place([x, 2.3, 0], LEFT)
        options = {"width": 1.9, "height": 0.66}
        inputs, arrows, outputs = VGroup(), VGroup(), VGroup()
        for i, (word, target) in enumerate(zip(self.target, targets, strict=True)):
            y = 1.35 - 0.95 * i
            inputs.add(Token(word, color=theme.TRAINING, **options).move_to([x + 0.95, y, 0]))
            color = theme.MUTED if target is None else theme.WEIGHT
            goal = Token(target or "—", color=color, dashed=target is None, **options)
            outputs.add(goal.move_to([x + 4.4, y, 0]))
            arrows.add(arrow([x + 2.1, y, 0], [x + 3.25, y, 0]))
        return VGroup(head, inputs, arrows, outputs)

    def takeaway(self) -> None:
        steps = (
            r'z = h W_"out"^top',
            r'p = "softmax"(z)',
            r'L = -ln p("target")',
        )
        line = VGroup(*(formula(step, size=46) for step in steps))
        for step, x in zip(line, (-5.0, -0.75, 4.3), strict=True):
            step.move_to([x, 0.35, 0])
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
