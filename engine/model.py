"""The forward pass: encoder, decoder and output layer, every value kept under its trace name.

The architecture is that of Vaswani et al. 2017 and its usual variants; which sub-layers a layer
has, where it normalises and the like is up to the configuration, and whether there are biases,
gains and shifts to the arrays. Shapes: n source tokens, m target tokens, d = d_model, h heads,
V words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import ops
from engine.ops import Array, Ids
from engine.tokenizer import encode, teach
from engine.trace import Trace, check_finite
from engine.weights import Weights

SOURCE = "我爱水课"
TARGET = "I love easy courses"

Text = str | Sequence[str]
Values = dict[str, NDArray[Any]]


def training_pass(weights: Weights, source: Text = SOURCE, target: Text = TARGET) -> Trace:
    """Teacher forcing: the whole target at once, and the loss of each row that has something to
    write (see `tokenizer.teach`). Raises LectureError."""
    source_tokens, source_ids = encode(source, weights, "source")
    teaching = teach(target, weights)
    values = forward(weights, source_ids, teaching.read_ids)
    goals = teaching.goal_ids
    with np.errstate(all="ignore"):
        losses = ops.cross_entropy(values["logits"][: len(goals)], goals)  # (g,)
    if weights.version > 1:
        values["goal.ids"] = goals
    values["loss.per_position"] = losses
    values["loss.mean"] = np.asarray(losses.mean())  # ()
    check_finite(values, weights)
    return Trace(
        values,
        kind="training",
        weights=weights,
        source_tokens=source_tokens,
        target_tokens=teaching.read,
        goal_tokens=teaching.goals,
    )


def inference_pass(weights: Weights, prefix: Text, source: Text = SOURCE) -> Trace:
    """One step of generation: the decoder sees only `prefix`, with the start token if there is
    one; the last row of `probabilities` is the prediction of the next token. Raises
    LectureError."""
    source_tokens, source_ids = encode(source, weights, "source")
    target_tokens, target_ids = encode(prefix, weights, "prefix")
    values = forward(weights, source_ids, target_ids)
    check_finite(values, weights)
    return Trace(
        values,
        kind="inference",
        weights=weights,
        source_tokens=source_tokens,
        target_tokens=target_tokens,
    )


def forward(
    weights: Weights, source_ids: Ids, target_ids: Ids, padding: Padding | None = None
) -> Values:
    """Source ids (n,) and target ids (m,) to all values up to `probabilities` (m, V); of a batch
    (see `Run`) with its padding."""
    run = Run(weights, padding=padding or Padding())
    run.values["source.ids"] = source_ids
    run.values["target.ids"] = target_ids
    for name in dict.fromkeys([weights.embedding("source"), weights.embedding("target")]):
        run.values[name.removesuffix(".weight")] = weights.matrices[name]
    run.values.update(positions(weights, source_ids.shape[-1], target_ids.shape[-1]))
    with np.errstate(all="ignore"):  # overflow is found by check_finite, with its name
        run.encode(source_ids)
        run.decode(target_ids)
    return run.values


def positions(weights: Weights, source: int, target: int) -> Values:
    """What is added to embeddings for the places of so many source and target tokens: a table
    (length, d) for both or for either, or none."""
    kind, longest = weights.config.position.kind, max(source, target)
    if kind == "none":
        return {}
    if kind == "sinusoid":
        halves = weights.config.position.order == "halves"
        table = ops.positional_encoding(longest, weights.config.d_model, halves)
        return {"positional": table}
    names = weights.position("source"), weights.position("target")
    if names[0] == names[1]:
        return {"positional": weights.matrices[names[0]][:longest]}
    return {
        "source_positional": weights.matrices[names[0]][:source],
        "target_positional": weights.matrices[names[1]][:target],
    }


@dataclass(frozen=True, eq=False)
class Padding:
    """Of a batch of sentences of different lengths: masks (B, 1, 1, n) and (B, 1, 1, m) that keep
    filled-up places from being looked at. One sentence needs none."""

    source: Array | None = None
    target: Array | None = None


@dataclass
class Run:
    """One pass through a model, over what `positions` gives. `values` fills up in forward order.
    With ids (B, n) and (B, m) of a batch, every shape but those of masks begins with B.

    With `cached`, `decode` may be called again and again with only the tokens that are new: the
    keys and values of each decoder sub-layer are kept, and `rows` counts the tokens seen. (Not
    without a mask, where rows depend on later ones.)
    """

    weights: Weights
    values: Values = field(default_factory=dict)
    cached: bool = False
    rows: int = 0
    padding: Padding = field(default_factory=Padding)
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
        if self.weights.config.mask:
            mask = ops.causal_mask(self.rows + ids.shape[-1])  # (rows + m, rows + m)
            values["decoder.mask"] = mask[self.rows :]  # (m, rows + m)
        x = self._stack("decoder", x)
        if self.weights.version > 1:
            values["decoder.output"] = x  # (m, d)
        logits = self._output(x)  # (m, V)
        values["logits"] = logits
        values["probabilities"] = ops.normalise(ops.exponentials(logits))  # (m, V)
        if self.cached:
            self.rows += ids.shape[-1]
        return logits

    def _input(self, side: str, ids: Ids, start: int) -> Array:
        """Scaled embeddings of tokens at positions start, start + 1, ... plus what the positions
        add: (m, d)."""
        weights, which = self.weights, "source" if side == "encoder" else "target"
        embedded = ops.embed(ids, weights.matrices[weights.embedding(which)])  # (m, d)
        if weights.config.embedding_scale != 1:
            self.values[f"{side}.unscaled"] = embedded
            embedded = embedded * math.sqrt(weights.config.d_model)  # (m, d)
        self.values[f"{side}.embedded"] = embedded
        x = embedded
        table = self.values.get("positional", self.values.get(f"{which}_positional"))
        if table is not None:
            x = embedded + table[start : start + ids.shape[-1]]  # (m, d)
        self.values[f"{side}.input"] = x
        return x

    def _stack(self, side: str, x: Array) -> Array:
        """All layers of one side, each sub-layer with Add & Norm, or with Norm & Add, around it;
        at the end the side's own norm, if it has one: (m, d) -> (m, d)."""
        config, values = self.weights.config, self.values
        pre = config.norm.place == "pre"
        for layer, kinds in enumerate(config.layers(side)):
            for number, kind in enumerate(kinds, start=1):
                name, norm = f"{side}.{layer}.{kind}", f"{side}.{layer}.norm{number}"
                into = self._norm(norm, x, keep=True) if pre else x  # (m, d)
                y = self._ffn(name, into) if kind == "ffn" else self._attention(name, into)
                x = x + y  # (m, d)
                values[f"{side}.{layer}.add{number}"] = x
                if not pre:
                    x = self._norm(norm, x)
        if config.setting(f"final_norm.{side}"):
            x = self._norm(f"{side}.norm", x, keep=True)
        return x

    def _norm(self, name: str, x: Array, keep: bool = False) -> Array:
        """Layer normalisation with its gain and shift: (m, d) -> (m, d). `keep`: trace x, too."""
        norm, values, matrices = self.weights.config.norm, self.values, self.weights.matrices
        if keep:
            values[f"{name}.input"] = x
        mean, variance, x = ops.layer_norm(
            x, norm.eps, norm.variance == "unbiased", norm.eps_in == "outside"
        )  # (m,), (m,), (m, d)
        values[f"{name}.mean"], values[f"{name}.variance"] = mean, variance
        gain, shift = matrices.get(f"{name}.weight"), matrices.get(f"{name}.bias")
        if gain is not None or shift is not None:
            values[f"{name}.normalised"] = x
            x = ops.gain_and_shift(x, gain, shift)
        values[f"{name}.output"] = x
        return x

    def _linear(self, array: str, x: Array, trace: str, heads: int = 0) -> Array:
        """A projection of x (m, a), with its bias if it has one, in which case the product alone
        is traced, too: (m, b), or by heads (h, m, b / h)."""
        matrices = self.weights.matrices
        product = ops.linear(x, matrices[f"{array}.weight"])  # (m, b)
        bias = matrices.get(f"{array}.bias")
        if bias is None:
            return ops.split_heads(product, heads) if heads else product
        result = product + bias  # (m, b)
        if heads:
            product, result = ops.split_heads(product, heads), ops.split_heads(result, heads)
        self.values[f"{trace}_product"] = product
        return result

    def _output(self, x: Array) -> Array:
        """The output layer: (m, d) -> logits (m, V)."""
        matrices = self.weights.matrices
        logits = ops.linear(x, matrices[self.weights.output()])  # (m, V)
        bias = matrices.get("output_projection.bias")
        if bias is None:
            return logits
        self.values["logits_product"] = logits
        return logits + bias

    def _ffn(self, name: str, x: Array) -> Array:
        """Position-wise feed-forward network (section 3.3): (m, d) -> (m, d_ff) -> (m, d)."""
        values = self.values
        activate, _ = ops.ACTIVATIONS[self.weights.config.activation]
        hidden = self._linear(f"{name}.linear1", x, f"{name}.hidden")  # (m, d_ff)
        values[f"{name}.hidden"] = hidden
        values[f"{name}.activated"] = activate(hidden)  # (m, d_ff)
        output = self._linear(f"{name}.linear2", values[f"{name}.activated"], f"{name}.output")
        values[f"{name}.output"] = output
        return output

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
        mask = self._mask(name)
        if mask is not None:
            scores = scores + mask
            values[f"{name}.masked_scores"] = scores
        values[f"{name}.exp"] = ops.exponentials(scores, mask)  # (h, m, n)
        values[f"{name}.weights"] = ops.normalise(values[f"{name}.exp"])  # (h, m, n)
        values[f"{name}.heads"] = ops.weighted_sum(values[f"{name}.weights"], v)  # (h, m, d_k)
        values[f"{name}.concat"] = ops.merge_heads(values[f"{name}.heads"])  # (m, d)
        output = self._linear(f"{name}.out_proj", values[f"{name}.concat"], f"{name}.output")
        values[f"{name}.output"] = output
        return output

    def _mask(self, name: str) -> Array | None:
        """What is added to the scores of a sub-layer: (m, n), or what broadcasts to (..., m, n)."""
        if is_causal(name):
            return self.values["decoder.mask"] if self.weights.config.mask else self.padding.target
        return self.padding.source

    def _project(self, name: str, role: str, x: Array) -> Array:
        """Queries, keys or values of x (n, d), by head: (h, n, d_k)."""
        return self._linear(f"{name}.{role}_proj", x, f"{name}.{role}", self.weights.config.heads)

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
    """Whether the mask is for this sub-layer: the decoder's self-attention, and nothing else."""
    return name.startswith("decoder") and name.endswith("self_attn")
