"""The backward pass: the forward pass in reverse, one hand-written gradient per operation.

It reads the values the forward pass left behind; the gradient of each operation stands right
below it in `ops`. Shapes: n source tokens, m target tokens, d = d_model, h heads, V words.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from engine import ops
from engine.errors import LectureError, quoted
from engine.model import SOURCE, TARGET, Text, Values, forward
from engine.ops import Array
from engine.tokenizer import encode, teach
from engine.trace import check_finite
from engine.weights import OBJECTIVES, Weights

#: Other names of the objectives: targets as the tutorial prints them, or shifted by one.
TARGETS = {"as-printed": "copy", "shifted": "next"}


def gradients(
    weights: Weights, source: Text = SOURCE, target: Text = TARGET, targets: str | None = None
) -> dict[str, Array]:
    """The gradient of the mean loss for every array, under its name and in its shape.

    targets: "copy" (or "as-printed"): row i is to write token i, which it has already read, as in
    the tutorial; "next" (or "shifted"): row i is to write the token that follows; by default the
    model's own objective. Raises LectureError for other targets, unknown words, or a single token
    to shift.
    """
    return loss_and_gradients(weights, source, target, targets)[1]


def loss_and_gradients(
    weights: Weights, source: Text, target: Text, targets: str | None = None
) -> tuple[float, dict[str, Array]]:
    """The mean loss in nats and its gradients (see `gradients`)."""
    _, source_ids = encode(source, weights, "source")
    teaching = teach(target, weights, objective_of(targets))
    goals, rows = teaching.goal_ids, len(teaching.goals)  # (g,)
    values = forward(weights, source_ids, teaching.read_ids)
    with np.errstate(all="ignore"):
        loss = ops.cross_entropy(values["logits"][:rows], goals).mean()
        dlogits = np.zeros_like(values["logits"])  # (m, V)
        dlogits[:rows] = ops.cross_entropy_backward(
            np.full(rows, 1.0 / rows), values["probabilities"][:rows], goals
        )
        found = Backward(weights, values).run(dlogits)
    check_finite({**values, "loss.mean": np.asarray(loss)}, weights)
    check_finite({f"gradient of {name}": value for name, value in found.items()}, weights)
    return float(loss), found


def objective_of(targets: str | None) -> str | None:
    """The objective that `targets` names, None for the model's own. Raises LectureError."""
    objective = TARGETS.get(targets or "", targets)
    if objective is not None and objective not in OBJECTIVES:
        names = [*OBJECTIVES, *TARGETS]
        expected = f"{', '.join(names[:-1])} or {names[-1]}"
        raise LectureError(field="targets", expected=expected, found=quoted(targets))
    return objective


