"""Steps 0 to 13: the model as a whole, tokens, embedding, positions, the input."""

from __future__ import annotations

import math

from render.documents.handout.book import Book, dims, exactly, listed, number, of, product, whole
from render.documents.handout.content import OVER, PLUS, TIMES, Group, Number, Typst, joined
from scenes.rounding import MINUS, decimals_needed
from scenes.values import Values, compute, constant


def overview(book: Book) -> None:
    run = book.training
    sizes = {
        "d_model": whole(run.size("encoder.input", 1)),
        "h": whole(run.size("encoder.0.self_attn.q", 0)),
        "d_k": whole(run.size("encoder.0.self_attn.q", 2)),
        "d_ff": whole(run.size("encoder.0.ffn.hidden", 1)),
        "N_enc": whole(len(run.layers("encoder"))),
        "N_dec": whole(len(run.layers("decoder"))),
        "V": whole(run.size("embedding", 0)),
    }
    book.step(0)
    words = {"source": book.sentence(book.source), "target": book.sentence(book.target)}
    book.say("pair", **words)
    book.say("encoder", n=whole(run.size("source.ids", 0)))
    book.say("decoder")
    book.say("output", words=sizes["V"])
    book.equation(Typst("d_k"), (sizes["d_model"], OVER, sizes["h"]), (sizes["d_k"],))
    rows = [(book.words(f"size_{name}"), (value,)) for name, value in sizes.items()]
    book.table(book.words("sizes"), (book.words("quantity"), book.words("value")), rows)
    flow = ("source.ids", "encoder.input", "memory", "decoder.input", "logits", "probabilities")
    lines = []
    for name in flow:
        shape = [run.size(name, axis) for axis in range(len(run[name].shape))]
        key = "flow_" + name.replace(".", "_")
        lines.append((book.words(key), listed(shape, sign=" × ")))
    book.table(book.words("flow"), (book.words("what"), book.words("shape")), lines)


def two_ways(book: Book) -> None:
    run, target = book.training, book.target
    count = run.size("target.ids", 0)
    book.step(1, "training", n=whole(count), target=book.sentence(target))
    book.say("inference", word=target[0])
    book.equation(
        book.upright("rounds"), (whole(count), MINUS, whole(1)), (whole(count - constant(1)),)
    )
    lines = [
        ((whole(k),), (book.sentence(target[:k]),), (target[k],)) for k in range(1, len(target))
    ]
    head = [book.words(key) for key in ("round", "reads", "next")]
    book.table(book.words("rounds_table"), head, lines)
    book.point("point")
    book.say("split", source=" / ".join(book.source), target=" / ".join(target))


def tokens(book: Book) -> None:
    run = book.training
    book.step(2)
    size = run.size("embedding", 0)
    last = whole(size - constant(1))
    book.say("table", words=whole(size), zero=whole(0), last=last)
    ids = [[whole(i) for i in range(len(book.vocabulary))]]
    rows = (book.plain("id"),)
    book.matrix(book.words("vocabulary"), ids, rows, book.vocabulary, look="plain")
    for side, words in (("source", book.source), ("target", book.target)):
        pairs = [((word,), (number(run[f"{side}.ids"][i]),)) for i, word in enumerate(words)]
        book.table(book.words(side), (book.words("token"), book.words("id")), pairs)
    book.step(3, "integers")
    for side, words in (("source", book.source), ("target", book.target)):
        book.matrix(book.words(f"{side}_ids"), run[f"{side}.ids"], rows, words, look="plain")
    lines = [
        ((whole(k),), listed(book.inference(k)["target.ids"])) for k in range(1, len(book.target))
    ]
    book.table(book.words("rounds"), (book.words("round"), book.words("ids")), lines)
    book.point("point")


def embedding(book: Book) -> None:
    run, token = book.training, book.source[0]
    table = run["embedding"]
    places = decimals_needed([value.exact for value in table.scalars()], 2)
    size, width = (whole(run.size("embedding", axis)) for axis in (0, 1))
    row_id = int(run["source.ids"].array[0])
    book.step(4, "table", words=size, size=width)
    book.equation(book.upright("count"), (size, TIMES, width), (product(size, width),))
    book.matrix(book.words("matrix"), table, book.vocabulary, decimals=places, marked=[row_id])
    book.step(5, token=token)
    the_id = number(run["source.ids"][0])
    book.say("lookup", token=token, id=the_id)
    book.matrix(book.words("vector", token=token), table[row_id], [token], decimals=places)
    book.say("onehot", one=whole(1), zero=whole(0))
    for d in range(table.shape[1]):
        terms = [
            (whole(int(i == row_id)), TIMES, number(table[i, d], places))
            for i in range(table.shape[0])
        ]
        result = number(run["encoder.embedded"][0, d], places)
        book.equation(of("e", token, d), joined(terms), (result,))
    book.step(6, "all")
    book.matrix(book.words("source"), run["encoder.embedded"], book.source, decimals=places)
    book.matrix(book.words("target"), run["decoder.embedded"], book.target, decimals=places)
    book.point("learned")


