"""Faults planted by hand, each of which an audit must catch; and a clean scene."""

from __future__ import annotations

import numpy as np
import pytest
from manim import (
    DOWN,
    LEFT,
    RIGHT,
    UP,
    FadeIn,
    FadeOut,
    FadeTransform,
    MathTypst,
    ReplacementTransform,
    Succession,
    Text,
    Transform,
    TransformFromCopy,
    TransformMatchingShapes,
    VGroup,
)

from render.review.arithmetic import work_out
from render.review.audit import Look, audit
from render.review.fault import Fault
from scenes import theme
from scenes.parts.equation import Equation, Term
from scenes.parts.grid import Grid, outline
from scenes.parts.motion import Flight, fly
from scenes.parts.phrase import Number, Phrase, Say, row
from scenes.parts.shapes import Token
from scenes.settings import Settings
from scenes.texts import Template
from scenes.values import Scalar, Values, constant

from . import sample

WEIGHTS = "encoder.0.self_attn.weights"


class Sample(sample.Sample):
    def middle(self) -> None:
        weights = self.training[WEIGHTS][0]
        tokens = self.training.source
        grid = Grid.heat(
            weights, rows=tokens, columns=tokens, row_color=theme.QUERY, column_color=theme.KEY
        )
        self.play(FadeIn(grid.shift(2 * LEFT)))


def faults_of(middle=None, facts=None, settings=None) -> list[Fault]:
    """Audit the sample scene with another middle (or other facts)."""
    changes = {}
    if middle is not None:
        changes["middle"] = middle
    if facts is not None:
        changes["facts"] = facts
    planted = type("AttentionScores", (Sample,), changes)
    return audit(planted, settings or Settings("zh"))


def kinds(faults: list[Fault]) -> set[str]:
    return {fault.kind for fault in faults}


def show(*mobjects):
    """A middle that shows something for as long as the beat lasts."""

    def middle(scene) -> None:
        made = [m(scene) if callable(m) else m for m in mobjects]
        scene.play(FadeIn(*made))

    return middle


def test_the_sample_without_a_fault_passes():
    assert faults_of() == []


# -- numbers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["0.526", "权重 53%", "4 个字"])
def test_1_a_digit_typed_into_a_scene(text):
    assert kinds(faults_of(show(Phrase(text)))) == {"digits"}


def test_1_a_digit_typed_as_raw_text_a_formula_or_a_constant():
    assert "digits" in kinds(faults_of(show(Text("0.5", font=theme.FONT))))
    assert "digits" in kinds(faults_of(show(MathTypst("x = 0.53"))))
    assert "digits" in kinds(faults_of(show(Number(constant(0.53), 2))))


def test_names_and_formulas_may_have_digits():
    fine = VGroup(Phrase("Head 1 · L2 · d0"), MathTypst("sin(p / 10000^(2 i / d))"))
    assert faults_of(show(fine.arrange(RIGHT, buff=1))) == []


def test_6_a_stale_caption_number():
    def facts(scene) -> dict[str, object]:
        fresh = scene.training[WEIGHTS][0, 0, 1]
        return {"w": Say(Scalar(fresh.exact + 0.01, fresh.source))}

    def middle(scene) -> None:
        scene.play(FadeIn(Phrase(Template("{w}"), scene.facts())))

    found = faults_of(middle, facts)
    assert kinds(found) == {"number"}
    assert "0.536" in found[0].what


def test_6_a_number_left_behind_by_a_transform():
    def middle(scene) -> None:
        a, b = (Number(scene.training[WEIGHTS][0, 0, i], 3, size=40) for i in (0, 1))
        scene.play(FadeIn(a))
        scene.play(Transform(a, b))

    assert "stale" in kinds(faults_of(middle))


def test_7_a_transposed_heatmap():
    def wrong_values(scene) -> Grid:
        good = scene.training[WEIGHTS][0]
        return Grid.heat(Values(good.run, good.name, good._whole.transpose(0, 2, 1), (0,)))

    def wrong_places(scene) -> Grid:
        grid = Grid.heat(scene.training[WEIGHTS][0])
        for i in range(4):
            for j in range(i):
                a, b = grid.number(i, j), grid.number(j, i)
                a_place, b_place = a.get_center(), b.get_center()
                a.move_to(b_place)
                b.move_to(a_place)
        return grid

    assert "number" in kinds(faults_of(show(wrong_values)))
    assert "table" in kinds(faults_of(show(wrong_places)))


