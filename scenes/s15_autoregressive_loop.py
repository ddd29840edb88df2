"""Scene 15, step 91: how a translation is written that does not exist yet.

Claims: the encoder runs once and its memory serves every round; each round reads only the last
row of the probabilities and makes the input one word longer, the mask one row and one column
larger; the likeliest word is, or is not, the target's word that the lecture goes on with; the
keys of earlier words stay the same from round to round.
Reads the inference passes over all proper prefixes of the target: memory, decoder.mask,
probabilities, decoder.0.self_attn.k; and greedy generation with the same weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from manim import (
    LEFT,
    RIGHT,
    Create,
    FadeIn,
    FadeOut,
    GrowFromEdge,
    LaggedStart,
    ManimColor,
    ReplacementTransform,
    VGroup,
)

from scenes import theme
from scenes.base import LectureScene
from scenes.inference import standing_at, told
from scenes.parts.flow import Wire, cross
from scenes.parts.loop import (
    WORDS_Y,
    DecoderSide,
    NextWords,
    SourceSide,
    SourceStage,
    table_of_round,
)
from scenes.parts.motion import EARLY, Flight
from scenes.parts.phrase import Phrase, Say
from scenes.parts.shapes import token_row
from scenes.structure import following
from scenes.values import joined
from scenes.verdicts import left_alone
from scenes.wording import whole

OUTPUT_X = 1.65
BACK_X = 6.4
LECTURE_Y = -1.84


class AutoregressiveLoop(LectureScene):
    beats = (
        ("question", 91),
        ("encoder", 91),
        ("first", 91),
        ("choose", 91),
        ("again", 91),
        ("last", 91),
        ("free", 91),
        ("cache", 91),
        ("takeaway", 91),
    )
    color = theme.INFERENCE
    lit = ("Dec 1", "Dec 2", "Out")

    def construct(self) -> None:
        self.read_trace()
        self.question()
        self.encode_once()
        self.first_round()
        self.choose_word()
        self.more_rounds()
        self.last_round()
        self.left_alone()
        self.kv_cache()
        self.takeaway()

    def read_trace(self) -> None:
        after = following(self.training)
        self.target = (self.training.target[0], *after)
        self.rounds = len(after)
        self.runs = [self.inference(length) for length in range(1, self.rounds + 1)]
        self.alone = tuple(self.runs[0].alone(self.target[:1], self.rounds))
        self.standings = [
            standing_at(run, word) for run, word in zip(self.runs, after, strict=True)
        ]
        first = self.standings[0]
        self.first_choice = {
            "choice": first.words[first.choice],
            "p": Say(first.probabilities[first.choice], 3),
            "word": self.target[1],
        }

    # -- beats ---------------------------------------------------------------------------------

    def question(self) -> None:
        with self.beat("question"):
            pass

    def encode_once(self) -> None:
        self.source = SourceSide(self.runs[0], self.text("once"))
        self.big = big = SourceStage(self.runs[0], self.source)
        lines = [big.grid.row_all(i) for i in range(big.grid.shape[0])]
        with self.beat("encoder"):
            self.play(self.answer(), run_time=theme.FADE)
            self.play(FadeIn(big.words), run_time=0.5)
            self.play(FadeIn(big.wires[0], big.block, shift=0.15 * RIGHT), run_time=0.6)
            self.play(big.wires[0].flash(theme.ENCODER), run_time=0.5)
            self.play(FadeIn(big.wires[1], big.title), run_time=theme.FADE)
            self.play(
                LaggedStart(*(FadeIn(line, shift=0.15 * RIGHT) for line in lines), lag_ratio=0.4),
                run_time=1.4,
            )

    def first_round(self) -> None:
        self.decoder = DecoderSide(self.text("self"), self.text("cross"))
        self.input = self.decoder.words(self.target[:1])
        self.slot = self.decoder.slot(self.target[:1])
        self.mask = self.decoder.mask(self.runs[0], self.rounds)
        y = self.decoder.cross.get_y()
        self.kv_wire = Wire([-3.95, y], [-2.81, y], color=theme.ENCODER)
        self.in_wire = Wire([-1.0, 1.93], [-1.0, 1.54])
        self.out_wire = Wire([0.99, 0.1], [1.5, 0.1])
        self.head = self.label("probabilities").place([OUTPUT_X, 1.28, 0], LEFT)
        with self.beat("first", {"word": self.target[0]}):
            self.put_source_aside()
            self.play(FadeIn(self.decoder), run_time=0.5)
            self.play(FadeIn(self.input, self.slot, self.in_wire, self.mask), run_time=0.6)
            self.play(self.in_wire.flash(theme.INFERENCE), run_time=0.5)
            self.play(FadeIn(self.kv_wire), run_time=0.3)
            self.predict(0)

    def put_source_aside(self) -> None:
        """Source and encoder are done with and dim; the memory stays lit."""
        home, big = self.source, self.big
        VGroup(home.words, home.block, home.wires).fade(0.5)
        self.play(
            FadeOut(big.wires, big.grid.numbers, big.grid.row_labels, rate_func=EARLY),
            Flight(big.words, home.words),
            run_time=0.6,
        )
        self.play(Flight(big.block, home.block), run_time=0.6)
        self.play(
            Flight(big.title, home.title),
            ReplacementTransform(big.grid.cells, home.cells),
            FadeIn(home.wires),
            run_time=theme.MOVE,
        )

    def predict(self, index: int) -> None:
        """Memory into the decoder, probabilities out of it."""
        bars = NextWords(self.runs[index], self.target[index + 1], pitch=0.5, width=1.95)
        bars.shift([3.2 - bars.bars.get_left()[0], 0.78 - bars.bars[0].get_y(), 0])
        self.bars = bars
        self.play(self.kv_wire.flash(theme.INK), run_time=0.6)
        if index == 0:
            self.play(FadeIn(self.out_wire, self.head), run_time=0.3)
        self.play(
            self.out_wire.flash(theme.INFERENCE),
            FadeIn(bars.labels),
            LaggedStart(*(GrowFromEdge(bar, LEFT) for bar in bars.bars), lag_ratio=0.2),
            LaggedStart(*(FadeIn(number) for number in bars.numbers), lag_ratio=0.2),
            run_time=0.9,
        )

    def choose_word(self) -> None:
        facts = self.first_choice
        variant = "agree" if facts["choice"] == facts["word"] else "differ"
        ties = len(self.standings[0].best)
        if ties > 1:
            facts, variant = {**facts, "ties": whole(ties)}, f"tied_{variant}"
        self.verdicts = [self.verdict(index) for index in range(self.rounds)]
        start = max(said.get_right()[0] for said in self.verdicts) + 0.2
        end = self.decoder.words(self.target).get_right()[0] + 0.2
        corners = [start, LECTURE_Y], [BACK_X, LECTURE_Y], [BACK_X, WORDS_Y], [end, WORDS_Y]
        self.back = Wire(*corners, color=theme.INFERENCE)
        self.back_name = self.label("append", color=theme.INFERENCE)
        self.back_name.place([(end + BACK_X) / 2, WORDS_Y + 0.27, 0])
        with self.beat("choose", facts, variant=variant):
            self.say_choice(0)
            self.play(Create(self.back), FadeIn(self.back_name), run_time=0.6)
            self.append(0)

    def verdict(self, index: int) -> VGroup:
        """What the model picks, and what the lecture goes on with."""
        found = self.standings[index]
        picked = self.label("model", {"word": found.words[found.choice]}, size=theme.HEADING)
        taken = self.label("lecture", {"word": self.target[index + 1]}, size=theme.HEADING)
        picked.place([OUTPUT_X, LECTURE_Y + 0.46, 0], LEFT)
        return VGroup(picked, taken.place([OUTPUT_X, LECTURE_Y, 0], LEFT))

    def say_choice(self, index: int) -> None:
        self.said = self.verdicts[index]
        self.play(LaggedStart(*(FadeIn(line) for line in self.said), lag_ratio=0.5), run_time=0.7)

    def append(self, index: int) -> None:
        """The word goes round to the end of the input."""
        token = self.decoder.words(self.target[: index + 2])[-1]
        self.play(self.back.flash(theme.WEIGHT), run_time=0.9)
        self.play(FadeOut(self.slot), FadeIn(token, shift=0.2 * LEFT), run_time=0.5)
        self.remove(token)
        self.input.add(token)

    def next_round(self, index: int) -> None:
        mask, old = self.decoder.mask(self.runs[index], self.rounds), self.mask
        self.slot = self.decoder.slot(self.target[: index + 1])
        self.play(FadeOut(self.bars, self.said), FadeIn(self.slot), run_time=theme.FADE)
        self.play(
            self.in_wire.flash(theme.INFERENCE),
            Flight(old[0], mask[0].inner(index)),
            FadeIn(mask[0].rest(index)),
            Flight(old[2], mask[2]),
            FadeOut(old[1]),
            FadeIn(mask[1]),
            run_time=theme.MOVE,
        )
        self.mask = mask
        self.predict(index)
        self.say_choice(index)
        self.append(index)

    def more_rounds(self) -> None:
        sizes = {
            name: Say(self.runs[1].size("decoder.mask", axis), 0)
            for axis, name in enumerate(("rows", "columns"))
        }
        with self.beat("again", {"words": joined(self.target[:2]), **sizes}):
            for index in range(1, self.rounds - 1):
                self.next_round(index)

    def last_round(self) -> None:
        with self.beat("last", {"word": self.target[-1]}):
            self.next_round(self.rounds - 1)

    def left_alone(self) -> None:
        wanted = self.sentence(self.target, 1.6, theme.WEIGHT)
        chosen = self.sentence(self.alone, -0.1, theme.INFERENCE)
        heads, signs = VGroup(), VGroup()
        for key, tokens in (("lecture_row", wanted), ("model_row", chosen)):
            head = self.label(key, size=theme.HEADING)
            heads.add(head.place([theme.LEFT_EDGE, tokens.get_y(), 0], LEFT))
        for mine, word, token in zip(self.alone, self.target, wanted, strict=False):
            sign = Phrase("=" if mine == word else "≠", size=32, bold=True)
            signs.add(sign.place([token.get_x(), 0.75, 0]))
        old = VGroup(self.source, self.decoder, self.mask, self.bars, self.said, self.head)
        old.add(self.kv_wire, self.in_wire, self.out_wire, self.back, self.back_name)
        case = left_alone(self.training, self.alone, self.target[1:])
        with self.beat("free", case.facts, variant=case.name):
            self.play(FadeOut(old), run_time=0.5)
            moves = zip(self.input, wanted, strict=True)
            self.play(*(Flight(*move) for move in moves), run_time=0.8)
            self.play(FadeIn(heads, chosen[0], signs[0]), run_time=0.5)
            for token, sign in zip(chosen[1:], signs[1:], strict=True):
                self.play(FadeIn(token, sign, shift=0.15 * RIGHT), run_time=0.5)
            cut = self.no_gradient(wanted)
        self.compared = VGroup(wanted, chosen, heads, signs, cut)

    def sentence(self, words: Sequence[str], y: float, color: ManimColor) -> VGroup:
        """Words in columns shared by both sentences."""
        width = 9.4 / len(words) - 0.2
        tokens = token_row(words, gap=0.2, width=width, color=color, height=0.84, size=30)
        return tokens.move_to([theme.RIGHT_EDGE, y, 0], RIGHT)

    def no_gradient(self, over: VGroup) -> VGroup:
        """The way back through the model, blocked."""
        left, right, y = over.get_left()[0], over.get_right()[0], -1.3
        name = self.label("gradient", size=theme.HEADING, color=theme.GRADIENT)
        name.place([theme.LEFT_EDGE, y, 0], LEFT)
        back = Wire([right, y], [left, y], color=theme.GRADIENT)
        cut = cross(0.2, width=6).move_to([(left + right) / 2, y, 0])
        frozen = self.label("frozen", size=theme.BODY).place([cut.get_x(), y - 0.55, 0])
        self.play(FadeIn(name), Create(back), run_time=0.7)
        self.play(FadeIn(cut, frozen), run_time=theme.FADE)
        return VGroup(name, back, cut, frozen)

    def kv_cache(self) -> None:
        shown = told(range(self.rounds))
        pitch = (theme.WIDTH + 0.3) / len(shown)
        tables = [self.table(index, place, pitch) for place, index in enumerate(shown)]
        name = self.label("keys", size=22).place([theme.LEFT_EDGE, 0.3, 0], LEFT)
        with self.beat("cache"):
            self.play(FadeOut(self.compared), run_time=theme.FADE)
            for table in tables:
                self.play(FadeIn(table["head"], table["mask"]), run_time=0.4)
            self.play(FadeIn(name), run_time=0.3)
            for before, table in zip([None, *tables], tables, strict=False):
                self.carry(before, table)

    def table(self, index: int, place: int, pitch: float) -> dict[str, Any]:
        run = self.runs[index]
        facts = {"n": Say(run.size("decoder.mask", 0), 0)}
        name = self.label("round", facts, size=theme.BODY, color=theme.INK)
        corner = [theme.LEFT_EDGE + 1.15 + pitch * place, 2.0]
        return table_of_round(run, name, corner, pitch - 1.65)

    def carry(self, before: dict[str, Any] | None, table: dict[str, Any]) -> None:
        """Rows of earlier words come over from the round before, those of rounds that are not
        shown with them; the new one is computed."""
        keys = table["keys"]
        if before is not None:
            known = before["keys"].shape[0]
            pairs = [(before["keys"].row_all(i), keys.row_all(i)) for i in range(known)]
            others = [FadeIn(keys.row_all(i)) for i in range(known, keys.shape[0] - 1)]
            self.play(*(Flight(old.copy(), new) for old, new in pairs), *others, run_time=0.9)
        self.play(FadeIn(keys.row_all(-1)), Create(table["new"]), run_time=0.5)

    def takeaway(self) -> None:
        with self.beat("takeaway", {"rounds": Say(self.runs[-1].size("probabilities", 0), 0)}):
            pass
        self.leave()
