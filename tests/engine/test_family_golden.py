"""Models of four kinds, as PyTorch computed them (golden/README.md): every stored value again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine import Weights, family

GOLDEN = Path(__file__).with_name("golden")
NAMES = ["annotated_d6h1", "graykode_d4h2", "layers_d8h4", "tutorial_d4h2"]
OURS = {"source_ids": "source.ids", "target_ids": "target.ids", "goal_ids": "goal.ids"}


@dataclass(frozen=True)
class Case:
    """A model with the sentence it was run on, and what PyTorch gave."""

    weights: Weights
    source: list[str]
    target: list[str]
    expected: dict[str, Any]


@pytest.fixture(params=NAMES)
def case(request: pytest.FixtureRequest) -> Case:
    folder = GOLDEN / request.param
    said = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    weights = engine.load_weights(folder / "weights.safetensors")
    special = {weights.tokens.bos, weights.tokens.eos}  # those of a lesson are put there for it
    with np.load(folder / "expected.npz") as stored:
        expected = dict(stored)
    return Case(
        weights,
        [word for word in said["source"] if word not in special],
        [word for word in said["target"] if word not in special],
        expected,
    )


def test_files_say_what_the_lecturer_said(case: Case) -> None:
    said = json.loads((GOLDEN / str(case.weights.path).split("/")[-2] / "case.json").read_bytes())
    for name, value in said["config"].items():
        for setting, wanted in value.items() if isinstance(value, dict) else [("", value)]:
            found = case.weights.config.setting(f"{name}.{setting}".rstrip("."))
            assert json.loads(json.dumps(found)) == wanted, name
    assert case.weights.objective == said["objective"]
    words = said["vocabulary"]
    two = words if isinstance(words, dict) else {"source": words, "target": words}
    assert list(case.weights.source_words) == two["source"]
    assert list(case.weights.vocabulary) == two["target"]


def test_every_stored_value(case: Case) -> None:
    trace = engine.training_pass(case.weights, case.source, case.target)
    names = [name for name in case.expected if not name.startswith("greedy")]
    assert len(names) >= 9
    for name in names:
        value, wanted = trace[OURS.get(name, name)], case.expected[name]
        np.testing.assert_allclose(value, wanted, rtol=0, atol=1e-9, err_msg=name, strict=True)
    assert trace["loss.mean"] == trace["loss.per_position"].mean()


@pytest.mark.parametrize("cached", [True, False])
def test_greedy_decoding(case: Case, cached: bool) -> None:
    """It goes on until the end token, though more steps are asked for, if there is one."""
    weights, wanted = case.weights, case.expected["greedy.ids"]
    stops = weights.tokens.eos is not None
    start = None if weights.tokens.bos else case.target[:1]
    steps = engine.generate(weights, case.source, start, len(wanted) - 1 + 3 * stops, cached)
    written = [*steps[-1].input, steps[-1].choice]
    assert [weights.vocabulary.index(word) for word in written] == wanted.tolist()
    logits = np.array([step.logits for step in steps])
    np.testing.assert_allclose(logits, case.expected["greedy.logits"], rtol=0, atol=1e-9)


def test_they_are_in_the_family(case: Case) -> None:
    trace = family.check_lesson(case.weights, case.source, case.target)
    np.testing.assert_allclose(trace["memory"], case.expected["memory"], rtol=0, atol=1e-9)