def test_8_swapped_axis_labels():
    def colours(scene) -> Grid:
        tokens = scene.training.source
        return Grid.heat(
            scene.training[WEIGHTS][0],
            rows=tokens,
            columns=tokens,
            row_color=theme.KEY,
            column_color=theme.QUERY,
        )

    def tokens(scene) -> Grid:
        weights = scene.training["decoder.1.cross_attn.weights"][0]
        return Grid.heat(weights, rows=scene.training.source, columns=scene.training.target)

    assert kinds(faults_of(show(colours))) == {"table"}
    assert "table" in kinds(faults_of(show(tokens)))


def test_9_a_weight_row_shown_twice():
    def middle(scene) -> None:
        grid = Grid.heat(scene.training[WEIGHTS][0], rows=scene.training.source)
        for j in range(4):
            again = Number(scene.training[WEIGHTS][0, 0, j], 3, size=theme.BODY)
            old = grid.number(1, j)
            again.move_to(old).set_color(theme.ink_on(grid.cell(1, j).get_fill_color()))
            grid.numbers.submobjects[4 + j] = again
        scene.play(FadeIn(grid))

    assert "table" in kinds(faults_of(middle))


def test_10_an_equation_that_does_not_add_up():
    def by_hand(scene) -> VGroup:
        w = scene.training[WEIGHTS][0]
        return row(
            Number(w[0, 0], 2), Phrase("+"), Number(w[0, 1], 2), Phrase("="), Number(w[0, 2], 2)
        )

    def forced(scene) -> Equation:
        w = scene.training[WEIGHTS][0]
        made = Equation([Term(w[0, 0], 3), "×", Term(w[0, 1], 3)], Term(w[0, 2], 3))
        made.sign.become(Phrase("=").move_to(made.sign))
        made.sign.text = "="
        return made

    assert "equation" in kinds(faults_of(show(by_hand)))
    assert "equation" in kinds(faults_of(show(forced)))


def test_an_equation_that_adds_up_passes():
    def fine(scene) -> Equation:
        q, k = (scene.training[f"encoder.0.self_attn.{n}"][0] for n in "qk")
        terms = [Term(q[0, 0]), "×", Term(k[1, 0]), "+", Term(q[0, 1]), "×", Term(k[1, 1])]
        dot = scene.training["encoder.0.self_attn.dot"]
        return Equation(terms, Term(dot[0, 0, 1])).center()

    assert faults_of(show(fine)) == []


def test_expressions_are_worked_out_with_their_precedence():
    assert work_out("1 + 2 × 3 − 4 ÷ 2") == 5
    assert work_out("1 − (−2)") == 3
    assert round(work_out("2 ÷ √ 2"), 4) == round(work_out("√2"), 4)
    assert work_out("1 ÷ 0").is_infinite()


def test_a_softmax_row_that_does_not_sum_to_one():
    def middle(scene) -> None:
        numbers = [Number(scene.training[WEIGHTS][0, 0, j], 3) for j in range(4)]
        numbers[2].text = "0.164"
        scene.play(FadeIn(row(*numbers)))

    assert "softmax" in kinds(faults_of(middle))


# -- layout ----------------------------------------------------------------------------------------


def test_2_a_label_off_the_frame():
    assert kinds(faults_of(show(Phrase("出界").move_to([7.0, 0, 0])))) == {"margin"}
    assert kinds(faults_of(show(Phrase("太低").move_to([0, -3.4, 0])))) == {"margin"}


def test_3_two_texts_overlapping():
    pair = VGroup(Phrase("第一句"), Phrase("第二句").shift(0.3 * RIGHT))
    assert kinds(faults_of(show(pair))) == {"overlap"}


def test_3_a_line_through_a_text():
    label = Phrase("穿过")
    box = outline(VGroup(Phrase("别处").shift(0.05 * UP + 0.3 * RIGHT)))
    assert "line" in kinds(faults_of(show(label, box)))


def test_4_grey_on_grey():
    grey = Phrase("看不清", color=theme.HAIRLINE)
    assert kinds(faults_of(show(grey))) == {"contrast"}
    token = Token("课", filled=True, color=theme.MUTED)
    token.label.set_color("#A0A8B4")
    assert "contrast" in kinds(faults_of(show(token)))


