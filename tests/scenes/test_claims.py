"""Every word that a sentence takes from the weights, against a second way of computing it."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from render.review.numbers import Recomputer
from scenes import lessons, playthrough, registry, texts
from scenes.parts.phrase import Say, fill
from scenes.settings import Settings

from .captioning import faults_in_the_shortest_time

_spec = importlib.util.spec_from_file_location("oracles", Path(__file__).with_name("oracles.py"))
oracles = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(oracles)

SCENES = registry.available()
each_scene = pytest.mark.parametrize("info", SCENES, ids=lambda info: info.slug)


def wrong_claims(info, settings, scene_class=None) -> list[str]:
    """What the scene says that is not so, and what of it cannot be captioned, in either language,
    in videos of both."""
    kind = scene_class or playthrough.scene_class(info)
    scene = playthrough.play_class(kind, settings, words_only=True)
    recompute = Recomputer(settings)
    oracle = oracles.ORACLES.get(info.number, lambda _: {})(recompute.trace)
    sentences = texts.load(settings.language)[info.slug]["beats"]
    wrong = []
    for beat in scene.timeline:
        words, variant = oracle.get(beat.name, ({}, ""))
        said = {key: fact for key, fact in beat.facts.items() if isinstance(fact, str)}
        assert said.pop("unit") == "chinese"  # as is the source of every lesson here
        if said != words or beat.variant != variant:
            wrong.append(f"{beat.name}: says {said} {beat.variant!r}, is {words} {variant!r}")
            continue
        numbers = {key: fact for key, fact in beat.facts.items() if isinstance(fact, Say)}
        for key, fact in numbers.items():
            if recompute.value(fact.scalar.recipe()) != fact.scalar.exact:
                wrong.append(f"{beat.name}: {key} is not {fact}")
        template = sentences[f"{beat.name}_{variant}" if variant else beat.name]
        if beat.text != fill(template, {"unit": "字", **numbers, **words}):
            wrong.append(f"{beat.name}: {beat.text!r}")
    return wrong + faults_in_the_shortest_time(scene)


@pytest.mark.parametrize(
    ("lesson", "language"),
    [
        ("tutorial", "zh"),
        pytest.param("tutorial", "en", marks=pytest.mark.slow),
        pytest.param("consistent", "zh", marks=pytest.mark.slow),
        pytest.param("trained", "zh", marks=pytest.mark.slow),
        pytest.param("trained", "en", marks=pytest.mark.slow),
    ],
)
@each_scene
def test_the_words_are_true_in_the_lessons_that_come_with_the_lecture(info, lesson, language):
    assert wrong_claims(info, lessons.settings(lesson, language)) == []


@pytest.mark.slow
@each_scene
def test_the_words_are_true_with_random_weights(info, random_weights):
    language = "zh" if info.number % 2 else "en"
    assert wrong_claims(info, Settings(language, random_weights(100 + info.number))) == []


@pytest.mark.slow
@pytest.mark.timeout(1800)  # five minutes where nothing else runs
@each_scene
def test_the_words_are_true_with_many_weight_files(info, random_weights):
    """Two hundred; in CI, whose time is short, twelve of them."""
    for seed in range(12 if os.environ.get("CI") else 200):
        settings = Settings("zh" if seed % 2 else "en", random_weights(seed))
        assert wrong_claims(info, settings) == [], seed


@pytest.mark.slow
def test_12_a_claim_made_false_by_other_weights_is_caught(random_weights):
    """Planted: a scene that always says what is true of the tutorial's weights."""
    info = registry.find("8")
    real = playthrough.scene_class(info)

    class Planted(real):
        def takeaway(self):
            facts = {"query": "我", "key": "爱", "weight": Say(self.weights[0, self.asking, 1], 3)}
            with self.beat("takeaway", facts, variant="one"):
                pass
            self.leave()

    Planted.__name__ = real.__name__
    assert wrong_claims(info, Settings("zh"), Planted) == []
    caught = [
        seed
        for seed in range(8)
        if any(
            "takeaway" in w
            for w in wrong_claims(info, Settings("zh", random_weights(seed)), Planted)
        )
    ]
    assert len(caught) >= 3
    assert all(wrong_claims(info, Settings("zh", random_weights(seed))) == [] for seed in range(8))
