"""The visual vocabulary, by its geometry."""

import numpy as np
import pytest
from manim import LEFT, RIGHT, FadeIn, Scene, Transform, VGroup, tempconfig

from engine.errors import LectureError
from scenes import theme
from scenes.parts.equation import Equation, Term
from scenes.parts.grid import Grid
from scenes.parts.header import Narration, break_template
from scenes.parts.motion import Flight, fly
from scenes.parts.phrase import Number, Phrase, Quoted, Say, row
from scenes.parts.shapes import Bars, Token
from scenes.texts import Template
from scenes.values import Values, constant


def scalar(value):
    return Values("test", "x", np.array([value]))[0]


def matrix(*rows):
    return Values("test", "x", np.array(rows, dtype=float))


def test_em_and_midline_are_those_of_the_font():
    capital = Phrase("H", size=100)
    assert capital.em == pytest.approx(100 * theme.EM, rel=1e-3)
    assert capital.height / capital.em == pytest.approx(0.733, abs=0.003)
    assert capital.midline == pytest.approx(capital.get_center()[1], abs=0.01)


def test_digits_have_one_width_and_numbers_align_at_the_point():
    one, eight = Number(scalar(1.11), 2), Number(scalar(8.88), 2)
    assert len(one) == len(eight) == 4
    for left, right in zip(one, eight, strict=True):
        assert left.get_x() - one[1].get_x() == pytest.approx(
            right.get_x() - eight[1].get_x(), abs=0.004
        )


def test_a_number_says_what_it_shows_and_where_it_is_from():
    number = Number(scalar(-0.79), 4, bracket=True)
    assert number.text == "(\u22120.7900)"
    assert number.scalar.source == ("test", "x", (0,))


def test_scaling_a_phrase_scales_its_em():
    phrase = Phrase("课 g", size=24)
    assert phrase.copy().scale(2).em == pytest.approx(2 * phrase.em)


def test_pieces_in_a_row_share_their_midline():
    line = row(Phrase("yes"), Number(scalar(0.25), 2), Phrase("课"))
    assert max(p.midline for p in line) - min(p.midline for p in line) < 1e-9


def test_numbers_in_a_sentence_stay_traceable():
    phrase = Phrase(Template("权重 {w}，<q>query</q>"), {"w": Say(scalar(0.5261), 3)})
    quoted = [part for part in phrase if isinstance(part, Quoted)]
    assert phrase.text == "权重 0.526，query"
    assert [(q.text, q.scalar.exact, len(q)) for q in quoted] == [("0.526", 0.5261, 5)]
    assert phrase[-1].get_fill_color() == theme.QUERY


def test_a_percentage_is_computed_from_its_scalar():
    say = Say(scalar(0.5261), 1, percent=True)
    assert str(say) == "52.6"
    assert say.scalar.recipe()["operation"] == "multiply"


def test_a_missing_glyph_is_refused():
    with pytest.raises(LectureError, match="glyph"):
        Phrase("好😀")


def test_a_missing_fact_is_refused():
    with pytest.raises(KeyError):
        Phrase(Template("{nothing}"))


def test_an_equation_that_adds_up_says_so():
    a, b = scalar(1.1), scalar(1.9344)
    assert Equation([Term(a, 4), "×", Term(b, 4)], Term(a * b, 4)).sign.text == "="


def test_an_equation_whose_rounded_terms_miss_is_marked():
    a, b = scalar(0.1235), scalar(0.1235)
    assert Equation([Term(a, 2), "+", Term(b, 2)], Term(a + b, 2)).sign.text == "≈"
    root = Equation(
        [Term(scalar(2.9345), 4), "÷", Term(constant(2), 0, root=True)], Term(scalar(2.0750), 4)
    )
    assert root.sign.text == "="


def test_a_grid_shows_every_value_in_its_cell():
    values = matrix([1, -2], [3, 4])
    grid = Grid.signed(values, rows=["a", "b"], columns=["c", "d"], decimals=1)
    for i in range(2):
        for j in range(2):
            number, cell = grid.number(i, j), grid.cell(i, j)
            assert number.scalar.source[2] == (i, j)
            assert cell.get_left()[0] < number.get_left()[0]
            assert number.get_right()[0] < cell.get_right()[0]
    assert grid.row_labels[1].text == "b"
    assert grid.column_labels[1].get_x() == pytest.approx(grid.cell(0, 1).get_x())


def test_a_grid_makes_long_numbers_fit():
    grid = Grid(matrix([123456.789, -1.0], [0.5, -98765.4321]), cell=(1.2, 0.6))
    for number, cell in zip(grid.numbers, grid.cells, strict=True):
        assert number.width < cell.width
        assert number.em / theme.EM >= theme.SMALLEST - 0.1


def test_cell_colours_mean_sign_and_weight():
    blue, orange = theme.signed_fill(-1, 1).to_rgb(), theme.signed_fill(1, 1).to_rgb()
    assert blue[2] > blue[0]
    assert orange[0] > orange[2]
    assert theme.signed_fill(0, 1) == theme.PANEL
    lights = [theme.luminance(theme.weight_fill(w)) for w in (0, 0.3, 0.6, 1)]
    assert lights == sorted(lights)


def test_ink_is_readable_on_every_fill():
    for value in np.linspace(-1, 1, 41):
        fill = theme.signed_fill(value, 1)
        assert theme.contrast(theme.ink_on(fill), fill) >= 4.5
        heat = theme.weight_fill(abs(value))
        assert theme.contrast(theme.ink_on(heat), heat) >= 4.5


def test_bars_are_as_long_as_their_values():
    bars = Bars(Values("test", "x", np.array([0.2, 0.4])), ["a", "b"], width=3, full=0.4)
    assert bars.bars[1].width == pytest.approx(2 * bars.bars[0].width)
    assert bars.bars[1].width == pytest.approx(3)


