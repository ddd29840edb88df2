"""Every scene builds and plays through, in both languages, with any weights."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import engine
from render.audit import provenance
from scenes import playthrough, registry, texts
from scenes.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
SCENES = registry.available()
LONGEST = {"zh": 75.5, "en": 75.5}
each_scene = pytest.mark.parametrize("info", SCENES, ids=lambda info: info.slug)
each_language = pytest.mark.parametrize("language", ["zh", "en"])


def check(scene, settings):
    """What must hold with any weights: all beats played, every number the engine's."""
    assert [(beat.name, beat.step) for beat in scene.timeline] == list(scene.beats)
    records = scene.record.numbers()
    assert len(records) > 5
    assert provenance.check_records(records, provenance.Recomputer(settings)) == []


@each_language
@each_scene
def test_a_scene_plays_through_with_the_tutorials_weights(info, language):
    settings = Settings(language)
    scene = playthrough.play(info, settings)
    check(scene, settings)
    steps = [step for _, step in scene.beats]
    assert steps == sorted(steps)
    assert set(steps) == set(range(info.steps[0], info.steps[1] + 1))
    assert scene.beats[0][0] == "question"
    assert scene.beats[-1][0] == "takeaway"
    assert 25 <= scene.clock <= LONGEST[language]
    for beat in scene.timeline:
        assert beat.end - beat.start >= texts.reading_time(beat.text, language)


@pytest.mark.parametrize("seed", [1, 2, 3])
@each_scene
def test_a_scene_plays_through_with_random_weights(info, seed, random_weights):
    settings = Settings("zh" if seed % 2 else "en", random_weights(seed))
    check(playthrough.play(info, settings), settings)


def test_changing_the_weights_changes_the_numbers_and_the_words(random_weights):
    info = registry.find("8")
    old = playthrough.play(info, Settings("zh"))
    new = playthrough.play(info, Settings("zh", random_weights(5)))
    assert [n["shown"] for n in old.record.numbers()] != [n["shown"] for n in new.record.numbers()]
    weights = new.training["encoder.0.self_attn.weights"][0, 0]
    strongest = new.training.source[weights.argmax()[0]]
    assert f"最关注「{strongest}」" in new.timeline[-1].text


def test_a_wrong_beat_order_is_refused():
    from scenes.s08_attention_scores import AttentionScores

    class Wrong(AttentionScores):
        beats = (("question", 23), ("dot", 23))

    Wrong.__name__ = "AttentionScores"
    with pytest.raises(RuntimeError, match="'dot' is next"):
        playthrough.play_class(Wrong, Settings())


@pytest.mark.slow
@each_scene
def test_a_scene_runs_under_plain_manim(info, tmp_path):
    """As a lecturer previews it: ``manim scenes/s08_attention_scores.py AttentionScores``."""
    command = [sys.executable, "-m", "manim", "-ql", "--fps", "4", "--disable_caching"]
    command += [
        "--progress_bar",
        "none",
        "--media_dir",
        str(tmp_path),
        str(info.path),
        info.class_name,
    ]
    environment = os.environ | {"LECTURE_LANG": "en", "LECTURE_WEIGHTS": str(engine.TUTORIAL)}
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
    (video,) = tmp_path.rglob(f"{info.class_name}.mp4")
    assert video.stat().st_size > 10_000
