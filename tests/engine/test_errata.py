"""docs/errata.md tells the truth, and each of its nine entries is checked on its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import engine
from engine import Trace, Weights, errata

PAGE = Path(__file__).resolve().parents[2] / "docs" / "errata.md"


@pytest.fixture(scope="module")
def entries() -> list[errata.Erratum]:
    return errata.errata()


def test_page_is_up_to_date(entries: list[errata.Erratum], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errata, "errata", lambda: entries)
    assert PAGE.read_text(encoding="utf-8") == errata.page()


def top(trace: Trace, row: int) -> tuple[str, float]:
    p = trace["probabilities"][row]
    return trace.weights.vocabulary[p.argmax()], round(float(p.max()), 4)


def test_1_step_1_equals_training_row_0(
    entries: list[errata.Erratum], training: Trace, tutorial: Weights, other: Weights
) -> None:
    step = engine.inference_pass(tutorial, "I")
    np.testing.assert_allclose(step["logits"][0], training["logits"][0], rtol=0, atol=1e-12)
    logits = [-0.2998, -1.3531, 0.0054, -1.3575, 0.5371, -2.1635, 0.0423, 0.7112]
    assert np.round(step["logits"][0], 4).tolist() == logits
    assert top(step, 0) == ("courses", 0.2841)
    assert top(engine.inference_pass(other, "I"), 0) == ("courses", 0.4192)
    assert "-0.2998 -1.3531 0.0054 -1.3575 0.5371 -2.1635 0.0423 0.7112" in entries[0].computed
    assert "p(courses) = 0.2841" in entries[0].computed
    assert "is also courses" in entries[0].reason


def test_2_step_2_equals_the_row_of_love_and_does_not_say_easy(
    entries: list[errata.Erratum], training: Trace, tutorial: Weights, other: Weights
) -> None:
    step = engine.inference_pass(tutorial, "I love")
    np.testing.assert_allclose(step["logits"][1], training["logits"][1], rtol=0, atol=1e-12)
    assert top(step, 1) == ("I", 0.3016)
    assert top(engine.inference_pass(other, "I love"), 1) == ("水", 0.5149)
    assert "I (0.3016)" in entries[1].computed
    assert "水 (0.5149)" in entries[1].computed


def test_3_step_3_equals_training_row_2(
    entries: list[errata.Erratum], training: Trace, tutorial: Weights, other: Weights
) -> None:
    step = engine.inference_pass(tutorial, "I love easy")
    np.testing.assert_allclose(step["logits"][2], training["logits"][2], rtol=0, atol=1e-12)
    assert np.abs(step["logits"][2] - training["logits"][3]).max() > 0.1
    assert top(step, 2) == ("水", 0.3845)
    assert top(engine.inference_pass(other, "I love easy"), 2) == ("水", 0.3976)
    assert "position 2: 水 (0.3845), or 水 (0.3976)" in entries[2].computed


def test_4_targets_as_printed_teach_copying(entries: list[errata.Erratum]) -> None:
    assert "with I love easy courses, and from I generates I I I I" in entries[3].computed


def test_5_i_ranks_second(entries: list[errata.Erratum], training: Trace) -> None:
    p = training["probabilities"][0]
    assert np.argsort(-p)[1] == training.weights.vocabulary.index("I")
    assert "second" in entries[4].computed
    assert "p(I) = 0.2387" in entries[4].computed


def test_6_and_7_rounding(entries: list[errata.Erratum], training: Trace) -> None:
    assert round(float(training["loss.per_position"][3]), 4) == 0.5751
    assert "0.5751, which is 0.58 to two decimals" in entries[5].computed
    assert round(float(training["probabilities"][2].max()), 6) == 0.384475
    assert "0.384475, which is 0.384 to three decimals" in entries[6].computed


def test_8_cross_attention_of_love(entries: list[errata.Erratum], training: Trace) -> None:
    weights = training["decoder.1.cross_attn.weights"][0, 1]
    assert np.round(weights, 4).tolist() == [0.2598, 0.2458, 0.2371, 0.2573]
    assert entries[7].computed.endswith("which is 0.26 0.25 0.24 0.26 to two decimals")


def test_9_single_pair_does_not_align(entries: list[errata.Erratum]) -> None:
    assert "generates I love easy courses" in entries[8].computed
    assert "at least 0.99" in entries[8].computed
    assert "between 0.24 and 0.26" in entries[8].computed


def test_there_are_nine(entries: list[errata.Erratum]) -> None:
    assert len(entries) == 9