def positions(book: Book) -> None:
    run, pe = book.training, book.training["positional"]
    order(book)
    size = whole(run.size("positional", 1))
    pairs = range((pe.shape[1] + 1) // 2)
    book.step(8, "formula")
    book.formula(Typst('"PE"(p, 2i) = sin(p / 10000^(2i\\/d))'))
    book.formula(Typst('"PE"(p, 2i+1) = cos(p / 10000^(2i\\/d))'))
    book.say("pace")
    base = whole(10000)
    paces = [whole(compute("power", base.scalar, constant(2 * i) / size.scalar)) for i in pairs]
    for i in pairs:
        power = Group((whole(2 * i), OVER, size), "10000^")
        book.equation(of("w", i), (power,), (paces[i],))
    position = 1
    book.step(9, "worked", one=whole(position))
    for d in range(pe.shape[1]):
        function = "cos" if d % 2 else "sin"
        inside = Group((whole(position), OVER, paces[d // 2]), function)
        book.equation(of("PE", position, d), (inside,), (number(pe[position, d]),))
    book.step(10, "table", positions=whole(run.size("positional", 0)), size=size)
    rows = [f"pos {p}" for p in range(pe.shape[0])]
    book.matrix(book.words("matrix"), pe, rows)
    circle = constant(2 * math.pi)
    turns = [((f"d{2 * i}, d{2 * i + 1}",), (whole(circle * paces[i].scalar),)) for i in pairs]
    book.table(book.words("turns"), (book.words("dimensions"), book.words("positions")), turns)
    fingerprints(book, pe, rows)


def order(book: Book) -> None:
    vectors, words = book.training["encoder.embedded"], book.source
    other = min(1, len(words) - 1)
    one, two = exactly(vectors[0], 2), exactly(vectors[other], 2)
    sentences = {"sentence": book.sentence(words), "reversed": book.sentence(words[::-1])}
    book.step(7, "order", **sentences)
    terms = joined([(a, TIMES, b) for a, b in zip(one, two, strict=True)])
    values = [product(a, b) for a, b in zip(one, two, strict=True)]
    total = compute("add", *(value.scalar for value in values))
    result = number(total, max(value.decimals for value in values))
    label = Typst.of("{} dot {}", of("e", words[0]), of("e", words[other]))
    book.equation(label, terms, joined([(value,) for value in values]), (result,))
    book.say("same", **sentences)


def fingerprints(book: Book, pe: Values, rows: list[str]) -> None:
    positions = range(pe.shape[0])
    book.step(11, "distance")
    far = [[distance(pe, a, b) for b in positions] for a in positions]
    last = pe.shape[0] - 1
    if last > 0:
        squares = [
            (Group((number(pe[0, d]), MINUS, number(pe[1, d])), "square"),)
            for d in range(pe.shape[1])
        ]
        inside = Group(joined(squares), "sqrt")
        book.equation(of("D", 0, 1), (inside,), (far[0][1],))
    book.matrix(book.words("matrix"), far, rows, rows, look="plain")
    if last > 0:
        pairs = [(a, b) for a in positions for b in positions if a < b]
        near = min(pairs, key=lambda pair: far[pair[0]][pair[1]].scalar.exact)
        value = number(compute("min", *(far[a][b].scalar for a, b in pairs)), 2)
        book.point("nearest", a=whole(near[0]), b=whole(near[1]), nearest=value)


def distance(pe: Values, a: int, b: int) -> Number:
    """How far two positions are apart."""
    apart = [pe[a, d] - pe[b, d] for d in range(pe.shape[1])]
    return number(compute("sqrt", compute("add", *(x * x for x in apart))))


def inputs(book: Book) -> None:
    run = book.training
    for step, side, words in ((12, "encoder", book.source), (13, "decoder", book.target)):
        embedded, result = run[f"{side}.embedded"], run[f"{side}.input"]
        book.step(step, "add", token=words[0])
        for d in range(result.shape[1]):
            place = exactly([embedded[0, d]], 4)[0], number(run["positional"][0, d])
            sides = (place[0], PLUS, place[1]), (number(result[0, d]),)
            book.equation(of("x", words[0], d), *sides)
        book.matrix(book.words("matrix"), result, words, dims(result.shape[1]))
        if side == "encoder" and len(words) > 1:
            moved = [a + b for a, b in zip(embedded[0], run["positional"][-1], strict=True)]
            book.say("order", token=words[0])
            book.matrix(
                book.words("moved", token=words[0]), [[number(x) for x in moved]], [words[0]]
            )
        if side == "decoder":
            book.point("both", rows=whole(run.size("decoder.input", 0)))
