"""Single operations against values worked out by hand."""

from __future__ import annotations

import math

import numpy as np

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
