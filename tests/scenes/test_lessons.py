import dataclasses

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


def test_the_trained_lesson_writes_the_sentence_that_it_is_about():
    trained = lessons.settings("trained", "zh")
    model = engine.load_weights(trained.weights_for_inference)
    first, *others = trained.target.split()
    written = engine.generate(model, trained.source, (first,), len(others))
    assert [step.choice for step in written] == others


def test_own_weights_take_the_place_of_both(tmp_path):
    own = tmp_path / "own.json"
    engine.save_weights(engine.load_weights(engine.TUTORIAL), own)
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
        ('weights = "tutorial.json"\ntarget = "I love"', "target: expected 3 tokens or more"),
        ('weights = "tutorial.json"\ntarget = "I hate easy courses"', "'hate'"),
        ('weights = "tutorial.json"\nsource = "我爱水课我爱水课我爱水课我爱水课我"', "at most 8"),
    ],
)
def test_a_broken_lesson_is_refused_in_one_line(tmp_path, text, field):
    path = tmp_path / "lesson.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LectureError) as caught:
        lessons.settings(str(path), "zh")
    message = str(caught.value)
    assert path.name in message
    assert "\n" not in message
    assert field is None or field in message


def test_an_unknown_lesson_is_refused_with_those_there_are():
    with pytest.raises(LectureError, match="consistent, trained, tutorial"):
        lessons.settings("advanced", "zh")


def test_weights_that_do_not_know_the_words_are_named(tmp_path):
    other = tmp_path / "other.json"
    tutorial = engine.load_weights(engine.TUTORIAL)
    words = ("猫", *tutorial.vocabulary[1:])
    engine.save_weights(dataclasses.replace(tutorial, vocabulary=words), other)
    with pytest.raises(LectureError, match=r"tutorial\.toml with .*other\.json: source: "):
        lessons.settings("tutorial", "zh", other)


def test_a_lesson_whose_weights_are_missing_is_refused_at_once(tmp_path):
    path = tmp_path / "lesson.toml"
    path.write_text('weights = "nowhere.json"', encoding="utf-8")
    with pytest.raises(LectureError, match=str(tmp_path / "nowhere.json")):
        lessons.settings(str(path), "zh")


def test_a_model_beyond_the_family_is_refused(tmp_path):
    tutorial = engine.load_weights(engine.TUTORIAL)
    config = tutorial.config
    config = dataclasses.replace(config, decoder=(config.decoder[0], ("self_attn", "ffn")))
    matrices = {k: v for k, v in tutorial.matrices.items() if "cross_attn" not in k}
    path = tmp_path / "own.json"
    engine.save_weights(engine.Weights(config, tutorial.vocabulary, matrices), path)
    with pytest.raises(LectureError, match=r"config.decoder\[1\]: expected cross_attn") as caught:
        lessons.settings("tutorial", "zh", path)
    assert str(caught.value).startswith(str(path))


def test_a_byte_order_mark_is_no_mistake(tmp_path):
    path = tmp_path / "lesson.toml"
    path.write_text('\ufeffweights = "tutorial.json"\n', encoding="utf-8")
    assert lessons.settings(str(path), "zh").weights == engine.TUTORIAL


def test_a_folder_beside_the_lesson_is_not_passed_over(tmp_path):
    path = tmp_path / "lesson.toml"
    (tmp_path / "tutorial.json").mkdir()
    path.write_text('weights = "tutorial.json"\n', encoding="utf-8")
    with pytest.raises(LectureError, match=str(tmp_path / "tutorial.json")):
        lessons.settings(str(path), "zh")
