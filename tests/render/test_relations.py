"""Planted faults of another kind: every number is the engine's, but it does not follow from what is
shown as its inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from manim import DOWN, FadeIn, Mobject

from render.review.arithmetic import bounds, work_out
from render.review.audit import Look, audit
from scenes import theme
from scenes.parts.attention import AttentionArrows, token_column
from scenes.parts.equation import Equation, Term
from scenes.parts.logits import OutputProjection
from scenes.parts.losses import LossTable
from scenes.parts.mixing import WeightedSum
from scenes.parts.phrase import Number, Phrase, row
from scenes.parts.plot import Plot
from scenes.parts.projection import DotProduct, Projection
from scenes.parts.score import ScoreLines
from scenes.parts.softmax import SoftmaxTable
from scenes.parts.step import Choice
from scenes.parts.strips import AddAndNorm, Strip
from scenes.parts.sublayers import SubLayers
from scenes.parts.wave import Wave
from scenes.settings import Settings
from scenes.values import Run, Values, compute, constant
from scenes.verdicts import standing_of

from .sample import Sample

LAYER = "encoder.0.self_attn"
CROSS = "decoder.1"
Build = Callable[[Run, Run], Mobject]


def names(*texts: str) -> list[Phrase]:
    return [Phrase(text) for text in texts]


def faults(build: Build, settings: Settings | None = None) -> list[str]:
    """What the audit says of relations in a scene that shows what ``build`` makes of the training
    pass and the second step of inference."""

    class AttentionScores(Sample):
        def middle(self) -> None:
            self.play(FadeIn(build(self.training, self.inference(2))))

    found = audit(AttentionScores, settings or Settings("zh"), Look(pictures=False))
    return [fault.what for fault in found if fault.kind in ("relation", "equation", "arrow")]


def score(query: int = 0, key: int = 1) -> Build:
    def build(run: Run, _: Run) -> Mobject:
        q, k = run[f"{LAYER}.q"][0, query], run[f"{LAYER}.k"][0, key]
        dot, scaled = run[f"{LAYER}.dot"][0, 0, 1], run[f"{LAYER}.scores"][0, 0, 1]
        return ScoreLines(q, k, dot, scaled, run.size(f"{LAYER}.q", -1), names("a", "b"))

    return build


def scaled_twice(run: Run, _: Run) -> Mobject:
    q, k = run[f"{LAYER}.q"][0, 0], run[f"{LAYER}.k"][0, 1]
    scaled = run[f"{LAYER}.scores"][0, 0, 1]
    return ScoreLines(q, k, scaled, scaled, run.size(f"{LAYER}.q", -1), names("a", "b"))


def loss(at: int = 0, of: int = 0) -> Build:
    """-ln p of a row's target, and the loss of a row."""

    def build(run: Run, _: Run) -> Mobject:
        goal = run.vocabulary.index(run.goals[of])
        p = run["probabilities"][at, goal]
        return Equation([Term(p, 4, function="−ln")], Term(run["loss.per_position"][of], 4))

    return build


def softmax(exp: int = 0, weights: int = 0, head: int = 0) -> Build:
    def build(run: Run, _: Run) -> Mobject:
        return SoftmaxTable(
            run[f"{LAYER}.scores"][0, 0],
            run[f"{LAYER}.exp"][0, exp],
            run[f"{LAYER}.weights"][head, weights],
            run.source,
            names("a", "b", "c"),
        )

    return build


def projection(token: int = 0, transposed: bool = False, result: str = "q") -> Build:
    def build(run: Run, _: Run) -> Mobject:
        matrix = run.weight("encoder.0.self_attn.q_proj.weight")
        rows = [[matrix[d, i] if transposed else matrix[i, d] for d in range(4)] for i in range(2)]
        return Projection(
            list(run["encoder.input"][0]),
            rows,
            list(run[f"{LAYER}.{result}"][0, token]),
            left=-6,
            top=2,
            cell=(1.2, 0.6),
            result=(1, 1.5),
        )

    return build


