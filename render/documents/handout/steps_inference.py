"""Steps 91 to 95: the loop, the steps of inference, training and inference side by side."""

from __future__ import annotations

from render.documents.handout.book import Book, listed, number, numbers, visible, whole
from render.documents.handout.content import Parts, joined
from render.documents.handout.steps_decoder import likeliest
from render.documents.handout.steps_input import positioned
from render.documents.handout.sums import linear
from render.documents.handout.workings import Sublayer
from scenes import structure, verdicts, wording
from scenes.rounding import MINUS
from scenes.values import Run, Values, compute, rounded


class Written:
    """Step k of inference: what it reads, what it finds likeliest, what was hoped for."""

    def __init__(self, book: Book, k: int) -> None:
        self.book = book
        self.run: Run = book.inference(k)
        self.read, self.word = book.target[:k], book.following[k - 1]
        self.vocabulary = tuple(self.run.vocabulary)
        self.logits, self.p = self.run["logits"][-1], self.run["probabilities"][-1]
        wanted = self.vocabulary.index(self.word)
        self.standing = verdicts.standing_of(wanted, self.logits, self.p, self.vocabulary)
        self.theirs = book.training["logits"][k - 1]
        self.equal = equal(self.logits, self.theirs)

    @property
    def guess(self) -> Parts:
        return likeliest(self.book, self.standing)

    def told(self, kind: str = "") -> None:
        """How the word that should be written stands."""
        self.book.case("choice", verdicts.standing(self.standing), kind, word=self.word)


def equal(ours: Values, theirs: Values) -> bool:
    """Whether two rows of logits are the same but for rounding."""
    largest = max(1.0, float(abs(ours.array).max()))
    return bool(abs(ours.array - theirs.array).max() <= 1e-9 * largest)


def loop(book: Book) -> None:
    target = book.target
    steps = [Written(book, k) for k in range(1, book.last_round + 1)]
    book.step(91, "loop", word=target[0])
    rows, marked = [], []
    for k, step in enumerate(steps, start=1):
        mask = listed([step.run.size("decoder.mask", axis) for axis in (0, 1)], sign=" × ")
        rows.append((whole(k), book.sentence(step.read), mask, step.guess, step.word))
        marked += [k - 1] if step.standing.is_hit else []
    book.table("table", ("round", "reads", "mask", "guess", "takes"), rows, marked)
    alone(book, steps[0].run)
    book.say("cache")
    book.point("point", rounds=whole(len(steps)))


def alone(book: Book, run: Run) -> None:
    """What the model writes when nobody corrects it."""
    written = run.alone(book.target[:1], book.last_round)
    case = verdicts.left_alone(run, written, book.following)
    book.case("free", case, "", words=book.sentence(written))


def first(book: Book) -> None:
    step = Written(book, 1)
    run, word = step.run, book.target[0]
    book.step(92, "input", word=word)
    positioned(book, run, "target")
    book.say("self", weight=whole(run["decoder.0.self_attn.weights"][0, 0, 0]))
    chosen(book, step)
    book.say("equal" if step.equal else "differ", word=word)
    if not step.equal:
        compared(book, step)
    step.told("point")
    if step.standing.choice != step.standing.goal:
        book.say("goes_on", word=step.word)


def chosen(book: Book, step: Written) -> None:
    """The decoder's last row, its logits, their probabilities."""
    run, vocabulary = step.run, step.vocabulary
    out, matrix = structure.decoder_output(run)[-1], structure.output_matrix(run)
    bias = structure.bias(run, "output_projection")
    book.matrix("last_row", out, [step.read[-1]], words=book.sentence(step.read))
    linear(book, "z", matrix, numbers(out), step.logits, vocabulary, 4, bias)
    largest = compute("max", *step.logits)
    exp = [compute("exp", logit - largest) for logit in step.logits]
    shown = [rounded(logit, wording.VALUES) for logit in step.logits]
    rows = [
        (name, logit, e, p, whole(compute("rank", shown[i], *shown)))
        for i, (name, logit, e, p) in enumerate(
            zip(vocabulary, step.logits, exp, step.p, strict=True)
        )
    ]
    head = ("token", "logit_head", "exp_head", "p_head", "rank_head")
    book.table("choice_table", head, rows, [step.standing.goal], total=compute("add", *exp))


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
    step.told()
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
    k = book.last_round
    step = Written(book, k)
    words = {"words": book.sentence(step.read), "last": step.read[-1], "next": step.word}
    book.step(94, "mask", n=whole(k - 1), m=whole(k), **words)
    masked(book, step)
    chosen(book, step)
    step.told()
    book.say("position" if k < len(book.target) else "at_end")
    compared(book, step)
    book.say("equal" if step.equal else "differ")
    sentence(book, k)


def sentence(book: Book, k: int) -> None:
    """How many of the words were the model's own choice, and what it writes when left alone."""
    steps = [Written(book, n) for n in range(1, k + 1)]
    book.case("hits", verdicts.hits([step.standing for step in steps]), "")
    alone(book, steps[0].run)
    if k > 1:
        goals = [step.p[step.standing.goal] for step in steps]
        terms = joined((visible(p) for p in goals), "×")
        whole_p = goals[0]
        for p in goals[1:]:
            whole_p = whole_p * p
        book.say("together")
        book.equation(book.upright("sentence_p"), terms, visible(whole_p))
    book.point("beam")


def side_by_side(book: Book) -> None:
    training = book.training
    runs = [book.inference(k) for k in range(1, book.last_round + 1)]
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
    fewer = (MINUS, size["one"]) if book.last_round < len(book.target) else ()
    book.equation(book.upright("runs"), (size["m"], *fewer), size["most"])
    book.point("point")
