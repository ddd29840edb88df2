"""Steps 74 to 90: cross-attention, the rest of the decoder, output and loss."""

from __future__ import annotations

from render.documents.handout import workings
from render.documents.handout.book import Book, number, numbers, of, visible, whole
from render.documents.handout.content import OVER, Group, Typst, joined
from render.documents.handout.steps_encoder import cross_layer
from render.documents.handout.workings import Place, last_norm, place
from scenes import verdicts, wording
from scenes.values import compute


def cross_attention(book: Book) -> None:
    run, words, keys = book.training, book.target, book.source
    at = place(run, "decoder", cross_layer(book), "cross_attn")
    token = words[0]
    book.step(74, "bridge")
    book.formula(Typst("Q = X W_Q^top quad K = M W_K^top quad V = M W_V^top"))
    book.matrix(book.words("decoder_rows"), at.input, words)
    book.matrix(book.words("memory"), run["memory"], keys)
    book.step(75, "query", token=token)
    workings.project(book, at, "q", 0, token)
    workings.vectors(book, at, "q", words)
    book.step(76, "memory", token=keys[0])
    workings.project(book, at, "kv", 0, keys[0], x=run["memory"])
    workings.vectors(book, at, "kv", keys)
    book.step(77, "score", token=token)
    workings.dots(book, at, 0, words, keys)
    workings.scaled(book, at, 0, words, keys)
    book.step(78, "softmax", token=token)
    workings.softmax(book, at, 0, keys, token)
    weights_told(book, at)
    book.step(80, "mix", token=token)
    workings.mixed(book, at, 0, token)
    rest(book, at)


def weights_told(book: Book, at: Place) -> None:
    """All weights; whether they are nearly even depends on the model."""
    words, keys = book.target, book.source
    weights = at["weights"][0]
    book.step(79, "all")
    workings.maps(book, at, words, keys)
    flat = weights.scalars()
    least, most = (number(compute(what, *flat), wording.SHARES) for what in ("min", "max"))
    queries, sources = wording.named(words), wording.named(keys)
    book.case("even", wording.cross(weights, queries, sources), "", least=least, most=most)
    book.case("best", wording.largest(weights[0], queries[0], sources))


def rest(book: Book, at: Place) -> None:
    run, words, token = at.run, book.target, book.target[0]
    ffn = place(run, "decoder", at.layer, "ffn")
    book.step(81, "output")
    workings.concatenated(book, at, 0, token)
    workings.output(book, at, 0, token)
    book.step(82, "norm", token=token)
    workings.add_and_norm(book, at, 0)
    book.step(83, "expand", d_ff=whole(run.size(f"{ffn.name}.hidden", 1)))
    workings.expanded(book, ffn, 0)
    workings.activated(book, ffn, 0, decimals=3)
    book.step(84, "contract")
    workings.contracted(book, ffn, 0)
    book.step(85, "again", token=token)
    workings.add_and_norm(book, ffn, 0)
    book.matrix(book.words("matrix"), run[last_norm(run, "decoder", at.layer)], words, marked=[0])
    book.point("point")


def output(book: Book) -> None:
    run, words, vocabulary = book.training, book.target, book.vocabulary
    out = run[last_norm(run, "decoder", len(run.layers("decoder")) - 1)]
    matrix, logits, p = run.weight("output_projection.weight"), run["logits"], run["probabilities"]
    places = workings.decimals_of(matrix, 4)
    goals = [int(i) for i in run["target.ids"].array]
    book.step(86, "logit", token=words[0], words=whole(run.size("logits", 1)))
    book.formula(Typst('z = h W_"out"^top'))
    book.matrix(book.words("matrix"), matrix, vocabulary, decimals=places, marked=[goals[0]])
    workings.linear(book, "z", matrix, numbers(out[0]), logits[0], vocabulary, 4)
    book.matrix(book.words("logits"), logits, words, vocabulary)
    book.step(87, token=words[0])
    largest = compute("max", *logits[0])
    exp = [compute("exp", logit - largest) for logit in logits[0]]
    book.say("softmax", token=words[0], largest=number(largest))
    workings.softmax_of(book, list(logits[0]), exp, list(p[0]), vocabulary, words[0])
    book.matrix(book.words("probabilities"), p, words, vocabulary, look="heat")
    ranks(book, goals)
    losses(book, goals)


def ranks(book: Book, goals: list[int]) -> None:
    run, words, vocabulary = book.training, book.target, book.vocabulary
    p = run["probabilities"]
    book.step(88, "rank")
    guesses = [row.argmax()[0] for row in p]
    lines = []
    for i, (goal, guess) in enumerate(zip(goals, guesses, strict=True)):
        rank = whole(compute("rank", p[i, goal], *p[i]))
        told = (vocabulary[guess], " (", number(p[i, guess]), ")")
        lines.append(((whole(i),), (words[i],), told, (number(p[i, goal]),), (rank,)))
    head = [book.words(key) for key in ("position", "goal", "guess", "p_goal", "rank_head")]
    hits = [i for i, (goal, guess) in enumerate(zip(goals, guesses, strict=True)) if goal == guess]
    book.table(book.words("table"), head, lines, marked=hits)
    standing = verdicts.standing_of(goals[0], run["logits"][0], p[0], vocabulary)
    book.case("standing", verdicts.standing(standing), target=vocabulary[goals[0]])


def losses(book: Book, goals: list[int]) -> None:
    run, vocabulary = book.training, book.vocabulary
    p, loss = run["probabilities"], run["loss.per_position"]
    book.step(89, "loss", one=whole(1), zero=whole(0))
    book.formula(Typst('"loss" = - ln p("target")'))
    for i, goal in enumerate(goals):
        inside = Group((visible(p[i, goal]),), "−ln")
        book.equation(of("loss", i), (inside,), (number(loss[i]),))
    book.step(90)
    count, mean = whole(run.size("loss.per_position", 0)), number(run["loss.mean"][()])
    book.say("mean", count=count)
    total = Group(joined(numbers(loss)))
    book.equation(book.upright("mean_loss"), (total, OVER, count), (mean,))
    found = wording.top(loss, wording.VALUES)
    case = verdicts.largest_loss(loss, [vocabulary[goal] for goal in goals])
    if case.name == "one":
        (i,) = found.at[0]
        case += verdicts.probability(p[i, goals[i]])
    book.case("learn", case, "")
    book.point("shift")
