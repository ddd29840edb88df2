"""Scenes played with the adversarial lessons choose the sentences that are true."""

from __future__ import annotations

import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from scenes import playthrough, registry
from scenes.base import LectureScene
from scenes.settings import Settings

from . import test_claims as claims

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).resolve().parents[1] / "lessons" / "adversarial"
#: Filmed, and within what the layouts hold today.
LESSONS = (
    "01_all_zero",
    "02_first_map_alike",
    "05_repeated_token",
    "06_twin_heads",
    "07_same_layers",
    "09_negative_zero",
    "10_relu_sees_zeros",
    "11_relu_kills_all",
    "12_entropy_same",
    "15_saturated_attention",
    "16_tiny",
    "18_mixed_scales",
    "19_large_eps",
    "21_cross_in_each_layer",
    "25_narrow_ffn",
    "26_level_ffn",
    "28_one_head",
    "30_one_layer",
    "32_d_model_2",
)
lesson = pytest.mark.parametrize("name", LESSONS)


def settings_of(name: str) -> Settings:
    path = FOLDER / name / "lesson.toml"
    said = tomllib.loads(path.read_text(encoding="utf-8"))
    weights = path.with_name(said["weights"])
    language = "zh" if int(name[:2]) % 2 else "en"
    return Settings(language, weights, weights, said["source"], said["target"])


def facts_of(name: str) -> dict[str, Any]:
    return json.loads((FOLDER / name / "expect.json").read_text(encoding="utf-8"))["facts"]


@cache
def told(name: str, number: int) -> dict[str, Any]:
    """The beats of a scene that depend on weights, by name."""
    scene: LectureScene = playthrough.play(
        registry.find(str(number)), settings_of(name), words_only=True
    )
    return {beat.name: beat for beat in scene.timeline}


def row_kind(variant: str) -> str:
    return {"one": "one", "all": "one", "alike": "alike", "only": "only"}.get(variant, "shared")


@pytest.mark.parametrize("number", [5, 7, 8, 9, 10])
@lesson
def test_the_words_are_true(name: str, number: int) -> None:
    assert claims.wrong_claims(registry.find(str(number)), settings_of(name)) == []


@lesson
def test_8_tells_rows_and_maps_as_they_show(name: str) -> None:
    facts, beats = facts_of(name), told(name, 8)
    row = facts["s08.first_row"]
    takeaway = beats["takeaway"]
    assert row_kind(takeaway.variant) == row["kind"]
    if row["kind"] != "one" or takeaway.variant == "one":
        assert str(takeaway.facts["weight"]) == row["shown"]
    heads, text = [facts[key] for key in ("s08.head1", "s08.head2") if key in facts], beats["heads"]
    how = text.variant.rsplit("_", 1)[-1]
    if len(heads) == 1:
        assert how == "single"
    elif how == "same":
        assert heads[0] == heads[1]
    elif {head["kind"] for head in heads} == {"one"}:
        assert (how == "other") == (heads[0]["at"] != heads[1]["at"])
        assert all(head["shown"] in text.text for head in heads)
    else:
        kinds = {head["kind"] for head in heads}
        assert how in ("even", "ties_even") if "alike" in kinds else how in ("shared", "ties")


@lesson
def test_9_tells_the_width_and_what_relu_meets(name: str) -> None:
    facts, beats = facts_of(name), told(name, 9)
    assert beats["expand"].variant == beats["contract"].variant == facts["s09.width"]
    seen = facts["s09.relu"]
    kinds = {0: "none", seen["of"]: "all", 1: "one"}
    relu = beats["relu"]
    assert relu.variant == kinds.get(seen["negative"], "some")
    assert str(relu.facts["negative"]) == str(seen["negative"])


@lesson
def test_10_tells_rows_and_entropy_as_they_show(name: str) -> None:
    facts, beats = facts_of(name), told(name, 10)
    if "s10.entropy" not in facts:
        assert beats["even"].variant == beats["rows"].variant == "single"
        return
    entropy = facts["s10.entropy"]
    assert beats["even"].variant == entropy["kind"]
    assert str(beats["even"].facts["first"]) == entropy["from"]
    assert entropy["to"] in beats["even"].text
    rows, said = facts["s10.rows"], beats["rows"].facts
    assert [str(said["more"]), str(said["same"])] == [str(rows[key]) for key in ("rises", "same")]
    assert str(said["total"]) == str(sum(rows.values()))