def test_4_text_dimmed_on_purpose_may_be_fainter_but_not_gone():
    def dimmed(opacity):
        return lambda scene: Phrase("已讲过").set_opacity(opacity)

    assert faults_of(show(dimmed(0.6))) == []
    assert kinds(faults_of(show(dimmed(0.15)))) == {"contrast"}


def test_5_a_missing_glyph():
    assert "glyph" in kinds(faults_of(show(Text("好😀", font=theme.FONT))))


def test_text_that_is_too_small():
    assert kinds(faults_of(show(Phrase("小字", size=15)))) == {"size"}


def test_11_a_text_shown_for_a_third_of_a_second():
    def middle(scene) -> None:
        flash = Phrase("一闪而过")
        scene.play(FadeIn(flash), run_time=0.2)
        scene.play(FadeOut(flash), run_time=0.1)

    assert kinds(faults_of(middle)) == {"time"}


def test_a_fault_has_its_beat_time_and_place_and_a_picture(tmp_path):
    planted = type(
        "AttentionScores", (Sample,), {"middle": show(Phrase("出界").move_to([7.0, 0, 0]))}
    )
    (fault,) = audit(planted, Settings("zh"), Look(folder=tmp_path))
    assert fault.beat == "vectors"
    assert fault.time > 4
    assert fault.box is not None and fault.box[2] > theme.RIGHT_EDGE
    (picture,) = tmp_path.iterdir()
    from PIL import Image

    pixels = np.asarray(Image.open(picture).convert("RGB")).reshape(-1, 3)
    assert (pixels == [255, 59, 59]).all(axis=1).any()


# -- on the way ------------------------------------------------------------------------------------


def moving(move, old=None, new=None):
    """A middle in which ``old`` is shown and ``move(old, new)`` is played; four decimals that
    become three unless told otherwise."""

    def middle(scene) -> None:
        value = scene.training[WEIGHTS][0, 0, 1]
        one = old or Number(value, 4, size=40).shift(2 * LEFT)
        other = new or Number(value, 3, size=32).shift(2 * RIGHT)
        scene.play(FadeIn(one))
        scene.play(move(one, other))

    return middle


MELTING = {
    "replaced": ReplacementTransform,
    "from a copy": TransformFromCopy,
    "cross-faded on the way": FadeTransform,
    "glyph by glyph": TransformMatchingShapes,
    "become": lambda old, new: old.animate.become(new),
    "in a group": lambda old, new: ReplacementTransform(VGroup(VGroup(old)), VGroup(VGroup(new))),
    "for an instant": lambda old, new: Succession(
        old.animate(run_time=3).shift(UP), ReplacementTransform(old, new, run_time=0.1)
    ),
    "out of a shape": lambda old, new: ReplacementTransform(outline(VGroup(old)), new),
}


@pytest.mark.parametrize("move", MELTING.values(), ids=MELTING)
def test_12_a_number_that_melts_into_another_string(move):
    assert "morph" in kinds(faults_of(moving(move)))


def test_12_other_words_formulas_and_raw_texts_that_melt():
    for old, new in (
        (Phrase("注意力"), Phrase("前馈")),
        (MathTypst("x"), MathTypst("y + x")),
        (Text("一", font=theme.FONT), Text("二", font=theme.FONT)),
    ):
        middle = moving(ReplacementTransform, old.shift(2 * LEFT), new.shift(2 * RIGHT))
        assert "morph" in kinds(faults_of(middle))


def test_12_a_text_bent_into_bold_or_squeezed():
    bold = moving(ReplacementTransform, Phrase("课"), Phrase("课", bold=True).shift(DOWN))
    squeezed = moving(lambda old, new: old.animate.stretch(0.5, 0))
    for middle in (bold, squeezed):
        (fault,) = (f for f in faults_of(middle) if f.kind == "morph")
        assert "out of shape" in fault.what


def test_texts_that_move_and_are_exchanged_where_they_land_pass():
    for move in (
        Flight,
        fly,
        lambda old, new: Flight(VGroup(old), VGroup(new)),
        lambda old, new: Succession(old.animate.shift(UP), Flight(old, new)),
        lambda old, new: old.animate.scale(1.2).move_to(new).set_color(theme.WEIGHT),
        lambda old, new: FadeOut(old, target_position=new, scale=0.8),
    ):
        assert [f for f in faults_of(moving(move)) if f.kind == "morph"] == []
