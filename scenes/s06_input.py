"""Scene 6, steps 12-13: how one vector says both which word and which place.

Claims: the input of encoder and decoder is the word's row of E, scaled where the model does so,
plus the place's row of PE, cell by cell; the same word at another place gets another vector; both
sentences use the same PE, or each a table of its own. Where the model adds no positions, the row
of E is the input, wherever the word stands.
Reads of the training pass: ``encoder.embedded``, ``encoder.input``, ``positional`` or
``source_positional`` and ``target_positional``, ``decoder.embedded``, ``decoder.input``.
"""

from __future__ import annotations

from itertools import pairwise

from manim import (
    DOWN,
    LEFT,
    RIGHT,
    Create,
    FadeIn,
    FadeOut,
    LaggedStart,
    Line,
    ManimColor,
    Rectangle,
    ReplacementTransform,
    VGroup,
)

from scenes import theme
from scenes.base import LectureScene
from scenes.parts.equation import PLUS
from scenes.parts.flow import Block
from scenes.parts.formula import formula
from scenes.parts.grid import Grid, outline
from scenes.parts.lookup import sized
from scenes.parts.motion import Flight
from scenes.parts.phrase import Phrase, Say
from scenes.parts.shapes import arrow
from scenes.parts.vector import Vector, equals, signed
from scenes.rounding import decimals_needed
from scenes.structure import following, has_two_positions, is_placed, is_scaled, positional

SIDES = {"source": "encoder", "target": "decoder"}
COLORS = {"source": theme.ENCODER, "target": theme.TRAINING}
#: The columns d0, d1, …: their left edge and cells; right edge of the labels; right of the cells.
LEFT_OF_CELLS, CELL, PITCH = -4.45, (1.7, 0.66), 0.72
SIGN_X, LABEL_X, NOTE_X = -6.4, LEFT_OF_CELLS - 0.22, 2.85
HEAD_Y, E_Y, PE_Y, RULE_Y, X_Y = 2.55, 2.02, 1.3, 0.86, 0.42