class Backward:
    """One backward pass over the values of one forward pass, of a sentence pair or a batch.
    `more`: by sub-layer, what is added to the gradient of its scores, (..., h, m, n)."""

    def __init__(
        self, weights: Weights, values: Values, more: Mapping[str, Array] | None = None
    ) -> None:
        self.weights = weights
        self.values = values
        self.more = more or {}
        self.found = {name: np.zeros_like(w) for name, w in weights.matrices.items()}
        self.dmemory: Array = np.zeros_like(values["memory"])  # (n, d)

    def run(self, dlogits: Array) -> dict[str, Array]:
        """dlogits (m, V) -> the gradient of every array."""
        matrix, bias = self.weights.output(), "output_projection.bias"
        output = self._outcome("decoder")  # (m, d)
        dx, self.found[matrix] = ops.linear_backward(dlogits, output, self.weights.matrices[matrix])
        if bias in self.found:
            self.found[bias] = ops.shift_backward(dlogits)
        self._input("target", self._stack("decoder", dx))
        self._input("source", self._stack("encoder", self.dmemory))
        return self.found

    def _sublayers(self, side: str) -> Iterator[tuple[str, str, Array]]:
        """In forward order: each sub-layer's name, its norm's name and the sub-layer's input
        (m, d)."""
        x = self.values[f"{side}.input"]
        pre = self.weights.config.norm.place == "pre"
        for layer, kinds in enumerate(self.weights.config.layers(side)):
            for number, kind in enumerate(kinds, start=1):
                norm = f"{side}.{layer}.norm{number}"
                output = self.values[f"{norm}.output"]
                yield f"{side}.{layer}.{kind}", norm, output if pre else x
                x = output

    def _outcome(self, side: str) -> Array:
        """What a whole side gives: (m, d)."""
        config, values = self.weights.config, self.values
        if config.setting(f"final_norm.{side}"):
            return values[f"{side}.norm.output"]
        layers = config.layers(side)
        if not layers:
            return values[f"{side}.input"]
        last = f"{side}.{len(layers) - 1}"
        number = len(layers[-1])
        pre = config.norm.place == "pre"
        return values[f"{last}.add{number}" if pre else f"{last}.norm{number}.output"]

    def _stack(self, side: str, dx: Array) -> Array:
        """Back through all layers of one side: (m, d) -> (m, d)."""
        config = self.weights.config
        if config.setting(f"final_norm.{side}"):
            dx = self._norm(f"{side}.norm", dx)
        for name, norm, x in reversed(list(self._sublayers(side))):
            back = self._ffn if name.endswith("ffn") else self._attention
            if config.norm.place == "pre":
                dx = dx + self._norm(norm, back(name, dx, x))
            else:
                dadd = self._norm(norm, dx)  # (m, d)
                dx = dadd + back(name, dadd, x)  # the residual path and the sub-layer's
        return dx

    def _norm(self, name: str, dy: Array) -> Array:
        """dy (m, d) -> dx (m, d)."""
        norm, values, matrices = self.weights.config.norm, self.values, self.weights.matrices
        gain, shift = f"{name}.weight", f"{name}.bias"
        normalised = values.get(f"{name}.normalised", values[f"{name}.output"])  # (m, d)
        if shift in self.found:
            self.found[shift] = ops.shift_backward(dy)
        if gain in self.found:
            dy, self.found[gain] = ops.gain_backward(dy, normalised, matrices[gain])
        outside, unbiased = norm.eps_in == "outside", norm.variance == "unbiased"
        variance = values[f"{name}.variance"]
        return ops.layer_norm_backward(dy, normalised, variance, norm.eps, unbiased, outside)

    def _ffn(self, name: str, dy: Array, x: Array) -> Array:
        """dy, x (m, d) -> dx (m, d)."""
        values = self.values
        dactivated = self._linear(f"{name}.linear2", dy, values[f"{name}.activated"])  # (m, d_ff)
        _, activation_backward = ops.ACTIVATIONS[self.weights.config.activation]
        dhidden = activation_backward(dactivated, values[f"{name}.hidden"])  # (m, d_ff)
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
        if name in self.more:
            dscores = dscores + self.more[name]
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
        """Back through a projection, keeping its gradients: dy (m, b), x (m, a) -> dx (m, a)."""
        weight, bias = f"{name}.weight", f"{name}.bias"
        dx, self.found[weight] = ops.linear_backward(dy, x, self.weights.matrices[weight])
        if bias in self.found:
            self.found[bias] = ops.shift_backward(dy)
        return dx

    def _input(self, side: str, dx: Array) -> None:
        """Back to the tables of "source" or "target", dx (m, d). What a table is used for twice,
        by both sides or for the output, adds up."""
        config = self.weights.config
        if config.position.kind == "learned":
            places = self.weights.position(side)
            self.found[places][: dx.shape[-2]] += dx.reshape(-1, *dx.shape[-2:]).sum(axis=0)
        if config.embedding_scale != 1:
            dx = dx * math.sqrt(config.d_model)
        table = self.weights.embedding(side)
        self.found[table] = self.found[table] + ops.embed_backward(
            dx, self.values[f"{side}.ids"], len(self.found[table])
        )
