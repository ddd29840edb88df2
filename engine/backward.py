"""The backward pass: the forward pass in reverse, one hand-written gradient per operation.

It reads the values the forward pass left behind; the gradient of each operation stands right
below it in `ops`. Shapes: n source tokens, m target tokens, d = d_model, h heads, V words.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from engine import ops
from engine.errors import LectureError, quoted
from engine.model import SOURCE, TARGET, Text, Values, forward
from engine.ops import Array, Ids
from engine.tokenizer import encode
from engine.trace import check_finite
from engine.weights import Weights

TARGETS = ("as-printed", "shifted")


def gradients(
    weights: Weights, source: Text = SOURCE, target: Text = TARGET, targets: str = "as-printed"
) -> dict[str, Array]:
    """The gradient of the mean loss for every matrix, under its name and in its shape.

    targets: "as-printed": row i is to predict token i, which it has already seen, as in the
    tutorial; "shifted": row i is to predict token i + 1, and the last row nothing.
    Raises LectureError for other targets, unknown words, or a single token to shift.
    """
    return loss_and_gradients(weights, source, target, targets)[1]


def loss_and_gradients(
    weights: Weights, source: Text, target: Text, targets: str
) -> tuple[float, dict[str, Array]]:
    """The mean loss in nats and its gradients (see `gradients`)."""
    _, source_ids = encode(source, weights, "source")
    _, target_ids = encode(target, weights, "target")
    goals = _goals(target_ids, targets)  # (g,), g = m or m - 1
    values = forward(weights, source_ids, target_ids)
    with np.errstate(all="ignore"):
        rows = len(goals)
        loss = ops.cross_entropy(values["logits"][:rows], goals).mean()
        dlogits = np.zeros_like(values["logits"])  # (m, V)
        dlogits[:rows] = ops.cross_entropy_backward(
            np.full(rows, 1.0 / rows), values["probabilities"][:rows], goals
        )
        found = Backward(weights, values).run(dlogits)
    check_finite({**values, "loss.mean": np.asarray(loss)}, weights)
    check_finite({f"gradient of {name}": value for name, value in found.items()}, weights)
    return float(loss), found


def _goals(target_ids: Ids, targets: str) -> Ids:
    """The ids to be predicted by rows 0, 1, ...: all of them, or all but the first."""
    if targets not in TARGETS:
        raise LectureError(field="targets", expected=" or ".join(TARGETS), found=quoted(targets))
    if targets == "as-printed":
        return target_ids
    if len(target_ids) < 2:
        raise LectureError(
            where="target", field="length", expected="2 tokens or more to shift", found="1"
        )
    return target_ids[1:]


class Backward:
    """One backward pass over the values of one forward pass."""

    def __init__(self, weights: Weights, values: Values) -> None:
        self.weights = weights
        self.values = values
        self.found = {name: np.zeros_like(w) for name, w in weights.matrices.items()}
        self.dmemory: Array = np.zeros_like(values["memory"])  # (n, d)

    def run(self, dlogits: Array) -> dict[str, Array]:
        """dlogits (m, V) -> the gradient of every matrix."""
        *_, (_, _, output) = self._sublayers("decoder")
        dx = self._linear("output_projection", dlogits, output)  # (m, d)
        self._embedding("target.ids", self._stack("decoder", dx))
        self._embedding("source.ids", self._stack("encoder", self.dmemory))
        return self.found

    def _sublayers(self, side: str) -> Iterator[tuple[str, str, Array]]:
        """In forward order: each sub-layer's name, its Add & Norm's name and its input (m, d);
        at the end, with empty names, the output of the whole side."""
        x = self.values[f"{side}.input"]
        for layer, kinds in enumerate(self.weights.config.layers(side)):
            for number, kind in enumerate(kinds, start=1):
                norm = f"{side}.{layer}.norm{number}"
                yield f"{side}.{layer}.{kind}", norm, x
                x = self.values[f"{norm}.output"]
        yield "", "", x

    def _stack(self, side: str, dx: Array) -> Array:
        """Back through all layers of one side: (m, d) -> (m, d)."""
        values, eps = self.values, self.weights.config.layer_norm_eps
        *sublayers, _ = self._sublayers(side)
        for name, norm, x in reversed(sublayers):
            dadd = ops.layer_norm_backward(
                dx, values[f"{norm}.output"], values[f"{norm}.variance"], eps
            )  # (m, d)
            back = self._ffn if name.endswith("ffn") else self._attention
            dx = dadd + back(name, dadd, x)  # the residual path and the sub-layer's
        return dx

    def _ffn(self, name: str, dy: Array, x: Array) -> Array:
        """dy, x (m, d) -> dx (m, d)."""
        values = self.values
        dactivated = self._linear(f"{name}.linear2", dy, values[f"{name}.activated"])  # (m, d_ff)
        dhidden = ops.relu_backward(dactivated, values[f"{name}.hidden"])  # (m, d_ff)
        return self._linear(f"{name}.linear1", dhidden, x)

    def _attention(self, name: str, dy: Array, x: Array) -> Array:
        """dy, x (m, d) -> dx (m, d); in cross-attention also adds to dmemory (n, d)."""
        config, values = self.weights.config, self.values
        q, k, v = (values[f"{name}.{role}"] for role in "qkv")  # (h, m, d_k), 2 of (h, n, d_k)
        weights = values[f"{name}.weights"]  # (h, m, n)
        dconcat = self._linear(f"{name}.out_proj", dy, values[f"{name}.concat"])  # (m, d)
        dheads = ops.split_heads(dconcat, config.heads)  # (h, m, d_k)
        dweights, dv = ops.weighted_sum_backward(dheads, weights, v)  # (h, m, n), (h, n, d_k)
        dscores = ops.softmax_backward(dweights, weights)  # (h, m, n)
        ddot = ops.scale_backward(dscores, config.d_k)  # (h, m, n)
        dq, dk = ops.dot_products_backward(ddot, q, k)  # (h, m, d_k), (h, n, d_k)
        cross = name.endswith("cross_attn")
        context = values["memory"] if cross else x  # (n, d)
        dx = self._linear(f"{name}.q_proj", ops.merge_heads(dq), x)  # (m, d)
        dcontext = self._linear(f"{name}.k_proj", ops.merge_heads(dk), context)  # (n, d)
        dcontext = dcontext + self._linear(f"{name}.v_proj", ops.merge_heads(dv), context)
        if cross:
            self.dmemory = self.dmemory + dcontext
            return dx
        return dx + dcontext

    def _linear(self, name: str, dy: Array, x: Array) -> Array:
        """Back through a projection, keeping its gradient: dy (m, b), x (m, a) -> dx (m, a)."""
        weight = f"{name}.weight"
        dx, self.found[weight] = ops.linear_backward(dy, x, self.weights.matrices[weight])
        return dx

    def _embedding(self, ids: str, dx: Array) -> None:
        """Both sides share the table, so its gradient is the sum: dx (m, d)."""
        table = self.found["embedding.weight"]
        self.found["embedding.weight"] = table + ops.embed_backward(
            dx, self.values[ids], len(table)
        )
