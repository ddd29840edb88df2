"""Steps 0 to 13: the model as a whole, tokens, embedding, positions, the input."""

from __future__ import annotations

import math

from render.documents.handout.book import Book, exactly, listed, number, of, paired, product, whole
from render.documents.handout.content import OVER, PLUS, TIMES, Group, Number, Typst, joined
from scenes.rounding import MINUS, decimals_needed
from scenes.values import Values, compute, constant


def overview(book: Book) -> None:
    run = book.training
    sizes = {
        "d_model": number(run.size("encoder.input", 1)),
        "h": number(run.size("encoder.0.self_attn.q", 0)),
        "d_k": number(run.size("encoder.0.self_attn.q", 2)),
        "d_ff": number(run.size("encoder.0.ffn.hidden", 1)),
        "N_enc": whole(len(run.layers("encoder"))),
        "N_dec": whole(len(run.layers("decoder"))),
        "V": number(run.size("embedding", 0)),
    }
    words = {"source": book.sentence(book.source), "target": book.sentence(book.target)}
    n = run.size("source.ids", 0)
    book.step(0, "pair", "encoder", "decoder", "output", n=n, words=sizes["V"], **words)
    book.equation(Typst("d_k"), (sizes["d_model"], OVER, sizes["h"]), sizes["d_k"])
    rows = [(book.words(f"size_{name}"), value) for name, value in sizes.items()]
    book.table("sizes", ("quantity", "value"), rows)
    flow = ("source.ids", "encoder.input", "memory", "decoder.input", "logits", "probabilities")
    lines = []
    for name in flow:
        shape = [run.size(name, axis) for axis in range(len(run[name].shape))]
        lines.append((book.words("flow_" + name.replace(".", "_")), listed(shape, sign=" × ")))
    book.table("flow", ("what", "shape"), lines)


def two_ways(book: Book) -> None:
    target, count = book.target, book.training.size("target.ids", 0)
    facts = {"target": book.sentence(target), "word": target[0]}
    book.step(1, "training", "inference", n=count, **facts)
    rounds = number(count), MINUS, whole(1)
    book.equation(book.upright("rounds"), rounds, whole(count - constant(1)))
    lines = [(whole(k), book.sentence(target[:k]), target[k]) for k in range(1, len(target))]
    book.table("rounds_table", ("round", "reads", "next"), lines)
    book.point("point")
    book.say("split", source=" / ".join(book.source), target=" / ".join(target))


def tokens(book: Book) -> None:
    run, sides = book.training, (("source", book.source), ("target", book.target))
    size = run.size("embedding", 0)
    book.step(2, "table", words=size, last=whole(size - constant(1)))
    ids = [[whole(i) for i in range(len(book.vocabulary))]]
    rows = (book.plain("id"),)
    book.matrix("vocabulary", ids, rows, book.vocabulary, look="plain")
    for side, words in sides:
        pairs = [(word, run[f"{side}.ids"][i]) for i, word in enumerate(words)]
        book.table(side, ("token", "id"), pairs)
    book.step(3, "integers")
    for side, words in sides:
        book.matrix(f"{side}_ids", run[f"{side}.ids"], rows, words, look="plain")
    rounds = range(1, len(book.target))
    lines = [(whole(k), listed(book.inference(k)["target.ids"])) for k in rounds]
    book.table("rounds", ("round", "ids"), lines)
    book.point("point")


def embedding(book: Book) -> None:
    run, token, table = book.training, book.source[0], book.training["embedding"]
    places = decimals_needed([value.exact for value in table.scalars()], 2)
    size, width = (number(run.size("embedding", axis)) for axis in (0, 1))
    row_id = int(run["source.ids"].array[0])
    book.step(4, "table", words=size, size=width)
    book.equation(book.upright("count"), (size, TIMES, width), product(size, width))
    book.matrix("matrix", table, book.vocabulary, decimals=places, marked=[row_id])
    book.step(5, "lookup", token=token, id=run["source.ids"][0])
    book.matrix("vector", table[row_id], [token], decimals=places)
    book.say("onehot")
    for d in range(table.shape[1]):
        terms = [
            (whole(int(i == row_id)), TIMES, number(table[i, d], places))
            for i in range(table.shape[0])
        ]
        result = number(run["encoder.embedded"][0, d], places)
        book.equation(of("e", token, d), joined(terms), result)
    book.step(6, "all")
    book.matrix("source", run["encoder.embedded"], book.source, decimals=places)
    book.matrix("target", run["decoder.embedded"], book.target, decimals=places)
    book.point("learned")


