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
        ('weights = "tutorial.json"\ntarget = "I love"', "target: expected 3 words or more"),
        ('weights = "tutorial.json"\ntarget = "I hate easy courses"', "'hate'"),
        ('weights = "tutorial.json"\nsource = "我爱水课我爱水课我爱水课我爱水课我"', "length"),
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
    with pytest.raises(LectureError, match="consistent, tutorial"):
        lessons.settings("advanced", "zh")


def test_weights_that_do_not_know_the_words_are_named(tmp_path):
    other = tmp_path / "other.json"
    tutorial = engine.load_weights(engine.TUTORIAL)
    words = ("猫", *tutorial.vocabulary[1:])
    engine.save_weights(dataclasses.replace(tutorial, vocabulary=words), other)
    with pytest.raises(LectureError, match=r"other\.json: source of the lesson tutorial\.toml"):
        lessons.settings("tutorial", "zh", other)


def test_a_lesson_whose_weights_are_missing_is_refused_at_once(tmp_path):
    path = tmp_path / "lesson.toml"
    path.write_text('weights = "nowhere.json"', encoding="utf-8")
    with pytest.raises(LectureError, match=r"nowhere\.json"):
        lessons.settings(str(path), "zh")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"heads": 4}, "config.heads: expected 2, which the scenes tell of, found 4"),
        ({"encoder": 3}, "config.encoder, layers: expected 2"),
        ({"decoder": 1}, "config.decoder, layers: expected 2"),
        ({"cross": False}, r"config.decoder\[1\]: expected cross_attn too"),
    ],
)
def test_a_model_that_the_scenes_do_not_tell_of_is_refused(tmp_path, change, said):
    tutorial = engine.load_weights(engine.TUTORIAL)
    matrices = dict(tutorial.matrices)
    config = tutorial.config
    if "heads" in change:
        config = dataclasses.replace(config, heads=4)
    if "encoder" in change:
        config = dataclasses.replace(config, encoder=(*config.encoder, config.encoder[0]))
        matrices |= {
            name.replace("encoder.0", "encoder.2"): matrix
            for name, matrix in matrices.items()
            if name.startswith("encoder.0")
        }
    if "decoder" in change:
        config = dataclasses.replace(config, decoder=config.decoder[:1])
        matrices = {k: v for k, v in matrices.items() if not k.startswith("decoder.1")}
    if "cross" in change:
        config = dataclasses.replace(config, decoder=(config.decoder[0], ("self_attn", "ffn")))
        matrices = {k: v for k, v in matrices.items() if "cross_attn" not in k}
    path = tmp_path / "own.json"
    engine.save_weights(engine.Weights(config, tutorial.vocabulary, matrices), path)
    with pytest.raises(LectureError, match=said) as caught:
        lessons.settings("tutorial", "zh", path)
    assert str(caught.value).startswith(str(path))


def test_numbers_too_large_to_be_shown_are_refused(tmp_path):
    tutorial = engine.load_weights(engine.TUTORIAL)
    table = tutorial.matrices["embedding.weight"] * 1e6
    path = tmp_path / "own.json"
    engine.save_weights(tutorial.with_matrices({"embedding.weight": table}), path)
    with pytest.raises(LectureError, match=r"own\.json: embedding\.weight: expected numbers from"):
        lessons.settings("tutorial", "zh", path)
