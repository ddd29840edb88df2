"""What the sentences claim, worked out a second time: plain Python over lists, no scene code.

For each scene a function from the traces to ``{beat: (facts, variant)}``: the words (not the
numbers) that the beat's sentence must be filled with, and which of its variants must be said.
``pass_of("training")`` and ``pass_of("inference 2")`` give the traces.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import engine

Words = dict[str, tuple[dict[str, str], str]]
PassOf = Callable[[str], Any]


def largest(values: Any) -> int:
    """Index of the largest value, the first of equals."""
    best = 0
    for index, value in enumerate(list(values)):
        if value > list(values)[best]:
            best = index
    return best


def largest_pair(matrix: Any) -> tuple[int, int]:
    """Row and column of the largest value of a matrix, the first of equals."""
    rows = [list(row) for row in matrix]
    best = (0, 0)
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            if value > rows[best[0]][best[1]]:
                best = (i, j)
    return best


def attention_scores(pass_of: PassOf) -> Words:
    trace = pass_of("training")
    weights = trace["encoder.0.self_attn.weights"]
    tokens = trace.source_tokens
    pair = {"query": tokens[0], "key": tokens[largest(weights[0][0])]}
    heads = {}
    for head in (0, 1):
        i, j = largest_pair(weights[head])
        heads |= {f"query_{head + 1}": tokens[i], f"key_{head + 1}": tokens[j]}
    return {
        "dot": (pair, ""),
        "softmax": (pair, ""),
        "heads": (heads, ""),
        "takeaway": (pair, ""),
    }


def decoder_inputs(pass_of: PassOf) -> Words:
    return {"inference": ({"word": pass_of("training").target_tokens[0]}, "")}


def embedding(pass_of: PassOf) -> Words:
    return {"lookup": ({"token": pass_of("training").source_tokens[0]}, "")}


def positional_encoding(pass_of: PassOf) -> Words:
    tokens = pass_of("training").source_tokens
    words = {"sentence": "".join(tokens), "reversed": "".join(tokens[::-1])}
    return {"question": (words, "")}


def input_(pass_of: PassOf) -> Words:
    token = {"token": pass_of("training").source_tokens[0]}
    return dict.fromkeys(("parts", "order"), (token, ""))


def qkv(pass_of: PassOf) -> Words:
    token = {"token": pass_of("training").source_tokens[0]}
    return dict.fromkeys(("roles", "first", "second", "vectors"), (token, ""))


def mask(pass_of: PassOf) -> Words:
    trace = pass_of("training")
    scores, tokens = trace["decoder.0.self_attn.scores"][0], trace.target_tokens
    tops = [(i, largest(row), max(row)) for i, row in enumerate(scores)]
    future = [top for top in tops if top[1] > top[0]]
    best = (future or tops)[largest([score for _, _, score in future or tops])]
    pair = {"query": tokens[best[0]], "key": tokens[best[1]]}
    second = {"query": tokens[1]}
    return {
        "peek": (second, ""),
        "scores": (pair, "ahead" if future else ""),
        "softmax": (second, ""),
    }


def cross_attention(pass_of: PassOf) -> Words:
    trace = pass_of("training")
    weights = trace["decoder.1.cross_attn.weights"][0]
    targets, sources = trace.target_tokens, trace.source_tokens
    i, j = largest_pair(weights)
    flat = [float(w) for row in weights for w in row]
    even = max(flat) <= 1.2 / len(sources) and min(flat) >= 0.8 / len(sources)
    best = {"query": targets[0], "key": sources[largest(weights[0])]}
    first = ({"query": targets[0], "key": sources[0]}, "")
    return {
        **dict.fromkeys(("score", "softmax", "values", "norm"), first),
        "even": ({"query": targets[i], "key": sources[j]}, "" if even else "uneven"),
        "takeaway": (best, ""),
    }


def output_loss(pass_of: PassOf) -> Words:
    trace = pass_of("training")
    vocabulary, target = trace.weights.vocabulary, trace.target_tokens
    guess = vocabulary[largest(trace["probabilities"][0])]
    said = {"target": target[0]} | ({} if guess == target[0] else {"guess": guess})
    worst = largest(trace["loss.per_position"])
    return {
        "logit": ({"word": target[0]}, ""),
        "rank": (said, "right" if guess == target[0] else "wrong"),
        "learn": ({"target": target[worst]}, ""),
    }


def autoregressive_loop(pass_of: PassOf) -> Words:
    first = pass_of("inference 1")
    target = pass_of("training").target_tokens
    vocabulary = first.weights.vocabulary
    choice = vocabulary[largest(first["probabilities"][0])]
    written = [target[0]]
    while len(written) < len(target):
        trace = engine.inference_pass(first.weights, written, first.source_tokens)
        written.append(vocabulary[largest(trace["probabilities"][-1])])
    alone = "same" if tuple(written) == tuple(target) else "differ"
    return {
        "first": ({"word": target[0]}, ""),
        "choose": (
            {"choice": choice, "word": target[1]},
            "agree" if choice == target[1] else "differ",
        ),
        "again": ({"words": " ".join(target[:2])}, ""),
        "last": ({"word": target[-1]}, ""),
        "free": ({}, alone),
    }


def architecture(pass_of: PassOf) -> Words:
    trace = pass_of("training")
    words = {"source": "".join(trace.source_tokens), "target": " ".join(trace.target_tokens)}
    return {"question": (words, "")}


def encoder_layer(pass_of: PassOf) -> Words:
    trace = pass_of("training")
    token = {"token": trace.source_tokens[0]}
    dead = [value for value in trace["encoder.0.ffn.hidden"][0] if value <= 0]
    return {
        **dict.fromkeys(("mix", "residual", "again"), (token, "")),
        "relu": ({}, "" if dead else "none"),
    }


def entropy(row: Any) -> float:
    """In nats; a weight of zero counts nothing."""
    return -sum(float(w) * math.log(float(w)) for w in row if w > 0)


def memory(pass_of: PassOf) -> Words:
    trace = pass_of("training")
    tokens = trace.source_tokens
    first, second = (trace[f"encoder.{layer}.self_attn.weights"] for layer in (0, 1))
    tops = [largest(weights[0][0]) for weights in (first, second)]
    same = tops[0] == tops[1]
    row = {"query": tokens[0], "key_1": tokens[tops[0]]}
    more = [
        entropy(b) > entropy(a)
        for one, other in zip(first, second, strict=True)
        for a, b in zip(one, other, strict=True)
    ]
    return {
        "row": (row if same else row | {"key_2": tokens[tops[1]]}, "same" if same else "differ"),
        "even": ({"query": tokens[0]}, "more" if more[0] else "less"),
        "rows": ({}, "all" if all(more) else "some"),
    }


def decoder_self_attention(pass_of: PassOf) -> Words:
    target = pass_of("training").target_tokens
    return {
        "rows": ({"first": target[0], "last": target[-1]}, ""),
        "mix": ({"query": target[1]}, ""),
    }


ORACLES: Mapping[int, Callable[[PassOf], Words]] = {
    1: architecture,
    2: decoder_inputs,
    4: embedding,
    5: positional_encoding,
    6: input_,
    7: qkv,
    8: attention_scores,
    9: encoder_layer,
    10: memory,
    11: mask,
    12: decoder_self_attention,
    13: cross_attention,
    14: output_loss,
    15: autoregressive_loop,
}
