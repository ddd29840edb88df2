"""Steps 91 to 95: the loop, the steps of inference, training and inference side by side."""

from __future__ import annotations

from render.documents.handout.book import Book, listed, number, numbers, whole
from render.documents.handout.content import Number, Parts, joined
from render.documents.handout.steps_input import positioned
from render.documents.handout.workings import Sublayer, last_norm, linear
from scenes.rounding import MINUS
from scenes.values import Run, Scalar, Values, compute, constant


class Written:
    """Step k of inference: what it reads, what it finds likeliest, what was hoped for."""

    def __init__(self, book: Book, k: int) -> None:
        self.run: Run = book.inference(k)
        self.read, self.word = book.target[:k], book.target[k]
        self.vocabulary = tuple(self.run.vocabulary)
        self.wanted = self.vocabulary.index(self.word)
        self.logits, self.p = self.run["logits"][-1], self.run["probabilities"][-1]
        (self.best,) = self.p.argmax()
        self.choice = self.vocabulary[self.best]
        self.hit = self.best == self.wanted
        self.rank = whole(compute("rank", self.p[self.wanted], *self.p))
        self.theirs = book.training["logits"][k - 1]
        self.equal = equal(self.logits, self.theirs)

    @property
    def guess(self) -> Parts:
        return (self.choice, " (", number(self.p[self.best]), ")")

    @property
    def facts(self) -> dict[str, str | Number | Scalar]:
        p, p_word = self.p[self.best], self.p[self.wanted]
        both = {"word": self.word, "choice": self.choice}
        return {**both, "p": p, "p_word": p_word, "rank": self.rank}


def equal(ours: Values, theirs: Values) -> bool:
    """Whether two rows of logits are the same but for rounding."""
    largest = max(1.0, float(abs(ours.array).max()))
    return bool(abs(ours.array - theirs.array).max() <= 1e-9 * largest)


def loop(book: Book) -> None:
    target = book.target
    steps = [Written(book, k) for k in range(1, len(target))]
    book.step(91, "loop", word=target[0])
    rows, marked = [], []
    for k, step in enumerate(steps, start=1):
        mask = listed([step.run.size("decoder.mask", axis) for axis in (0, 1)], sign=" × ")
        rows.append((whole(k), book.sentence(step.read), mask, step.guess, step.word))
        marked += [k - 1] if step.hit else []
    book.table("table", ("round", "reads", "mask", "guess", "takes"), rows, marked)
    alone = tuple(steps[0].run.alone(target[:1], len(target) - 1))
    book.say("free_same" if alone == target else "free_differ", words=book.sentence(alone))
    book.say("cache")
    book.point("point", rounds=whole(len(steps)))


def first(book: Book) -> None:
    step = Written(book, 1)
    run, word = step.run, book.target[0]
    book.step(92, "input", word=word)
    positioned(book, *(run[name] for name in ("decoder.embedded", "positional", "decoder.input")))
    book.say("self", weight=whole(run["decoder.0.self_attn.weights"][0, 0, 0]))
    chosen(book, step)
    book.say("equal" if step.equal else "differ", word=word)
    if not step.equal:
        compared(book, step)
    book.point("hit" if step.hit else "miss", **step.facts)


def chosen(book: Book, step: Written) -> None:
    """The decoder's last row, its logits, their probabilities."""
    run, vocabulary = step.run, step.vocabulary
    out = run[last_norm(run, "decoder", len(run.layers("decoder")) - 1)][-1]
    matrix = run.weight("output_projection.weight")
    book.matrix("last_row", out, [step.read[-1]], words=book.sentence(step.read))
    linear(book, "z", matrix, numbers(out), step.logits, vocabulary, 4)
    largest = compute("max", *step.logits)
    exp = [compute("exp", logit - largest) for logit in step.logits]
    rows = []
    for i, name in enumerate(vocabulary):
        rank = whole(compute("rank", step.p[i], *step.p))
        rows.append((name, step.logits[i], exp[i], step.p[i], rank))
    head = ("token", "logit_head", "exp_head", "p_head", "rank_head")
    book.table("choice_table", head, rows, [step.wanted], total=compute("add", *exp))


