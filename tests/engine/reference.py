"""The family once more, written with other means than the engine: sums over indices, a mask by
selection, one head and one row at a time. For automatic differentiation."""

from __future__ import annotations

from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.scipy.special import erf

from engine import Weights

Words = tuple[str, ...]
Arrays = dict[str, Any]

ACTIVATIONS = {
    "relu": lambda x: x * (x > 0),
    "gelu": lambda x: x * (1 + erf(x / 2**0.5)) / 2,
    "gelu_tanh": lambda x: x / 2 * (1 + anp.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x**3))),
    "silu": lambda x: x / (1 + anp.exp(-x)),
}


def loss(matrices: Arrays, weights: Weights, pair: tuple[Words, Words], objective: str) -> Any:
    """The mean loss over what is to be written, in nats."""
    source, target = pair
    tokens = weights.tokens
    source = (
        *([tokens.bos] if tokens.source_bos else []),
        *source,
        *([tokens.eos] if tokens.source_eos else []),
    )
    read = written = target
    if objective == "next":
        whole = [tokens.bos, *target, tokens.eos]
        written = tuple(word for word in (whole if tokens.bos else whole[2:]) if word)
        written = written[1:] if tokens.bos else written
        read = tuple(word for word in whole[:-1] if word)
        read = read if tokens.bos or tokens.eos else read[:-1]
    z = logits(matrices, weights, source, read)
    total = 0.0
    for row, word in enumerate(written):
        top = anp.max(z[row])
        right = z[row, weights.vocabulary.index(word)]
        total = total + top + anp.log(anp.sum(anp.exp(z[row] - top))) - right
    return total / len(written)


def logits(matrices: Arrays, weights: Weights, source: Words, read: Words) -> Any:
    """What the decoder says after each word that it has read."""
    memory = _side(matrices, weights, "encoder", _rows(matrices, weights, "source", source), None)
    x = _side(matrices, weights, "decoder", _rows(matrices, weights, "target", read), memory)
    if not weights.config.tied_output:
        return _linear(matrices, "output_projection", x)
    two = weights.source_vocabulary is not None
    table = matrices["target_embedding.weight" if two else "embedding.weight"]
    return anp.einsum("ia,ka->ik", x, table) + matrices.get("output_projection.bias", 0.0)


def _rows(matrices: Arrays, weights: Weights, side: str, words: Words) -> Any:
    config = weights.config
    known = weights.vocabulary
    if side == "source" and weights.source_vocabulary is not None:
        known = weights.source_vocabulary
    table = "embedding.weight" if weights.source_vocabulary is None else f"{side}_embedding.weight"
    x = matrices[table][np.array([known.index(word) for word in words])]
    x = x * (config.d_model**0.5 if config.embedding_scale == "sqrt(d_model)" else 1)
    if config.position.kind == "learned":
        own = f"{side}_position.weight"
        return x + matrices[own if own in matrices else "position.weight"][: len(words)]
    if config.position.kind == "none":
        return x
    return x + np.array(
        [[_wave(config, p, i) for i in range(config.d_model)] for p in range(len(words))]
    )


def _wave(config: Any, place: int, column: int) -> float:
    pair, cosine = divmod(column, 2)
    if config.position.order == "halves":
        cosine, pair = divmod(column, (config.d_model + 1) // 2)
    angle = place * 10000.0 ** (-2 * pair / config.d_model)
    return float(np.cos(angle) if cosine else np.sin(angle))


def _linear(matrices: Arrays, name: str, x: Any) -> Any:
    y = anp.einsum("ia,ka->ik", x, matrices[f"{name}.weight"])
    return y + matrices[f"{name}.bias"] if f"{name}.bias" in matrices else y


def _norm(matrices: Arrays, config: Any, name: str, x: Any) -> Any:
    x = x - anp.mean(x, axis=1, keepdims=True)
    count = config.d_model - (config.norm.variance == "unbiased")
    variance = anp.sum(x * x, axis=1, keepdims=True) / count
    if config.norm.eps_in == "outside":
        x = x / (anp.sqrt(variance) + config.norm.eps)
    else:
        x = x / anp.sqrt(variance + config.norm.eps)
    return x * matrices.get(f"{name}.weight", 1.0) + matrices.get(f"{name}.bias", 0.0)


def _attend(matrices: Arrays, config: Any, name: str, x: Any, context: Any, causal: bool) -> Any:
    width = config.d_model // config.heads
    q, k, v = (
        _linear(matrices, f"{name}.{role}_proj", y)
        for role, y in (("q", x), ("k", context), ("v", context))
    )
    heads = []
    for head in range(config.heads):
        part = slice(head * width, (head + 1) * width)
        mixed = []
        for i in range(len(x)):
            seen = i + 1 if causal else len(context)
            score = anp.dot(k[:seen, part], q[i, part]) / width**0.5
            share = anp.exp(score - anp.max(score))
            mixed.append(anp.dot(share / anp.sum(share), v[:seen, part]))
        heads.append(anp.stack(mixed))
    return _linear(matrices, f"{name}.out_proj", anp.concatenate(heads, axis=1))


def _side(matrices: Arrays, weights: Weights, side: str, x: Any, memory: Any) -> Any:
    config = weights.config
    for number, layer in enumerate(config.layers(side)):
        for place, kind in enumerate(layer, start=1):
            name, norm = f"{side}.{number}.{kind}", f"{side}.{number}.norm{place}"
            y = _norm(matrices, config, norm, x) if config.norm.place == "pre" else x
            if kind == "ffn":
                hidden = ACTIVATIONS[config.activation](_linear(matrices, f"{name}.linear1", y))
                y = _linear(matrices, f"{name}.linear2", hidden)
            else:
                cross = kind == "cross_attn"
                causal = side == "decoder" and not cross and config.mask
                y = _attend(matrices, config, name, y, memory if cross else y, causal)
            x = x + y
            if config.norm.place == "post":
                x = _norm(matrices, config, norm, x)
    final = config.final_norm.encoder if side == "encoder" else config.final_norm.decoder
    return _norm(matrices, config, f"{side}.norm", x) if final else x