def positions(book: Book) -> None:
    run, pe = book.training, book.training["positional"]
    order(book)
    size = number(run.size("positional", 1))
    pairs = range((pe.shape[1] + 1) // 2)
    book.step(8, "formula")
    book.formula(Typst('"PE"(p, 2i) = sin(p / 10000^(2i\\/d))'))
    book.formula(Typst('"PE"(p, 2i+1) = cos(p / 10000^(2i\\/d))'))
    book.say("pace")
    base = constant(10000)
    paces = [whole(compute("power", base, constant(2 * i) / size.scalar)) for i in pairs]
    for i in pairs:
        book.equation(of("w", i), (Group((whole(2 * i), OVER, size), "10000^"),), paces[i])
    position = 1
    book.step(9, "worked", one=whole(position))
    for d in range(pe.shape[1]):
        inside = Group((whole(position), OVER, paces[d // 2]), "cos" if d % 2 else "sin")
        book.equation(of("PE", position, d), (inside,), pe[position, d])
    book.step(10, "table", positions=run.size("positional", 0), size=size)
    rows = [f"pos {p}" for p in range(pe.shape[0])]
    book.matrix("matrix", pe, rows)
    circle = constant(2 * math.pi)
    turns = [(f"d{2 * i}, d{2 * i + 1}", whole(circle * paces[i].scalar)) for i in pairs]
    book.table("turns", ("dimensions", "positions"), turns)
    fingerprints(book, pe, rows)


def order(book: Book) -> None:
    vectors, words = book.training["encoder.embedded"], book.source
    other = min(1, len(words) - 1)
    one, two = exactly(vectors[0], 2), exactly(vectors[other], 2)
    book.step(7, "order", sentence=book.sentence(words), reversed=book.sentence(words[::-1]))
    values = list(map(product, one, two))
    total = compute("add", *(value.scalar for value in values))
    result = number(total, max(value.decimals for value in values))
    label = Typst.of("{} dot {}", of("e", words[0]), of("e", words[other]))
    book.equation(label, paired(one, two), joined(values), result)
    book.say("same")


def fingerprints(book: Book, pe: Values, rows: list[str]) -> None:
    positions, dimensions = range(pe.shape[0]), range(pe.shape[1])
    book.step(11, "distance")
    far = [[distance(pe, a, b) for b in positions] for a in positions]
    pairs = [(a, b) for a in positions for b in positions if a < b]
    if pairs:
        apart = [(number(pe[0, d]), MINUS, number(pe[1, d])) for d in dimensions]
        inside = Group(joined(Group(each, "square") for each in apart), "sqrt")
        book.equation(of("D", 0, 1), (inside,), far[0][1])
    book.matrix("matrix", far, rows, rows, look="plain")
    if pairs:
        a, b = min(pairs, key=lambda pair: far[pair[0]][pair[1]].scalar.exact)
        value = number(compute("min", *(far[a][b].scalar for a, b in pairs)), 2)
        book.point("nearest", a=whole(a), b=whole(b), nearest=value)


def distance(pe: Values, a: int, b: int) -> Number:
    """How far two positions are apart."""
    apart = [pe[a, d] - pe[b, d] for d in range(pe.shape[1])]
    return number(compute("sqrt", compute("add", *(x * x for x in apart))))


def inputs(book: Book) -> None:
    run = book.training
    for step, side, words in ((12, "encoder", book.source), (13, "decoder", book.target)):
        embedded, result = run[f"{side}.embedded"], run[f"{side}.input"]
        book.step(step, "add", token=words[0], rows=run.size("decoder.input", 0))
        positioned(book, embedded, run["positional"], result)
        book.matrix("matrix", result, words)
        if side == "encoder" and len(words) > 1:
            moved = [a + b for a, b in zip(embedded[0], run["positional"][-1], strict=True)]
            book.say("order")
            book.matrix("moved", [[number(x) for x in moved]], [words[0]])
    book.point("both")


def positioned(book: Book, embedded: Values, positional: Values, result: Values) -> None:
    """The first word's embedding and its position, added."""
    word = book.source[0] if result.name.startswith("encoder") else book.target[0]
    for d in range(result.shape[1]):
        left = exactly([embedded[0, d]])[0], PLUS, number(positional[0, d])
        book.equation(of("x", word, d), left, result[0, d])