def test_a_long_sentence_breaks_in_two_lines_inside_the_frame():
    text = "很长的一句话，" * 8 + "完。"
    narration = Narration(text, {}, theme.ENCODER)
    assert len(narration.lines) == 2
    assert narration.get_right()[0] <= theme.RIGHT_EDGE
    assert "".join(line.text for line in narration.lines) == text


@pytest.mark.parametrize(
    "template",
    [
        "one two three four",
        "没有标点的一句很长的话也要能断开",
        "前半句，<q>后 半 句</q>好",
        "{a} 与 {b} 相比，大",
    ],
)
def test_a_template_never_breaks_inside_a_tag_or_fact(template):
    first, second = break_template(template, {"a": "甲", "b": "乙"})
    assert (first + second).replace(" ", "") == template.replace(" ", "")
    for half in (first, second):
        Phrase(half, {"a": "甲", "b": "乙"})


def test_phrases_know_when_their_outlines_were_changed():
    old, new = Phrase("0.526"), Phrase("0.111 or so")
    assert old.is_intact()
    change = Transform(old, new)
    change.begin()
    change.finish()
    assert not old.is_intact()


def test_place_puts_edges_where_told():
    phrase = Phrase("edge")
    assert phrase.place([1, 2, 0], LEFT).get_left()[0] == pytest.approx(1)
    assert phrase.place([1, 2, 0], RIGHT).get_right()[0] == pytest.approx(1)
    assert phrase.midline == pytest.approx(2)


# -- motion ----------------------------------------------------------------------------------------


#: Of the way: the next frame shows the new text.
JUST_BEFORE = 1 - 1e-6


def halfway(flight):
    flight.begin()
    flight.interpolate(0.5)
    return flight.mobject


def test_a_text_in_flight_keeps_its_letters_and_gets_the_size_and_colour_of_its_goal():
    old = Number(scalar(0.20227), 4, size=40)
    new = Number(scalar(0.20227), 3, size=20, color=theme.WEIGHT).shift(3 * RIGHT)
    em = old.em
    flight = Flight(old, new, rate_func=lambda alpha: alpha)
    assert halfway(flight).text == "0.2023"
    assert old[0].get_fill_color() == theme.INK
    assert old.is_intact()
    assert old.em == pytest.approx((em + new.em) / 2)
    flight.interpolate(JUST_BEFORE)
    assert old.is_intact()
    assert old.em == pytest.approx(new.em, rel=0.01)
    assert np.allclose(old[0].get_fill_color().to_rgb(), theme.WEIGHT.to_rgb(), atol=0.01)
    flight.interpolate(1)
    assert [glyph.points.tolist() for glyph in old] == [glyph.points.tolist() for glyph in new]


@pytest.mark.parametrize(
    ("value", "old", "new"),
    [
        (0.20227, {"decimals": 4}, {"decimals": 3}),
        (-0.5, {"decimals": 1, "bracket": True}, {"decimals": 4}),
        (2.075, {"decimals": 4}, {"decimals": 4, "signed": True}),
        (9.996, {"decimals": 3}, {"decimals": 0, "bold": True}),
    ],
)
def test_where_a_number_lands_its_last_digit_before_the_point_lies_on_the_new_one(value, old, new):
    one, other = Number(scalar(value), **old), Number(scalar(value), **new).shift([3, 1, 0])
    flight = Flight(one, other)
    flight.begin()
    flight.interpolate(JUST_BEFORE)
    units = [number[len(number.text.partition(".")[0]) - 1] for number in (one, other)]
    assert units[0].get_x() == pytest.approx(units[1].get_x(), abs=0.004)
    assert one.midline == pytest.approx(other.midline, abs=0.004)


def test_a_text_that_gets_longer_lands_on_the_beginning_of_the_new_one():
    old, new = Phrase("WQ"), Phrase("WQ ≠").shift(RIGHT)
    flight = Flight(old, new)
    flight.begin()
    flight.interpolate(JUST_BEFORE)
    assert old.get_left()[0] == pytest.approx(new.get_left()[0], abs=0.004)


def test_matrices_fly_with_all_their_texts_and_are_exchanged_on_landing(tmp_path):
    old = Grid.signed(matrix([0.5, -0.25], [1, 2]), rows=["a", "b"], decimals=2)
    new = Grid.signed(matrix([0.5, -0.25], [1, 2]), rows=["a", "b"], decimals=4).shift(RIGHT)
    flight = Flight(old, new)
    halfway(flight)
    assert [number.text for number in old.numbers] == ["0.50", "\u22120.25", "1.00", "2.00"]
    assert all(text.is_intact() for text in (*old.numbers, *old.row_labels))
    with tempconfig({"media_dir": str(tmp_path), "dry_run": True}):
        scene = Scene()
        scene.add(old)
        flight.finish()
        flight.clean_up_from_scene(scene)
    assert scene.mobjects == [new]


def test_texts_that_cannot_be_paired_are_refused():
    with pytest.raises(ValueError, match="not built alike"):
        Flight(Token("课"), Phrase("课"))
    with pytest.raises(ValueError, match="not built alike"):
        Flight(VGroup(Phrase("a"), Phrase("b")), VGroup(Phrase("a")))


def test_what_comes_from_a_parent_flies_if_it_says_the_same_and_fades_in_otherwise():
    score = Number(scalar(0.7), 2)
    assert isinstance(fly(score, Number(scalar(0.7), 4)), Flight)
    assert isinstance(fly(Phrase("课"), Phrase("课", bold=True)), Flight)
    assert isinstance(fly(score, Number(scalar(2.01), 2)), FadeIn)
    assert isinstance(fly(Token("课"), score), FadeIn)
