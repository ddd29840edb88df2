"""Every figure the tutorial prints, against the engine, at the printed decimals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine import Trace, Weights

FIGURES = json.loads(Path(__file__).with_name("seed_figures.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def runs(training: Trace, other: Weights) -> dict[str, Trace]:
    return {
        "training": training,
        "inference step 1 (inference weights)": engine.inference_pass(other, "I"),
    }


def index_of(figure: dict[str, Any]) -> tuple[int | slice, ...]:
    return tuple(
        slice(*map(int, part.split(":"))) if isinstance(part, str) else part
        for part in figure["index"]
    )


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure["what"])
def test_printed_figure(figure: dict[str, Any], runs: dict[str, Trace]) -> None:
    value = runs[figure["run"]][figure["key"]][index_of(figure)]
    printed = np.array(figure["value"])
    assert value.shape == printed.shape
    # Half a unit of the last printed digit, and a hair for the binary form of the printed number.
    agrees = bool((np.abs(value - printed) <= 0.5 * 10 ** -figure["decimals"] + 1e-12).all())
    assert agrees == figure["matches"]
    if not agrees:
        np.testing.assert_allclose(value, figure["engine_value"], rtol=0, atol=1e-9)


def test_all_figures_are_there() -> None:
    assert len(FIGURES) == 46
    assert [f["what"] for f in FIGURES if not f["matches"]] == [
        "cross-attention head 1 weights of love",
        "p(argmax) at position 2",
        "cross-entropy at position 3",
    ]
