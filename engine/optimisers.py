"""Steps from gradients: plain descent, with momentum, and Adam; and rates that change on the way.

All moments are arrays by name, ``mean.embedding.weight`` and the like, so that a training can be
kept and taken up again to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from engine.ops import Array

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8  # of Adam (Kingma and Ba 2015), as the paper suggests
MOMENTUM = 0.9
WARM_UP = 0.1  # of all steps, before a rate falls along a cosine

Arrays = Mapping[str, Array]
#: gradients, moments (which it changes), the number of the step from 1, the rate -> what to add
Optimiser = Callable[[Arrays, dict[str, Array], int, float], dict[str, Array]]


def sgd(gradients: Arrays, moments: dict[str, Array], step: int, rate: float) -> dict[str, Array]:
    """Straight down: - rate * gradient."""
    return {name: -rate * gradient for name, gradient in gradients.items()}


def momentum(
    gradients: Arrays, moments: dict[str, Array], step: int, rate: float
) -> dict[str, Array]:
    """Down with momentum: v <- 0.9 v + gradient; - rate * v (Polyak 1964)."""
    moved = {}
    for name, gradient in gradients.items():
        key = f"velocity.{name}"
        moments[key] = MOMENTUM * moments[key] + gradient if key in moments else gradient
        moved[name] = -rate * moments[key]
    return moved


def adam(gradients: Arrays, moments: dict[str, Array], step: int, rate: float) -> dict[str, Array]:
    """Adam: the mean of gradients over the root of the mean of their squares, both corrected for
    having begun at 0."""
    moved = {}
    for name, gradient in gradients.items():
        mean, square = (
            moments.get(f"{kind}.{name}", np.zeros_like(gradient)) for kind in ("mean", "square")
        )
        mean = BETA1 * mean + (1 - BETA1) * gradient
        square = BETA2 * square + (1 - BETA2) * gradient**2
        moments[f"mean.{name}"], moments[f"square.{name}"] = mean, square
        spread = np.sqrt(square / (1 - BETA2**step)) + EPSILON
        moved[name] = -rate * (mean / (1 - BETA1**step)) / spread
    return moved


OPTIMISERS: dict[str, Optimiser] = {"adam": adam, "momentum": momentum, "sgd": sgd}


def constant(rate: float, step: int, steps: int) -> float:
    """The same rate at every step."""
    return rate


def cosine(rate: float, step: int, steps: int) -> float:
    """Rises in a line over the first tenth of all steps, then falls to 0 along half a cosine;
    ``step`` from 0."""
    warm = WARM_UP * steps
    if step < warm:
        return rate * (step + 1) / warm
    return rate * 0.5 * (1 + math.cos(math.pi * (step / steps - WARM_UP) / (1 - WARM_UP)))


SCHEDULES: dict[str, Callable[[float, int, int], float]] = {"constant": constant, "cosine": cosine}
