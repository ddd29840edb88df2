"""Steps 14 to 51: one encoder layer worked out for the first token, the second, the memory."""

from __future__ import annotations

from render.documents.handout import workings
from render.documents.handout.book import Book, number, numbers, of, visible, whole
from render.documents.handout.content import TIMES, Group, Number, Parts, Typst, joined
from render.documents.handout.workings import Place, last_norm, place
from scenes import wording
from scenes.values import Scalar, Values, compute


def projections(book: Book) -> None:
    run, words, token = book.training, book.source, book.source[0]
    at = place(run, "encoder", 0, "self_attn")
    sizes = [run.size(f"{at.name}.q", axis) for axis in range(3)]
    heads, n, d_k = (whole(size) for size in sizes)
    book.step(14, "roles", token=token)
    book.formula(Typst("Q = X W_Q^top quad K = X W_K^top quad V = X W_V^top"))
    workings.weights_of(book, at, 0)
    book.step(15, "row", token=token)
    workings.project(book, at, "q", 0, token, only=[0])
    book.step(16, "row", token=token)
    workings.project(book, at, "q", 0, token, only=range(1, at.d_k))
    named = {17: "q", 18: "k", 19: "v"}
    for step, role in named.items():
        book.step(step, "all", token=token)
        if role != "q":
            workings.project(book, at, role, 0, token)
        workings.vectors(book, at, role, words, [0])
    book.step(20, "other", token=token)
    workings.weights_of(book, at, 1)
    workings.project(book, at, "qkv", 0, token, head=1)
    workings.vectors(book, at, "qkv", words, [1])
    book.step(21, "vectors", token=token, heads=heads, d_k=d_k)
    for head in range(at["q"].shape[0]):
        lines = [numbers(at[role][head, 0]) for role in "qkv"]
        named_3 = book.words("head", head=whole(head + 1))
        book.matrix(named_3, lines, ["Q", "K", "V"])
    book.step(22, "shapes", heads=heads, n=n, d_k=d_k)
    total = compute("multiply", sizes[0], sizes[1]) * sizes[2]
    book.equation(book.upright("each"), (heads, TIMES, n, TIMES, d_k), (whole(total),))
    book.point("point")


def scores(book: Book) -> None:
    at = place(book.training, "encoder", 0, "self_attn")
    words, token = book.source, book.source[0]
    weights = at["weights"]
    book.step(23, "dot", token=token)
    workings.dots(book, at, 0, words, words)
    book.step(24, "scale", d_k=whole(book.training.size(f"{at.name}.q", 2)))
    workings.scaled(book, at, 0, words, words)
    found = wording.top(at["scores"][0, 0], wording.VALUES)
    facts = {"key": words[found.at[0][0]], "score": number(found.value), "token": token}
    counts = {"n": whole(len(found.at)), "count": whole(found.count)}
    book.point("largest" if len(found.at) == 1 else "largest_shared", **facts, **counts)
    book.step(25, "softmax", token=token, largest=number(compute("max", *at["scores"][0, 0])))
    book.formula(Typst("a_j = exp(s_j - max s) / (sum_k exp(s_k - max s))"))
    workings.softmax(book, at, 0, words, token)
    book.step(26, "maps", sum=whole(weights[0, 0].sum()))
    shares = joined(numbers(weights[0, 0], 3))
    book.equation(of("sum", token), shares, (whole(weights[0, 0].sum()),))
    workings.maps(book, at, words, words)
    book.case("heads", wording.heads(weights, words, words))


def first_layer(book: Book) -> None:
    run, words, token = book.training, book.source, book.source[0]
    at, ffn = (place(run, "encoder", 0, kind) for kind in ("self_attn", "ffn"))
    book.step(27, "mix", token=token)
    workings.mixed(book, at, 0, token, [0], [0])
    book.step(28, "rest", token=token)
    workings.mixed(book, at, 0, token, range(1, at.d_k), [0])
    book.step(29, "concat", heads=whole(run.size(f"{at.name}.q", 0)))
    workings.mixed(book, at, 0, token, heads=[1])
    workings.concatenated(book, at, 0, token)
    book.step(30, "wo")
    matrix = at.weight("out_proj")
    named = [f"y{d}" for d in range(matrix.shape[0])]
    places = workings.decimals_of(matrix)
    book.matrix(book.words("matrix_wo"), matrix, named, decimals=places)
    workings.output(book, at, 0, token)
    book.step(31, "residual", token=token)
    workings.residual(book, at, 0)
    book.step(32, "statistics", d=whole(run.size("encoder.input", 1)))
    workings.statistics(book, at, 0)
    book.step(33, "normalise")
    book.formula(Typst("x_d = (r_d - mu) / sqrt(sigma^2 + epsilon)"))
    workings.normalised(book, at, 0)
    feed_forward(book, ffn, token)
    book.step(38)
    output = last_norm(run, "encoder", 0)
    book.say("all", rows=whole(run.size(output, 0)))
    book.matrix(book.words("output"), run[output], words)
    book.point("point")


