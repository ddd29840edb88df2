"""Numbers against the trace: each recomputed from a fresh pass; and digits without a source."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from manim import Text
from manim.mobject.text.typst_mobject import Typst

import engine
from render.review.audit.fault import Fault
from scenes.onscreen import Item, TextItem
from scenes.parts import Glyphs, Number, Phrase
from scenes.rounding import shown
from scenes.settings import Settings
from scenes.values import OPERATIONS

#: Digits that are part of a name: L1, W1, d0, Head 2, pos 3.
NAME = re.compile(r"(?:\b(?:L|W|d|Head|head|pos|Enc|Dec|Encoder|Decoder|Adam|seed)[ _]?\d+)")
#: Numbers that the formulas of the paper contain.
FORMULA_DIGITS = {"1", "2", "10000"}


class Recomputer:
    """Values from their recipes, by forward passes of its own."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._traces: dict[str, engine.Trace] = {}

    def trace(self, run: str) -> engine.Trace:
        if run not in self._traces:
            settings = self.settings
            if run == "training":
                weights = engine.load_weights(settings.weights)
                trace = engine.training_pass(weights, settings.source, settings.target)
            else:
                weights = engine.load_weights(settings.weights_for_inference)
                length = int(run.rsplit(" ", 1)[1])
                prefix = self.trace("training").target_tokens[:length]
                trace = engine.inference_pass(weights, prefix, settings.source)
            self._traces[run] = trace
        return self._traces[run]

    def value(self, recipe: Mapping[str, Any]) -> float:
        """The exact value of a recipe. Raises KeyError or IndexError where it names nothing."""
        if "constant" in recipe:
            return float(recipe["constant"])
        if "operation" in recipe:
            operands = [self.value(operand) for operand in recipe["of"]]
            return float(OPERATIONS[recipe["operation"]](*operands))
        trace = self.trace(recipe["run"])
        kind, _, name = recipe["name"].rpartition(":")
        index = tuple(recipe["index"])
        if kind == "shape":
            return float(trace[name].shape[index[0]])
        array = trace.weights.matrices[name] if kind == "weights" else trace[name]
        return float(np.asarray(array)[index])


def check_records(numbers: Sequence[Mapping[str, Any]], recompute: Recomputer) -> list[Fault]:
    """The entries of a ``numbers.json`` against the engine."""
    faults = []
    for entry in numbers:
        try:
            exact = recompute.value(entry["source"])
        except (KeyError, IndexError, TypeError, ValueError) as error:
            what = f"{entry.get('shown')} has a source that cannot be computed: {error!r}"
            faults.append(Fault("number", what).at("", float(entry.get("first", 0))))
            continue
        said = shown(exact, entry["decimals"])
        if exact != entry["exact"] or said != _unsigned(entry["shown"]):
            what = (
                f"shows {entry['shown']}, the engine says {exact!r} ({describe(entry['source'])})"
            )
            faults.append(Fault("number", what).at("", float(entry["first"])))
    return faults


def _unsigned(text: str) -> str:
    return text.strip("()").removeprefix("+")


def describe(recipe: Mapping[str, Any]) -> str:
    """A recipe in words: ``training encoder.0.self_attn.q[0, 0, 1]``."""
    if "constant" in recipe:
        return f"constant {recipe['constant']}"
    if "operation" in recipe:
        return f"{recipe['operation']}({', '.join(describe(one) for one in recipe['of'])})"
    return f"{recipe['run']} {recipe['name']}{list(recipe['index'])}"


def check_digits(items: Sequence[Item]) -> list[Fault]:
    """Digits on screen that are neither a traced number, nor a step, nor part of a name."""
    faults = []
    for item in items:
        if not isinstance(item, TextItem):
            continue
        stray = stray_digits(item)
        if stray:
            what = f"digits without a source: {stray} in {item.text!r}"
            faults.append(Fault("digits", what, item.box))
    return faults


def stray_digits(item: TextItem) -> str:
    """The digits of a text item that come from nowhere."""
    mobject = item.mobject
    if isinstance(mobject, Number):
        exact = mobject.scalar.exact
        typed = mobject.scalar.source[0] == "constant" and not exact.is_integer()
        return mobject.text if typed else ""
    if isinstance(mobject, Typst):
        numbers = re.findall(r"\d+(?:\.\d+)?", item.text)
        return " ".join(number for number in numbers if number not in FORMULA_DIGITS)
    text = item.text
    if isinstance(mobject, Text):
        return " ".join(re.findall(r"[\d.]+", text)) if re.search(r"\d", text) else ""
    text = NAME.sub(" ", mobject.typed if isinstance(mobject, Phrase) else text)
    return " ".join(re.findall(r"\d[\d.]*", text))


def check_shapes(items: Sequence[Item]) -> list[Fault]:
    """Text whose outlines no longer say what its record says (a Transform that left it behind)."""
    faults = []
    for item in items:
        ours = isinstance(item, TextItem) and isinstance(item.mobject, Glyphs)
        if ours and not item.mobject.is_intact():
            what = f"the outlines no longer say {item.text!r}"
            faults.append(Fault("stale", what, item.box))
    return faults


def check_screen(items: Sequence[Item]) -> list[Fault]:
    """Digits and outlines of what is on screen now."""
    return check_digits(items) + check_shapes(items)


__all__ = ["Recomputer", "check_records", "check_screen", "describe", "stray_digits"]
