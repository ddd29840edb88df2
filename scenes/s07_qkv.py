"""Scene 7, steps 14-22: how one vector becomes a query, a key and a value.

Claims: each role has a matrix of its own; a number of q is one row of WQ times the token's vector,
plus a bias where there is one;
all tokens go through the same matrices; each head, where there are two, has its own rows of them.
Reads of the training pass: ``encoder.input``, or its norm where that comes first, and
``encoder.0.self_attn``: q, k, v; of the weights the same part's q_proj, k_proj, v_proj, and the
biases of q_proj.
"""

from __future__ import annotations

from dataclasses import dataclass

from manim import (
    DOWN,
    LEFT,
    RIGHT,
    Animation,
    Create,
    FadeIn,
    FadeOut,
    GrowArrow,
    LaggedStart,
    Mobject,
    ReplacementTransform,
    TransformFromCopy,
    VGroup,
)

from scenes import theme, wording
from scenes.base import LectureScene
from scenes.parts.equation import Term
from scenes.parts.flow import Block
from scenes.parts.formula import formula
from scenes.parts.grid import GAP, Grid, cell_width, outline
from scenes.parts.motion import EARLY, Flight, fly
from scenes.parts.phrase import Number, Phrase, Say
from scenes.parts.projection import DotProduct, Projection
from scenes.parts.shapes import Token, arrow, fitting, shortened
from scenes.parts.vector import Vector, signed
from scenes.rounding import decimals_needed
from scenes.structure import bias, is_pre, sublayer
from scenes.values import Scalar, Values

ROLES = ("q", "k", "v")
COLORS = {"q": theme.QUERY, "k": theme.KEY, "v": theme.VALUE}
NAMES = {"q": "Query", "k": "Key", "v": "Value"}
HEAD_Y = 2.5


@dataclass(frozen=True)
class _Columns:
    """The columns of Q, K and V, and what stands under them."""

    pitch: float  # from the left edge of a column to that of the next
    width: float
    height: float  # of a cell
    first_row: float
    formula_y: float
    weight_y: float  # the first row of weights
    weight_cell: tuple[float, float]
    work_height: float  # of a cell where a query is worked out,
    work_ys: tuple[float, float]  # and the two lines under them

    def left(self, role: str) -> float:
        """The left edge of a role's column."""
        return -4.76 + self.pitch * ROLES.index(role)


#: For heads of one or two numbers, and of more.
FEW = _Columns(3.95, 3.32, 0.58, 1.86, -0.77, -1.4, (0.792, 0.5), 0.7, (-0.85, -1.6))
MANY = _Columns(3.8, 3.63, 0.44, 1.9, -0.2, -0.68, (0.792, 0.38), 0.5, (-0.98, -1.66))


