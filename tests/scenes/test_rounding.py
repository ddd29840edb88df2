from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenes.parts.phrase import Number
from scenes.rounding import MINUS, adds_up, as_decimal, probability, rounds_to, shown
from scenes.values import Scalar

finite = st.floats(-1e6, 1e6, allow_nan=False)


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0.5261, 3, "0.526"),
        (-0.79, 2, f"{MINUS}0.79"),
        (-0.0004, 3, "0.000"),
        (0.0, 1, "0.0"),
        (2.5, 0, "2"),
        (-1e9, 0, f"{MINUS}1000000000"),
    ],
)
def test_numbers_are_written_with_a_true_minus_and_no_negative_zero(value, decimals, text):
    assert shown(value, decimals) == text


def test_a_sign_is_shown_on_request_but_never_on_zero():
    assert shown(1.5, 1, signed=True) == "+1.5"
    assert shown(0.0, 1, signed=True) == "0.0"
    assert shown(0.04, 1, signed=True) == "0.0"


@given(finite, st.integers(0, 6))
def test_what_is_shown_is_within_half_a_digit(value, decimals):
    error = abs(as_decimal(shown(value, decimals)) - Decimal(value))
    assert error * 2 <= Decimal(1).scaleb(-decimals)


@given(finite, st.integers(0, 4))
def test_a_value_rounds_to_what_is_shown_of_it(value, decimals):
    assert rounds_to(Decimal(value), shown(value, decimals))


def test_sums_of_shown_digits():
    assert adds_up(["2.1278", "0.8067"], "2.9345")
    assert not adds_up(["0.526", "0.202"], "0.727")
    assert rounds_to(Decimal("0.125"), "0.12")
    assert rounds_to(Decimal("0.125"), "0.13")
    assert not rounds_to(Decimal("0.1251"), "0.12")


@pytest.mark.parametrize(
    ("value", "decimals", "said"),
    [
        (0.25, 4, "0.2500"),
        (0.00005, 4, "0.0001"),
        (0.00004, 4, "< 0.0001"),
        (1e-300, 3, "< 0.001"),
        (0.0, 4, "0"),
        (1.0, 4, "1.0000"),
    ],
)
def test_a_probability_that_shows_no_digit_is_a_bound(value, decimals, said):
    assert probability(value, decimals) == said


def test_a_bound_is_kept_or_not():
    assert rounds_to(Decimal("0.00003"), "< 0.0001")
    assert not rounds_to(Decimal("0.4"), "< 0.0001")
    assert as_decimal("< 0.0001") == 0


def test_only_probabilities_are_written_as_bounds():
    tiny = (1e-7, ("training", "probabilities", (0, 0)))
    assert Scalar(*tiny).written(4) == "< 0.0001"
    assert Scalar(1e-7, ("training", "logits", (0, 0))).written(4) == "0.0000"
    number = Number(Scalar(*tiny), 4)
    assert number.text == "< 0.0001"
    assert number.is_intact()
