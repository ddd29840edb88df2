"""Steps 14 to 51: one encoder layer worked out for the first token, the second, the memory."""

from __future__ import annotations

from typing import Any

from engine.parameters import ATTENTION_IN, NORM_GAIN, NORM_SHIFT
from render.documents.handout.book import Book, number, numbers, of, visible, whole
from render.documents.handout.content import TIMES, Group, Typst, joined
from render.documents.handout.sums import Norm, decimals_of
from render.documents.handout.workings import Sublayer
from scenes import structure, wording
from scenes.values import Scalar, compute

#: Formulas of the activations, by their names in a weight file.
ACTIVATIONS = {
    "relu": Typst('"ReLU"(h) = max(0, h)'),
    "gelu": Typst('"GELU"(h) = h dot Phi(h)'),
    "gelu_tanh": Typst(
        '"GELU"(h) = h / 2 dot (1 + tanh(sqrt(2 \\/ pi) dot (h + 0.044715 dot h^3)))'
    ),
    "silu": Typst('"SiLU"(h) = h / (1 + e^(-h))'),
}


def projections(book: Book) -> None:
    at = Sublayer(book, "encoder", 0, "self_attn")
    heads, n, d_k = (at.size("q", axis) for axis in range(3))
    at.step(14, "roles", at.norm_first)
    book.formula(projection_formula(book))
    at.matrices()
    at.step(15, "row")
    at.project("q", only=[0])
    at.step(16, "")
    book.case("row", wording.query_rows(at.d_k), "")
    at.project("q", only=range(1, at.d_k))
    for step, role in ((17, "q"), (18, "k"), (19, "v")):
        at.step(step, "all")
        if role != "q":
            at.project(role)
        at.vectors(role, [0])
    at.step(20, "other")
    if len(at.heads) > 1:
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


def projection_formula(book: Book, of_memory: bool = False) -> Typst:
    """How queries, keys and values are made; of the memory in cross-attention."""
    normed = structure.is_pre(book.training)
    x = 'op("LN")(X)' if normed else "X"
    biased = structure.has(book.training, ATTENTION_IN)
    made = {"Q": x, "K": "M" if of_memory else x, "V": "M" if of_memory else x}
    terms = (f"{r} = {a} W_{r}^top" + f" + b_{r}" * biased for r, a in made.items())
    return Typst(" quad ".join(terms))


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
    norm = (ffn if structure.is_pre(run) else at).norm
    at.step(27, "mix")
    at.mixed([0], only=[0])
    at.step(28, "rest")
    at.mixed([0], only=range(1, at.d_k))
    at.step(29, "concat")
    at.mixed(at.heads[1:2])
    at.concatenated()
    at.step(30, "wo")
    matrix = at.weight("out_proj")
    named = [f"y{d}" for d in range(matrix.shape[0])]
    book.matrix("matrix_wo", matrix, named, decimals=decimals_of(matrix))
    at.output()
    at.step(31, "residual", at.residual)
    at.step(32, "statistics", norm.statistics, d=run.size("encoder.input", 1))
    at.step(33, "normalise")
    book.formula(norm_formula(book))
    norm.normalised()
    ffn.step(34, "", ffn.widened)
    book.say("rows")
    ffn.expanded()
    ffn.step(35, "")
    book.formula(ACTIVATIONS[run.setting("activation")])
    ffn.activated()
    book.say("without")
    ffn.step(36, "contract", ffn.contracted)
    ffn.step(37, "again", ffn.add_and_norm)
    output = structure.layer_output(run, "encoder", 0)
    book.step(38, "all", rows=run.size(output.name, 0))
    book.matrix("output", output, at.rows)
    book.point("point")


def norm_formula(book: Book) -> Typst:
    """What normalisation does, with what the model has of ε, gain and shift."""
    run = book.training
    outside = run.setting("norm.eps_in") == "outside"
    divisor = "(sigma + epsilon)" if outside else "sqrt(sigma^2 + epsilon)"
    gain = "gamma_d " if structure.has(run, NORM_GAIN) else ""
    shift = " + beta_d" if structure.has(run, NORM_SHIFT) else ""
    return Typst(f"x_d = {gain}(r_d - mu) / {divisor}{shift}")


def second_layer(book: Book) -> None:
    if len(book.training.layers("encoder")) == 1:
        for step in range(39, 50):
            book.step(step, "single", token=book.source[0])
    else:
        second_of_two(book)
    memory(book)


def second_of_two(book: Book) -> None:
    at, ffn = (Sublayer(book, "encoder", 1, kind) for kind in ("self_attn", "ffn"))
    at.step(39, "")
    book.case("layers", wording.layer_weights(book.training, "encoder", 0, 1), "")
    book.matrix("input", book.training[at.around.x], at.rows)
    at.step(40, "roles", at.norm_first, at.project, at.vectors)
    at.step(41, "scores", at.dots, at.scaled)
    at.step(42, "softmax", at.softmax, at.maps)
    compared(book)
    at.step(44, "mix", at.mixed, at.concatenated)
    at.step(45, "wo", at.output)
    at.step(46, "norm", at.add_and_norm)
    ffn.step(47, "", ffn.norm_first, ffn.widened, ffn.expanded, ffn.activated)
    ffn.step(48, "contract", ffn.contracted)
    ffn.step(49, "again", ffn.add_and_norm)


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
    final_norm(book, "encoder", 0)
    book.matrix("matrix", run["memory"], book.source)
    book.step(51, "kept")
    at.vectors("kv", [0])
    book.point("point")


def final_norm(book: Book, side: str, row: int) -> None:
    """The norm after the last layer, where there is one, for one row."""
    run = book.training
    if structure.has_final_norm(run, side):
        words = run.source if side == "encoder" else run.target
        book.say("final_norm", token=words[row])
        Norm(book, run, f"{side}.norm", f"{side}.norm.input", row).worked_out()


def cross_layer(book: Book) -> int:
    """The decoder's last layer with cross-attention: the one that the lecture tells of."""
    layers = book.training.layers("decoder")
    return max(n for n, kinds in enumerate(layers) if "cross_attn" in kinds)