def dot_product(right: str = "k") -> Build:
    def build(run: Run, _: Run) -> Mobject:
        left = [Term(number, 4) for number in run[f"{LAYER}.q"][0, 0]]
        other = [Term(number, 4) for number in run[f"{LAYER}.{right}"][0, 1]]
        result = Term(run[f"{LAYER}.dot"][0, 0, 1], 4)
        options: dict[str, Any] = {"sign_x": -6, "result_x": 5, "result_width": 1.5}
        return DotProduct(left, other, result, xs=(-4, -1), ys=(0, -1), **options)

    return build


def mixing(head: int = 0, query: int = 0) -> Build:
    def build(run: Run, _: Run) -> Mobject:
        return WeightedSum(
            run[f"{LAYER}.weights"][head, query],
            run[f"{LAYER}.v"][0],
            run[f"{LAYER}.heads"][0, 0],
            run.source,
            names("a", "b", "c"),
        )

    return build


def logits(of: int = 0) -> Build:
    def build(run: Run, _: Run) -> Mobject:
        vector = run["decoder.1.norm3.output"][0]
        weights = run.weight("output_projection.weight")
        return OutputProjection(vector, weights, run["logits"][of], "x", run.vocabulary, 1)

    return build


def losses(shift: int = 0, choice: int | None = None) -> Build:
    def build(run: Run, _: Run) -> Mobject:
        rows = range(len(run.goals))
        standings = [
            standing_of(
                run.vocabulary.index(run.goals[i]),
                run["logits"][i],
                run["probabilities"][i],
                run.vocabulary,
            )
            for i in rows
        ]
        values = run["loss.per_position"]
        if shift:
            values = Values("training", values.name, values.array[[1, 0, 2, 3]])
        return LossTable(standings, values, [None] * len(rows), names("a", "b", "c", "d"))

    return build


def choice(row_: int = -1, chosen: str = "largest", p_of: int = -1, other: bool = False) -> Build:
    def build(training: Run, inference: Run) -> Mobject:
        z, p = inference["logits"][row_], (training if other else inference)["probabilities"][p_of]
        place = (z.argmax() if chosen == "largest" else z.argmin())[0]
        words = sorted({0, 1, place})
        options: dict[str, Any] = {"choice": place, "wanted": None, "full": 1.0}
        return Choice(inference.vocabulary, z, p, words, heads=names("a", "b"), **options)

    return build


def residual(change: str = "self_attn.output", total: str = "add1", normed: str = "norm1") -> Build:
    def build(run: Run, _: Run) -> Mobject:
        values = "input", f"0.{change}", f"0.{total}", f"0.{normed}.output"
        strips = [
            Strip(run[f"encoder.{name}"][0], Phrase("x"), line) for line, name in enumerate(values)
        ]
        return AddAndNorm(*strips, names("m", "v"))

    return build


