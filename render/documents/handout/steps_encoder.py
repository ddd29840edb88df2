"""Steps 14 to 51: one encoder layer worked out for the first token, the second, the memory."""

from __future__ import annotations

from typing import Any

from render.documents.handout.book import Book, number, numbers, of, visible, whole
from render.documents.handout.content import TIMES, Group, Typst, joined
from render.documents.handout.workings import Sublayer, decimals_of, last_norm
from scenes import wording
from scenes.values import Scalar, compute


def projections(book: Book) -> None:
    at = Sublayer(book, "encoder", 0, "self_attn")
    heads, n, d_k = (at.size("q", axis) for axis in range(3))
    at.step(14, "roles")
    book.formula(Typst("Q = X W_Q^top quad K = X W_K^top quad V = X W_V^top"))
    at.matrices()
    at.step(15, "row")
    at.project("q", only=[0])
    at.step(16, "row")
    at.project("q", only=range(1, at.d_k))
    for step, role in ((17, "q"), (18, "k"), (19, "v")):
        at.step(step, "all")
        if role != "q":
            at.project(role)
        at.vectors(role, [0])
    at.step(20, "other")
    at.matrices(1)
    at.project(head=1)
    at.vectors(heads=[1])
    at.step(21, "vectors")
    for head in at.heads:
        lines = [numbers(at[role][head, 0]) for role in "qkv"]
        book.matrix("head", lines, ["Q", "K", "V"], head=whole(head + 1))
    at.step(22, "shapes")
    total = whole(compute("multiply", heads, n) * d_k)
    each = number(heads), TIMES, number(n), TIMES, number(d_k)
    book.equation(book.upright("each"), each, total)
    book.point("point")


def scores(book: Book) -> None:
    at = Sublayer(book, "encoder", 0, "self_attn")
    weights, row, words = at["weights"], at["scores"][0, 0], at.keys
    at.step(23, "dot", at.dots)
    at.step(24, "scale", at.scaled)
    found = wording.top(row, wording.VALUES)
    facts: dict[str, Any] = {"key": words[found.at[0][0]], "score": number(found.value)}
    counts = {"n": whole(len(found.at)), "count": whole(found.count)}
    book.point("largest" if len(found.at) == 1 else "largest_shared", **facts, **counts)
    at.step(25, "softmax", largest=compute("max", *row))
    book.formula(Typst("a_j = exp(s_j - max s) / (sum_k exp(s_k - max s))"))
    at.softmax()
    total = whole(weights[0, 0].sum())
    at.step(26, "maps", sum=total)
    book.equation(of("sum", at.token), joined(numbers(weights[0, 0], 3)), total)
    at.maps()
    book.case("heads", wording.heads(weights, words, words))


def first_layer(book: Book) -> None:
    run = book.training
    at, ffn = (Sublayer(book, "encoder", 0, kind) for kind in ("self_attn", "ffn"))
    at.step(27, "mix")
    at.mixed([0], only=[0])
    at.step(28, "rest")
    at.mixed([0], only=range(1, at.d_k))
    at.step(29, "concat")
    at.mixed([1])
    at.concatenated()
    at.step(30, "wo")
    matrix = at.weight("out_proj")
    named = [f"y{d}" for d in range(matrix.shape[0])]
    book.matrix("matrix_wo", matrix, named, decimals=decimals_of(matrix))
    at.output()
    at.step(31, "residual", at.residual)
    at.step(32, "statistics", at.statistics, d=run.size("encoder.input", 1))
    at.step(33, "normalise")
    book.formula(Typst("x_d = (r_d - mu) / sqrt(sigma^2 + epsilon)"))
    at.normalised()
    ffn.step(34, "expand", ffn.expanded)
    ffn.step(35, "relu")
    book.formula(Typst('"ReLU"(h) = max(0, h)'))
    zeros = ffn.activated()
    book.point("zeros" if zeros.scalar.exact else "none", zeros=zeros, all=ffn.size("hidden", 1))
    ffn.step(36, "contract", ffn.contracted)
    ffn.step(37, "again", ffn.add_and_norm)
    output = last_norm(run, "encoder", 0)
    book.step(38, "all", rows=run.size(output, 0))
    book.matrix("output", run[output], at.rows)
    book.point("point")


def second_layer(book: Book) -> None:
    at, ffn = (Sublayer(book, "encoder", 1, kind) for kind in ("self_attn", "ffn"))
    at.step(39, "layers")
    book.matrix("input", at.input, at.rows)
    at.step(40, "roles", at.project, at.vectors)
    at.step(41, "scores", at.dots, at.scaled)
    at.step(42, "softmax", at.softmax, at.maps)
    compared(book)
    at.step(44, "mix", at.mixed, at.concatenated)
    at.step(45, "wo", at.output)
    at.step(46, "norm", at.add_and_norm)
    ffn.step(47, "expand", ffn.expanded, ffn.activated)
    ffn.step(48, "contract", ffn.contracted)
    ffn.step(49, "again", ffn.add_and_norm)
    memory(book)


def compared(book: Book) -> None:
    """Layer 1 against layer 2: what is most looked at, and how evenly."""
    run, words, token = book.training, book.source, book.source[0]
    layers = [run[f"encoder.{layer}.self_attn.weights"] for layer in (0, 1)]
    first, second = (wording.largest(weights[0, 0], token, words) for weights in layers)
    book.step(43, token=token)
    book.case("row", first.named("first") + second.named("second"), "")
    lines = [numbers(weights[0, 0], 3) for weights in layers]
    book.matrix("rows", lines, ["L1", "L2"], words, look="heat")
    book.say("entropy", most=number(compute("log", run.size("source.ids", 0)), 3))
    book.formula(Typst("H = - sum_j a_j ln a_j"))
    for layer, weights in enumerate(layers, start=1):
        shares = [visible(weight) for weight in weights[0, 0] if weight.exact > 0]
        terms = joined((share, TIMES, Group((share,), "−ln")) for share in shares)
        result = number(compute("entropy", *weights[0, 0]), 3)
        book.equation(of("H", f"L{layer}"), terms, result)
    table = []
    pairs: list[tuple[Scalar, Scalar]] = []
    for head in range(layers[0].shape[0]):
        for i, word in enumerate(words):
            one, other = (compute("entropy", *weights[head, i]) for weights in layers)
            pairs.append((one, other))
            name = book.words("row_of", head=whole(head + 1), token=word)
            table.append((name, number(one, 3), number(other, 3)))
    book.table("table", ("row", ("L1",), ("L2",)), table)
    book.case("even", wording.entropy_rows(pairs, layers[0].shape[0]))


def memory(book: Book) -> None:
    run = book.training
    at = Sublayer(book, "decoder", cross_layer(book), "cross_attn")
    book.step(50, "memory", rows=run.size("memory", 0), columns=run.size("memory", 1))
    book.matrix("matrix", run["memory"], book.source)
    book.step(51, "kept")
    at.vectors("kv", [0])
    book.point("point")


def cross_layer(book: Book) -> int:
    """The decoder's last layer with cross-attention: the one that the lecture tells of."""
    layers = book.training.layers("decoder")
    return max(n for n, kinds in enumerate(layers) if "cross_attn" in kinds)
