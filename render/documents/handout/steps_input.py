"""Steps 0 to 13: the model as a whole, tokens, embedding, positions, the input."""

from __future__ import annotations

import math

from render.documents.handout.book import Book, exactly, listed, number, of, paired, product, whole
from render.documents.handout.content import OVER, PLUS, TIMES, Group, Number, Typst, joined
from scenes import structure, wording
from scenes.rounding import MINUS, as_decimal, decimals_needed, shown
from scenes.values import Run, Values, compute, constant

SIDES = ("source", "target")


def overview(book: Book) -> None:
    run = book.training
    sizes = {
        "d_model": number(run.size("encoder.input", 1)),
        "h": number(run.size("encoder.0.self_attn.q", 0)),
        "d_k": number(run.size("encoder.0.self_attn.q", 2)),
        "d_ff": number(run.size("encoder.0.ffn.hidden", 1)),
        "N_enc": whole(len(run.layers("encoder"))),
        "N_dec": whole(len(run.layers("decoder"))),
        "V": number(run.size(structure.embedding(run, "target"), 0)),
    }
    if structure.has_two_tables(run):
        sizes["V_source"] = number(run.size(structure.embedding(run, "source"), 0))
    words = {side: book.sentence(structure.spoken(run, side)) for side in SIDES}
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
    rounds = (number(count), MINUS, whole(1)) if len(book.following) < len(target) else count
    book.equation(book.upright("rounds"), rounds, whole(len(book.following)))
    lines = [
        (whole(k), book.sentence(target[:k]), word) for k, word in enumerate(book.following, 1)
    ]
    book.table("rounds_table", ("round", "reads", "next"), lines)
    book.point("point")
    spoken = [structure.spoken(book.training, side) for side in SIDES]
    cut = wording.cut(spoken[0]) + wording.cut(spoken[1]) + wording.ends(book.training)
    said = {side: " / ".join(words) for side, words in zip(SIDES, spoken, strict=True)}
    book.case("split", cut, "", **said)


def tokens(book: Book) -> None:
    run, sides = book.training, (("source", book.source), ("target", book.target))
    size, others = (run.size(structure.embedding(run, side), 0) for side in ("target", "source"))
    book.step(2, "table", words=size, last=whole(size - constant(1)), others=others)
    for side in SIDES if structure.has_two_tables(run) else ("target",):
        listed_words = structure.words_of(run, side)
        numbers = [[whole(i) for i in range(len(listed_words))]]
        book.matrix(f"vocabulary_{side}", numbers, (book.plain("id"),), listed_words, look="plain")
    for side, words in sides:
        pairs = [(word, run[f"{side}.ids"][i]) for i, word in enumerate(words)]
        book.table(side, ("token", "id"), pairs)
    book.step(3, "integers")
    for side, words in sides:
        ids = run[f"{side}.ids"]
        book.matrix(f"{side}_ids", ids, (book.plain("id"),), words, look="plain")
    rounds = range(1, len(book.following) + 1)
    lines = [(whole(k), listed(book.inference(k)["target.ids"])) for k in rounds]
    book.table("rounds", ("round", "ids"), lines)
    book.point("point")


def embedding(book: Book) -> None:
    run, token = book.training, book.source[0]
    name = structure.embedding(run, "source")
    table, looked_up = run[name], run[structure.looked_up(run, "encoder")]
    places = decimals_needed([value.exact for value in table.scalars()], 2)
    size, width = (number(run.size(name, axis)) for axis in (0, 1))
    row_id = int(run["source.ids"].array[0])
    book.step(4, "table", words=size, size=width)
    book.equation(book.upright("count"), (size, TIMES, width), product(size, width))
    vocabulary = structure.words_of(run, "source")
    book.matrix("matrix", table, vocabulary, decimals=places, marked=[row_id])
    if structure.has_two_tables(run):
        other = run[structure.embedding(run, "target")]
        book.matrix("matrix_target", other, book.vocabulary, decimals=places)
    book.step(5, "lookup", token=token, id=run["source.ids"][0])
    book.matrix("vector", table[row_id], [token], decimals=places)
    book.say("onehot")
    for d in range(table.shape[1]):
        terms = [
            (whole(int(i == row_id)), TIMES, number(table[i, d], places))
            for i in range(table.shape[0])
        ]
        result = number(looked_up[0, d], places)
        book.equation(of("e", token, d), joined(terms), result)
    book.step(6, "all", d=width)
    for side, part, words in (
        ("source", "encoder", book.source),
        ("target", "decoder", book.target),
    ):
        rows = run[structure.looked_up(run, part)]
        book.matrix(side, rows, words, decimals=places)
    if structure.is_scaled(run):
        scaled(book, looked_up, width)
    book.point("learned")


def scaled(book: Book, looked_up: Values, width: Number) -> None:
    """The vectors times the root of d_model, worked out for the first token."""
    run, token = book.training, book.source[0]
    book.say("scaled", token=token, d=width)
    embedded = run["encoder.embedded"]
    for d, value in enumerate(exactly(looked_up[0])):
        left = value, TIMES, Group((width,), "sqrt")
        book.equation(of("e'", token, d), left, exactly([embedded[0, d]])[0])
    for side, part, words in (
        ("source", "encoder", book.source),
        ("target", "decoder", book.target),
    ):
        book.matrix(f"scaled_{side}", run[f"{part}.embedded"], words)


