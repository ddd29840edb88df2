"""Steps 52 to 73: the decoder's input, the mask, masked self-attention in both layers."""

from __future__ import annotations

from render.documents.handout import workings
from render.documents.handout.book import Book, number, of, plain_sum, whole
from render.documents.handout.content import PLUS, Number, Typst, joined
from render.documents.handout.steps_encoder import cross_layer
from render.documents.handout.workings import Place, last_norm, place
from scenes.values import Values, compute


def asked_row(book: Book) -> int:
    """The row that is worked out: the second, which has something on either side."""
    return max(0, min(1, len(book.target) - 2))


def mask(book: Book) -> None:
    run, words = book.training, book.target
    row = asked_row(book)
    book.step(52, "input", count=whole(run.size("decoder.input", 0)))
    book.matrix(book.words("matrix"), run["decoder.input"], words)
    book.step(53, "peek", token=words[row])
    lines = [
        ((word,), (book.sentence(words[: i + 1]),), (book.sentence(words[i + 1 :]) or "—",))
        for i, word in enumerate(words)
    ]
    book.table(book.words("table"), [book.words(key) for key in ("row", "sees", "hidden")], lines)
    book.say("inference", token=words[row])
    masked_scores(book, row)


def masked_scores(book: Book, row: int) -> None:
    run, words = book.training, book.target
    at = place(run, "decoder", 0, "self_attn")
    book.step(54, "scores", token=words[row])
    workings.project(book, at, "q", row, words[row])
    workings.dots(book, at, row, words, words)
    workings.scaled(book, at, row, words, words)
    book.matrix(book.words("all_scores"), at["scores"][0], words, words)
    ahead(book, at)
    book.formula(Typst("S' = S + M"))
    m = workings.mask_of(run)
    book.say("mask", zero=whole(0), huge=m[0][-1])
    book.matrix(book.words("matrix"), m, words, words, look="plain", closed=workings.future)
    for j, word in enumerate(words):
        sides = (number(at["scores"][0, row, j]), PLUS, m[row][j])
        book.equation(of("s'", words[row], word), sides, (number(at["masked_scores"][0, row, j]),))
    masked = [[number(score) for score in line] for line in at["masked_scores"][0]]
    book.matrix(book.words("all_masked"), masked, words, words, closed=workings.future)
    book.say("softmax", token=words[row], zero=whole(0))
    workings.softmax(book, at, row, words, words[row])
    workings.maps(book, at, words, words, [0], closed=workings.future, decimals=4)
    book.point("point", zeros=closed_zeros(at["weights"][0]), zero=whole(0))


def ahead(book: Book, at: Place) -> None:
    """Whether some word scores highest on one that is not written yet; and which the most."""
    scores, words = at["scores"][0], book.target
    tops = [(i, row.argmax()[0]) for i, row in enumerate(scores)]
    peeking = [(i, j) for i, j in tops if j > i]
    i, j = max(peeking or tops, key=lambda pair: scores[pair].exact)
    facts = {"query": words[i], "key": words[j], "score": number(scores[i, j])}
    book.say("ahead" if peeking else "not_ahead", **facts)


def closed_zeros(weights: Values) -> Number:
    """How many of the weights that the mask forbids are exactly 0."""
    size = range(weights.shape[0])
    return whole(compute("count_zeros", *(weights[i, j] for i in size for j in size if j > i)))


def first_layer(book: Book) -> None:
    run, words, row = book.training, book.target, asked_row(book)
    token = words[row]
    at = place(run, "decoder", 0, "self_attn")
    book.step(55, "compare")
    encoder = place(run, "encoder", 0, "self_attn")
    heat_of_source = [[number(w, 3) for w in line] for line in encoder["weights"][0]]
    book.matrix(book.words("encoder"), heat_of_source, book.source, book.source, look="heat")
    workings.maps(book, at, words, words, [0], closed=workings.future)
    book.point("zeros", zeros=closed_zeros(at["weights"][0]))
    book.step(56)
    one = number(at["weights"][0, 0, 0], 3)
    book.say("rows", first=words[0], last=words[-1], one=one)
    workings.maps(book, at, words, words, [1], closed=workings.future)
    last = list(at["weights"][0, -1])
    book.equation(of("sum", words[-1]), joined([(number(w, 3),) for w in last]), (plain_sum(last),))
    book.step(57, "mix", token=token, zero=whole(0))
    workings.mixed(book, at, row, token)
    book.step(58, "concat", token=token)
    workings.concatenated(book, at, row, token)
    book.step(59, "wo")
    workings.output(book, at, row, token)
    book.step(60, "residual", token=token)
    workings.residual(book, at, row)
    book.step(61, "statistics")
    workings.statistics(book, at, row)
    book.step(62, "normalise")
    workings.normalised(book, at, row)
    other_sub_layers(book, at)
    feed_forward(book, row)
    book.step(66)
    output = last_norm(run, "decoder", 0)
    book.say("output", count=whole(run.size(output, 0)))
    book.matrix(book.words("matrix"), run[output], words, marked=[row])
    book.point("point")


def other_sub_layers(book: Book, at: Place) -> None:
    """A model of one's own may have cross-attention in this layer, too: its result, in short."""
    run = at.run
    if "cross_attn" in run.layers("decoder")[at.layer]:
        other = place(run, "decoder", at.layer, "cross_attn")
        book.say("also_cross")
        book.matrix(book.words("after_cross"), other.norm("output"), book.target)


def feed_forward(book: Book, row: int) -> None:
    ffn = place(book.training, "decoder", 0, "ffn")
    token = book.target[row]
    book.step(63, "expand", d_ff=whole(ffn.run.size(f"{ffn.name}.hidden", 1)))
    workings.expanded(book, ffn, row)
    workings.activated(book, ffn, row)
    book.step(64, "contract")
    workings.contracted(book, ffn, row)
    book.step(65, "again", token=token)
    workings.add_and_norm(book, ffn, row)


def second_layer(book: Book) -> None:
    run, words, row = book.training, book.target, asked_row(book)
    token, layer = words[row], cross_layer(book)
    at = place(run, "decoder", layer, "self_attn")
    book.step(67, "roles", token=token)
    for role in "qkv":
        workings.project(book, at, role, row, token)
    workings.vectors(book, at, "qkv", words, [0])
    book.step(68, "scores", token=token)
    workings.dots(book, at, row, words, words)
    workings.scaled(book, at, row, words, words)
    masked = [[number(score) for score in line] for line in at["masked_scores"][0]]
    book.matrix(book.words("matrix"), masked, words, words, closed=workings.future)
    book.step(69, "softmax", token=token)
    workings.softmax(book, at, row, words, token)
    workings.maps(book, at, words, words, closed=workings.future)
    book.point("zeros", zeros=closed_zeros(at["weights"][0]))
    book.step(70, "mix", token=token)
    workings.mixed(book, at, row, token)
    workings.concatenated(book, at, row, token)
    workings.output(book, at, row, token)
    book.step(71, "residual", token=token)
    workings.residual(book, at, row)
    book.step(72, "normalise")
    workings.statistics(book, at, row)
    workings.normalised(book, at, row)
    book.step(73, "handover", count=whole(run.size("target.ids", 0)))
    book.matrix(book.words("matrix"), at.norm("output"), words, marked=[row])
    book.point("point")
