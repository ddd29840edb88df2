"""Scene 3, steps 1-3: from words to integers.

Claims: how each sentence is cut, and which tokens are put at its ends; each token has one ID, in
one vocabulary that both share or in its side's own; in training the decoder gets all the target's
IDs, in inference only those of the words written so far.
Reads the vocabulary, ``source.ids`` and ``target.ids`` of the training pass, and ``target.ids`` of
the inference passes over all proper prefixes of the target.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from manim import (
    LEFT,
    RIGHT,
    UP,
    Create,
    FadeIn,
    FadeOut,
    LaggedStart,
    Line,
    ManimColor,
    ReplacementTransform,
    Transform,
    VGroup,
)

from scenes import theme, wording
from scenes.base import LectureScene
from scenes.parts.motion import EARLY, Flight, fly
from scenes.parts.phrase import Number, Phrase, Say
from scenes.parts.shapes import Token, arrow
from scenes.parts.vocabulary import IdRow, Vocabulary
from scenes.structure import embedding, following, has_two_tables, spoken, words_of
from scenes.values import Scalar, Values, constant

TABLE_X = 0.0
#: Where each side has a table of its own: its distance from the middle, its width.
OWN_TABLE_X, OWN_TABLE = 1.3, 2.36
SIDES = ("source", "target")
SOURCE_X, TARGET_X = -5.45, 5.45
ID_X = 3.05
SPLIT = 0.0


class Tokenization(LectureScene):
    beats = (
        ("question", 1),
        ("split", 1),
        ("vocabulary", 2),
        ("source", 2),
        ("target", 2),
        ("sequences", 3),
        ("inference", 3),
        ("takeaway", 3),
    )
    color = theme.ENCODER
    lit = ("E+PE",)

    def construct(self) -> None:
        self.read_trace()
        self.question()
        self.split()
        self.show_vocabulary()
        self.look_up_source()
        self.look_up_target()
        self.only_integers()
        self.training_and_inference()
        self.takeaway()

    def read_trace(self) -> None:
        run = self.training
        self.source, self.target = run.source, run.target
        self.source_ids, self.target_ids = run["source.ids"], run["target.ids"]
        self.prefixes = [self.inference(n) for n in range(1, len(following(run)) + 1)]
        self.two = has_two_tables(run)
        self.sizes = {which: run.size(embedding(run, which), 0) for which in SIDES}

    # -- beats ---------------------------------------------------------------------------------

    def question(self) -> None:
        with self.beat("question"):
            pass

    def split(self) -> None:
        self.tokens: dict[str, VGroup] = {}
        rows: list[tuple[VGroup, VGroup]] = []
        for which, words, y, color in (
            ("source", self.source, 1.35, theme.ENCODER),
            ("target", self.target, -0.75, theme.TRAINING),
        ):
            tokens = token_line(words, y, color)
            self.tokens[which] = tokens
            rows.append((sentence(spoken(self.training, which), y), tokens))
        case = self.how_cut()
        with self.beat("split", case.facts, variant=case.name):
            self.play(self.answer(), run_time=theme.FADE)
            self.play(*(FadeIn(raw, shift=0.15 * UP) for raw, _ in rows), run_time=0.7)
            for raw, tokens in rows:
                self.wait(0.4)
                texts = [piece.text for piece in raw]
                cut = [token for token in tokens if token.label.text in texts]
                ends = [token for token in tokens if token.label.text not in texts]
                self.play(
                    *(Flight(piece, token.label) for piece, token in zip(raw, cut, strict=False)),
                    *(FadeOut(piece) for piece in raw[len(cut) :]),
                    *(FadeIn(token.box) for token in cut),
                    run_time=1.0,
                )
                if ends:
                    self.play(FadeIn(*ends, shift=0.15 * UP), run_time=0.6)

    def how_cut(self) -> wording.Case:
        """How both sentences were cut, and which tokens were put at their ends."""
        run = self.training
        source, target = (wording.cut(spoken(run, which)) for which in SIDES)
        return source + target + wording.ends(run)

    def show_vocabulary(self) -> None:
        run = self.training
        self.tables = {which: self.table(which) for which in (SIDES if self.two else SIDES[1:])}
        self.home = {
            "source": side(self.source, SOURCE_X, theme.ENCODER),
            "target": side(self.target, TARGET_X, theme.TRAINING),
        }
        facts = {"words": Say(self.sizes["target"], 0), "zero": Say(self.numbering("target")[0], 0)}
        if self.two:
            facts["others"] = Say(self.sizes["source"], 0)
        with self.beat("vocabulary", facts, variant="two" if self.two else ""):
            for which in ("target", "source"):
                moves = zip(self.tokens[which], self.home[which], strict=True)
                self.play(*(Flight(*pair) for pair in moves), run_time=0.8)
            for which, table in self.tables.items():
                lines = [table.line(i) for i in range(len(words_of(run, which)))]
                lines = [FadeIn(line, shift=0.12 * RIGHT) for line in lines]
                self.play(FadeIn(table.heads), run_time=0.3)
                self.play(LaggedStart(*lines, lag_ratio=0.35), run_time=2.0)

    def table(self, which: str) -> Vocabulary:
        """The vocabulary of a sentence: in the middle, or its own on the sentence's side."""
        heads = [self.label("id"), self.label("token")]
        words, ids = words_of(self.training, which), self.numbering(which)
        if not self.two:
            return Vocabulary(words, ids, heads, x=TABLE_X)
        x = TABLE_X + (OWN_TABLE_X if which == "target" else -OWN_TABLE_X)
        return Vocabulary(words, ids, heads, x=x, width=OWN_TABLE, inset=(0.32, 0.68))

    def numbering(self, which: str) -> list[Scalar]:
        """The ID of each word of a vocabulary: the trace's where a sentence has the word, else
        its place in the list."""
        both = self.target_ids, self.source_ids
        read = both if not self.two else both[which == "source" :][:1]
        known = {int(s.exact): s for ids in read for s in ids}
        return [known.get(i, constant(i)) for i in range(len(words_of(self.training, which)))]

    def look_up_source(self) -> None:
        self.arrows = VGroup()
        with self.beat("source"):
            self.look_up("source", self.source_ids, theme.ENCODER, 1)

    def look_up_target(self) -> None:
        with self.beat("target", variant="two" if self.two else ""):
            self.look_up("target", self.target_ids, theme.TRAINING, -1)

    def look_up(self, which: str, ids: Values, color: ManimColor, way: int) -> None:
        """Each token flies to its line of the table, and its ID flies back."""
        numbers, arrows = VGroup(), VGroup()
        table = self.tables.get(which, self.tables["target"])
        for i, token in enumerate(self.home[which]):
            place, x, y = int(ids.array[i]), -ID_X * way, token.get_y()
            number = Number(ids[i], 0, size=36, bold=True, color=color)
            numbers.add(number.place([x, y, 0]).set_z_index(1))
            edge = token.get_edge_center(RIGHT * way)[0]
            arrows.add(arrow([edge + 0.12 * way, y, 0], [x - 0.26 * way, y, 0]))
            seconds = 0.7 if i == 0 else 0.5
            gate = table.boxes[place].get_edge_center(LEFT * way) + 0.2 * LEFT * way
            self.play(*self.to_table(table, token, place, gate, color), run_time=seconds)
            back = FadeIn(number, target_position=gate)
            self.play(back, FadeIn(arrows[-1]), run_time=seconds)
        self.home[which + " ids"] = numbers
        self.arrows.add(arrows)

    def to_table(
        self, table: Vocabulary, token: Token, place: int, gate: Any, color: ManimColor
    ) -> list[Any]:
        """A copy of the token goes to the edge of its line, which lights up."""
        ghost = token.label.copy().set_z_index(2)
        lit = table.lit(place, color)
        return [FadeOut(ghost, target_position=gate), Transform(table.boxes[place], lit)]

    def only_integers(self) -> None:
        half = (theme.WIDTH - 0.6) / 2
        self.rows: dict[str, IdRow] = {}
        self.names = VGroup()
        for which, ids, words, color, left in (
            ("source", self.source_ids, self.source, theme.ENCODER, theme.LEFT_EDGE),
            ("target", self.target_ids, self.target, theme.TRAINING, theme.RIGHT_EDGE - half),
        ):
            style: dict[str, Any] = {"cell": ((half + 0.12) / len(words) - 0.12, 1.0), "size": 44}
            row = IdRow(ids, left=left, y=-0.5, color=color, words=words, rise=1.02, **style)
            name = self.label(which, size=28, color=color, bold=True)
            self.names.add(name.place([row.get_x(), 1.5, 0]))
            self.rows[which] = row
        with self.beat("sequences"):
            self.play(FadeOut(*self.tables.values(), self.arrows), run_time=theme.FADE)
            for (which, row), name in zip(self.rows.items(), self.names, strict=True):
                pairs = [
                    *zip(self.home[which], row.words, strict=True),
                    *zip(self.home[which + " ids"], row.numbers, strict=True),
                ]
                moves = [Flight(*pair) for pair in pairs]
                self.play(FadeIn(name, row.cells), *moves, run_time=1.0)
            self.wait(0.5)
            words = [word for row in self.rows.values() for word in row.words]
            self.play(*(word.animate.fade(0.55) for word in words), run_time=0.6)

    def training_and_inference(self) -> None:
        old, edge = self.rows, theme.LEFT_EDGE
        rounds = len(self.prefixes)
        count = max(len(self.target), rounds + 1)
        pitch = min(0.93, 2.79 / rounds)
        cell = min(1.36, (theme.RIGHT_EDGE - 0.5) / count - 0.12), 0.78 * pitch / 0.93
        top = IdRow(self.source_ids, left=-4.4, y=2.1, color=theme.ENCODER, cell=cell)
        left = IdRow(self.target_ids, left=edge, y=0.36, color=theme.TRAINING, cell=cell)
        right = VGroup(
            *(
                IdRow(
                    run["target.ids"],
                    left=SPLIT + 0.5,
                    y=0.36 - pitch * i,
                    color=theme.INFERENCE,
                    cell=cell,
                )
                for i, run in enumerate(self.prefixes)
            )
        )
        tag = self.label("same", size=theme.BODY, color=theme.ENCODER)
        tag.place([top.get_right()[0] + 0.35, 2.1, 0], LEFT)
        name = self.label("source", size=28, color=theme.ENCODER, bold=True)
        name.place([edge, 2.1, 0], LEFT)
        heads = [
            self.label(key, size=theme.HEADING, color=color).place([x, 1.14, 0], LEFT)
            for key, color, x in (
                ("training", theme.TRAINING, edge),
                ("inference", theme.INFERENCE, SPLIT + 0.5),
            )
        ]
        line = Line([edge, 1.55, 0], [theme.RIGHT_EDGE, 1.55, 0], stroke_width=2)
        with self.beat("inference"):
            self.play(
                FadeOut(old["source"].words, old["target"].words, self.names[1], rate_func=EARLY),
                Flight(self.names[0], name),
                ReplacementTransform(old["source"].cells, top.cells),
                Flight(old["source"].numbers, top.numbers),
                run_time=0.8,
            )
            self.play(FadeIn(tag), Create(line.set_color(theme.HAIRLINE)), run_time=0.5)
            self.play(
                FadeIn(heads[0]),
                ReplacementTransform(old["target"].cells, left.cells),
                Flight(old["target"].numbers, left.numbers),
                run_time=0.8,
            )
            self.play(FadeIn(heads[1]), run_time=0.4)
            self.grow(right)

    def grow(self, rows: VGroup) -> None:
        """Each round's IDs: those of the round before, and one more."""
        for i, row in enumerate(rows):
            if i:
                self.play(
                    *(
                        fly(before, now)
                        for before, now in zip(rows[i - 1].numbers, row.numbers, strict=False)
                    ),
                    *(FadeIn(cell) for cell in row.cells[:-1]),
                    run_time=0.5,
                )
            self.play(FadeIn(row.item(-1)), run_time=0.3)
            self.play(FadeIn(row.slot()), run_time=0.3)

    def takeaway(self) -> None:
        with self.beat("takeaway"):
            pass
        self.leave()


