"""Training on sentence pairs, with our own gradients: step by step, and to the last bit again.

The whole of a training is its settings, its pairs and its weights; :class:`Trainer` makes the steps
and says what each has brought.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from engine.backward import objective_of
from engine.batch import Batch, Outcome, batch_of, gradients_of, last_cross_attention, outcome
from engine.corpus import Pair
from engine.errors import LectureError, quoted
from engine.model import SOURCE, TARGET, Text
from engine.ops import Array
from engine.optimisers import OPTIMISERS, SCHEDULES
from engine.tokenizer import words_of
from engine.weights import Weights

LEARNING_RATE, STEPS = 0.05, 300  # fast, and still steady for a model this small


@dataclass(frozen=True)
class Settings:
    """``objective``: what a row is to write, "next" or "copy", or their other names. ``batch``:
    pairs a step, all of them if None. ``alignment``: the weight of the alignment's loss beside that
    of the words. ``seed``: of the order of pairs. Making one raises LectureError."""

    objective: str = "next"
    steps: int = STEPS
    learning_rate: float = LEARNING_RATE
    optimiser: str = "adam"
    schedule: str = "constant"
    batch: int | None = None
    alignment: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        objective_of(self.objective)
        wrong = {
            "steps": self.steps < 1 and "1 or more",
            "learning_rate": not 0 < self.learning_rate < math.inf and "above 0",
            "batch": self.batch is not None and self.batch < 1 and "1 or more",
            "alignment": not 0 <= self.alignment < math.inf and "0 or more",
            "seed": not 0 <= self.seed < 2**32 and "0 to 4294967295",
            "optimiser": self.optimiser not in OPTIMISERS and f"one of {', '.join(OPTIMISERS)}",
            "schedule": self.schedule not in SCHEDULES and f"one of {', '.join(SCHEDULES)}",
        }
        for name, expected in wrong.items():
            if expected:
                found = quoted(getattr(self, name))
                raise LectureError(field=name, expected=str(expected), found=found)


@dataclass(frozen=True)
class Record:
    """How things stand after so many steps. ``loss``: mean over all words of the batch, in nats;
    ``alignment``: the same of the asked attention weights, None where none are asked;
    ``accuracy``: the share of words that are the likeliest; ``p``: of each word of the first
    pair; ``entropy``: mean over the rows of its last cross-attention, in nats, None where there is
    none; ``gradient``: the length of the whole gradient."""

    step: int
    loss: float
    alignment: float | None
    accuracy: float
    p: tuple[float, ...]
    entropy: float | None
    gradient: float


@dataclass
class Trainer:
    """Trains ``weights`` on ``pairs``. ``step``: how many steps were made; ``command``: what began
    the training, for its files. Making one raises LectureError for words that the model does not
    have."""

    weights: Weights
    pairs: Sequence[Pair]
    settings: Settings
    step: int = 0
    moments: dict[str, Array] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)  # of the pairs that this round still has
    command: str = ""
    corpus: str = "one pair"
    source: np.random.Generator = field(init=False)
    objective: str = field(init=False)

    def __post_init__(self) -> None:
        self.source = np.random.Generator(np.random.PCG64(self.settings.seed))
        self._before = self.order, self.source.bit_generator.state
        self.objective = str(objective_of(self.settings.objective))
        self._whole = batch_of(self.pairs, self.weights, self.objective)
        self._first = batch_of(self.pairs[:1], self.weights, self.objective)
        if self.settings.alignment:
            self._check_alignment()

    def _check_alignment(self) -> None:
        if last_cross_attention(self.weights) is None or not len(self._whole.aligned[0]):
            missing = "cross-attention" if len(self._whole.aligned[0]) else "alignment in any pair"
            raise LectureError(field="alignment", expected=f"{missing} for it", found="none")

    def run(self, until: int | None = None) -> Iterator[Record]:
        """All steps that are left, or those ``until`` one, each record before the step that follows
        it; the last one is that of the end. Raises LectureError where weights leave the range of
        floats."""
        last = self.settings.steps if until is None else min(until, self.settings.steps)
        while True:
            batch = self._batch()
            passed = outcome(self.weights, batch)
            gradients = gradients_of(self.weights, batch, passed, self.settings.alignment)
            yield self._record(passed, batch, gradients)
            if self.step >= last:
                return
            self._move(gradients)

    def _batch(self) -> Batch:
        """The pairs of the next step: all, or the next so many of a shuffled round."""
        size = self.settings.batch
        self._before = self.order[:], self.source.bit_generator.state
        if size is None or size >= len(self.pairs):
            return self._whole
        if len(self.order) < size:
            self.order += self.source.permutation(len(self.pairs)).tolist()
        chosen, self.order = self.order[:size], self.order[size:]
        return batch_of([self.pairs[i] for i in chosen], self.weights, self.objective)

    def _move(self, gradients: dict[str, Array]) -> None:
        settings = self.settings
        rate = SCHEDULES[settings.schedule](settings.learning_rate, self.step, settings.steps)
        self.step += 1
        moves = OPTIMISERS[settings.optimiser](gradients, self.moments, self.step, rate)
        old = self.weights.matrices
        self.weights = self.weights.with_matrices(
            {name: old[name] + move for name, move in moves.items()}
        )

    def _record(self, passed: Outcome, batch: Batch, gradients: dict[str, Array]) -> Record:
        first = outcome(self.weights, self._first) if len(self.pairs) > 1 else passed
        p = first.values["probabilities"][(*self._first.rows, self._first.goals)]
        name, entropy = last_cross_attention(self.weights), None
        if name is not None:
            weights = first.values[f"{name}.weights"]  # (1, h, m, n)
            logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
            entropy = float(-(weights * logs).sum(axis=-1).mean())
        squares = sum(float((gradient**2).sum()) for gradient in gradients.values())
        return Record(
            self.step,
            passed.loss,
            passed.alignment,
            passed.right / len(batch.goals),
            tuple(p.tolist()),
            entropy,
            math.sqrt(squares),
        )

    def result(self) -> Weights:
        """The model as it is now, with what it was trained for, and how."""
        said = {"command": self.command, "corpus": self.corpus, "steps": self.step}
        said["seed"] = self.settings.seed
        training = {name: value for name, value in said.items() if value != ""}
        return replace(self.weights, objective=self.objective, training=training)

    # -- to be taken up again ------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Everything but the weights and the moments, as plain data. The pairs of the step that
        comes next are drawn again."""
        order, source = self._before
        return {
            "step": self.step,
            "settings": asdict(self.settings),
            "pairs": [[pair.source, pair.target, pair.alignment] for pair in self.pairs],
            "order": order,
            "command": self.command,
            "corpus": self.corpus,
            "source": source,
        }

    @classmethod
    def resumed(cls, weights: Weights, said: dict[str, Any], moments: dict[str, Array]) -> Trainer:
        """A trainer as its state says. Raises KeyError, TypeError or ValueError for another
        state, LectureError for settings that cannot be."""
        pairs = [
            Pair(tuple(source), tuple(target), tuple((int(s), int(t)) for s, t in links))
            for source, target, links in said["pairs"]
        ]
        settings, order = Settings(**said["settings"]), [int(i) for i in said["order"]]
        step, command, corpus = int(said["step"]), str(said["command"]), str(said["corpus"])
        made = cls(weights, pairs, settings, step, moments, order, command, corpus)
        made.source.bit_generator.state = said["source"]
        return made


@dataclass(frozen=True, eq=False)
class Training:
    """The trained weights and the mean loss in nats before each step."""

    weights: Weights
    losses: tuple[float, ...]


def train(
    weights: Weights,
    source: Text = SOURCE,
    target: Text = TARGET,
    targets: str = "next",
    steps: int = STEPS,
    learning_rate: float = LEARNING_RATE,
) -> Training:
    """Minimise the mean loss on one pair with Adam. `targets` as in `engine.gradients`; they
    become the objective of the trained weights. Raises LectureError for bad arguments, or if the
    weights leave the range of floats."""
    settings = Settings(objective=targets, steps=steps, learning_rate=learning_rate)
    pair = Pair(words_of(source, weights, "source"), words_of(target, weights, "target"))
    trainer = Trainer(weights, [pair], settings)
    losses = tuple(record.loss for record in trainer.run())
    trained = replace(trainer.weights, objective=trainer.objective)
    return Training(trained, losses[:-1])
