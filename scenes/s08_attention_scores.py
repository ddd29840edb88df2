"""Scene 8, steps 23-26: who should attend to whom?

Claims: a score is the dot product of a query with a key over the root of d_k; softmax turns each
row of scores into weights that sum to 1; what two heads have in common, or not.
Reads ``encoder.0.self_attn`` of the training pass: q, k, dot, scores, exp, weights.
"""

from __future__ import annotations

from manim import (
    DOWN,
    LEFT,
    UP,
    Create,
    FadeIn,
    FadeOut,
    LaggedStart,
    MathTypst,
    VGroup,
)

from scenes import theme, wording
from scenes.base import LectureScene
from scenes.parts.grid import Grid, cell_width, outline
from scenes.parts.motion import EARLY, Flight, hand_over
from scenes.parts.phrase import Phrase, Say
from scenes.parts.score import ScoreLines
from scenes.parts.shapes import arrow, fitting, is_wide
from scenes.parts.softmax import SoftmaxTable, row_sums
from scenes.structure import spoken


class AttentionScores(LectureScene):
    beats = (
        ("question", 23),
        ("vectors", 23),
        ("dot", 23),
        ("scale", 24),
        ("softmax", 25),
        ("heatmap", 26),
        ("heads", 26),
        ("takeaway", 26),
    )
    color = theme.ENCODER
    lit = ("Enc 1",)

    def construct(self) -> None:
        self.read_trace()
        self.question()
        self.vectors()
        self.dot_product()
        self.scaling()
        self.softmax()
        self.fill_heatmap()
        self.both_heads()
        self.takeaway()

    def read_trace(self) -> None:
        run = self.training
        part = "encoder.0.self_attn"
        self.tokens = wording.named(run.source)
        self.q, self.k = run[f"{part}.q"][0], run[f"{part}.k"][0]
        self.dots, self.scores = run[f"{part}.dot"][0], run[f"{part}.scores"][0]
        self.exp, self.weights = run[f"{part}.exp"][0], run[f"{part}.weights"]
        self.d_k = run.size(f"{part}.q", 2)
        self.asking = 0
        (self.best,) = wording.top(self.weights[0][self.asking]).at[0]
        self.pair = {
            "query": self.tokens[self.asking],
            "key": self.tokens[self.best],
        }

    # -- beats ---------------------------------------------------------------------------------

    def question(self) -> None:
        cut = wording.cut(spoken(self.training, "source")).name
        with self.beat("question", variant="" if cut in ("chinese", "characters") else "tokens"):
            pass

    def vectors(self) -> None:
        cell = (cell_width(self.q.shape[1], 4.15, 1.62), 0.68)
        options = {"rows": self.tokens, "cell": cell, "size": 28, "label_size": 30}
        self.q_grid = Grid.signed(self.q, row_color=theme.QUERY, **options)
        self.k_grid = Grid.signed(self.k, row_color=theme.KEY, **options)
        self.q_grid.move_to([-3.4, 0.72, 0])
        self.k_grid.move_to([3.1, 0.72, 0])
        self.headings = VGroup(
            self.heading("queries", self.q_grid, theme.QUERY),
            self.heading("keys", self.k_grid, theme.KEY),
        )
        with self.beat("vectors"):
            self.play(self.answer(), run_time=theme.FADE)
            for grid, heading in zip((self.q_grid, self.k_grid), self.headings, strict=True):
                self.play(FadeIn(heading), FadeIn(grid, shift=0.15 * UP), run_time=theme.MOVE)

    def heading(self, key: str, grid: Grid, color: object) -> Phrase:
        made = self.label(key, size=theme.HEADING, color=color)
        return made.place(grid.body().get_top() + 0.42 * UP)

    def dot_product(self) -> None:
        i, j = self.asking, self.best
        query, key = self.q_grid.row_cells(i), self.k_grid.row_cells(j)
        boxes = VGroup(
            outline(query, color=theme.QUERY, stroke=4), outline(key, color=theme.KEY, stroke=4)
        )
        end = boxes[1].get_left() + 0.75 * LEFT
        end[0] = min(end[0], self.k_grid.row_labels[j].get_left()[0])
        link = arrow(boxes[0].get_right(), end, color=theme.WEIGHT, buff=0.12)
        names = [Phrase(self.text(key), self.pair, size=theme.HEADING) for key in ("dot", "score")]
        values = self.q[i], self.k[j], self.dots[i, j], self.scores[i, j], self.d_k
        self.lines = lines = ScoreLines(*values, names, ys=(-1.2, -1.86))
        self.links = VGroup(boxes, link)
        with self.beat("dot", self.pair):
            self.play(Create(boxes[0]), Create(boxes[1]), run_time=0.6)
            self.play(Create(link), FadeIn(names[0]), run_time=0.6)
            for d in range(self.q.shape[1]):
                factors = self.q_grid.number(i, d), self.k_grid.number(j, d)
                self.play(*lines.product(d, *factors), run_time=theme.MOVE)
            self.play(lines.total(), run_time=theme.FADE)

    def scaling(self) -> None:
        lines = self.lines
        facts = {"d_k": Say(self.d_k, 0)}
        with self.beat("scale", facts):
            self.play(*lines.scaling(), run_time=0.8)
            self.play(lines.result(), run_time=theme.FADE)

    def softmax(self) -> None:
        i = self.asking
        gone = VGroup(self.q_grid, self.k_grid, self.headings, self.links)
        gone.add(self.lines.all_but_result())
        heads = [self.label(f"{name}_head") for name in ("score", "exp", "weight")]
        self.table = table = SoftmaxTable(
            self.scores[i], self.exp[i], self.weights[0][i], self.tokens, heads, chosen=self.best
        )
        with self.beat("softmax", self.pair | {"row_sum": Say(self.weights[0][i].sum(), 0)}):
            scores = [n for j, n in enumerate(table.scores) if j != self.best]
            self.play(
                FadeOut(gone, rate_func=EARLY),
                Flight(self.lines.score.result, table.scores[self.best]),
                run_time=theme.MOVE,
            )
            self.play(FadeIn(table.keys, table.heads[0], *scores), run_time=0.6)
            self.play(FadeIn(table.heads[1]), run_time=0.3)
            self.play(table.show_exp())
            self.play(table.show_total())
            self.play(FadeIn(table.heads[2]), run_time=0.3)
            self.play(table.show_weights())

    def heat(self, head: int, x: float) -> Grid:
        wide = is_wide(self.tokens)
        grid = Grid.heat(
            self.weights[head],
            rows=self.tokens,
            columns=self.tokens,
            cell=(1.06, 0.84),
            row_color=theme.QUERY,
            column_color=theme.KEY,
            label_size=fitting(self.tokens, 1.0),
        )
        return grid.shift([x + (0.22 if wide else 0), 0.3, 0] - grid.cells.get_center())

    def fill_heatmap(self) -> None:
        self.heat_1 = heat = self.heat(0, -3.3)
        sums = row_sums(heat)
        formula = MathTypst(r'A = "softmax"(({{Q : q}} {{K : k}}^top) / sqrt(d_k))', font_size=54)
        formula.set_color(theme.INK).move_to([3.4, 0.25, 0])
        formula.select("q").set_color(theme.QUERY)
        formula.select("k").set_color(theme.KEY)
        i = self.asking
        numbers = self.table.bars.numbers
        with self.beat("heatmap"):
            labels = FadeIn(heat.row_labels, heat.column_labels)
            self.play(labels, FadeOut(self.table.all_but_weights()), run_time=0.6)
            self.play(
                LaggedStart(*hand_over(numbers, heat.row_numbers(i)), lag_ratio=0.4),
                FadeIn(heat.row_cells(i), rate_func=EARLY),
                run_time=theme.SLOW,
            )
            self.play(FadeIn(sums[i]), FadeIn(formula), run_time=theme.FADE)
            for other in range(len(self.tokens)):
                if other != i:
                    self.play(
                        FadeIn(heat.row_cells(other), heat.row_numbers(other), shift=0.15 * DOWN),
                        FadeIn(sums[other]),
                        run_time=0.7,
                    )
        self.extras = VGroup(sums, formula)

    def both_heads(self) -> None:
        maps, names, marks = [self.heat_1], VGroup(), VGroup()
        shown = wording.compared(self.weights) if self.weights.shape[0] > 1 else (0,)
        for head in shown[1:]:
            maps.append(self.heat(head, 3.5))
        for head, grid in zip(shown, maps, strict=True):
            key = "head_1" if grid is self.heat_1 else f"head_{head + 1}"
            names.add(self.label(key).next_to(grid.cells, DOWN, buff=0.2))
            marks.add(self.marks(grid, head))
        case = wording.heads(self.weights, self.tokens, self.tokens)
        with self.beat("heads", case.facts, variant=case.name):
            self.play(FadeOut(self.extras), FadeIn(names[0]), run_time=theme.FADE)
            for grid, name in zip(maps[1:], names[1:], strict=True):
                self.play(FadeIn(grid, name, shift=0.2 * LEFT), run_time=theme.MOVE)
            for mark in marks:
                if len(mark):
                    self.play(Create(mark), run_time=0.6)

    def marks(self, grid: Grid, head: int) -> VGroup:
        """Outlines of a map's strongest cells, of none where all are alike."""
        found = wording.top(self.weights[head])
        at = () if found.kind == "alike" else found.at
        return VGroup(*(outline(VGroup(grid.cell(i, j)), color=theme.INK, stroke=4) for i, j in at))

    def takeaway(self) -> None:
        case = wording.largest(self.weights[0, self.asking], self.pair["query"], self.tokens)
        name = "one_wide" if case.name == "one" and is_wide(self.tokens) else case.name
        with self.beat("takeaway", case.facts, variant=name):
            pass
        self.leave()