class Qkv(LectureScene):
    beats = (
        ("question", 14),
        ("roles", 14),
        ("first", 15),
        ("second", 16),
        ("queries", 17),
        ("keys", 18),
        ("values", 19),
        ("heads", 20),
        ("vectors", 21),
        ("takeaway", 22),
    )
    color = theme.ENCODER
    lit = ("Enc 1",)

    def construct(self) -> None:
        self.read_trace()
        self.question()
        self.three_roles()
        self.first_number()
        self.second_number()
        self.all_queries()
        self.keys()
        self.values()
        self.second_head()
        self.one_token()
        self.takeaway()

    def read_trace(self) -> None:
        run = self.training
        part = "encoder.0.self_attn"
        self.tokens = wording.named(run.source)
        self.pre = is_pre(run)
        self.input = run[sublayer(run, "encoder", 0, "self_attn").reads]
        self.roles: dict[str, Values] = {role: run[f"{part}.{role}"] for role in ROLES}
        self.weights = {role: run.weight(f"{part}.{role}_proj.weight") for role in ROLES}
        self.biases = {role: bias(run, f"{part}.{role}_proj") for role in ROLES}
        self.d_k = self.roles["q"].shape[2]
        self.layout = FEW if self.d_k <= 2 else MANY
        self.sizes = {
            "count": Say(run.size("encoder.input", 0), 0),
            "heads": Say(run.size(f"{part}.q", 0), 0),
            "d_k": Say(run.size(f"{part}.q", 2), 0),
        }
        self.asking = 0
        self.token = {"token": self.tokens[self.asking]}
        self.x: list[Scalar] = list(self.input[self.asking])
        self.places = self.decimals(self.x), self.decimals(self.head_rows("q", 0)[0])

    def decimals(self, scalars: list[Scalar]) -> int:
        """Decimals of factors: fewer where a bias stands beside them."""
        most = 3 if self.biases["q"] is None else 2
        return decimals_needed([scalar.exact for scalar in scalars], most)

    def head_rows(self, role: str, head: int) -> list[list[Scalar]]:
        """The rows of a role's weights that belong to a head."""
        rows = range(head * self.d_k, (head + 1) * self.d_k)
        return [list(self.weights[role][i]) for i in rows]

    # -- beats ---------------------------------------------------------------------------------

    def question(self) -> None:
        with self.beat("question"):
            pass

    def three_roles(self) -> None:
        middle = 0.2
        inset = max(0, 4 - len(self.x)) * (1.12 + GAP)  # a short vector ends where the arrows start
        word = Token(self.token["token"], size=34, height=0.9)
        word.move_to([-4.1 + inset / 2, middle + 1.25, 0])
        self.vector = Vector(self.x, decimals=self.places[0], cell=(1.12, 0.74), size=28)
        self.vector.at(theme.LEFT_EDGE + inset, middle)
        note = self.label("normed_input" if self.pre else "input").place(
            [self.vector.cells.get_x(), middle - 0.75, 0]
        )
        start = self.vector.cells.get_right() + 0.12 * RIGHT
        cards, arrows, names = VGroup(), VGroup(), VGroup()
        for n, role in enumerate(ROLES):
            y = middle + 1.62 * (1 - n)
            cards.add(self.card(role, y))
            arrows.add(arrow(start, [1.5, y, 0], color=COLORS[role], width=4))
            at = (-0.15, middle + [1.28, 0.34, -1.28][n], 0)
            names.add(formula(rf"{{{{W_{role.upper()} : {role}}}}}", size=40, at=at))
        with self.beat("roles", self.token, variant="pre" if self.pre else ""):
            self.play(self.answer(), FadeIn(word), run_time=theme.FADE)
            self.play(FadeIn(self.vector, note, shift=0.2 * DOWN), run_time=0.6)
            for card, line, name in zip(cards, arrows, names, strict=True):
                comes = FadeIn(card, shift=0.2 * RIGHT)
                self.play(
                    LaggedStart(GrowArrow(line), FadeIn(name), comes, lag_ratio=0.3), run_time=0.7
                )
        self.word = word
        self.old = VGroup(note, cards, arrows, names)

    def card(self, role: str, y: float) -> Block:
        """A role's name and what it is for."""
        card = Block((1.62, y + 0.68), (theme.RIGHT_EDGE, y - 0.68), color=COLORS[role])
        card.write(Phrase(NAMES[role], size=30, color=COLORS[role], bold=True), 0.27)
        card.write(self.label(f"{role}_meaning", size=theme.HEADING, color=theme.INK), -0.3)
        return card

    def first_number(self) -> None:
        q, biases = self.roles["q"][0, self.asking], self.biases["q"]
        biased = biases is not None
        self.product = product = Projection(
            self.x,
            self.head_rows("q", 0),
            list(q),
            left=-5.62,
            top=2.2,
            cell=(2.02 if biased else 2.3, self.layout.work_height),
            decimals=(*self.places, 4),
            size=30,
            color=theme.QUERY,
            result=(4.97, 1.57) if biased else (4.75, 1.79),
            bias=[biases[i] for i in range(self.d_k)] if biases is not None else None,
        )
        (shown,) = shortened([self.token["token"]], 0.8)
        label = Phrase(shown, size=fitting([shown], 0.8, 30), bold=True).place([-6.1, 2.2, 0])
        rows_y = product.rows.get_y()
        w = formula("{{W_Q : q}}", size=40, at=(-6.12, rows_y, 0))
        name = Phrase(NAMES["q"], size=30, color=theme.QUERY, bold=True)
        name.place([product.results.get_x(), 2.2, 0])
        self.work_labels = VGroup(label, w, name)
        for column in product.bias_parts[:-1]:
            at = (column.cells.get_x(), 2.2, 0)
            self.work_labels.add(formula("{{b_Q : q}}", size=40, at=at))
        self.play_first(w, name, label)

    def play_first(self, w: Mobject, name: Phrase, label: Phrase) -> None:
        product, biases = self.product, self.work_labels[3:]
        variant = "biased" if len(biases) else ""
        with self.beat("first", self.token, variant=variant):
            self.play(FadeOut(self.old), run_time=0.3)
            self.play(
                Flight(self.vector, product.input),
                FadeOut(self.word.box),
                Flight(self.word.label, label),
                run_time=theme.MOVE,
            )
            self.play(FadeIn(product.rows, w, product.bias_parts, biases), run_time=0.6)
            self.mark = outline(product.rows[0].cells, color=theme.QUERY, stroke=4)
            self.play(Create(self.mark), run_time=0.4)
            self.work_out(0, 0.55)
            self.play(FadeIn(name), run_time=0.3)
            self.land(0)

    def second_number(self) -> None:
        case = wording.query_rows(self.d_k)
        with self.beat("second", case.facts | self.token, variant=case.name):
            for i in range(1, self.d_k):
                mark = outline(self.product.rows[i].cells, color=theme.QUERY, stroke=4)
                moved = ReplacementTransform(self.mark, mark)
                self.play(FadeOut(self.sum), moved, run_time=theme.FADE)
                self.mark = mark
                self.work_out(i, 0.35)
                self.land(i)

    def work_out(self, i: int, pace: float) -> None:
        """Row ``i`` of WQ times the vector: the products one by one, then their sum."""
        product, (dx, dw) = self.product, self.places
        weights, extra = self.head_rows("q", 0)[i], {}
        if product.bias is not None:
            number = Term(product.bias.scalars[i], product.bias.decimals, theme.QUERY)
            extra = {"bias": number, "bias_x": float(product.bias.cells.get_x())}
        self.sum = total = DotProduct(
            [Term(s, dx) for s in self.x],
            [Term(s, dw, theme.QUERY) for s in weights],
            Term(self.roles["q"][0, self.asking, i], 4, theme.QUERY, bold=True),
            xs=product.input.xs(),
            ys=self.layout.work_ys,
            sign_x=-6.12,
            result_x=float(product.results.get_x()),
            result_width=product.results.cells.width,
            decimals=min(4, dx + dw),
            size=26,
            **extra,
        )
        for j, (one, times, two) in enumerate(total.products):
            signs = [times, *([total.signs[0][j - 1]] if j else [])]
            self.play(
                *(FadeIn(sign) for sign in signs),
                self.swing(product.input.numbers[j], one, 1.0),
                self.swing(product.rows[i].numbers[j], two, -1.0),
                run_time=pace,
            )
        for number in total.bias:
            sign = FadeIn(total.signs[0][-1])
            self.play(sign, fly(product.bias.numbers[i], number), run_time=pace)
        parents = [*total.products, *total.bias]
        self.play(
            FadeIn(total.equal, total.signs[1]),
            LaggedStart(
                *(
                    FadeIn(number, target_position=parent)
                    for parent, number in zip(parents, total.worked, strict=True)
                ),
                lag_ratio=0.25,
            ),
            run_time=0.9,
        )
        self.play(FadeIn(total.sign, total.result), run_time=theme.FADE)

    def swing(self, parent: Number, child: Number, arc: float) -> Animation:
        """A number flies past what stands below it, in an arc to the left (above zero) or right."""
        return Flight(child.copy().move_to(parent), child, path_arc=arc)

    def land(self, i: int) -> None:
        """The sum goes to its place in q."""
        product = self.product
        self.play(
            GrowArrow(product.arrows[i]),
            FadeIn(product.results.cells[i]),
            fly(self.sum.result, product.results.numbers[i]),
            run_time=0.7,
        )

    # -- all tokens ----------------------------------------------------------------------------

    def grid(self, role: str, head: int, left: float, first: float, height: float) -> Grid:
        """Q, K or V of a head; the tokens stand in front of Q."""
        labels = {"rows": self.tokens, "label_size": 28} if role == "q" else {}
        grid = Grid.signed(
            self.roles[role][head],
            cell=(cell_width(self.d_k, self.layout.width, 1.635), height),
            size=28 if height > 0.5 else theme.BODY,
            row_color=theme.INK,
            **labels,
        )
        corner = grid.cell(0, 0).get_left()
        grid.shift([left - corner[0], first - corner[1], 0])
        return grid.keep_inside(theme.LEFT_EDGE + 0.9)

    def column(self, role: str, left: float) -> VGroup:
        """A role of head 1: its name, its matrix, how it is made, and its weights."""
        layout = self.layout
        grid = self.grid(role, 0, left, layout.first_row, layout.height)
        x = float(grid.cells.get_x())
        name = Phrase(NAMES[role], size=30, color=COLORS[role], bold=True).place([x, HEAD_Y, 0])
        made = formula(
            self.product_of(role),
            size=32 if self.pre else 38,
            at=(x, layout.formula_y, 0),
        )
        rows, weights = self.head_rows(role, 0), VGroup()
        for i, scalars in enumerate(rows):
            line = Vector(
                scalars,
                decimals=self.places[1],
                cell=layout.weight_cell,
                size=theme.BODY,
                fill=signed(*rows),
            )
            weights.add(line.at(left, layout.weight_y - (layout.weight_cell[1] + GAP) * i))
        return VGroup(name, grid, made, weights)

    def product_of(self, role: str) -> str:
        """How a role's matrix is made, as a formula."""
        letter = role.upper()
        x = '"LN"(X)' if self.pre else "X"
        made = rf"{{{{{letter} : {role}}}}} = {x} {{{{W_{letter}^top : {role}}}}}"
        return made if self.biases[role] is None else rf"{made} + {{{{b_{letter} : {role}}}}}"

    def all_queries(self) -> None:
        layout = self.layout
        left = layout.left("v")
        self.columns = {"q": self.column("q", left)}
        name, grid, _, weights = self.columns["q"]
        inputs = Grid.signed(
            self.input,
            rows=self.tokens,
            cell=(1.4, layout.height),
            size=theme.BODY,
            label_size=28,
            row_color=theme.INK,
        )
        corner = inputs.cell(0, 0).get_left()
        inputs.shift([layout.left("q") - corner[0], layout.first_row - corner[1], 0])
        letters = "LayerNorm(X)" if self.pre else "X"
        head = Phrase(letters, size=30, bold=True).place([inputs.cells.get_x(), HEAD_Y, 0])
        y = float(grid.cells.get_y())
        end = min(left - 0.72, float(grid.row_labels.get_left()[0]) - 0.12)
        through = arrow([1.15, y, 0], [end, y, 0], color=theme.QUERY, width=4)
        large = formula(
            self.product_of("q"), size=56 if self.pre else 64, at=(inputs.cells.get_x(), -1.4, 0)
        )
        label = formula("{{W_Q : q}}", size=38).next_to(weights, LEFT, buff=0.2)
        self.inputs = VGroup(inputs, head, through, large, label)
        product = self.product
        with self.beat("queries", {"count": self.sizes["count"]}):
            gone = VGroup(self.sum, self.mark, product.arrows, product.bias_parts)
            self.play(FadeOut(gone), run_time=theme.FADE)
            self.play(
                *self.becomes(product.input, inputs.row_cells(0), inputs.row_numbers(0)),
                *self.becomes(product.results, grid.row_cells(0), grid.row_numbers(0)),
                Flight(product.rows, weights),
                FadeOut(self.work_labels, rate_func=EARLY),
                FadeIn(name, head, label),
                run_time=theme.SLOW,
            )
            self.play(
                GrowArrow(through),
                FadeIn(inputs.row_labels[0], grid.row_labels[0], large),
                run_time=theme.FADE,
            )
            for i in range(1, len(self.tokens)):
                self.play(FadeIn(inputs.row_all(i)), FadeIn(grid.row_labels[i]), run_time=0.3)
                self.play(*self.row_born(inputs, grid, i), run_time=0.6)

    def becomes(self, vector: Vector, cells: VGroup, numbers: VGroup) -> list[Animation]:
        """A vector becomes a row of a matrix."""
        return [
            Flight(vector.cells, cells),
            Flight(vector.numbers, numbers),
        ]

    def row_born(self, parent: Grid, child: Grid, i: int) -> list[Animation]:
        """Row ``i`` of a matrix comes from row ``i`` of another."""
        return [
            TransformFromCopy(parent.row_cells(i), child.row_cells(i)),
            FadeIn(child.row_numbers(i)),
        ]

    def keys(self) -> None:
        with self.beat("keys"):
            self.play(FadeOut(self.inputs), run_time=theme.FADE)
            name, grid, made, weights = self.columns["q"]
            way = (self.layout.left("q") - self.layout.left("v")) * RIGHT
            self.play(VGroup(name, grid, weights).animate.shift(way), run_time=theme.MOVE)
            self.play(FadeIn(made.shift(way)), run_time=0.3)
            self.fill_column("k")

    def values(self) -> None:
        with self.beat("values"):
            self.fill_column("v")

    def fill_column(self, role: str) -> None:
        """A role's weights first, then what they make of each token."""
        self.columns[role] = column = self.column(role, self.layout.left(role))
        name, grid, made, weights = column
        self.play(FadeIn(name, made, weights, shift=0.2 * DOWN), run_time=0.6)
        rows = (
            FadeIn(grid.row_cells(i), grid.row_numbers(i), shift=0.3 * RIGHT)
            for i in range(len(self.tokens))
        )
        self.play(LaggedStart(*rows, lag_ratio=0.4), run_time=1.4)

    def second_head(self) -> None:
        n, height, pitch = len(self.tokens), 0.44, 0.49
        tops = 1.9, 1.9 - pitch * n - 0.28
        options = {"height": height}
        self.heads = [
            {role: self.grid(role, h, self.layout.left(role), top, **options) for role in ROLES}
            for h, top in enumerate(tops[: self.roles["q"].shape[0]])
        ]
        names = VGroup()
        for h, top in enumerate(tops[: len(self.heads)]):
            label = Phrase(f"Head {h + 1}", size=22, bold=True)
            names.add(label.place([theme.LEFT_EDGE, top - pitch * (n - 1) / 2, 0], LEFT))
        variant = "" if self.heads[1:] else "single"
        with self.beat("heads", variant=variant):
            gone = VGroup(*(column[2:] for column in self.columns.values()))
            self.play(FadeOut(gone), run_time=theme.FADE)
            self.play(
                *(Flight(self.columns[role][1], self.heads[0][role]) for role in ROLES),
                FadeIn(names[0]),
                run_time=theme.MOVE,
            )
            for name, grids in zip(names[1:], self.heads[1:], strict=True):
                self.play(FadeIn(name), run_time=theme.FADE)
                for role in ROLES:
                    self.play(FadeIn(grids[role], shift=0.2 * DOWN), run_time=0.6)

    def one_token(self) -> None:
        i = self.asking
        marks = [
            outline(grids[role].row_cells(i), color=COLORS[role], stroke=5)
            for grids in self.heads
            for role in ROLES
        ]
        several = len(self.heads) > 1
        facts = self.token | {k: v for k, v in self.sizes.items() if several or k != "heads"}
        with self.beat("vectors", facts, variant="" if several else "single"):
            self.play(LaggedStart(*(Create(mark) for mark in marks), lag_ratio=0.3), run_time=2)

    def takeaway(self) -> None:
        with self.beat("takeaway"):
            pass
        self.leave()