def layer(*parts: str) -> Build:
    """The sub-layers of the decoder's last layer, as its outputs and norms are told."""

    def build(run: Run, _: Run) -> Mobject:
        told = ["decoder.0.norm2.output", *(f"{CROSS}.{part}" for part in parts)]
        values = [run[name][0] for name in told]
        captions, residuals = names(*"abcdefg"[: len(told)]), names(*"xyz"[: len(told) // 2])
        return SubLayers(values, captions, residuals)

    return build


ATTENTION = ("self_attn.output", "norm1.output")
WHOLE = (*ATTENTION, "cross_attn.output", "norm2.output", "ffn.output", "norm3.output")


def line(*terms: str, sign: str = "≈", result: str = "weights") -> Build:
    """A sum that a scene writes itself: scores added up to something else."""

    def build(run: Run, _: Run) -> Mobject:
        found = run[f"{LAYER}.{result}"][0, 0]
        numbers = [Number(found[j], 2) for j in (0, 1)]
        total = Number(compute("add", found[0], found[1]) if not terms else found[2], 2)
        return row(numbers[0], Phrase("+"), numbers[1], Phrase(sign), total)

    return build


def arrows(shift: int = 0, width: float = 1.0) -> Build:
    """The arrows from the words that ask to the words they look at."""

    def build(run: Run, _: Run) -> Mobject:
        weights = run[f"{LAYER}.weights"][0]
        asking = token_column(run.source, -3, 1.8, 1.2, theme.QUERY)
        words = [*run.source[shift:], *run.source[:shift]]
        asked = token_column(words, 3, 1.8, 1.2, theme.KEY)
        made = AttentionArrows(weights, asking, asked)
        made.arrow_of(0, 1).arrow.set_stroke(width=width * made.arrow_of(0, 1).arrow.stroke_width)
        return made

    return build


def led_astray(run: Run, inference: Run) -> Mobject:
    made = arrows()(run, inference)
    made.asked.arrange(DOWN, buff=0.2)
    return made


def wave(exchanged: bool = False, dimension: int = 0) -> Build:
    def build(run: Run, _: Run) -> Mobject:
        made = Wave(run["positional"], dimension, run.size("positional", 1))
        if exchanged:
            made.function = {"sin": "cos", "cos": "sin"}[made.function]
        return made.curve(Plot(6.0, 4.0, 1.4, ticks=[constant(1)]))

    return build


TRUE: dict[str, Build] = {
    "a score": score(),
    "a loss": loss(),
    "softmax": softmax(),
    "a projection": projection(),
    "a dot product": dot_product(),
    "a weighted sum": mixing(),
    "logits": logits(),
    "losses": losses(),
    "a choice": choice(),
    "a residual": residual(),
    "a layer": layer(*WHOLE),
    "a line": line(),
    "arrows": arrows(),
    "a wave": wave(),
    "another wave": wave(dimension=3),
}

FALSE: dict[str, Build] = {
    "the key of another word": score(key=2),
    "the query of another word": score(query=3),
    "scaled before the scaling": scaled_twice,
    "the probability of the next row": loss(at=1),
    "the loss of the next row": loss(of=1, at=0),
    "exponentials of the next row": softmax(exp=1),
    "weights of the next row": softmax(weights=1),
    "weights of the other head": softmax(head=1),
    "the query of the next word": projection(token=1),
    "rows and columns of the weights exchanged": projection(transposed=True),
    "keys as the outcome of W_Q": projection(result="k"),
    "values in place of keys": dot_product("v"),
    "weights of the other head times values": mixing(head=1),
    "weights of another query times values": mixing(query=2),
    "logits of another row": logits(of=1),
    "losses of the rows exchanged": losses(shift=1),
    "the least likely word as chosen": choice(chosen="smallest"),
    "probabilities of the row before": choice(p_of=0),
    "probabilities that were right before the prefix changed": choice(other=True),
    "the residual of another sub-layer": residual(change="ffn.output"),
    "the sum after another sub-layer": residual(total="add2"),
    "the norm of another sum": residual(normed="norm2"),
    "a norm told as the one before it": layer(*ATTENTION, "cross_attn.output", "norm1.output"),
    "the last norm taken one early": layer(*WHOLE[:-1], "norm2.output"),
    "a sub-layer passed over": layer(*ATTENTION, "ffn.output", "norm3.output"),
    "arrows shifted by one": arrows(shift=1),
    "an arrow wider than its weight": arrows(width=1.4),
    "arrows that do not reach their words": led_astray,
    "sine and cosine exchanged": wave(exchanged=True),
    "a line that no rounding explains": line("wrong"),
}


@pytest.mark.parametrize("build", TRUE.values(), ids=TRUE)
def test_what_is_true_passes(build: Build) -> None:
    assert faults(build) == []


@pytest.mark.parametrize("build", FALSE.values(), ids=FALSE)
def test_a_result_that_does_not_follow_is_named(build: Build) -> None:
    assert faults(build)


def test_what_rounding_can_explain() -> None:
    assert [float(end) for end in bounds("0.5 × 2 + 1.00")] == [1.895, 2.105]
    assert bounds("1 ÷ 0.0")[1].is_infinite()
    for whole in ("1 + 2 × 3 − 4 ÷ 2", "2 ÷ √4", "1 − (−2)"):
        assert bounds(whole) == (work_out(whole), work_out(whole))