class Input(LectureScene):
    beats = (
        ("question", 12),
        ("parts", 12),
        ("add", 12),
        ("source", 12),
        ("order", 12),
        ("target", 13),
        ("both", 13),
        ("takeaway", 13),
    )
    color = theme.ENCODER
    lit = ("E+PE",)

    def title_key(self) -> str:
        return "title" if is_placed(self.training) else "title_none"

    def construct(self) -> None:
        self.read_trace()
        self.question()
        self.two_vectors()
        self.add_cell_by_cell()
        self.source_rows()
        self.other_place()
        self.target_rows()
        self.both_inputs()
        self.takeaway()

    def read_trace(self) -> None:
        run = self.training
        self.tokens = {"source": run.source, "target": run.target}
        self.embedded = {side: run[f"{part}.embedded"] for side, part in SIDES.items()}
        self.inputs = {side: run[f"{part}.input"] for side, part in SIDES.items()}
        self.sizes = {
            side: [run.size(f"{part}.input", axis) for axis in (0, 1)]
            for side, part in SIDES.items()
        }
        self.places = {side: positional(run, side) for side in SIDES}
        self.scaled, self.placed = is_scaled(run), is_placed(run)
        #: which of the sentences is the model's
        self.variant = "" if self.placed else "none"
        self.word_y = E_Y if self.placed else PE_Y
        self.last = len(run.source) - 1
        words = [scalar for side in SIDES for scalar in self.embedded[side].scalars()]
        self.decimals = decimals_needed([scalar.exact for scalar in words], 4)
        self.word_fill = signed(words)
        places = [table for table in self.places.values() if table is not None]
        if places:
            self.place_fill = signed(*(table.scalars() for table in places))
        self.sum_fill = signed(*(values.scalars() for values in self.inputs.values()))

    # -- parts ---------------------------------------------------------------------------------

    def vector(self, values: object, y: float, decimals: int, fill: object) -> Vector:
        made = Vector(values, decimals=decimals, cell=CELL, size=28, fill=fill)
        return made.at(LEFT_OF_CELLS, y)

    def word_row(self, side: str, i: int) -> VGroup:
        """A token's row of E, with the token in front."""
        label = Phrase(self.tokens[side][i], size=theme.HEADING, color=COLORS[side], bold=True)
        values = self.embedded[side][i]
        return VGroup(
            self.vector(values, self.word_y, self.decimals, self.word_fill),
            label.place([LABEL_X, self.word_y, 0], RIGHT),
        )

    def place_row(self, side: str, i: int) -> VGroup:
        """A place's row of PE; nothing where the model has no positions."""
        table = self.places[side]
        if table is None:
            return VGroup()
        label = Phrase(f"pos {i}", color=theme.MUTED).place([LABEL_X, PE_Y, 0], RIGHT)
        return VGroup(self.vector(table[i], PE_Y, 4, self.place_fill), label)

    def sum_grid(self, side: str) -> Grid:
        """The input matrix in its place under E and PE."""
        grid = Grid(
            self.inputs[side],
            rows=self.tokens[side],
            cell=CELL,
            size=28,
            fill=self.sum_fill,
            row_color=COLORS[side],
            label_size=theme.HEADING,
        )
        corner = grid.cell(0, 0).get_left()
        return grid.shift([LEFT_OF_CELLS - corner[0], X_Y - corner[1], 0])

    def slots(self, grid: Grid) -> VGroup:
        """Where the cells of a matrix are going to be."""
        return VGroup(
            *(
                Rectangle(
                    width=CELL[0], height=CELL[1], stroke_width=1.5, stroke_color=theme.HAIRLINE
                ).move_to(cell)
                for cell in grid.cells
            )
        )

    def sign_at(self, i: int, sign: str) -> Phrase:
        return Phrase(sign, size=30, color=theme.MUTED).place([SIGN_X, X_Y - PITCH * i, 0])

    def note(self, key: str, y: float, color: ManimColor = theme.INK) -> Phrase:
        return self.label(key, size=theme.HEADING, color=color).place([NOTE_X, y, 0], LEFT)

    # -- beats ---------------------------------------------------------------------------------

    def question(self) -> None:
        with self.beat("question", variant=self.variant):
            pass

    def two_vectors(self) -> None:
        self.word, self.place = self.word_row("source", 0), self.place_row("source", 0)
        self.columns = VGroup()
        for j, cell in enumerate(self.word[0].cells):
            name = Phrase(f"d{j}", size=theme.SMALL, color=theme.MUTED)
            self.columns.add(name.place([cell.get_x(), self.word_y + HEAD_Y - E_Y, 0]))
        self.notes = VGroup(self.note("scaled_word" if self.scaled else "word", self.word_y))
        if self.placed:
            self.notes.add(self.note("place", PE_Y))
        token = {"token": self.tokens["source"][0]}
        with self.beat("parts", token, variant=self.variant_by_scale()):
            self.play(self.answer(), run_time=theme.FADE)
            self.play(FadeIn(self.columns, self.word, shift=0.15 * DOWN), run_time=theme.MOVE)
            self.play(FadeIn(self.notes[0], shift=0.1 * RIGHT), run_time=theme.FADE)
            if self.placed:
                self.play(FadeIn(self.place, shift=0.15 * DOWN), run_time=theme.MOVE)
                self.play(FadeIn(self.notes[1], shift=0.1 * RIGHT), run_time=theme.FADE)

    def variant_by_scale(self, placed: str = "") -> str:
        """The variant where embeddings times √d are told apart from others, or ``placed``."""
        if self.placed:
            return placed
        return "none_scaled" if self.scaled else "none"

    def add_cell_by_cell(self) -> None:
        self.grid = grid = self.sum_grid("source")
        self.empty = self.slots(grid)
        y = RULE_Y
        ends = [SIGN_X - 0.14, y, 0], [float(grid.cells.get_right()[0]), y, 0]
        self.rule = Line(*ends, stroke_width=2, color=theme.MUTED)
        self.plus = VGroup()
        if self.placed:
            self.plus.add(Phrase(PLUS, size=30, color=theme.MUTED).place([SIGN_X, PE_Y, 0]))
        sum_ = "X = " + ("sqrt(d) thin E" if self.scaled else "E") + " + P E" * self.placed
        self.sum_formula = formula(sum_, size=48 if self.scaled else 56, at=(4.7, -0.35, 0))
        self.sum_note = self.label("encoder_input", size=theme.HEADING, color=theme.ENCODER)
        self.sum_note.place([4.7, -1.05, 0])
        marks = [self.pair_mark(j) for j in range(grid.shape[1])]
        lowest = (self.place if self.placed else self.word)[0]
        with self.beat("add", variant=self.variant):
            self.play(FadeIn(self.plus, self.empty), Create(self.rule), run_time=0.5)
            self.play(FadeIn(self.equal(0), grid.row_labels[0]), run_time=0.3)
            for j, mark in enumerate(marks):
                moved = ReplacementTransform(marks[j - 1], mark) if j else Create(mark)
                self.play(moved, run_time=0.35)
                self.play(
                    FadeIn(grid.cell(0, j)),
                    FadeIn(grid.number(0, j), target_position=lowest.numbers[j]),
                    run_time=0.45,
                )
            self.play(FadeOut(marks[-1]), FadeIn(self.sum_formula), run_time=theme.FADE)

    def pair_mark(self, j: int) -> object:
        """An outline around the two cells that are added, or the one that goes on."""
        return outline(VGroup(*(vector.cells[j] for vector in self.terms())))

    def terms(self) -> list[Vector]:
        """The vectors above the line: the word's, and the place's."""
        return [self.word[0], *([self.place[0]] if self.placed else [])]

    def equal(self, i: int) -> Phrase:
        """The sign between the rows above and row ``i``: ``=`` or ``≈``."""
        parts = [vector.numbers for vector in self.terms()]
        self.sign = self.sign_at(i, equals(parts, self.grid.row_numbers(i)))
        return self.sign

    def next_rows(self, side: str, i: int, run_time: float = 0.4) -> None:
        """The row of E and the row of PE make room for those of token ``i``."""
        old, (word, place) = (
            VGroup(self.word, self.place),
            (self.word_row(side, i), self.place_row(side, i)),
        )
        self.play(FadeOut(old), run_time=run_time / 2)
        self.play(FadeIn(word, place), run_time=run_time / 2)
        self.word, self.place = word, place

    def add_row(self, i: int, run_time: float = 0.9) -> None:
        """All cells of a row, one after the other."""
        old, grid = self.sign, self.grid
        cells = (
            FadeIn(VGroup(grid.cell(i, j), grid.number(i, j)), shift=0.25 * DOWN)
            for j in range(grid.shape[1])
        )
        self.play(
            FadeOut(old),
            FadeIn(self.equal(i), grid.row_labels[i]),
            LaggedStart(*cells, lag_ratio=0.2),
            run_time=run_time,
        )

    def source_rows(self) -> None:
        with self.beat("source", variant=self.variant):
            for i in range(1, len(self.tokens["source"])):
                self.next_rows("source", i)
                self.add_row(i)
            self.play(FadeIn(self.sum_note, shift=0.1 * DOWN), run_time=theme.FADE)

    def other_place(self) -> None:
        grid, token = self.grid, self.tokens["source"][0]
        values, table = list(self.embedded["source"][0]), self.places["source"]
        if table is not None:
            values = [word + place for word, place in zip(values, table[self.last], strict=True)]
        y = X_Y - PITCH * self.last
        moved = self.vector(values, y, grid.decimals, self.sum_fill)
        label = Phrase(token, size=theme.HEADING, color=theme.ENCODER, bold=True)
        label.place([LABEL_X, y, 0], RIGHT)
        notes = VGroup()
        for i, at in ((0, X_Y), (self.last, y)):
            notes.add(
                Phrase(f"pos {i}", size=theme.HEADING, bold=True).place([NOTE_X, at, 0], LEFT)
            )
        marks = VGroup(outline(grid.row_cells(0)), outline(moved.cells))
        gone = VGroup(*(grid.row_all(i) for i in range(1, len(self.tokens["source"]))))
        word = self.word_row("source", 0)
        with self.beat("order", {"token": token}, variant=self.variant):
            gone.add(self.empty, self.sign, self.sum_formula, self.sum_note)
            self.play(FadeOut(gone), run_time=0.4)
            self.play(FadeOut(self.word), run_time=0.25)
            self.play(FadeIn(word), run_time=0.4)
            self.word = word
            terms = [vector.numbers for vector in self.terms()]
            sign = self.sign_at(self.last, equals(terms, moved.numbers))
            self.play(FadeIn(sign, label), FadeIn(moved, shift=0.25 * DOWN), run_time=0.7)
            self.play(FadeIn(notes[0]), Create(marks[0]), run_time=0.5)
            self.play(FadeIn(notes[1]), Create(marks[1]), run_time=0.5)
        self.old = VGroup(moved, label, notes, marks, sign, grid.row_all(0))

    def target_rows(self) -> None:
        self.grid = self.sum_grid("target")
        self.empty = self.slots(self.grid)
        note = self.label("decoder_input", size=theme.HEADING, color=theme.TRAINING)
        note.place([4.7, -1.05, 0])
        two = has_two_positions(self.training)
        with self.beat("target", variant="two" if two else self.variant):
            self.play(FadeOut(self.old), run_time=theme.FADE)
            self.play(FadeIn(self.sum_formula, self.empty), run_time=0.3)
            self.sign = self.sign_at(0, PLUS).set_opacity(0)
            for i in range(len(self.tokens["target"])):
                self.next_rows("target", i)
                self.add_row(i)
            self.play(FadeIn(note, shift=0.1 * DOWN), run_time=theme.FADE)
        self.old = VGroup(self.word, self.place, self.columns, self.notes, self.rule, self.plus)
        self.old.add(self.sign, self.sum_formula, note, self.empty)

    def small(self, side: str, left: float) -> tuple[Grid, VGroup]:
        """An input matrix with its name above, and the block it goes to below."""
        color = COLORS[side]
        grid = Grid(
            self.inputs[side],
            rows=self.tokens[side],
            cell=(1.2, 0.64),
            size=theme.BODY,
            fill=self.sum_fill,
            row_color=color,
        )
        corner = grid.cell(0, 0).get_left()
        grid.shift([left - corner[0], 1.65 - corner[1], 0]).keep_inside(slack=0.6)
        x, foot = float(grid.cells.get_x()), float(grid.cells.get_bottom()[1])
        head = sized(self.label(side, size=theme.HEADING, color=color), tuple(self.sizes[side]))
        head.shift([x - head.get_x(), 2.4 - head[0].midline, 0])
        block = Block((x - 1.5, -1.4), (x + 1.5, -2.05), color=color)
        block.write(Phrase(SIDES[side].capitalize(), size=theme.HEADING, color=color, bold=True))
        down = arrow([x, foot - 0.12, 0], [x, -1.3, 0], color=color, width=4)
        return grid, VGroup(head, down, block)

    def both_inputs(self) -> None:
        source, source_rest = self.small("source", -5.75)
        target, target_rest = self.small("target", 1.5)
        written = range(1, len(following(self.training)) + 1)
        firsts = [VGroup(*(target.row_cells(i) for i in range(n))) for n in written]
        prefixes = [outline(rows, color=theme.INFERENCE, stroke=5) for rows in firsts]
        whole = outline(target.cells, color=theme.TRAINING, stroke=5)
        with self.beat("both", {"rows": Say(self.sizes["target"][0], 0)}):
            self.play(FadeOut(self.old), run_time=theme.FADE)
            self.play(Flight(self.grid, target), run_time=theme.MOVE)
            self.play(FadeIn(target_rest), FadeIn(source, source_rest), run_time=0.6)
            self.play(Create(whole), run_time=0.6)
            self.play(FadeOut(whole), run_time=0.4)
            self.play(Create(prefixes[0]), run_time=0.5)
            for one, other in pairwise(prefixes):
                self.play(ReplacementTransform(one, other), run_time=0.5)

    def takeaway(self) -> None:
        scaled = "scaled" if self.scaled else ""
        with self.beat("takeaway", variant=self.variant_by_scale(scaled)):
            pass
        self.leave()
