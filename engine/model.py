"""The forward pass: encoder, decoder and output layer, every value kept under its trace name.

The architecture is that of Vaswani et al. 2017 with post-LN and without biases; which sub-layers
a layer has is up to the configuration. Shapes: n source tokens, m target tokens, d = d_model,
h heads, V words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import ops
from engine.ops import Array, Ids
from engine.tokenizer import encode
from engine.trace import Trace, check_finite
from engine.weights import Weights

SOURCE = "我爱水课"
TARGET = "I love easy courses"

Text = str | Sequence[str]
Values = dict[str, NDArray[Any]]


def training_pass(weights: Weights, source: Text = SOURCE, target: Text = TARGET) -> Trace:
    """Teacher forcing: the whole target at once, and the loss at each position of predicting the
    token that stands there (targets as the tutorial prints them). Raises LectureError."""
    return _traced(weights, "training", source, target)


def inference_pass(weights: Weights, prefix: Text, source: Text = SOURCE) -> Trace:
    """One step of generation: the decoder sees only `prefix`; the last row of `probabilities` is
    the prediction of the next token. Raises LectureError."""
    return _traced(weights, "inference", source, prefix)


def _traced(weights: Weights, kind: str, source: Text, target: Text) -> Trace:
    source_tokens, source_ids = encode(source, weights, "source")
    target_tokens, target_ids = encode(
        target, weights, "target" if kind == "training" else "prefix"
    )
    values = forward(weights, source_ids, target_ids)
    if kind == "training":
        with np.errstate(all="ignore"):
            losses = ops.cross_entropy(values["logits"], target_ids)  # (m,)
            values["loss.per_position"] = losses
            values["loss.mean"] = np.asarray(losses.mean())  # ()
    check_finite(values, weights)
    return Trace(
        values,
        kind=kind,
        weights=weights,
        source_tokens=source_tokens,
        target_tokens=target_tokens,
    )


def forward(weights: Weights, source_ids: Ids, target_ids: Ids) -> Values:
    """Source ids (n,) and target ids (m,) to all values up to `probabilities` (m, V)."""
    run = Run(weights)
    run.values["source.ids"] = source_ids
    run.values["target.ids"] = target_ids
    run.values["embedding"] = weights.matrices["embedding.weight"]
    run.values["positional"] = ops.positional_encoding(
        max(len(source_ids), len(target_ids)), weights.config.d_model
    )
    with np.errstate(all="ignore"):  # overflow is found by check_finite, with its name
        run.encode(source_ids)
        run.decode(target_ids)
    return run.values


@dataclass
class Run:
    """One pass through a model. `values` fills up in forward order.

    With `cached`, `decode` may be called again and again with only the tokens that are new: the
    keys and values of each decoder sub-layer are kept, and `rows` counts the tokens seen.
    """

    weights: Weights
    values: Values = field(default_factory=dict)
    cached: bool = False
    rows: int = 0
    _kept: dict[str, tuple[Array, Array]] = field(default_factory=dict)

    def encode(self, ids: Ids) -> Array:
        """The encoder: ids (n,) -> memory (n, d)."""
        x = self._input("encoder", ids, 0)
        self.values["memory"] = self._stack("encoder", x)
        return self.values["memory"]

    def decode(self, ids: Ids) -> Array:
        """The decoder, after `encode`: ids (m,) -> logits (m, V)."""
        values = self.values
        x = self._input("decoder", ids, self.rows)
        mask = ops.causal_mask(self.rows + len(ids))  # (rows + m, rows + m)
        values["decoder.mask"] = mask[self.rows :]  # (m, rows + m)
        x = self._stack("decoder", x)
        logits = ops.linear(x, self.weights.matrices["output_projection.weight"])  # (m, V)
        values["logits"] = logits
        values["probabilities"] = ops.normalise(ops.exponentials(logits))  # (m, V)
        if self.cached:
            self.rows += len(ids)
        return logits

    def _input(self, side: str, ids: Ids, start: int) -> Array:
        """Embeddings of tokens at positions start, start + 1, ... plus their encodings: (m, d)."""
        embedded = ops.embed(ids, self.weights.matrices["embedding.weight"])  # (m, d)
        self.values[f"{side}.embedded"] = embedded
        x: Array = embedded + self.values["positional"][start : start + len(ids)]  # (m, d)
        self.values[f"{side}.input"] = x
        return x

    def _stack(self, side: str, x: Array) -> Array:
        """All layers of one side, each sub-layer followed by Add & Norm: (m, d) -> (m, d)."""
        config, values = self.weights.config, self.values
        for layer, kinds in enumerate(config.layers(side)):
            for number, kind in enumerate(kinds, start=1):
                name = f"{side}.{layer}.{kind}"
                y = self._ffn(name, x) if kind == "ffn" else self._attention(name, x)  # (m, d)
                x = x + y  # (m, d)
                values[f"{side}.{layer}.add{number}"] = x
                mean, variance, x = ops.layer_norm(x, config.layer_norm_eps)  # (m,), (m,), (m, d)
                values[f"{side}.{layer}.norm{number}.mean"] = mean
                values[f"{side}.{layer}.norm{number}.variance"] = variance
                values[f"{side}.{layer}.norm{number}.output"] = x
        return x

    def _ffn(self, name: str, x: Array) -> Array:
        """Position-wise feed-forward network (section 3.3): (m, d) -> (m, d_ff) -> (m, d)."""
        values, matrices = self.values, self.weights.matrices
        values[f"{name}.hidden"] = ops.linear(x, matrices[f"{name}.linear1.weight"])
        values[f"{name}.activated"] = ops.relu(values[f"{name}.hidden"])
        values[f"{name}.output"] = ops.linear(
            values[f"{name}.activated"], matrices[f"{name}.linear2.weight"]
        )
        return values[f"{name}.output"]

    def _attention(self, name: str, x: Array) -> Array:
        """Multi-head attention (section 3.2) of x (m, d): to itself, causally in the decoder, or
        to the memory (n, d) in cross-attention. Result (m, d)."""
        config, values = self.weights.config, self.values
        q = self._project(name, "q", x)  # (h, m, d_k)
        k, v = self._keys_and_values(name, x)  # (h, n, d_k)
        values[f"{name}.q"], values[f"{name}.k"], values[f"{name}.v"] = q, k, v
        values[f"{name}.dot"] = ops.dot_products(q, k)  # (h, m, n)
        scores = ops.scale(values[f"{name}.dot"], config.d_k)  # (h, m, n)
        values[f"{name}.scores"] = scores
        mask = None
        if is_causal(name):
            mask = values["decoder.mask"]  # (m, n)
            scores = scores + mask
            values[f"{name}.masked_scores"] = scores
        values[f"{name}.exp"] = ops.exponentials(scores, mask)  # (h, m, n)
        values[f"{name}.weights"] = ops.normalise(values[f"{name}.exp"])  # (h, m, n)
        values[f"{name}.heads"] = ops.weighted_sum(values[f"{name}.weights"], v)  # (h, m, d_k)
        values[f"{name}.concat"] = ops.merge_heads(values[f"{name}.heads"])  # (m, d)
        values[f"{name}.output"] = ops.linear(
            values[f"{name}.concat"], self.weights.matrices[f"{name}.out_proj.weight"]
        )
        return values[f"{name}.output"]

    def _project(self, name: str, role: str, x: Array) -> Array:
        """Queries, keys or values of x (n, d), by head: (h, n, d_k)."""
        projected = ops.linear(x, self.weights.matrices[f"{name}.{role}_proj.weight"])
        return ops.split_heads(projected, self.weights.config.heads)

    def _keys_and_values(self, name: str, x: Array) -> tuple[Array, Array]:
        """Keys and values, (h, n, d_k) each. When cached, those of the memory are made once and
        those of a decoder's own tokens grow by the new rows."""
        cross = name.endswith("cross_attn")
        kept = self._kept.get(name)
        if cross and kept is not None:
            return kept
        context = self.values["memory"] if cross else x
        k, v = self._project(name, "k", context), self._project(name, "v", context)
        if self.cached and is_causal(name) and kept is not None:
            k = np.concatenate([kept[0], k], axis=1)
            v = np.concatenate([kept[1], v], axis=1)
        if self.cached:
            self._kept[name] = k, v
        return k, v


def is_causal(name: str) -> bool:
    """Whether this sub-layer is masked: self-attention in the decoder, and nothing else."""
    return name.startswith("decoder") and name.endswith("self_attn")
