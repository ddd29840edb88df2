"""Steps 52 to 90: the decoder's input, the mask, both kinds of attention, output and loss."""

from __future__ import annotations

from render.documents.handout import sums
from render.documents.handout.book import Book, number, numbers, of, visible, whole
from render.documents.handout.content import (
    OVER,
    PLUS,
    Expression,
    Group,
    Number,
    Parts,
    Typst,
    joined,
)
from render.documents.handout.steps_encoder import cross_layer, final_norm, projection_formula
from render.documents.handout.workings import Sublayer
from scenes import structure, verdicts, wording
from scenes.rounding import MINUS
from scenes.values import Values, compute

#: A probability that is no larger has no digit that could be written; its loss is worked out from
#: the logits.
SMALLEST = 1e-14


def asked_row(book: Book) -> int:
    """The row that is worked out: the second, which has something on either side."""
    return max(0, min(1, len(book.target) - 2))


def mask(book: Book) -> None:
    run, words = book.training, book.target
    at = Sublayer(book, "decoder", 0, "self_attn", asked_row(book))
    book.step(52, "input", count=run.size("decoder.input", 0))
    book.matrix("matrix", run["decoder.input"], words)
    at.step(53, "peek")
    lines = [
        (word, book.sentence(words[: i + 1]), book.sentence(words[i + 1 :]) or "—")
        for i, word in enumerate(words)
    ]
    book.table("table", ("row", "sees", "hidden"), lines)
    book.say("inference")
    masked_scores(book, at)


def masked_scores(book: Book, at: Sublayer) -> None:
    words, row = at.rows, at.row
    at.step(54, "scores", at.norm_first)
    at.project("q")
    at.dots()
    at.scaled()
    book.matrix("all_scores", at["scores"][0], words, words)
    ahead(book, at)
    book.formula(Typst("S' = S + M"))
    m = sums.mask_of(at.run)
    book.say("mask", huge=m[0][-1])
    at.mask("matrix")
    for j, word in enumerate(words):
        left = number(at["scores"][0, row, j]), PLUS, m[row][j]
        book.equation(of("s'", at.token, word), left, at["masked_scores"][0, row, j])
    at.masked_scores("all_masked")
    book.say("softmax")
    at.softmax()
    at.maps([0], decimals=4)
    book.point("point", zeros=closed_zeros(at))


def ahead(book: Book, at: Sublayer) -> None:
    """Whether some word scores highest on one that is not written yet; and which the most. As the
    scene of the mask, by the digits shown."""
    scores, words = at["scores"][0], at.rows
    best: dict[tuple[int, int], str] = {}
    for i in range(len(words)):
        places = wording.top(scores[i], wording.VALUES).at
        later = [place[0] for place in places if place[0] > i]
        best[i, (later or places[0])[0]] = wording.ahead(scores, i, words).name
    case = next(name for name in ("ahead", "shared", "none") if name in best.values())
    among = [place for place, name in best.items() if name == case]
    i, j = max(among, key=lambda place: scores[place].exact)
    if case == "none" and len(wording.top(scores, wording.VALUES).at) > 1:
        case = "none_tied"
    book.say(f"scores_{case}", query=words[i], key=words[j], score=number(scores[i, j]))


def closed_zeros(at: Sublayer) -> Number:
    """How many of the weights of head 1 that the mask forbids are exactly 0."""
    weights, size = at["weights"][0], range(len(at.rows))
    return whole(compute("count_zeros", *(weights[i, j] for i in size for j in size if j > i)))


