"""Every value that can be asked for by a run and a name, computed when it is.

Names of values: those of the trace; ``weights:MATRIX``; ``shape:NAME``; ``tokens:source``,
``tokens:target`` and ``tokens:goal``, what encoder and decoder read and what is to be written;
``tokens:vocabulary`` and ``tokens:source_vocabulary``; ``config:SETTING``, such as
``config:norm.place``; ``model:objective``, ``model:version``, ``model:groups`` (of optional
arrays), ``model:tokens.bos`` and the like; ``choices:[WORDS, STEPS]``, the words that the model
writes alone after WORDS; ``argmax:[NAME, INDEX]`` and ``argmin:…``, where in that part of an array
its largest or smallest element is; ``differing:RUN``, the matrices whose numbers are not those of
another run.
"""

from __future__ import annotations

import json
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from engine.files import load_weights
from engine.generation import generate
from engine.model import inference_pass, training_pass
from engine.trace import Trace
from engine.weights import Weights


class Passes:
    """The forward passes of two weight files and a pair of sentences, each made when needed."""

    def __init__(self, weights: Path, inference_weights: Path, source: str, target: str) -> None:
        self._files = weights, inference_weights
        self._weights: dict[Path, Weights] = {}
        self._source, self._target = source, target
        self._traces: dict[str, Trace] = {}
        self._values: dict[tuple[str, str], Any] = {}

    def check(self) -> None:
        """Raise LectureError for invalid weight files."""
        for path in self._files:
            self._load(path)

    def trace(self, run: str) -> Trace:
        """``training``, or ``inference K``: of the first K words. Raises LectureError."""
        if run not in self._traces:
            training, inference = self._files
            if run == "training":
                trace = training_pass(self._load(training), self._source, self._target)
            else:
                prefix = self.trace("training").target_tokens[: int(run.rsplit(" ", 1)[1])]
                trace = inference_pass(self._load(inference), prefix, self._source)
            self._traces[run] = trace
        return self._traces[run]

    def value(self, run: str, name: str) -> Any:
        """An array, or plain data. Raises LookupError or ValueError if it does not exist."""
        key = run, name
        if key not in self._values:
            try:
                self._values[key] = self._find(run, name)
            except AttributeError as error:  # of the model or its configuration
                raise LookupError(name) from error
        return self._values[key]

    def _find(self, run: str, name: str) -> Any:
        trace = self.trace(run)
        kind, _, rest = name.partition(":")
        match kind:
            case "weights":
                return trace.weights.matrices[rest]
            case "shape":
                return list(trace[rest].shape)
            case "tokens":
                tokens = {
                    "source": trace.source_tokens,
                    "target": trace.target_tokens,
                    "goal": trace.goal_tokens,
                    "vocabulary": trace.weights.vocabulary,
                    "source_vocabulary": trace.weights.source_words,
                }
                return list(tokens[rest])
            case "config":
                return json.loads(json.dumps(trace.weights.config.setting(rest)))
            case "model":
                value = attrgetter(rest)(trace.weights)
                return sorted(value) if rest == "groups" else value
            case "argmax" | "argmin":
                array, index = json.loads(rest)
                values = np.asarray(self.value(run, array))[tuple(index)]
                place = np.argmax(values) if kind == "argmax" else np.argmin(values)
                return [int(i) for i in np.unravel_index(place, values.shape)]
            case "choices":
                start, steps = json.loads(rest)
                last = generate(trace.weights, self._source, start, steps)[-1]
                return [*last.input, last.choice]
            case "differing":
                return _differing(trace.weights, self.trace(rest).weights)
        return trace[name]

    def _load(self, path: Path) -> Weights:
        if path not in self._weights:
            self._weights[path] = load_weights(path)
        return self._weights[path]


def _differing(one: Weights, other: Weights) -> list[str]:
    """The names of the matrices that are not the same in both."""
    names = dict.fromkeys([*one.matrices, *other.matrices])
    return [
        name
        for name in names
        if name not in one.matrices
        or name not in other.matrices
        or not np.array_equal(one.matrices[name], other.matrices[name])
    ]