def gap_after(word: str) -> float:
    """Space between two words of a sentence that is not cut yet: none in Chinese."""
    return 0.22 if word.isascii() else 0.06


def sentence(words: Sequence[str], y: float) -> VGroup:
    """A sentence in one piece, large."""
    pieces, pen = VGroup(), 0.0
    for word in words:
        piece = Phrase(word, size=56, bold=True)
        pieces.add(piece.place([pen, 0, 0], LEFT).set_z_index(1))
        pen = float(piece.get_right()[0]) + gap_after(word)
    return pieces.shift([-pieces.get_x(), y, 0])


def token_line(words: Sequence[str], y: float, color: ManimColor) -> VGroup:
    """The sentence cut: a box for each token."""
    tokens = VGroup(*(Token(word, size=48, height=1.15, color=color) for word in words))
    tokens.arrange(RIGHT, buff=0.35).move_to([0, y, 0])
    if tokens.width > theme.WIDTH:
        tokens.scale(theme.WIDTH / tokens.width)
    for token in tokens:
        token.label.set_z_index(1)
    return tokens


def side(words: Sequence[str], x: float, color: ManimColor) -> VGroup:
    """Tokens one above the other, beside the table."""
    pitch = min(1.02, 4.0 / len(words))
    width = max(Token(word, size=30).width for word in words)
    width = max(width, 1.2)
    tokens = VGroup()
    for i, word in enumerate(words):
        token = Token(word, size=30, color=color, width=width, height=min(0.74, pitch - 0.12))
        tokens.add(token.move_to([x, 0.25 + pitch * ((len(words) - 1) / 2 - i), 0]))
        token.label.set_z_index(1)
    return tokens