def first_layer(book: Book) -> None:
    run, words, row = book.training, book.target, asked_row(book)
    at = Sublayer(book, "decoder", 0, "self_attn", row)
    at.step(55, "compare")
    weights = run["encoder.0.self_attn.weights"][0]
    book.matrix("encoder", weights, book.source, book.source, look="heat", decimals=3)
    at.maps([0])
    book.point("zeros", zeros=closed_zeros(at))
    one = number(at["weights"][0, 0, 0], 3)
    book.step(56, "rows", first=words[0], last=words[-1], one=one)
    at.maps(at.heads[1:2])
    last = list(at["weights"][0, -1])
    book.equation(of("sum", words[-1]), joined(numbers(last, 3)), whole(compute("add", *last)))
    norm = (at.next if structure.is_pre(run) else at).norm
    at.step(57, "mix", at.mixed)
    at.step(58, "concat", at.concatenated)
    at.step(59, "wo", at.output)
    at.step(60, "residual", at.residual)
    at.step(61, "statistics", norm.statistics)
    at.step(62, "normalise", norm.normalised)
    if len(run.layers("decoder")) == 1:
        for step in range(63, 67):
            book.step(step, "later", token=at.token)
        return
    ffn = Sublayer(book, "decoder", 0, "ffn", row)
    if "cross_attn" in at.kinds:  # of a model of one's own: its result, in short
        book.say("also_cross")
        book.matrix("after_cross", run[at.next.around.leaves], words)
        ffn.step(63, "", ffn.norm_first, ffn.widened, ffn.expanded, ffn.activated)
    else:
        ffn.step(63, "", ffn.widened, ffn.expanded, ffn.activated)
    ffn.step(64, "contract", ffn.contracted)
    ffn.step(65, "again", ffn.add_and_norm)
    output = structure.layer_output(run, "decoder", 0)
    book.step(66, "output", count=run.size(output.name, 0))
    book.matrix("matrix", output, words, marked=[row])
    book.point("point")


def second_layer(book: Book) -> None:
    run, row = book.training, asked_row(book)
    at = Sublayer(book, "decoder", cross_layer(book), "self_attn", row)
    if at.layer == 0:
        for step in range(67, 73):
            book.step(step, "single", token=at.token)
    else:
        at.step(67, "", at.norm_first)
        book.case("roles", wording.layer_weights(run, "decoder", 0, at.layer), "")
        at.project()
        at.vectors(heads=[0])
        at.step(68, "scores", at.dots, at.scaled, at.masked_scores)
        at.step(69, "softmax", at.softmax, at.maps)
        book.point("zeros", zeros=closed_zeros(at))
        at.step(70, "mix", at.mixed, at.concatenated, at.output)
        norm = (at.next if structure.is_pre(run) else at).norm
        at.step(71, "residual", at.residual)
        at.step(72, "normalise", norm.worked_out)
    at.step(73, "handover", count=run.size("target.ids", 0))
    book.matrix("matrix", run[at.around.leaves], at.rows, marked=[row])
    book.point("point")


def cross_attention(book: Book) -> None:
    layer = cross_layer(book)
    at, ffn = (Sublayer(book, "decoder", layer, kind) for kind in ("cross_attn", "ffn"))
    book.step(74, "bridge")
    book.formula(projection_formula(book, of_memory=True))
    book.matrix("decoder_rows", at.input, at.rows)
    book.matrix("memory", at.run["memory"], at.keys)
    at.step(75, "query", at.norm_first)
    at.project("q")
    at.vectors("q")
    at.step(76, "memory", token=at.keys[0])
    at.project("kv")
    at.vectors("kv")
    at.step(77, "score", at.dots, at.scaled)
    at.step(78, "softmax", at.softmax)
    weights_told(book, at)
    at.step(80, "mix", at.mixed)
    at.step(81, "output", at.concatenated, at.output)
    at.step(82, "norm", at.add_and_norm)
    ffn.step(83, "", ffn.norm_first, ffn.widened, ffn.expanded)
    ffn.activated(decimals=3)
    ffn.step(84, "contract", ffn.contracted)
    ffn.step(85, "again", ffn.add_and_norm)
    final_norm(book, "decoder", 0)
    book.matrix("matrix", structure.decoder_output(at.run), at.rows, marked=[0])
    book.point("point")


def weights_told(book: Book, at: Sublayer) -> None:
    """All weights; whether they are nearly even depends on the model."""
    weights = at["weights"][0]
    at.step(79, "all", at.maps)
    flat = weights.scalars()
    least, most = (number(compute(what, *flat), wording.SHARES) for what in ("min", "max"))
    queries, sources = wording.named(at.rows), wording.named(at.keys)
    book.case("even", wording.cross(weights, queries, sources), "", least=least, most=most)
    book.case("best", wording.largest(weights[0], queries[0], sources))


