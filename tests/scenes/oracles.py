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
    pairs = [largest_pair(weights[head]) for head in (0, 1)]
    same = pairs[0] == pairs[1]
    heads = {}
    for number, (i, j) in enumerate(pairs[:1] if same else pairs, 1):
        heads |= {f"query_{number}": tokens[i], f"key_{number}": tokens[j]}
    return {
        "dot": (pair, ""),
        "softmax": (pair, ""),
        "heads": (heads, "same" if same else ""),
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


def step_of(pass_of: PassOf, k: int) -> tuple[Any, ...]:
    """Of inference step k: vocabulary, target, probabilities of the last row, the choice, the
    word hoped for, and whether the row equals the training row of its position."""
    run, training = pass_of(f"inference {k}"), pass_of("training")
    words, target = run.weights.vocabulary, training.target_tokens
    last = [float(x) for x in run["logits"][k - 1]]
    same = [float(x) for x in training["logits"][k - 1]]
    apart = max(abs(a - b) for a, b in zip(last, same, strict=True))
    equal = apart <= 1e-9 * max(1.0, max(abs(x) for x in last))
    p = [float(x) for x in run["probabilities"][k - 1]]
    return words, target, p, words[largest(p)], target[k], equal


def choice_of(choice: str, wanted: str) -> tuple[dict[str, str], str]:
    said = {"word": wanted} | ({} if choice == wanted else {"choice": choice})
    return said, "hit" if choice == wanted else "miss"


def inference_step_1(pass_of: PassOf) -> Words:
    words, target, p, choice, wanted, equal = step_of(pass_of, 1)
    first = {"word": target[0]}
    wrong = max((x, -i, w) for i, (x, w) in enumerate(zip(p, words, strict=True)) if w != wanted)[2]
    hit = choice == wanted
    return {
        "question": (first, ""),
        "input": (first, ""),
        "decoder": (first, ""),
        "softmax": ({"choice": choice}, ""),
        "hoped": choice_of(choice, wanted),
        "training": (first, "equal" if equal else "differ"),
        "chain": ({"other": wrong}, "hit") if hit else ({"choice": wrong, "word": wanted}, "miss"),
    }


def inference_step_2(pass_of: PassOf) -> Words:
    _, target, _, choice, wanted, equal = step_of(pass_of, 2)
    pair = {"first": target[0], "last": target[1]}
    one, two = pass_of("training").weights.matrices, pass_of("inference 2").weights.matrices
    apart = [n for n in one if one[n].tolist() != two[n].tolist()]
    if not apart:
        why = "same"
    elif equal:
        why = "anyway"
    else:
        inside = [n for n in apart if n.startswith("decoder.") and ".self_attn." in n]
        why = "self" if inside == apart else "other"
    said = "equal" if equal else "differ"
    return {
        "question": ({"words": " ".join(target[:2])}, ""),
        "mask": (pair, ""),
        "rows": (pair, ""),
        "choice": choice_of(choice, wanted),
        "training": ({"word": target[1], "words": " ".join(target[:2])}, ""),
        "compare": ({"word": target[1]}, said),
        "why": ({}, why),
        "takeaway": ({}, said),
    }


def write_on(run: Any, start: Any, length: int) -> list[str]:
    """Greedy generation, one whole pass for each word."""
    words = list(start)
    while len(words) < length:
        trace = engine.inference_pass(run.weights, words, run.source_tokens)
        words.append(run.weights.vocabulary[largest(trace["probabilities"][-1])])
    return words


def inference_step_3(pass_of: PassOf) -> Words:
    words, target, _, choice, wanted, equal = step_of(pass_of, 3)
    first = pass_of("inference 1")
    hits = sum(step_of(pass_of, k)[3] == target[k] for k in (1, 2, 3))
    alone = write_on(first, target[:1], 4)
    if alone == list(target):
        p1 = [float(x) for x in first["probabilities"][0]]
        second = sorted(range(len(p1)), key=lambda i: -p1[i])[1]
        carry = {"word": words[second]}, "forced"
    else:
        i = [a == b for a, b in zip(alone, target, strict=True)].index(False)
        carry = {"word": alone[i], "hoped": target[i]}, "last" if i == 3 else "alone"
    return {
        "question": ({"words": " ".join(target[:3])}, ""),
        "mask": ({"word": target[2]}, ""),
        "choice": choice_of(choice, wanted),
        "position": ({"word": target[2], "next": target[3]}, ""),
        "compare": ({}, "equal" if equal else "differ"),
        "sentence": ({}, "some" if hits else "none"),
        "carry": carry,
    }


def training_vs_inference(pass_of: PassOf) -> Words:
    one, other = pass_of("training"), pass_of("inference 1")
    shared = ("source.ids", "encoder.input", "memory")
    same = all(one[name].tolist() == other[name].tolist() for name in shared)
    return {"same": ({}, "" if same else "differ")}


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
    16: inference_step_1,
    17: inference_step_2,
    18: inference_step_3,
    19: training_vs_inference,
}