def positions(book: Book) -> None:
    """Steps 7 to 11; where positions are learned, or none are added, some only say so."""
    order(book)
    table = structure.positional(book.training, "source")
    if table is None:
        for step, said in ((8, "formula"), (9, "worked"), (10, "table"), (11, "distance")):
            book.step(step, said)
        return
    rows = [f"pos {p}" for p in range(table.shape[0])]
    if book.training.setting("position.kind") == "sinusoid":
        formula(book, table)
    else:
        book.step(8, "formula")
        book.step(9, "worked")
    sizes = {
        name: book.training.size(table.name, n) for n, name in enumerate(("positions", "size"))
    }
    book.step(10, "table", **sizes)
    book.matrix("matrix", table, rows)
    if structure.has_two_positions(book.training):
        other = structure.positional(book.training, "target")
        assert other is not None
        book.matrix("matrix_target", other, [f"pos {p}" for p in range(other.shape[0])])
    if book.training.setting("position.kind") == "sinusoid":
        turns(book, paces(book, table))
    fingerprints(book, table, rows)


def paces(book: Book, pe: Values) -> list[Number]:
    """What positions are divided by in each pair of dimensions."""
    size, base = book.training.size("positional", 1), constant(10000)
    pairs = range((pe.shape[1] + 1) // 2)
    return [whole(compute("power", base, constant(2 * i) / size)) for i in pairs]


def pair_of(book: Book, d: int, size: int) -> tuple[int, bool]:
    """The pair of a dimension, and whether it has the cosine."""
    if book.training.setting("position.order") == "halves":
        return d % (size // 2), d >= size // 2
    return d // 2, bool(d % 2)


def formula(book: Book, pe: Values) -> None:
    """The formula of the sinusoids, and one position worked out."""
    size, pace = number(book.training.size("positional", 1)), paces(book, pe)
    halves = book.training.setting("position.order") == "halves"
    sine, cosine = ("i", "i + d\\/2") if halves else ("2i", "2i+1")
    book.step(8, "formula")
    book.formula(Typst(f'"PE"(p, {sine}) = sin(p / 10000^(2i\\/d))'))
    book.formula(Typst(f'"PE"(p, {cosine}) = cos(p / 10000^(2i\\/d))'))
    book.say("pace")
    for i, value in enumerate(pace):
        book.equation(of("w", i), (Group((whole(2 * i), OVER, size), "10000^"),), value)
    position = 1
    book.step(9, "worked", one=whole(position))
    for d in range(pe.shape[1]):
        pair, is_cosine = pair_of(book, d, pe.shape[1])
        inside = Group((whole(position), OVER, pace[pair]), "cos" if is_cosine else "sin")
        book.equation(of("PE", position, d), (inside,), pe[position, d])


def turns(book: Book, pace: list[Number]) -> None:
    """How many positions a full turn of each wave takes."""
    circle, size = constant(2 * math.pi), 2 * len(pace)
    lines = []
    for i, value in enumerate(pace):
        dimensions = [d for d in range(size) if pair_of(book, d, size)[0] == i]
        lines.append((", ".join(f"d{d}" for d in dimensions), whole(circle * value.scalar)))
    book.table("turns", ("dimensions", "positions"), lines)


def order(book: Book) -> None:
    vectors, words = book.training["encoder.embedded"], book.source
    other = min(1, len(words) - 1)
    one, two = exactly(vectors[0], 2), exactly(vectors[other], 2)
    book.step(7, "order", sentence=book.sentence(words), reversed=book.sentence(words[::-1]))
    values = list(map(product, one, two))
    total = compute("add", *(value.scalar for value in values))
    result = number(total, max(value.decimals for value in values))
    letter = "e'" if structure.is_scaled(book.training) else "e"
    label = Typst.of("{} dot {}", of(letter, words[0]), of(letter, words[other]))
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
        value = number(compute("min", *(far[a][b].scalar for a, b in pairs)))
        alike = not as_decimal(shown(value.scalar.exact, 4))
        said = "nearest_alike" if alike else "nearest"
        book.point(said, a=whole(a), b=whole(b), nearest=value)


def distance(pe: Values, a: int, b: int) -> Number:
    """How far two positions are apart."""
    apart = [pe[a, d] - pe[b, d] for d in range(pe.shape[1])]
    return number(compute("sqrt", compute("add", *(x * x for x in apart))))


def inputs(book: Book) -> None:
    run = book.training
    for step, sentence, side in ((12, "source", "encoder"), (13, "target", "decoder")):
        words, result = (run.source if side == "encoder" else run.target), run[f"{side}.input"]
        book.step(step, "add", token=words[0], rows=run.size("decoder.input", 0))
        positioned(book, run, sentence)
        book.matrix("matrix", result, words)
        if side == "encoder" and len(words) > 1:
            moved, table = list(run["encoder.embedded"][0]), structure.positional(run, sentence)
            if table is not None:
                last = table[len(words) - 1]
                moved = [a + b for a, b in zip(moved, last, strict=True)]
            book.say("order")
            book.matrix("moved", [[number(x) for x in moved]], [words[0]])
    book.point("both")


def positioned(book: Book, run: Run, sentence: str) -> None:
    """The first word's embedding and its position, added."""
    side, words = ("encoder", run.source) if sentence == "source" else ("decoder", run.target)
    embedded, table = run[f"{side}.embedded"], structure.positional(run, sentence)
    for d, result in enumerate(run[f"{side}.input"][0]):
        place = () if table is None else (PLUS, number(table[0, d]))
        book.equation(of("x", words[0], d), (exactly([embedded[0, d]])[0], *place), result)