def output(book: Book) -> None:
    run, words, vocabulary = book.training, book.target, book.vocabulary
    out, matrix = structure.decoder_output(run), structure.output_matrix(run)
    logits, p = run["logits"], run["probabilities"]
    goals = [vocabulary.index(word) for word in run.goals]
    book.step(86, "logit", token=words[0], words=run.size("logits", 1))
    bias = structure.bias(run, "output_projection")
    code = ("z = h E^top" if run.setting("tied_output") else 'z = h W_"out"^top') + " + b" * (
        bias is not None
    )
    book.formula(Typst(code))
    places = sums.decimals_of(matrix, 4)
    book.matrix("matrix", matrix, vocabulary, decimals=places, marked=[goals[0]])
    sums.linear(book, "z", matrix, numbers(out[0]), logits[0], vocabulary, 4, bias)
    book.matrix("logits", logits, words, vocabulary)
    largest = compute("max", *logits[0])
    book.step(87, "softmax", token=words[0], largest=largest)
    exp = [compute("exp", logit - largest) for logit in logits[0]]
    sums.softmax(book, list(logits[0]), exp, list(p[0]), vocabulary, words[0])
    book.matrix("probabilities", p, words, vocabulary, look="heat")
    ranks(book, goals)
    losses(book, goals)


def ranks(book: Book, goals: list[int]) -> None:
    run, vocabulary = book.training, book.vocabulary
    p, logits = run["probabilities"], run["logits"]
    book.step(88, "rank")
    found = [
        verdicts.standing_of(goal, logits[i], p[i], vocabulary) for i, goal in enumerate(goals)
    ]
    lines = [
        (whole(i), vocabulary[each.goal], likeliest(book, each), each.p, whole(each.rank))
        for i, each in enumerate(found)
    ]
    head = ("position", "goal", "guess", "p_goal", "rank_head")
    hits = [i for i, each in enumerate(found) if each.is_hit]
    book.table("table", head, lines, marked=hits)
    book.case("standing", verdicts.standing(found[0]), target=vocabulary[goals[0]])


def likeliest(book: Book, found: verdicts.Standing) -> Parts:
    """The words that share the largest logit as shown, with their probability."""
    if len(found.best) > 2:
        return book.words("tied", n=whole(len(found.best)))
    said = " / ".join(found.words[i] for i in found.best)
    return (said, " (", number(found.probabilities[found.choice]), ")")


def losses(book: Book, goals: list[int]) -> None:
    run, vocabulary = book.training, book.vocabulary
    p, loss = run["probabilities"], run["loss.per_position"]
    book.step(89, "loss")
    book.formula(Typst('"loss" = - ln p("target")'))
    for i, goal in enumerate(goals):
        if p[i, goal].exact > SMALLEST:
            inside: Expression = (Group((visible(p[i, goal]),), "−ln"),)
        else:
            inside = from_logits(run["logits"][i], goal)
        book.equation(of("loss", i), inside, loss[i])
    if any(p[i, goal].exact <= SMALLEST for i, goal in enumerate(goals)):
        book.say("from_logits")
    count = number(run.size("loss.per_position", 0))
    book.step(90, "mean", count=count)
    total = Group(joined(numbers(loss)))
    book.equation(book.upright("mean_loss"), (total, OVER, count), run["loss.mean"][()])
    found = wording.top(loss, wording.VALUES)
    case = verdicts.largest_loss(loss, [vocabulary[goal] for goal in goals])
    if case.name == "one":
        (i,) = found.at[0]
        case += verdicts.probability(p[i, goals[i]])
    book.case("learn", case, "")
    kind, row = run.model("objective"), min(1, len(goals) - 1)
    book.case("shift", verdicts.objective(kind, row, book.target, run.goals))


def from_logits(logits: Values, goal: int) -> Expression:
    """The loss of a word whose probability is too small for a number."""
    largest = compute("max", *logits)
    total = compute("add", *(compute("exp", logit - largest) for logit in logits))
    gap = number(largest), MINUS, number(logits[goal])
    return *gap, PLUS, Group((number(total),), "ln")
