"""Single operations against values worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from engine import ops


def test_positional_encoding_by_its_formula() -> None:
    table = ops.positional_encoding(5, 6)
    for position in range(5):
        for column in range(6):
            angle = position / 10000 ** (2 * (column // 2) / 6)
            wave = math.cos(angle) if column % 2 else math.sin(angle)
            assert math.isclose(table[position, column], wave, abs_tol=1e-15)


def test_embedding_of_a_repeated_word_collects_its_gradients() -> None:
    dy = np.array([[1.0, 2.0], [10.0, 20.0], [100.0, 200.0]])
    table = ops.embed_backward(dy, np.array([2, 0, 2]), 4)
    assert table.tolist() == [[10.0, 20.0], [0.0, 0.0], [101.0, 202.0], [0.0, 0.0]]


def test_heads_own_neighbouring_columns() -> None:
    x = np.arange(12.0).reshape(2, 6)
    heads = ops.split_heads(x, 3)
    assert heads.tolist() == [
        [[0.0, 1.0], [6.0, 7.0]],
        [[2.0, 3.0], [8.0, 9.0]],
        [[4.0, 5.0], [10.0, 11.0]],
    ]
    assert ops.merge_heads(heads).tolist() == x.tolist()


def test_causal_mask() -> None:
    m = ops.MASK_VALUE
    assert m == -1e9
    assert ops.causal_mask(3).tolist() == [[0.0, m, m], [0.0, 0.0, m], [0.0, 0.0, 0.0]]


def test_relu_has_no_gradient_at_zero() -> None:
    x = np.array([-1.0, 0.0, 2.0])
    assert ops.relu(x).tolist() == [0.0, 0.0, 2.0]
    assert ops.relu_backward(np.ones(3), x).tolist() == [0.0, 0.0, 1.0]


def test_layer_norm_of_equal_numbers_is_zero() -> None:
    mean, variance, output = ops.layer_norm(np.full((1, 4), 7.0), 1e-5)
    assert (mean.tolist(), variance.tolist()) == ([7.0], [0.0])
    assert output.tolist() == [[0.0, 0.0, 0.0, 0.0]]


def test_softmax_of_far_apart_scores() -> None:
    weights = ops.normalise(ops.exponentials(np.array([[1e300, -1e300], [5.0, 5.0]])))
    assert weights.tolist() == [[1.0, 0.0], [0.5, 0.5]]


def test_cross_entropy_where_the_probability_is_zero_in_floats() -> None:
    assert ops.cross_entropy(np.array([[0.0, 5000.0]]), np.array([0])).tolist() == [5000.0]


def test_positional_encoding_in_halves() -> None:
    for width, sines in ((6, 3), (5, 3)):
        table = ops.positional_encoding(4, width, halves=True)
        for position in range(4):
            for column in range(width):
                pair = column if column < sines else column - sines
                angle = position / 10000 ** (2 * pair / width)
                wave = math.sin(angle) if column < sines else math.cos(angle)
                assert math.isclose(table[position, column], wave, abs_tol=1e-15)


def test_activations_at_one() -> None:
    """Values as they are printed in the papers' implementations."""
    one = np.array([[1.0, -1.0]])
    wanted = {
        "relu": [1.0, 0.0],
        "gelu": [0.8413447460685429, -0.15865525393145707],
        "gelu_tanh": [0.8411919906082768, -0.15880800939172324],
        "silu": [0.7310585786300049, -0.2689414213699951],
    }
    assert list(ops.ACTIVATIONS) == list(wanted)
    for name, values in wanted.items():
        np.testing.assert_allclose(ops.ACTIVATIONS[name][0](one), [values], rtol=1e-14)


@pytest.mark.parametrize("name", ops.ACTIVATIONS)
def test_activations_far_from_zero(name: str) -> None:
    """As ReLU, with its gradient, and no value that is not a number."""
    activate, backward = ops.ACTIVATIONS[name]
    x = np.array([[-1e300, -50.0, 0.0, 50.0, 1e300]])
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(activate(x), [[0.0, 0.0, 0.0, 50.0, 1e300]], atol=1e-18)
        slope = backward(np.ones_like(x), x)
    np.testing.assert_allclose(slope[0, [0, 1, 3, 4]], [0.0, 0.0, 1.0, 1.0], atol=1e-18)
    assert slope[0, 2] == (0.0 if name == "relu" else 0.5)


def test_layer_norm_with_an_unbiased_deviation_and_eps_outside() -> None:
    x = np.array([[1.0, 2.0, 3.0, 4.0]])
    mean, variance, output = ops.layer_norm(x, 0.5, unbiased=True, outside=True)
    assert (mean.tolist(), variance.tolist()) == ([2.5], [5 / 3])
    np.testing.assert_allclose(output, (x - 2.5) / (math.sqrt(5 / 3) + 0.5), rtol=1e-15)
    _, _, inside = ops.layer_norm(x, 0.5, unbiased=True)
    np.testing.assert_allclose(inside, (x - 2.5) / math.sqrt(5 / 3 + 0.5), rtol=1e-15)
    _, _, biased = ops.layer_norm(x, 0.5, outside=True)
    np.testing.assert_allclose(biased, (x - 2.5) / (math.sqrt(1.25) + 0.5), rtol=1e-15)


@pytest.mark.parametrize("outside", [False, True])
def test_the_gradient_of_equal_numbers_is_that_of_dividing_by_eps(outside: bool) -> None:
    _, variance, output = ops.layer_norm(np.full((1, 3), 7.0), 0.25, outside=outside)
    dy = np.array([[1.0, 2.0, 6.0]])
    dx = ops.layer_norm_backward(dy, output, variance, 0.25, outside=outside)
    np.testing.assert_allclose(dx, (dy - 3.0) / (0.25 if outside else 0.5), rtol=1e-15)
