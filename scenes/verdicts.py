"""What may be said of the words a model writes: ranks, losses, objectives. Imports no Manim.

As :mod:`scenes.wording`: from the digits on screen, each function gives a case of the family that
bears its name. Ranks are by logits, whose order softmax keeps even where all probabilities show
0.0000; equal digits share a rank: 1, 2, 2, 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .rounding import as_decimal, shown
from .texts import Say
from .values import Run, Scalar, Values, compute, constant, rounded
from .wording import VALUES, Case, Fact, cells, top, whole

#: A curve of losses ends here, with an arrow where the loss is larger.
LARGEST_LOSS = 12.0


@dataclass(frozen=True)
class Standing:
    """How a word that is to be written stands among all words, places counted from 0.

    ``kind``: "hit" (first, alone), "shared_hit", "alike" (all words share the first rank), "miss"
    or "shared_miss". ``alike``: the words whose logits show the same, itself included; ``best``:
    the first ones; ``looks_like``: further words whose probability shows the same.
    """

    goal: int
    kind: str
    rank: Scalar
    sharing: Scalar
    count: Scalar
    alike: tuple[int, ...]
    best: tuple[int, ...]
    looks_like: tuple[int, ...]
    logits: tuple[Scalar, ...]
    probabilities: tuple[Scalar, ...]
    words: tuple[str, ...]

    @property
    def p(self) -> Scalar:
        return self.probabilities[self.goal]

    @property
    def p_shown(self) -> str:
        return shown(self.p.exact, VALUES)

    @property
    def is_hit(self) -> bool:
        """Whether the word is first and no other shares that."""
        return self.kind == "hit"

    @property
    def choice(self) -> int:
        """The word that greedy decoding writes: of several first ones that with the lowest ID."""
        return max(range(len(self.logits)), key=lambda i: (self.logits[i].exact, -i))


def standing_of(goal: int, logits: Values, probabilities: Values, words: Sequence[str]) -> Standing:
    """The standing of word ``goal`` by a row of logits and probabilities, shape (words,)."""
    z = [rounded(logit, VALUES) for logit in logits]
    first = max(each.exact for each in z)
    alike = tuple(i for i, each in enumerate(z) if each.exact == z[goal].exact)
    p = tuple(probabilities)
    digits = [shown(each.exact, VALUES) for each in p]
    kind = "hit" if z[goal].exact == first else "miss"
    if len(alike) > 1:
        kind = "alike" if len(alike) == len(z) else f"shared_{kind}"
    return Standing(
        goal=goal,
        kind=kind,
        rank=compute("rank", z[goal], *z),
        sharing=compute("count_equal", z[goal], *z),
        count=compute("count", *z),
        alike=alike,
        best=tuple(i for i, each in enumerate(z) if each.exact == first),
        looks_like=tuple(i for i, d in enumerate(digits) if d == digits[goal] and i not in alike),
        logits=tuple(logits),
        probabilities=p,
        words=tuple(words),
    )


def standing(found: Standing) -> Case:
    """How near the word to be written is to being the model's choice."""
    facts: dict[str, Fact] = {"p": Say(found.p, VALUES), "count": Say(found.count, 0)}
    logit = {"logit": Say(found.logits[found.goal], VALUES)}
    others = [i for i in found.alike if i != found.goal]
    same_p = all(shown(found.probabilities[i].exact, VALUES) == found.p_shown for i in found.alike)
    if found.kind == "alike":
        return Case("alike" if same_p else "level", facts | logit)
    if found.kind == "shared_hit":
        said = {f"other_{n}": found.words[i] for n, i in enumerate(others, start=1)}
        count = {"others": whole(len(others))}
        if not same_p:
            return Case("tied", facts | logit | count)
        name = {1: "shared_one", 2: "shared_two"}.get(len(others), "shared_more")
        return Case(name, facts | count | said)
    if found.kind == "hit":
        if not found.looks_like:
            return Case("hit", facts)
        rival = max(found.looks_like, key=lambda i: found.logits[i].exact)
        near: dict[str, Fact] = {"other": found.words[rival]}
        near["other_logit"] = Say(found.logits[rival], VALUES)
        return Case("hair", facts | logit | near)
    return Case("miss", facts) + rank(found) + favourite(found)


