"""How long the engine takes, in microseconds: `python benchmarks/engine.py [--repeat 300]`.

Each figure is the median of many single runs after a few to warm up, with the 10th and 90th
percentile. The model is the tutorial's.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import engine
from engine import backward, model

WARM_UP = 20


def measure(run: Callable[[], object], repeat: int) -> np.ndarray:
    """Microseconds of `repeat` single runs."""
    for _ in range(WARM_UP):
        run()
    times = np.empty(repeat)
    for turn in range(repeat):
        start = time.perf_counter_ns()
        run()
        times[turn] = (time.perf_counter_ns() - start) / 1000
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repeat", type=int, default=300, help="runs per figure (%(default)s)")
    repeat = max(1, parser.parse_args().repeat)
    weights = engine.load_weights(engine.TUTORIAL)
    most = weights.config.max_length
    values = model.forward(weights, np.arange(4), np.arange(4, 8))
    dlogits = np.full((4, 8), 0.1)
    cases: list[tuple[str, Callable[[], object]]] = [
        ("forward, full trace", lambda: engine.training_pass(weights)),
        ("backward alone", lambda: backward.Backward(weights, values).run(dlogits)),
        ("forward and backward", lambda: engine.gradients(weights)),
        ("generate 3, cached", lambda: engine.generate(weights)),
        ("generate 3, uncached", lambda: engine.generate(weights, cached=False)),
        (f"generate {most}, cached", lambda: engine.generate(weights, steps=most)),
        (
            f"generate {most}, uncached",
            lambda: engine.generate(weights, steps=most, cached=False),
        ),
        ("load tutorial.json", lambda: engine.load_weights(engine.TUTORIAL)),
    ]
    print(f"NumPy {np.__version__}, {repeat} runs each, microseconds")
    print(f"{'':24}{'median':>9}{'10 %':>9}{'90 %':>9}")
    for name, run in cases:
        times = measure(run, repeat)
        low, middle, high = np.percentile(times, [10, 50, 90])
        print(f"{name:24}{middle:9.0f}{low:9.0f}{high:9.0f}")


if __name__ == "__main__":
    main()
