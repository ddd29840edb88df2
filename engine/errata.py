"""The page docs/errata.md: where the tutorial's text and its model disagree.

What the tutorial prints is quoted; every other number and word is read from passes of the model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.generation import generate
from engine.model import inference_pass, training_pass
from engine.ops import Array
from engine.recipe import tutorial_weights
from engine.trace import Trace
from engine.training import LEARNING_RATE, train

SHIFTED_STEPS = 300
COPYING_STEPS = 1000

INTRODUCTION = """# Errata of the tutorial

The lecture follows a tutorial whose printed figures come from a model with fixed weights. All of
them can be recomputed, and nearly all agree to the last printed digit. Those that do not, and the
sentences that the figures contradict, are listed here with what the model gives instead.
Layers, heads and positions count from 0. `python -m engine errata` writes this page, and a test
compares it with the model.

The tutorial used two sets of weights, which differ in one sub-layer, the masked self-attention of
the decoder's last layer: `assets/weights/tutorial.json` is the set of its training pages,
`assets/weights/tutorial-inference.json` that of its page on inference step 1.
"""


@dataclass(frozen=True)
class Erratum:
    """One entry: what it is about, what the tutorial prints, what the model gives, and why.

    ``facts`` are its numbers and words, for other wordings of the same entry.
    """

    key: str
    title: str
    printed: str
    computed: str
    reason: str
    facts: dict[str, str]


def page() -> str:
    """The whole page in Markdown."""
    sections = [
        f"## {number}. {entry.title}\n\n"
        f"- Printed: {entry.printed}\n- Computed: {entry.computed}\n\n{entry.reason}\n"
        for number, entry in enumerate(errata(), start=1)
    ]
    return "\n".join([INTRODUCTION, *sections])


def errata() -> list[Erratum]:
    """All entries, computed now (about two seconds, nearly all of it training)."""
    ours = training_pass(tutorial_weights())
    other = training_pass(tutorial_weights("tutorial-inference"))
    step_1 = inference_pass(tutorial_weights("tutorial-inference"), "I")
    return [
        _other_weights(ours, step_1),
        _second_step(ours, other),
        _third_step(ours, other),
        _targets_not_shifted(),
        _rank(ours),
        _loss(ours),
        _rounded_twice(ours),
        _last_cross_weight(ours),
        _alignment(),
    ]


def _other_weights(ours: Trace, step_1: Trace) -> Erratum:
    word, p = _top(ours, 0)
    printed_word, printed_p = _top(step_1, -1)
    same = "also" if word == printed_word else "not"
    return Erratum(
        "other_weights",
        "Inference step 1 uses different weights from training",
        f"logits {_row(step_1['logits'][-1])}; p({printed_word}) = {printed_p:.4f}",
        f"with the weights of the training pages the logits are {_row(ours['logits'][0])}; "
        f"p({word}) = {p:.4f}",
        "The input [I] is the first row of the training pass, so with one set of weights step 1 "
        f"must give the logits of training position 0. The most likely word is {same} {word}.",
        {
            "printed_logits": _row(step_1["logits"][-1]),
            "printed_word": printed_word,
            "printed_p": f"{printed_p:.4f}",
            "logits": _row(ours["logits"][0]),
            "word": word,
            "p": f"{p:.4f}",
        },
    )


def _second_step(ours: Trace, other: Trace) -> Erratum:
    word, p = _top(ours, 1)
    other_word, other_p = _top(other, 1)
    return Erratum(
        "second_step",
        "What inference step 2 predicts",
        "step 2 equals the training row of love, and predicts easy",
        f"the row of love predicts {word} ({p:.4f}) with the training weights and {other_word} "
        f"({other_p:.4f}) with those of inference step 1",
        "The rows are equal, as they must be when the weights are, but neither predicts easy: "
        f"its probability there is {_p(ours, 1, 'easy'):.4f} and {_p(other, 1, 'easy'):.4f}.",
        {
            "word": word,
            "p": f"{p:.4f}",
            "other_word": other_word,
            "other_p": f"{other_p:.4f}",
            "p_easy": f"{_p(ours, 1, 'easy'):.4f}",
            "other_p_easy": f"{_p(other, 1, 'easy'):.4f}",
        },
    )


def _third_step(ours: Trace, other: Trace) -> Erratum:
    word, p = _top(ours, 2)
    other_word, other_p = _top(other, 2)
    last, last_p = _top(ours, 3)
    return Erratum(
        "third_step",
        "Which training row inference step 3 equals",
        "step 3 gives the result of training position 3 (courses, 0.563)",
        f"step 3 gives the result of training position 2: {word} ({p:.4f}), or {other_word} "
        f"({other_p:.4f}) with the weights of inference step 1",
        "The last input of step 3 is easy, which is at position 2. Position 3 reads courses "
        f"too, and predicts {last} ({last_p:.4f}) with that word already in its input.",
        {
            "word": word,
            "p": f"{p:.4f}",
            "other_word": other_word,
            "other_p": f"{other_p:.4f}",
            "last": last,
            "last_p": f"{last_p:.4f}",
        },
    )


def _targets_not_shifted() -> Erratum:
    trained = train(tutorial_weights(), targets="as-printed", steps=COPYING_STEPS).weights
    rows = training_pass(trained)
    copied = [_top(rows, row)[0] for row in range(len(rows.target_tokens))]
    written = [step.choice for step in generate(trained)]
    return Erratum(
        "targets",
        "The training targets are not shifted",
        "position i of the training pass must predict token i, which is also its input",
        f"trained on these targets ({_recipe(COPYING_STEPS)}) the model answers the input "
        f"{' '.join(rows.target_tokens)} with {' '.join(copied)}, and from I generates "
        f"{' '.join(('I', *written))}",
        "Inference predicts the next token, so training must do the same: position i predicts "
        "token i + 1. A target that is already in the input can be reached by copying.",
        {
            **_recipe_facts(COPYING_STEPS),
            "input": " ".join(rows.target_tokens),
            "copied": " ".join(copied),
            "written": " ".join(("I", *written)),
        },
    )


def _rank(ours: Trace) -> Erratum:
    p = ours["probabilities"][0]
    value = _p(ours, 0, "I")
    rank = 1 + int(np.count_nonzero(p > value))
    return Erratum(
        "rank",
        "The rank of I at position 0",
        "the target I ranks third (0.239)",
        f"it ranks {('first', 'second', 'third')[rank - 1]}: the largest probabilities are "
        f"{_row(np.sort(p)[::-1][:3])}, and p(I) = {value:.4f}",
        f"Only {_top(ours, 0)[0]} is more likely.",
        {
            "rank": str(rank),
            "largest": _row(np.sort(p)[::-1][:3]),
            "p": f"{value:.4f}",
            "word": _top(ours, 0)[0],
        },
    )


def _loss(ours: Trace) -> Erratum:
    loss, p = float(ours["loss.per_position"][3]), _p(ours, 3, "courses")
    return Erratum(
        "loss",
        "The loss at position 3",
        "0.57",
        f"{loss:.4f}, which is {loss:.2f} to two decimals",
        f"The printed value is the logarithm of the rounded 0.563; p(courses) is {p:.5f}.",
        {"loss": f"{loss:.4f}", "rounded": f"{loss:.2f}", "p": f"{p:.5f}"},
    )


def _rounded_twice(ours: Trace) -> Erratum:
    word, p = _top(ours, 2)
    return Erratum(
        "rounded_twice",
        f"The probability of {word} at position 2",
        "0.385",
        f"{p:.6f}, which is {p:.3f} to three decimals",
        f"The printed value was rounded twice, first to {p:.4f}.",
        {"word": word, "p": f"{p:.6f}", "rounded": f"{p:.3f}", "once": f"{p:.4f}"},
    )


def _last_cross_weight(ours: Trace) -> Erratum:
    weights = ours["decoder.1.cross_attn.weights"][0, 1]
    return Erratum(
        "cross_weight",
        "The cross-attention of love",
        "0.26 0.25 0.24 0.25",
        f"{_row(weights)}, which is {_row(weights, 2)} to two decimals",
        "The last printed value is a hundredth too low.",
        {"weights": _row(weights), "rounded": _row(weights, 2)},
    )


def _alignment() -> Erratum:
    training = train(tutorial_weights(), targets="shifted", steps=SHIFTED_STEPS)
    steps = generate(training.weights)
    sure = min(float(step.probabilities.max()) for step in steps)
    weights = training_pass(training.weights)["decoder.1.cross_attn.weights"]
    return Erratum(
        "alignment",
        "What training does to the cross-attention",
        "after training, I attends to 我 with more than 0.9",
        f"trained on the single pair with shifted targets ({_recipe(SHIFTED_STEPS)}) the model "
        f"generates {' '.join(('I', *(step.choice for step in steps)))}, each word with a "
        f"probability of at least {np.floor(sure * 100) / 100:.2f}, while every cross-attention "
        f"weight stays between {weights.min():.2f} and {weights.max():.2f}",
        "With one sentence pair the source never changes, so nothing is gained by attending to "
        "one of its words rather than another. Alignment must be learned from many pairs.",
        {
            **_recipe_facts(SHIFTED_STEPS),
            "written": " ".join(("I", *(step.choice for step in steps))),
            "sure": f"{np.floor(sure * 100) / 100:.2f}",
            "least": f"{weights.min():.2f}",
            "most": f"{weights.max():.2f}",
        },
    )


def _top(trace: Trace, row: int) -> tuple[str, float]:
    """The most likely word after a row, and its probability."""
    probabilities = trace["probabilities"][row]
    best = int(np.argmax(probabilities))
    return trace.weights.vocabulary[best], float(probabilities[best])


def _p(trace: Trace, row: int, word: str) -> float:
    """The probability of a word after a row."""
    return float(trace["probabilities"][row, trace.weights.vocabulary.index(word)])


def _recipe(steps: int) -> str:
    """How a model was trained, for the text."""
    return f"Adam, learning rate {LEARNING_RATE}, {steps} steps"


def _recipe_facts(steps: int) -> dict[str, str]:
    return {"rate": f"{LEARNING_RATE}", "steps": str(steps)}


def _row(values: Array, decimals: int = 4) -> str:
    return " ".join(f"{value:.{decimals}f}" for value in values)
