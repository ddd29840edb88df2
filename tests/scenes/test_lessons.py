import pytest

import engine
from engine.errors import LectureError
from scenes import lessons


def test_the_tutorial_mixes_two_sets_of_weights_and_the_consistent_lesson_does_not():
    tutorial = lessons.settings("tutorial", "zh")
    assert tutorial.weights == engine.TUTORIAL
    assert tutorial.weights_for_inference == engine.TUTORIAL_INFERENCE
    consistent = lessons.settings("consistent", "en")
    assert consistent.weights == consistent.weights_for_inference == engine.TUTORIAL
    assert consistent.language == "en"


def test_own_weights_take_the_place_of_both(tmp_path):
    own = tmp_path / "own.json"
    settings = lessons.settings("tutorial", "zh", own)
    assert settings.weights == settings.weights_for_inference == own


def test_a_lesson_of_ones_own_finds_weights_beside_it(tmp_path):
    lesson = tmp_path / "课 1.toml"
    weights = tmp_path / "own.json"
    engine.save_weights(engine.load_weights(engine.TUTORIAL), weights)
    lesson.write_text('weights = "own.json"\ntarget = "I love courses"\n', encoding="utf-8")
    settings = lessons.settings(str(lesson), "zh")
    assert settings.weights == settings.weights_for_inference == weights
    assert settings.target == "I love courses"
    assert settings.source == engine.SOURCE


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ('source = "我"', "weights"),
        ('weights = ""', "weights"),
        ("weights = 3", "weights"),
        ('weights = "a.json"\nweigths = "b.json"', "weigths"),
        ("weights = [", None),
    ],
)
def test_a_broken_lesson_is_refused_in_one_line(tmp_path, text, field):
    path = tmp_path / "lesson.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LectureError) as caught:
        lessons.settings(str(path), "zh")
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    assert field is None or field in message


def test_an_unknown_lesson_is_refused_with_those_there_are():
    with pytest.raises(LectureError, match="consistent, tutorial"):
        lessons.settings("advanced", "zh")