def rank(found: Standing) -> Case:
    """The rank of a word that is not first."""
    others = len(found.alike) - 1
    facts: dict[str, Fact] = {"rank": Say(found.rank, 0), "count": Say(found.count, 0)}
    if others:
        return Case("shared_one" if others == 1 else "shared", facts | {"others": whole(others)})
    return Case("low" if 2 * found.rank.exact > found.count.exact else "plain", facts)


def favourite(found: Standing) -> Case:
    """Which words the model prefers."""
    said = [found.words[i] for i in found.best]
    if len(said) == 1:
        return Case("one", {"favourite": said[0]})
    if len(said) == 2:
        return Case("two", {"favourite_1": said[0], "favourite_2": said[1]})
    return Case("more", {"favourites": whole(len(said))})


def probability(p: Scalar) -> Case:
    """A probability in a sentence, however small."""
    if as_decimal(shown(p.exact, VALUES)):
        return Case("shown", {"p": Say(p, VALUES)})
    if p.exact > 0:
        return Case("hidden", {"limit": Say(constant(10.0**-VALUES), VALUES)})
    return Case("zero", {"bits": whole(64), "zero": whole(0)})


def hits(found: Sequence[Standing]) -> Case:
    """How many words are right, and how many more share the first rank."""
    first = [each.rank for each in found]
    alone = [compute("multiply", each.rank, each.sharing) for each in found]
    right = compute("count_equal", constant(1), *alone)
    shared = compute("count_equal", constant(1), *first) - right
    count = compute("count", *first)
    facts = {"right": Say(right, 0), "count": Say(count, 0), "shared": Say(shared, 0)}
    if right.exact == count.exact:
        return Case("all", facts)
    name = {0: "none", 1: "one"}.get(int(right.exact), "some")
    return Case(name, facts) + Case("some" if shared.exact else "none")


def largest_loss(losses: Values | Sequence[Scalar], goals: Sequence[str]) -> Case:
    """Which of the words to be written costs most."""
    found = top(losses, VALUES)
    said = [goals[at[0]] for at in found.at]
    loss: dict[str, Fact] = {"loss": Say(found.value, VALUES)}
    if found.kind == "alike":
        return Case("alike", loss)
    if len(said) == 1:
        return Case("one", {"target": said[0]})
    if len(said) == 2:
        return Case("pair", loss | {"target_1": said[0], "target_2": said[1]})
    return Case("shared", loss | {"n": whole(len(said)), "count": whole(len(cells(losses)))})


def objective(kind: str, i: int, read: Sequence[str], goals: Sequence[str]) -> Case:
    """What row ``i`` of the decoder is taught: to "copy", or the "next" word."""
    if kind == "copy":
        return Case("copy")
    return Case("next", {"row": whole(i + 1), "read": read[i], "goal": goals[i]})


def left_alone(run: Run, written: Sequence[str], following: Sequence[str]) -> Case:
    """What a model that starts from the first word of ``written`` goes on with, against
    ``following``, and how it ends. Words are counted from the first that is no start token."""
    bos, eos = run.model("tokens.bos"), run.model("tokens.eos")
    given = [word for word in written[:1] if word != bos]
    ours, wanted = [*given, *written[1:]], [*given, *following]
    return alone(ours, wanted, eos) + ending(written[1:], eos)


def alone(written: Sequence[str], wanted: Sequence[str], eos: str | None) -> Case:
    """What the model writes when nobody corrects it, against the sentence that is wanted; both
    without a start token, each with its end token if there is one."""
    ours, theirs = (_sentence(words, eos) for words in (written, wanted))
    for n, (word, right) in enumerate(zip(ours, theirs, strict=False), start=1):
        if word != right:
            return Case("differs", {"n": whole(n), "word": word, "wanted": right})
    if len(ours) > len(theirs):
        return Case("longer", {"word": ours[len(theirs)]})
    if len(ours) < len(theirs) and eos in written:
        n, right = len(ours), theirs[len(ours)]
        return Case("differs", {"n": whole(n + 1), "word": str(eos), "wanted": right})
    return Case("same")


def _sentence(words: Sequence[str], eos: str | None) -> list[str]:
    """The words before the end token."""
    before = list(words)
    return before[: before.index(eos)] if eos in before else before


def ending(written: Sequence[str], eos: str | None) -> Case:
    """Whether what the model writes comes to an end."""
    if eos is None:
        return Case("none")
    if eos in written:
        return Case("eos", {"eos": eos})
    return Case("never", {"steps": whole(len(written))})
