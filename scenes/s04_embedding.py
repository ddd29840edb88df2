"""Scene 4, steps 4-6: how does an ID become a vector?

Claims: E has one row for each word of the vocabulary; a token's ID is the number of its row; that
is a one-hot vector times E; source and target look in the same table, or in one of their own;
training changes E, inference does not.
Reads of the training pass: embedding or both of them, source.ids, target.ids, and the rows looked
up: encoder.embedded, decoder.embedded, or .unscaled of either.
"""

from __future__ import annotations

import numpy as np
from manim import (
    LEFT,
    RIGHT,
    UP,
    Create,
    FadeIn,
    FadeOut,
    LaggedStart,
    ManimColor,
    MathTypst,
    ReplacementTransform,
    Succession,
    VGroup,
)

from scenes import theme
from scenes.base import LectureScene
from scenes.parts.flow import Block
from scenes.parts.grid import Grid, outline
from scenes.parts.icons import Lock
from scenes.parts.lookup import IdToken, LookupTable, sized
from scenes.parts.motion import Flight
from scenes.parts.phrase import Number, Phrase, Say, row
from scenes.rounding import decimals_needed
from scenes.structure import embedding, has_two_tables, is_scaled, looked_up, words_of
from scenes.values import Scalar, Values, constant

#: From left to right: the tokens that ask, the table E, the vectors that were looked up.
ASKING_X, E_LEFT, VECTORS_RIGHT = -5.6, -2.35, theme.RIGHT_EDGE - 0.06
HEAD_Y, TOP, FOOT = 2.5, 2.2, -2.06
SIDES = ("source", "target")
SIDE_COLORS = {"source": theme.ENCODER, "target": theme.TRAINING}


