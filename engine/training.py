"""Training on a single sentence pair: plain Adam (Kingma and Ba 2015) over our own gradients."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from engine.backward import loss_and_gradients, objective_of
from engine.errors import LectureError, quoted
from engine.model import SOURCE, TARGET, Text
from engine.weights import Weights

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8  # the paper's suggestions
LEARNING_RATE = 0.05  # fast, and still steady for a model this small


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
    steps: int = 300,
    learning_rate: float = LEARNING_RATE,
) -> Training:
    """Minimise the mean loss on one pair. `targets` as in `engine.gradients`; they become the
    objective of the trained weights. Raises LectureError for bad arguments, or if the weights
    leave the range of floats."""
    if steps < 1:
        raise LectureError(field="steps", expected="1 or more", found=quoted(steps))
    if not 0 < learning_rate < np.inf:
        raise LectureError(field="learning_rate", expected="above 0", found=quoted(learning_rate))
    mean = {name: np.zeros_like(w) for name, w in weights.matrices.items()}
    square = {name: np.zeros_like(w) for name, w in weights.matrices.items()}
    losses = []
    for step in range(1, steps + 1):
        loss, gradients = loss_and_gradients(weights, source, target, targets)
        losses.append(loss)
        moved = {}
        for name, gradient in gradients.items():
            mean[name] = BETA1 * mean[name] + (1 - BETA1) * gradient
            square[name] = BETA2 * square[name] + (1 - BETA2) * gradient**2
            direction = mean[name] / (1 - BETA1**step)
            spread = np.sqrt(square[name] / (1 - BETA2**step)) + EPSILON
            moved[name] = weights.matrices[name] - learning_rate * direction / spread
        weights = weights.with_matrices(moved)
    objective = objective_of(targets) or weights.objective
    return Training(replace(weights, objective=objective), tuple(losses))