def compared(book: Book, step: Written) -> None:
    """The logits less those of the training row, word by word."""
    apart = [a - b for a, b in zip(step.logits, step.theirs, strict=True)]
    lines = [numbers(row) for row in (step.logits, step.theirs, apart)]
    place = whole(len(step.read) - 1)
    names = [book.plain(key, row=place) for key in ("ours", "theirs", "difference")]
    book.matrix("comparison", lines, names, step.vocabulary)
    largest = compute("max", *(d if d.exact >= 0 else -d for d in apart))
    book.say("largest_difference", largest=largest)


def masked(book: Book, step: Written) -> None:
    """The mask of this step and the weights that come of it."""
    at = Sublayer(book, "decoder", 0, "self_attn", run=step.run)
    at.mask("mask_matrix")
    at.maps([0], decimals=4)


def second(book: Book) -> None:
    step = Written(book, 2)
    words = {"words": book.sentence(step.read), "last": step.read[-1], "first": step.read[0]}
    book.step(93, "mask", **words)
    masked(book, step)
    same = equal(book.inference(1)["logits"][-1], step.run["logits"][0])
    book.say("row_same" if same else "row_differ")
    chosen(book, step)
    book.say("hit" if step.hit else "miss", **step.facts)
    book.say("training")
    compared(book, step)
    book.say("equal" if step.equal else "differ")
    differing = book.training.differing(step.run)
    if differing:
        book.say("why_anyway" if step.equal else "why_other")
        book.table("matrices", ("name",), [(name,) for name in differing])
    else:
        book.point("why_same")


def last(book: Book) -> None:
    k = len(book.target) - 1
    step = Written(book, k)
    words = {"words": book.sentence(step.read), "last": step.read[-1], "next": step.word}
    book.step(94, "mask", n=whole(k - 1), m=whole(k), **words)
    masked(book, step)
    chosen(book, step)
    book.say("hit" if step.hit else "miss", **step.facts)
    book.say("position")
    compared(book, step)
    book.say("equal" if step.equal else "differ")
    sentence(book, k)


def sentence(book: Book, k: int) -> None:
    """How many of the words were the model's own choice, and what it writes when left alone."""
    steps = [Written(book, n) for n in range(1, k + 1)]
    hits = whole(compute("count_equal", constant(1), *(s.rank.scalar for s in steps)))
    book.say("hits", hits=hits, count=whole(k))
    alone = tuple(steps[0].run.alone(book.target[:1], k))
    told = {"words": book.sentence(alone), "target": book.sentence(book.target)}
    book.say("alone_same" if alone == book.target[: k + 1] else "alone_differ", **told)
    if k > 1:
        terms = joined((number(s.p[s.wanted]) for s in steps), "×")
        whole_p = steps[0].p[steps[0].wanted]
        for s in steps[1:]:
            whole_p = whole_p * s.p[s.wanted]
        book.say("together")
        book.equation(book.upright("sentence_p"), terms, whole_p)
    book.point("beam")


def side_by_side(book: Book) -> None:
    training, runs = book.training, [book.inference(k) for k in range(1, len(book.target))]
    first_run, last_run = runs[0], runs[-1]
    same = all(
        (training[name].array == first_run[name].array).all()
        for name in ("source.ids", "encoder.input", "memory")
    )
    book.step(95, "same" if same else "same_differ")
    size = {
        "n": number(training.size("memory", 0)),
        "d": number(training.size("memory", 1)),
        "m": number(training.size("decoder.mask", 0)),
        "v": number(training.size("probabilities", 1)),
        "one": number(first_run.size("decoder.mask", 0)),
        "most": number(last_run.size("decoder.mask", 0)),
        "mean": number(training["loss.mean"][()]),
    }
    keys = [[f"{name}_{i}" for name in ("stage", "training", "inference")] for i in range(1, 10)]
    rows = [[book.words(key, **size) for key in line] for line in keys]
    book.table("table", ("stage", "in_training", "in_inference"), rows)
    book.equation(book.upright("runs"), (size["m"], MINUS, size["one"]), size["most"])
    book.point("point")
