"""Scene 11, steps 52-54: why no word may look ahead, and how the mask sees to it.

Claims: in training the whole target enters the decoder at once; adding -1e9 above the diagonal
makes those weights exactly 0 while each row still sums to 1.
Reads of the training pass: ``decoder.input``, ``decoder.mask`` and ``decoder.0.self_attn``:
scores, masked_scores, exp, weights.
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
    Restore,
    Succession,
    VGroup,
)

from scenes import theme
from scenes.base import LectureScene
from scenes.parts.equation import PLUS, Equation, Term
from scenes.parts.flow import Block, shape_of
from scenes.parts.formula import formula
from scenes.parts.grid import Grid, outline
from scenes.parts.looks import Look
from scenes.parts.motion import EARLY, Flight, fly, hand_over
from scenes.parts.phrase import Phrase, Say
from scenes.parts.shapes import Token, arrow
from scenes.parts.softmax import SoftmaxTable, row_sums
from scenes.rounding import leading
from scenes.structure import is_placed
from scenes.values import compute
from scenes.wording import VALUES, ahead, top


class Mask(LectureScene):
    beats = (
        ("question", 52),
        ("input", 52),
        ("peek", 53),
        ("scores", 54),
        ("matrix", 54),
        ("close", 54),
        ("softmax", 54),
        ("weights", 54),
        ("takeaway", 54),
    )
    color = theme.TRAINING
    lit = ("Dec 1",)
    #: middle of the matrices, and of the formulas beside them
    square_y = 0.02
    right_side = (4.0, square_y, 0)

    def construct(self) -> None:
        self.read_trace()
        self.question()
        self.whole_target()
        self.peeking()
        self.all_scores()
        self.mask_matrix()
        self.close_triangle()
        self.softmax()
        self.lower_triangle()
        self.takeaway()

    def read_trace(self) -> None:
        run = self.training
        part = "decoder.0.self_attn"
        self.tokens = run.target
        self.input = run["decoder.input"]
        self.mask = run["decoder.mask"]
        self.scores = run[f"{part}.scores"][0]
        self.masked = run[f"{part}.masked_scores"][0]
        self.exp, self.weights = run[f"{part}.exp"][0], run[f"{part}.weights"][0]
        self.asking = 1
        self.future = self.asking + 1
        self.huge = leading(self.mask[self.asking, self.future].exact)
        self.query = {"query": self.tokens[self.asking]}

    # -- beats ---------------------------------------------------------------------------------

    def question(self) -> None:
        with self.beat("question"):
            pass

    def whole_target(self) -> None:
        grid = Grid.signed(self.input, cell=(1.42, 0.8), size=28)
        grid.move_to([0.15, 0.1, 0])
        words, into, out = VGroup(), VGroup(), VGroup()
        decoder = Block((4.75, 1.73), (6.5, -1.53), color=theme.TRAINING)
        decoder.write(Phrase("Decoder", size=theme.HEADING, bold=True))
        for i, text in enumerate(self.tokens):
            y = grid.cell(i, 0).get_y()
            words.add(
                Token(text, color=theme.TRAINING, width=1.8, height=0.66).move_to([-5.6, y, 0])
            )
            into.add(arrow([-4.55, y, 0], [-2.95, y, 0]))
            out.add(arrow([3.25, y, 0], [4.6, y, 0], color=theme.TRAINING))
        key = "input" if is_placed(self.training) else "input_none"
        heading = self.label(key, size=theme.HEADING, color=theme.TRAINING)
        heading.place(grid.get_top() + 0.42 * UP)
        rows, columns = (self.training.size("decoder.input", axis) for axis in (0, 1))
        size = shape_of(rows, columns, size=theme.BODY, color=theme.MUTED)
        size.next_to(grid, DOWN, buff=0.25)
        self.boxes = words
        with self.beat("input", {"count": Say(rows, 0)}):
            self.play(self.answer(), FadeIn(words), run_time=theme.MOVE)
            self.play(LaggedStart(*(Create(one) for one in into), lag_ratio=0), run_time=0.5)
            self.play(FadeIn(grid, heading, size, shift=0.2 * RIGHT), run_time=theme.MOVE)
            self.play(FadeIn(decoder), Create(out, lag_ratio=0), run_time=theme.MOVE)
        self.old = VGroup(into, out, grid, heading, size, decoder)

    def peeking(self) -> None:
        now = self.asking
        training, inference = self.two_sentences()
        names = VGroup(
            self.label("training", size=theme.HEADING, color=theme.TRAINING, bold=True),
            self.label("inference", size=theme.HEADING, color=theme.INFERENCE, bold=True),
        )
        for name, words in zip(names, (training, inference), strict=True):
            name.place([theme.LEFT_EDGE, words.get_y(), 0], LEFT)
        looks = [Look(training[now], word) for i, word in enumerate(training) if i != now]
        ahead = [look for look in looks if look.goes_right]
        barred = [look.barred() for look in ahead]
        with self.beat("peek", self.query):
            moves = zip(self.boxes, training, strict=True)
            self.play(FadeOut(self.old), run_time=0.3)
            self.play(*(Flight(a, b) for a, b in moves), run_time=theme.MOVE)
            self.play(FadeIn(names[0]), *(Create(look) for look in looks), run_time=theme.MOVE)
            self.play(FadeIn(names[1], inference, shift=0.2 * DOWN), run_time=theme.MOVE)
            self.play(
                LaggedStart(
                    *(
                        Succession(FadeOut(look, run_time=0.4), FadeIn(bar, run_time=0.4))
                        for look, bar in zip(ahead, barred, strict=True)
                    ),
                    lag_ratio=0.4,
                )
            )
        kept = [look for look in looks if not look.goes_right]
        self.old = VGroup(training, inference, names, *kept, *barred)

    def two_sentences(self) -> tuple[VGroup, VGroup]:
        """The target as training has it, and as inference has it by the word now read."""
        training, inference = VGroup(), VGroup()
        for i, text in enumerate(self.tokens):
            known, x = i <= self.asking, -3.1 + 2.5 * i
            options = {"width": 1.9, "height": 0.78, "size": 30, "filled": i == self.asking}
            training.add(Token(text, color=theme.TRAINING, **options).move_to([x, 0.35, 0]))
            color = theme.INFERENCE if known else theme.MUTED
            word = Token(text if known else "?", color=color, dashed=not known, **options)
            inference.add(word.move_to([x, -1.35, 0]))
        return training, inference

    def square(self, make: object, values: object, **options: object) -> Grid:
        """A query-by-key matrix where all of this scene's stand: at the left."""
        grid = make(
            values,
            rows=self.tokens,
            columns=self.tokens,
            **{"decimals": 4, "cell": (1.4, 0.8), "size": theme.BODY, **options},
            row_color=theme.QUERY,
            column_color=theme.KEY,
            label_size=theme.HEADING,
        )
        return grid.shift([-2.1, self.square_y, 0] - grid.cells.get_center())

    def all_scores(self) -> None:
        self.score_grid = grid = self.square(Grid.signed, self.scores)
        heading = self.label("scores", size=theme.HEADING, color=theme.INK)
        heading.place([grid.cells.get_x(), 2.5, 0])
        plain = formula(r"S = ({{Q : q}} {{K : k}}^top) / sqrt(d_k)", size=54, at=self.right_side)
        (i, j), case = self.tempting()
        facts = {"query": self.tokens[i], "key": self.tokens[j], "score": Say(self.scores[i, j], 4)}
        mark = outline(VGroup(grid.cell(i, j)), stroke=4)
        with self.beat("scores", facts, variant="" if case == "none" else case):
            self.play(FadeOut(self.old), run_time=theme.FADE)
            self.play(FadeIn(grid.row_labels, grid.column_labels, heading), run_time=0.6)
            rows = (
                FadeIn(grid.row_cells(row), grid.row_numbers(row)) for row in range(grid.shape[0])
            )
            self.play(LaggedStart(*rows, lag_ratio=0.4), FadeIn(plain), run_time=1.4)
            self.play(Create(mark), run_time=0.6)
        self.formula, self.mark, self.heading = plain, mark, heading

    def tempting(self) -> tuple[tuple[int, int], str]:
        """The largest score that is the best of its row and lies in the future, alone ("ahead")
        or beside one that may be seen ("shared"); where there is none, the largest at all."""
        best = {}
        for i in range(len(self.tokens)):
            case, places = ahead(self.scores, i, self.tokens).name, top(self.scores[i], VALUES).at
            later = [at[0] for at in places if at[0] > i]
            best[i, (later or places[0])[0]] = case
        for case in ("ahead", "shared", "none"):
            if case in best.values():
                among = (place for place, name in best.items() if name == case)
                return max(among, key=lambda place: self.scores[place].exact), case
        raise AssertionError("a mask has rows")

    def mask_matrix(self) -> None:
        self.mask_grid = grid = Grid(
            self.mask,
            columns=self.tokens,
            decimals=0,
            cell=(1.08, 0.8),
            size=theme.BODY,
            column_color=theme.KEY,
            label_size=22,
            mask=self.mask,
        )
        grid.shift([4.1, self.score_grid.cells.get_y(), 0] - grid.cells.get_center())
        plus = Phrase(PLUS, size=40).place([1.32, grid.cells.get_y(), 0])
        heading = self.label("mask", size=theme.HEADING, color=theme.MASKED)
        heading.place([grid.cells.get_x(), 2.5, 0])
        zero, huge = (Say(self.mask[self.asking, j], d) for j, d in ((0, 0), (-1, self.huge)))
        facts = {"zero": zero, "huge": huge}
        note = self.label("minus_infinity", facts).place([grid.cells.get_x(), -2.05, 0])
        closed = [grid.whole_cell(*place) for place in grid.closed()]
        opened = [cell for cell in self.whole_cells(grid) if cell[2] not in [c[2] for c in closed]]
        with self.beat("matrix", facts):
            self.play(FadeOut(self.formula, self.mark), run_time=theme.FADE)
            self.play(FadeIn(plus, heading, grid.column_labels, *opened), run_time=theme.MOVE)
            self.play(LaggedStart(*(FadeIn(c) for c in closed), lag_ratio=0.3), run_time=1.2)
            self.play(FadeIn(note), run_time=theme.FADE)
        self.right = VGroup(plus, heading, note, grid)

    def whole_cells(self, grid: Grid) -> list[VGroup]:
        rows, columns = grid.shape
        return [grid.whole_cell(i, j) for i in range(rows) for j in range(columns)]

    def close_triangle(self) -> None:
        i, j = self.asking, self.future
        scores, mask = self.score_grid, self.mask_grid
        shut = self.square(Grid.signed, self.masked, mask=self.mask)
        terms = [Term(self.scores[i, j], 4), PLUS, Term(self.mask[i, j], self.huge, theme.MASKED)]
        sum_ = Equation(terms, Term(self.masked[i, j], self.huge, theme.MASKED, bold=True), size=26)
        sum_.shift([scores.cells.get_x() - sum_.get_x(), -2.05 - sum_.midline, 0])
        marks = VGroup(*(outline(VGroup(grid.cell(i, j)), stroke=4) for grid in (scores, mask)))
        heading = self.label("masked_scores", size=theme.HEADING, color=theme.INK)
        heading.place(self.heading.get_center())
        both = formula(
            r"S + {{M : m}} = ({{Q : q}} {{K : k}}^top) / sqrt(d_k) + {{M : m}}",
            size=46,
            at=self.right_side,
        )
        with self.beat("close"):
            self.play(Create(marks), run_time=0.5)
            self.play(
                fly(scores.number(i, j), sum_.terms[0]),
                fly(mask.number(i, j), sum_.terms[2]),
                FadeIn(sum_.terms[1]),
                run_time=theme.MOVE,
            )
            self.play(FadeIn(sum_.right_side(), shift=0.2 * LEFT), FadeOut(marks), run_time=0.4)
            self.play(self.sweep(shut), run_time=3.0)
            self.remove(*self.score_grid.get_family())
            self.add(shut)
            self.play(FadeOut(self.heading, self.right), FadeIn(heading, both), run_time=theme.FADE)
            self.wait(1)
        self.shut = shut
        self.right = VGroup(sum_, heading, both)

    def sweep(self, shut: Grid) -> LaggedStart:
        """Cell by cell the mask is laid over the scores, from the corner to the diagonal."""
        steps = []
        places = sorted(shut.closed(), key=lambda place: place[0] - place[1])
        for n, (i, j) in enumerate(places):
            tile, start = shut.whole_cell(i, j), self.mask_grid.cell(i, j)
            for layer, part in enumerate(tile):
                part.set_z_index(2 + 3 * n + layer)
            tile.save_state()
            VGroup(*tile[:2]).stretch(start.width / tile[0].width, dim=0)
            tile.shift(start.get_center() - tile[0].get_center())
            steps.append(Restore(tile))
        return LaggedStart(*steps, lag_ratio=0.45)

    def softmax(self) -> None:
        i, shut = self.asking, self.shut
        heads = [self.label(f"{name}_head") for name in ("score", "exp", "weight")]
        self.table = table = SoftmaxTable(
            self.masked[i], self.exp[i], self.weights[i], self.tokens, heads, mask=self.mask[i]
        )
        asking = Phrase(self.text("row_of"), self.query, size=theme.HEADING, bold=True)
        asking.place([table.keys.get_left()[0], table.heads[0].midline, 0], LEFT)
        table.heads.add(asking)
        mark = shut.frame(shut.row_cells(i))
        gone = [shut.row_all(other) for other in range(len(self.tokens)) if other != i]
        gone += [shut.row_labels[i], shut.column_labels, shut.row_cells(i), shut.row_hatches(i)]
        moves = [Flight(shut.number(i, j), score) for j, score in enumerate(table.scores)]
        zero = Say(self.weights[i, self.future], 0)
        with self.beat("softmax", self.query | {"zero": zero}):
            self.play(Create(mark), FadeOut(self.right), run_time=0.5)
            self.play(
                FadeOut(mark, *gone, rate_func=EARLY),
                FadeIn(table.boxes),
                *moves,
                run_time=theme.MOVE,
            )
            self.play(FadeIn(table.keys, asking, table.heads[0]), run_time=theme.FADE)
            self.play(FadeIn(table.heads[1]), run_time=0.3)
            self.play(table.show_exp())
            self.play(table.show_total())
            self.play(FadeIn(table.heads[2]), run_time=0.3)
            self.play(table.show_weights())

    def lower_triangle(self) -> None:
        i = self.asking
        heat = self.square(Grid.heat, self.weights, mask=self.mask)
        heading = self.label("weights", size=theme.HEADING, color=theme.INK)
        heading.place([heat.cells.get_x(), 2.5, 0])
        sums = row_sums(heat)
        whole = formula(
            r'A = "softmax"(({{Q : q}} {{K : k}}^top) / sqrt(d_k) + {{M : m}})',
            size=38,
            at=(4.05, self.square_y, 0),
        )
        moves = hand_over(self.table.bars.numbers, heat.row_numbers(i))
        gone = self.table.all_but_weights()
        with self.beat("weights", {"row_sum": Say(self.weights[i].sum(), 0)}):
            self.play(FadeOut(gone), run_time=0.3)
            self.play(
                LaggedStart(*moves, lag_ratio=0.4),
                FadeIn(heat.row_labels, heat.column_labels, heading),
                FadeIn(heat.row_cells(i), heat.row_hatches(i), rate_func=EARLY),
                run_time=theme.SLOW,
            )
            self.play(FadeIn(sums[i]), FadeIn(whole), run_time=theme.FADE)
            for other in range(len(self.tokens)):
                if other != i:
                    cells = heat.row_cells(other), heat.row_hatches(other), heat.row_numbers(other)
                    self.play(FadeIn(*cells, shift=0.15 * DOWN), FadeIn(sums[other]), run_time=0.7)

    def takeaway(self) -> None:
        rows = range(len(self.tokens))
        future = [self.weights[i, j] for i in rows for j in rows if self.mask.array[i, j] < 0]
        facts = {"zeros": Say(compute("count_zeros", *future), 0), "zero": Say(future[0], 0)}
        with self.beat("takeaway", facts):
            pass
        self.leave()
