"""The operations of the Transformer as pure functions, each with its gradient right below it.

Shapes: n rows (tokens), d = d_model, h heads, k = d_k, V words. `dy` is the gradient of the loss
with respect to an operation's result. A leading "..." means any number of leading axes.
Everything is float64 and dimensionless, except losses, which are in nats.
Formulas: Vaswani et al. 2017, "Attention Is All You Need", sections 3.1 to 3.5; layer
normalisation: Ba, Kiros and Hinton 2016.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ids = NDArray[np.int64]

MASK_VALUE = -1e9  # what the causal mask adds where looking is forbidden


def embed(ids: Ids, table: Array) -> Array:
    """Token lookup: ids (..., n), table (V, d) -> (..., n, d)."""
    rows: Array = table[ids]
    return rows


def embed_backward(dy: Array, ids: Ids, vocabulary_size: int) -> Array:
    """dy (..., n, d), ids (..., n) -> (V, d); a word that occurs twice collects both rows."""
    dtable: Array = np.zeros((vocabulary_size, dy.shape[-1]))
    np.add.at(dtable, ids.ravel(), rows_of(dy))
    return dtable


def positional_encoding(length: int, d_model: int, halves: bool = False) -> Array:
    """Sinusoids (length, d): pair i of columns is a sine and a cosine of wavelength
    2 pi 10000^(2i/d). Pairs stand side by side, or, in `halves`, all sines before all cosines.
    A constant of the model, so it has no gradient."""
    column = np.arange(d_model)  # (d,)
    if halves:
        sines = (d_model + 1) // 2
        wave = column >= sines  # (d,), where a cosine stands
        pair = np.where(wave, column - sines, column)  # (d,)
    else:
        wave, pair = column % 2 != 0, column // 2
    rate = 10000.0 ** (2 * pair / d_model)  # (d,)
    angle = np.arange(length)[:, np.newaxis] / rate  # (length, d)
    return np.where(wave, np.cos(angle), np.sin(angle))


def linear(x: Array, weight: Array) -> Array:
    """Projection without bias: x (..., n, a), weight (b, a) -> (..., n, b)."""
    y: Array = x @ weight.T
    return y


def linear_backward(dy: Array, x: Array, weight: Array) -> tuple[Array, Array]:
    """dy (..., n, b), x (..., n, a), weight (b, a) -> dx (..., n, a), dweight (b, a)."""
    return dy @ weight, rows_of(dy).T @ rows_of(x)


def rows_of(x: Array) -> Array:
    """(..., n, a) -> (N, a): all rows of all sentences."""
    return x.reshape(-1, x.shape[-1])


def split_heads(x: Array, heads: int) -> Array:
    """(..., n, h * k) -> (..., h, n, k): head i owns columns i * k to (i + 1) * k."""
    return x.reshape(*x.shape[:-1], heads, -1).swapaxes(-3, -2)


def merge_heads(x: Array) -> Array:
    """(..., h, n, k) -> (..., n, h * k), the inverse of `split_heads`; each is the other's
    gradient."""
    return x.swapaxes(-3, -2).reshape(*x.shape[:-3], x.shape[-2], -1)


def dot_products(q: Array, k: Array) -> Array:
    """Every query with every key: q (..., m, k), k (..., n, k) -> (..., m, n)."""
    products: Array = q @ k.swapaxes(-1, -2)
    return products


def dot_products_backward(dy: Array, q: Array, k: Array) -> tuple[Array, Array]:
    """dy (..., m, n) -> dq (..., m, k), dk (..., n, k)."""
    return dy @ k, dy.swapaxes(-1, -2) @ q


def scale(dot: Array, d_k: int) -> Array:
    """dot (..., m, n) / sqrt(d_k), so that the spread does not grow with d_k."""
    return dot / math.sqrt(d_k)


def scale_backward(dy: Array, d_k: int) -> Array:
    """dy (..., m, n) -> (..., m, n)."""
    return dy / math.sqrt(d_k)


def causal_mask(length: int) -> Array:
    """(length, length): 0 on and below the diagonal, MASK_VALUE above it. A constant; adding it
    passes gradients on unchanged."""
    return np.triu(np.full((length, length), MASK_VALUE), 1)


def exponentials(scores: Array, mask: Array | None = None) -> Array:
    """exp(score - row maximum), (..., m, n). Where the mask is negative the result is exactly
    0 and the entry has no say in the maximum, however large the scores are."""
    if mask is None:
        exp: Array = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return exp
    allowed = mask == 0.0  # (m, n), or what broadcasts to the scores
    top = np.where(allowed, scores, -np.inf).max(axis=-1, keepdims=True)
    return np.where(allowed, np.exp(np.where(allowed, scores - top, 0.0)), 0.0)


def normalise(exp: Array) -> Array:
    """Rows (..., m, n) divided by their sums: with `exponentials`, the softmax."""
    shares: Array = exp / exp.sum(axis=-1, keepdims=True)
    return shares


def softmax_backward(dy: Array, weights: Array) -> Array:
    """Through normalise and exponentials at once: dy, weights (..., m, n) -> (..., m, n).
    Where a weight is 0 (masked) so is the gradient."""
    inner = (dy * weights).sum(axis=-1, keepdims=True)
    gradient: Array = weights * (dy - inner)
    return gradient


def weighted_sum(weights: Array, v: Array) -> Array:
    """weights (..., m, n), v (..., n, k) -> (..., m, k)."""
    mixed: Array = weights @ v
    return mixed


def weighted_sum_backward(dy: Array, weights: Array, v: Array) -> tuple[Array, Array]:
    """dy (..., m, k) -> dweights (..., m, n), dv (..., n, k)."""
    return dy @ v.swapaxes(-1, -2), weights.swapaxes(-1, -2) @ dy


def layer_norm(
    x: Array, eps: float, unbiased: bool = False, outside: bool = False
) -> tuple[Array, Array, Array]:
    """x (..., d) -> mean (...), variance (...), (x - mean) / divisor (..., d), without gain and
    shift. The variance is over d numbers or, unbiased, d - 1; the divisor sqrt(variance + eps) or,
    with eps outside, sqrt(variance) + eps."""
    mean: Array = x.mean(axis=-1)
    centred = x - mean[..., np.newaxis]  # (..., d)
    squares = centred * centred  # (..., d)
    variance: Array = (
        squares.sum(axis=-1) / (x.shape[-1] - 1) if unbiased else squares.mean(axis=-1)
    )
    return mean, variance, centred / _divisor(variance, eps, outside)[..., np.newaxis]


def layer_norm_backward(
    dy: Array,
    output: Array,
    variance: Array,
    eps: float,
    unbiased: bool = False,
    outside: bool = False,
) -> Array:
    """dy, output (..., d), variance (...) -> dx (..., d). Numbers that are all alike, variance 0,
    do not bend the divisor."""
    divisor = _divisor(variance, eps, outside)[..., np.newaxis]  # (..., 1)
    shift = dy.mean(axis=-1, keepdims=True)
    tilt = output * (dy * output).mean(axis=-1, keepdims=True)
    if unbiased:
        tilt *= dy.shape[-1] / (dy.shape[-1] - 1)
    if outside:  # the root alone depends on x
        root = np.sqrt(variance)[..., np.newaxis]
        tilt *= np.divide(divisor, root, out=np.zeros_like(root), where=root > 0)
    gradient: Array = (dy - shift - tilt) / divisor
    return gradient


def _divisor(variance: Array, eps: float, outside: bool) -> Array:
    return np.sqrt(variance) + eps if outside else np.sqrt(variance + eps)


def gain_and_shift(x: Array, gain: Array | None, shift: Array | None) -> Array:
    """x (..., d), gain and shift (d,) -> x * gain + shift (..., d); None: without it."""
    if gain is not None:
        x = x * gain
    return x if shift is None else x + shift


def shift_backward(dy: Array) -> Array:
    """dy (..., n, d) -> dshift (d,); a bias is a shift too."""
    total: Array = rows_of(dy).sum(axis=0)
    return total


def gain_backward(dy: Array, x: Array, gain: Array) -> tuple[Array, Array]:
    """dy, x (..., n, d), gain (d,) -> dx (..., n, d), dgain (d,)."""
    return dy * gain, rows_of(dy * x).sum(axis=0)


def relu(x: Array) -> Array:
    """max(x, 0), any shape."""
    return np.maximum(x, 0.0)


def relu_backward(dy: Array, x: Array) -> Array:
    """dy where x > 0, else 0; at exactly 0 the gradient is taken as 0."""
    return np.where(x > 0.0, dy, 0.0)


def gelu(x: Array) -> Array:
    """x times the share of a standard normal distribution below x, any shape (Hendrycks and
    Gimpel 2016)."""
    return x * _normal_share(x)


def gelu_backward(dy: Array, x: Array) -> Array:
    """Any shape."""
    density = np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
    return dy * (_normal_share(x) + x * density)


def _normal_share(x: Array) -> Array:
    halves = [0.5 * math.erfc(-value / math.sqrt(2.0)) for value in x.ravel().tolist()]
    return np.array(halves).reshape(x.shape)


def gelu_tanh(x: Array) -> Array:
    """The same, approximated: x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, any shape."""
    return 0.5 * x * (1.0 + np.tanh(_tanh_argument(x)[0]))


def gelu_tanh_backward(dy: Array, x: Array) -> Array:
    """Any shape."""
    argument, slope = _tanh_argument(x)
    tanh = np.tanh(argument)
    return dy * 0.5 * (1.0 + tanh + x * (1.0 - tanh * tanh) * slope)


def _tanh_argument(x: Array) -> tuple[Array, Array]:
    """The argument and its slope; beyond 20, where tanh is 1 to the last bit, that of 20."""
    near = np.clip(x, -20.0, 20.0)
    scale = math.sqrt(2.0 / math.pi)
    return scale * (near + 0.044715 * near**3), scale * (1.0 + 3 * 0.044715 * near**2)


def silu(x: Array) -> Array:
    """x times its logistic function, any shape (also known as swish)."""
    return x * _logistic(x)


def silu_backward(dy: Array, x: Array) -> Array:
    """Any shape."""
    share = _logistic(x)
    return dy * share * (1.0 + x * (1.0 - share))


def _logistic(x: Array) -> Array:
    small = np.exp(-np.abs(x))
    return np.where(x >= 0.0, 1.0, small) / (1.0 + small)


#: By the names of a configuration: each function with its gradient.
ACTIVATIONS: dict[str, tuple[Callable[[Array], Array], Callable[[Array, Array], Array]]] = {
    "relu": (relu, relu_backward),
    "gelu": (gelu, gelu_backward),
    "gelu_tanh": (gelu_tanh, gelu_tanh_backward),
    "silu": (silu, silu_backward),
}


def cross_entropy(logits: Array, targets: Ids) -> Array:
    """-ln p(target) in nats: logits (m, V), targets (m,) -> (m,). Taken from the logits, so that
    it is right even where p is too small for a float."""
    shifted = logits - logits.max(axis=-1, keepdims=True)  # (m, V)
    log_sum = np.log(np.exp(shifted).sum(axis=-1))  # (m,)
    losses: Array = log_sum - shifted[np.arange(len(targets)), targets]
    return losses


def cross_entropy_backward(dy: Array, probabilities: Array, targets: Ids) -> Array:
    """dy (m,), probabilities (m, V), targets (m,) -> dlogits (m, V)."""
    surplus = probabilities.copy()
    surplus[np.arange(len(targets)), targets] -= 1.0
    gradient: Array = surplus * dy[:, np.newaxis]
    return gradient
