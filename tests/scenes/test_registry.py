import subprocess
import sys

import pytest

from engine.errors import LectureError
from scenes import registry


def test_the_plan_has_nineteen_scenes_and_no_step_is_missing():
    assert [scene.number for scene in registry.SCENES] == list(range(1, 20))
    told = {step for s in registry.SCENES for step in range(s.steps[0], s.steps[1] + 1)}
    assert told == set(range(96))


@pytest.mark.parametrize(
    "text", ["8", "08", "attention_scores", "08_attention_scores", "AttentionScores", "n_scores"]
)
def test_a_scene_is_found_by_number_slug_name_class_or_part(text):
    assert registry.find(text).number == 8


@pytest.mark.parametrize("text", ["", "0", "20", "attention_skores", "-8", "s"])
def test_an_unknown_or_ambiguous_scene_is_refused_in_one_line(text):
    with pytest.raises(LectureError) as caught:
        registry.find(text)
    message = str(caught.value)
    assert repr(text) in message
    assert "\n" not in message
    assert "./render.sh list" in message
    assert len(message) < 160


def test_a_misspelt_scene_gets_a_suggestion():
    with pytest.raises(LectureError, match="did you mean attention_scores"):
        registry.find("atention_scores")


def test_listing_scenes_and_texts_imports_no_manim():
    code = "import sys, scenes.registry, scenes.texts; assert 'manim' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