class Embedding(LectureScene):
    beats = (
        ("question", 4),
        ("table", 4),
        ("lookup", 5),
        ("onehot", 5),
        ("source", 6),
        ("target", 6),
        ("learned", 6),
        ("takeaway", 6),
    )
    color = theme.ENCODER
    lit = ("E+PE",)

    def construct(self) -> None:
        self.read_trace()
        self.build_table()
        self.question()
        self.show_table()
        self.look_up()
        self.multiply()
        self.source_rows()
        self.target_rows()
        self.learned()
        self.takeaway()

    def read_trace(self) -> None:
        run = self.training
        self.two, self.scaled = has_two_tables(run), is_scaled(run)
        self.embedding = {side: run[embedding(run, side)] for side in SIDES}
        self.ids = {"source": run["source.ids"], "target": run["target.ids"]}
        self.tokens = {"source": run.source, "target": run.target}
        names = {"source": looked_up(run, "encoder"), "target": looked_up(run, "decoder")}
        self.looked_up = {side: run[name] for side, name in names.items()}
        self.sizes = {side: (run.size(n, 0), run.size(n, 1)) for side, n in names.items()}
        shown = self.embedding if self.two else {"target": self.embedding["target"]}
        numbers = [s.exact for values in shown.values() for s in values.scalars()]
        self.decimals = decimals_needed(numbers, 2)
        scale = float(np.abs(numbers).max())
        #: a cell's colour: the same for a number wherever it goes
        self.fill = lambda value: theme.signed_fill(value, scale)

    # -- parts ---------------------------------------------------------------------------------

    def build_table(self) -> None:
        """E with its words and their IDs, and the two matrices that are filled from it."""
        self.e = self.table("source")
        self.build_vectors()

    def table(self, side: str) -> LookupTable:
        """The table in which a sentence is looked up."""
        run = self.training
        words, name = words_of(run, side), embedding(run, side)
        made = LookupTable(
            self.embedding[side],
            words,
            [self.id_of_row(side, i) for i in range(len(words))],
            (run.size(name, 0), run.size(name, 1)),
            left=E_LEFT,
            top=TOP,
            pitch=(TOP - FOOT) / max(len(words), 6),
            fill=self.fill,
            decimals=self.decimals,
        )
        if self.two:
            made.name[0].set_color(SIDE_COLORS[side])
        return made

    def build_vectors(self) -> None:
        count = sum(len(tokens) for tokens in self.tokens.values())
        pitch = (TOP - FOOT - 0.6) / count
        top = TOP
        self.vectors: dict[str, Grid] = {}
        self.vector_heads: dict[str, VGroup] = {}
        for side in SIDES:
            values = self.looked_up[side]
            grid = self.matrix(values, 0.85, pitch, theme.HEADING, rows=self.tokens[side])
            corner = grid.cells.get_corner(UP + RIGHT)
            self.vectors[side] = grid.shift([VECTORS_RIGHT, top, 0] - corner)
            name = self.label(f"{side}_vectors", size=theme.BODY, color=SIDE_COLORS[side])
            head = sized(name, self.sizes[side])
            head.shift([grid.cells.get_x() - head.get_x(), top + HEAD_Y - TOP, 0])
            head.shift([min(0.0, theme.RIGHT_EDGE - head.get_right()[0]), 0, 0])
            self.vector_heads[side] = head
            top = grid.cells.get_bottom()[1] - 0.6

    def matrix(
        self, values: Values, width: float, pitch: float, size: float, **options: object
    ) -> Grid:
        """A matrix whose cells have the colours and decimals of E."""
        return Grid(
            values,
            decimals=self.decimals,
            cell=(width, pitch - 0.05),
            size=size,
            fill=self.fill,
            row_color=theme.INK,
            **options,  # type: ignore[arg-type]
        )

    def id_of_row(self, side: str, i: int) -> Scalar:
        """The ID of a row, from the sentences that are looked up there, if they contain it."""
        sides = (side,) if self.two else SIDES
        known = [s for side in sides for s in self.ids[side] if int(s.exact) == i]
        return known[0] if known else constant(i)

    def ask(self, side: str) -> VGroup:
        """The tokens of a sentence with their IDs, in the left column."""
        words, ids, color = self.tokens[side], self.ids[side], SIDE_COLORS[side]
        column = VGroup()
        pitch = min(1.06, 4.24 / len(words))
        for i, (word, scalar) in enumerate(zip(words, ids, strict=True)):
            token = IdToken(word, scalar, color).scale(pitch / 1.06)
            column.add(token.move_to([ASKING_X, 1.53 - pitch * i, 0]))
        return column

    def ask_head(self, side: str) -> Phrase:
        head = self.label(side, size=theme.BODY, color=SIDE_COLORS[side])
        return head.place([ASKING_X, HEAD_Y, 0])

    def row_of(self, side: str, i: int) -> int:
        return int(self.ids[side][i].exact)

    # -- beats ---------------------------------------------------------------------------------

    def question(self) -> None:
        with self.beat("question"):
            pass

    def show_table(self) -> None:
        name = embedding(self.training, "source")
        sizes = [self.training.size(name, axis) for axis in (0, 1)]
        facts = {key: Say(number, 0) for key, number in zip(("words", "size"), sizes, strict=True)}
        grid = self.e.grid
        row_note = self.note("row_is", grid.cell(0, -1).get_y())
        column_note = self.note("column_is", grid.cells.get_y())
        self.notes = VGroup(row_note, column_note)
        marks = outline(grid.row_cells(0)), outline(grid.column_cells(-1))
        self.note_marks = VGroup(*marks)
        with self.beat("table", facts, variant="two" if self.two else ""):
            self.play(self.answer(), run_time=theme.FADE)
            self.play(FadeIn(self.e.id_name, self.e.ids, self.e.words), run_time=0.6)
            lines = (grid.row_cells(i) + grid.row_numbers(i) for i in range(grid.shape[0]))
            self.play(
                FadeIn(self.e.name, grid.column_labels),
                LaggedStart(*(FadeIn(line, shift=0.2 * RIGHT) for line in lines), lag_ratio=0.2),
                run_time=1.4,
            )
            for note, mark in zip(self.notes, marks, strict=True):
                self.play(FadeIn(note, shift=0.1 * RIGHT), Create(mark), run_time=0.6)

    def note(self, key: str, y: float) -> Phrase:
        """A remark to the right of E."""
        x = self.e.grid.cells.get_right()[0] + 0.4
        return self.label(key, size=theme.HEADING, color=theme.INK).place([x, y, 0], LEFT)

    def look_up(self) -> None:
        side, i = "source", self.row_of("source", 0)
        token = self.tokens[side][0]
        self.asking, self.asking_head = self.ask(side), self.ask_head(side)
        self.mark = self.e.row_frame(i)
        self.build_answer()
        with self.beat("lookup", {"token": token, "id": Say(self.ids[side][0], 0)}):
            self.play(FadeOut(self.notes, self.note_marks), run_time=theme.FADE)
            self.play(FadeIn(self.asking_head, self.asking[0]), run_time=0.5)
            self.fly_id(0)
            dim = self.e.others(i).animate.set_opacity(theme.DIMMED)
            self.play(Create(self.mark), dim, run_time=0.6)
            self.play(
                *self.leave_table(i, self.answer_grid.cells, self.answer_grid.numbers),
                FadeIn(self.answer_name),
                run_time=theme.SLOW,
            )

    def build_answer(self) -> None:
        """The first token's vector, large."""
        self.answer_grid = self.matrix(self.looked_up["source"][0], 0.95, 0.8, 30)
        grid = self.answer_grid
        grid.shift([VECTORS_RIGHT, 0, 0] - grid.cells.get_corner(RIGHT))
        facts = {"token": self.tokens["source"][0]}
        self.answer_name = self.label("vector", facts, size=theme.HEADING, color=theme.INK)
        self.answer_name.place(grid.cells.get_top() + 0.4 * UP)

    def fly_id(self, i: int, run_time: float = 0.7) -> None:
        """A token's ID goes to the row that bears it."""
        number = self.asking[i].number
        flying = number.copy()
        goal = self.e.ids[int(number.scalar.exact)]
        self.play(flying.animate(run_time=run_time, remover=True).move_to(goal))

    def multiply(self) -> None:
        asked = self.row_of("source", 0)
        x = self.e.grid.cells.get_right()[0] + 0.15
        self.onehot = VGroup()
        for i in range(self.e.grid.shape[0]):
            hit = i == asked
            number = Number(constant(int(hit)), 0, bold=hit)
            color = theme.INK if hit else theme.MUTED
            pair = row(Phrase("×", color=color), number.set_color(color), gap=0.12)
            self.onehot.add(pair.shift([x - pair.get_left()[0], self.e.grid.cell(i, 0).get_y(), 0]))
        head = self.label("onehot").place([x, self.e.grid.column_labels[0].midline, 0], LEFT)
        self.onehot_head = head
        self.sum_sign = Phrase("Σ =", color=theme.MUTED).beside(self.answer_grid.cells, 0.16, LEFT)
        self.answer_mark = outline(VGroup(self.answer_grid.cells))
        with self.beat("onehot", {"one": Say(constant(1), 0)}):
            self.play(FadeIn(head), run_time=theme.FADE)
            lines = LaggedStart(*(FadeIn(pair) for pair in self.onehot), lag_ratio=0.25)
            self.play(lines, run_time=1.4)
            self.play(FadeIn(self.sum_sign), Create(self.answer_mark), run_time=0.6)

    def source_rows(self) -> None:
        side = "source"
        grid, count = self.vectors[side], len(self.tokens["source"])
        gone = VGroup(self.onehot, self.onehot_head, self.answer_name, self.answer_mark)
        gone.add(self.sum_sign)
        first = self.row_of(side, 0)
        facts = {"count": Say(self.sizes[side][0], 0)}
        if self.scaled:
            facts["d"] = Say(self.sizes[side][1], 0)
        with self.beat("source", facts, variant="scaled" if self.scaled else ""):
            self.play(
                FadeOut(gone), self.e.others(first).animate.set_opacity(1), run_time=theme.FADE
            )
            self.play(
                ReplacementTransform(self.answer_grid.cells, grid.row_cells(0)),
                Flight(self.answer_grid.numbers, grid.row_numbers(0)),
                FadeIn(grid.row_labels[0], self.vector_heads[side], *self.asking[1:]),
                run_time=theme.MOVE,
            )
            for i in range(1, count):
                at = self.row_of(side, i)
                box = self.e.row_frame(at)
                self.fly_id(i, 0.4)
                self.play(ReplacementTransform(self.mark, box), run_time=0.3)
                self.mark = box
                self.play(*self.slide(side, i), run_time=0.6)

    def slide(self, side: str, i: int) -> list[object]:
        """A row leaves E for the matrix of vectors."""
        grid, at = self.vectors[side], self.row_of(side, i)
        row_leaves = self.leave_table(at, grid.row_cells(i), grid.row_numbers(i))
        return [*row_leaves, FadeIn(grid.row_labels[i])]

    def leave_table(self, i: int, cells: VGroup, numbers: VGroup) -> list[Flight]:
        """A copy of a row of E, above all else, becomes ``cells`` and ``numbers``."""
        grid = self.e.grid
        moving = grid.row_cells(i).copy().set_z_index(2), grid.row_numbers(i).copy().set_z_index(3)
        return [Flight(*pair) for pair in zip(moving, (cells, numbers), strict=True)]

    def target_rows(self) -> None:
        side = "target"
        count = len(self.tokens[side])
        asking, head = self.ask(side), self.ask_head(side)
        old, self.e = self.e, self.table(side) if self.two else self.e
        boxes = VGroup(
            *(self.e.row_frame(at) for at in (self.row_of(side, i) for i in range(count)))
        )
        with self.beat("target", variant="two" if self.two else ""):
            self.play(FadeOut(self.asking, self.asking_head, self.mark), run_time=theme.FADE)
            if self.two:
                self.play(FadeOut(old), run_time=theme.FADE)
                self.play(FadeIn(self.e), run_time=theme.MOVE)
            self.play(FadeIn(asking, head, self.vector_heads[side]), run_time=0.5)
            self.asking, self.asking_head = asking, head
            for i in range(count):
                before = [FadeOut(boxes[i - 1])] if i else []
                self.play(FadeIn(boxes[i]), *before, run_time=0.25)
                self.play(*self.slide(side, i), run_time=0.6)
            self.play(FadeOut(boxes[-1]), run_time=0.3)

    def learned(self) -> None:
        cards = self.cards = VGroup(
            self.card("training", theme.TRAINING, 2.2), self.card("inference", theme.INFERENCE, 0.0)
        )
        frame = outline(VGroup(self.e.grid.cells), color=theme.INFERENCE, stroke=4)
        with self.beat("learned"):
            self.play(FadeOut(self.asking, self.asking_head), run_time=theme.FADE)
            self.play(FadeIn(cards[0]), run_time=0.5)
            pulses, marks = self.pulses()
            self.play(LaggedStart(*pulses, lag_ratio=0.15), run_time=2.4)
            self.play(FadeOut(marks), run_time=0.5)
            self.play(FadeIn(cards[1]), run_time=0.5)
            self.play(Create(frame), run_time=0.7)

    def pulses(self) -> tuple[list[object], VGroup]:
        """Light that goes from each vector back to the row, in the table on screen, that it was
        taken from."""
        animations, marks = [], VGroup()
        for side in SIDES[1:] if self.two else SIDES:
            for i in range(len(self.tokens[side])):
                start = outline(self.vectors[side].row_cells(i), color=theme.GRADIENT)
                end = outline(self.e.grid.row_cells(self.row_of(side, i)), color=theme.GRADIENT)
                marks.add(end)
                animations.append(
                    Succession(FadeIn(start, run_time=0.3), ReplacementTransform(start, end))
                )
        return animations, marks

    def card(self, key: str, color: ManimColor, top: float) -> VGroup:
        """What happens to E in one of the two phases."""
        block = Block((theme.LEFT_EDGE, top), (-4.42, top - 2.05), color=color)
        block.write(self.label(key, size=theme.HEADING, color=color, bold=True), 0.62)
        if key == "training":
            icon = MathTypst(r"partial L \/ partial E", font_size=44).set_color(theme.GRADIENT)
        else:
            icon = Lock(color, 0.5)
        block.add(icon.move_to(block.box))
        block.write(self.label(f"{key}_state", size=theme.BODY, color=theme.INK), -0.68)
        return block

    def takeaway(self) -> None:
        with self.beat("takeaway"):
            pass
        self.leave()
