"""Lessons that invite mistakes, as the last scenes tell them: cases against their facts."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from scenes import lessons, playthrough, registry
from scenes.base import LectureScene
from scenes.rounding import shown
from scenes.verdicts import Standing
from scenes.wording import top

from .captioning import faults_in_the_shortest_time

FOLDER = Path(__file__).resolve().parents[1] / "lessons" / "adversarial"
LESSONS = {
    path.name: json.loads((path / "expect.json").read_text(encoding="utf-8")).get("facts")
    for path in sorted(FOLDER.iterdir())
    if path.name[:2] in {"03", "04", "05", "08", "13", "14", "20", "21"}
}
each_lesson = pytest.mark.parametrize("name", LESSONS)
pytestmark = pytest.mark.slow
#: The kind of a standing that the cases of a sentence come from, by how they begin.
KINDS = {
    "hit": "hit",
    "hair": "hit",
    "shared": "shared_hit",
    "tied": "shared_hit",
    "alike": "alike",
    "level": "alike",
    "miss_shared": "shared_miss",
    "miss": "miss",
}


@cache
def played(name: str, number: str) -> LectureScene:
    """A scene of a lesson, in English where the scene's number is even; it can be captioned."""
    language = "zh" if int(number) % 2 else "en"
    settings = lessons.settings(str(FOLDER / name / "lesson.toml"), language)
    scene = playthrough.play(registry.find(number), settings, words_only=True)
    assert faults_in_the_shortest_time(scene) == []
    return scene


def beat(scene: LectureScene, name: str) -> Any:
    return next(beat for beat in scene.timeline if beat.name == name)


def kind(variant: str) -> str:
    return next(kind for start, kind in KINDS.items() if variant.startswith(start))


def fact(found: Standing) -> dict[str, Any]:
    return {
        "kind": found.kind,
        "rank": int(found.rank.exact),
        "of": int(found.count.exact),
        "with": list(found.alike),
        "best": list(found.best),
        "p": found.p_shown,
        "p_best": max((shown(p.exact, 4) for p in found.probabilities), key=float),
        "p_like": list(found.looks_like),
    }


@each_lesson
def test_scene_12_names_each_sub_layer_and_hands_over_the_layers_last_norm(name: str) -> None:
    scene = played(name, "12")
    kinds = scene.layers[0]
    assert scene.output.name == f"decoder.0.norm{len(kinds)}.output"
    names = [strip.grid.values.name for strip in scene.layer_strips]
    expected = ["decoder.input"]
    for number, kind in enumerate(kinds, start=1):
        expected += [f"decoder.0.{kind}.output", f"decoder.0.norm{number}.output"]
    assert names == expected
    assert (beat(scene, "layer").variant == "cross") == ("cross_attn" in kinds)


@each_lesson
def test_scene_13_tells_how_the_target_looks_at_the_source(name: str) -> None:
    scene, facts = played(name, "13"), LESSONS[name]
    found = top(scene.weights)
    assert {"kind": found.kind, "at": [list(at) for at in found.at], "shown": found.shown} == (
        facts["s13.map"]
    )
    told = beat(scene, "even").variant
    assert (told == "alike") == (found.kind == "alike")
    assert (told == "even") == (facts["s13.even"] and found.kind != "alike")
    kinds = {"one": "one", "all": "one", "alike": "alike"}
    row = beat(scene, "takeaway")
    assert kinds.get(row.variant, "shared") == facts["s13.first_row"]["kind"]
    if "weight" in row.facts:
        assert row.facts["weight"].text == facts["s13.first_row"]["shown"]


@each_lesson
def test_scene_14_tells_ranks_hits_and_losses(name: str) -> None:
    scene, facts = played(name, "14"), LESSONS[name]
    assert [fact(each) for each in scene.standings] == facts["s14.positions"]
    assert kind(beat(scene, "rank").variant) == facts["s14.positions"][0]["kind"]
    told = beat(scene, "table").facts
    counts = [int(told[key].scalar.exact) for key in ("right", "shared", "count")]
    assert counts == facts["s14.right"]
    assert beat(scene, "loss").variant == ("hidden" if 0 in facts["s14.hidden_p"] else "")
    largest, learn = facts["s14.largest_loss"], beat(scene, "learn")
    assert scene.table.worst == [at[0] for at in largest["at"]]
    assert learn.variant.partition("_")[0] == largest["kind"]
    if largest["kind"] == "one":
        (at,) = scene.table.worst
        assert learn.facts["target"] == scene.wanted[at]
        assert (learn.variant == "one_shown") == (at not in facts["s14.hidden_p"])


@each_lesson
def test_scenes_16_to_18_tell_the_standing_of_each_word(name: str) -> None:
    steps = LESSONS[name]["s16-18.steps"]
    for number, choosing in (("16", "hoped"), ("17", "choice"), ("18", "choice")):
        scene = played(name, number)
        expected = steps[scene.step - 1]
        assert fact(scene.standing) == expected
        assert kind(beat(scene, choosing).variant) == expected["kind"]
        assert scene.choice in expected["best"]
