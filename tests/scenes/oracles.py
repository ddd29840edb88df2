"""What the sentences claim, worked out a second time: plain Python over lists, no scene code.

For each scene a function from the traces to ``{beat: (facts, variant)}``: the words (not the
numbers) that the beat's sentence must be filled with, and which of its variants must be said.
``pass_of("training")`` and ``pass_of("inference 2")`` give the traces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

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


ORACLES: Mapping[int, Callable[[PassOf], Words]] = {
    8: attention_scores,
}