def feed_forward(book: Book, ffn: Place, token: str) -> None:
    run = ffn.run
    wide = whole(run.size(f"{ffn.name}.hidden", 1))
    narrow = whole(run.size(f"{ffn.name}.output", 1))
    book.step(34, "expand", d=narrow, d_ff=wide)
    workings.expanded(book, ffn, 0)
    book.step(35, "relu", zero=whole(0))
    book.formula(Typst('"ReLU"(h) = max(0, h)'))
    zeros = workings.activated(book, ffn, 0)
    book.point("zeros" if zeros.scalar.exact else "none", zeros=zeros, zero=whole(0), all=wide)
    book.step(36, "contract", d=narrow)
    workings.contracted(book, ffn, 0)
    book.step(37, "again", token=token)
    workings.add_and_norm(book, ffn, 0)


def second_layer(book: Book) -> None:
    run, words, token = book.training, book.source, book.source[0]
    at, ffn = (place(run, "encoder", 1, kind) for kind in ("self_attn", "ffn"))
    book.step(39, "layers")
    book.matrix(book.words("input"), at.input, words)
    book.step(40, "roles", token=token)
    workings.project(book, at, "qkv", 0, token)
    workings.vectors(book, at, "qkv", words)
    book.step(41, "scores", token=token)
    workings.dots(book, at, 0, words, words)
    workings.scaled(book, at, 0, words, words)
    book.step(42, "softmax", token=token)
    workings.softmax(book, at, 0, words, token)
    workings.maps(book, at, words, words)
    compared(book)
    book.step(44, "mix", token=token)
    workings.mixed(book, at, 0, token)
    workings.concatenated(book, at, 0, token)
    book.step(45, "wo")
    workings.output(book, at, 0, token)
    book.step(46, "norm", token=token)
    workings.add_and_norm(book, at, 0)
    book.step(47, "expand", d_ff=whole(run.size(f"{ffn.name}.hidden", 1)))
    workings.expanded(book, ffn, 0)
    workings.activated(book, ffn, 0)
    book.step(48, "contract")
    workings.contracted(book, ffn, 0)
    book.step(49, "again", token=token)
    workings.add_and_norm(book, ffn, 0)
    memory(book)


def entropy(row: Values) -> Number:
    return number(compute("entropy", *row), 3)


def compared(book: Book) -> None:
    """Layer 1 against layer 2: what is most looked at, and how evenly."""
    run, words, token = book.training, book.source, book.source[0]
    layers = [run[f"encoder.{layer}.self_attn.weights"] for layer in (0, 1)]
    said = [wording.largest(weights[0, 0], token, words) for weights in layers]
    book.step(43, token=token)
    book.case("row", said[0].named("first") + said[1].named("second"), "")
    lines = [numbers(weights[0, 0], 3) for weights in layers]
    book.matrix(book.words("rows", token=token), lines, ["L1", "L2"], words, look="heat")
    most = number(compute("log", run.size("source.ids", 0)), 3)
    book.say("entropy", zero=whole(0), most=most)
    book.formula(Typst("H = - sum_j a_j ln a_j"))
    for layer, weights in enumerate(layers, start=1):
        terms = []
        for weight in weights[0, 0]:
            if weight.exact > 0:
                shown = visible(weight)
                terms.append((shown, TIMES, Group((shown,), "−ln")))
        book.equation(of("H", f"L{layer}"), joined(terms), (entropy(weights[0, 0]),))
    table: list[tuple[Parts, ...]] = []
    pairs: list[tuple[Scalar, Scalar]] = []
    for head in range(layers[0].shape[0]):
        for i, word in enumerate(words):
            first, second = (compute("entropy", *weights[head, i]) for weights in layers)
            pairs.append((first, second))
            name = book.words("row_of", head=whole(head + 1), token=word)
            table.append((name, (number(first, 3),), (number(second, 3),)))
    book.table(book.words("table"), (book.words("row"), ("L1",), ("L2",)), table)
    book.case("even", wording.entropy_rows(pairs, layers[0].shape[0]))


def memory(book: Book) -> None:
    run, words = book.training, book.source
    book.step(50)
    rows, columns = (whole(run.size("memory", axis)) for axis in (0, 1))
    book.say("memory", rows=rows, columns=columns)
    book.matrix(book.words("matrix"), run["memory"], words)
    at = place(run, "decoder", cross_layer(book), "cross_attn")
    book.step(51, "kept")
    workings.vectors(book, at, "kv", words, [0])
    book.point("point")


def cross_layer(book: Book) -> int:
    """The decoder's last layer with cross-attention: the one that the lecture tells of."""
    layers = book.training.layers("decoder")
    return max(n for n, kinds in enumerate(layers) if "cross_attn" in kinds)
