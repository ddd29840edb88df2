"""Every scene builds and plays through, in both languages, with any weights."""

import dataclasses
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import engine
from render.review import numbers
from render.review.audit import audit, check_captions
from scenes import playthrough, registry, texts
from scenes.base import span
from scenes.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
_spec = importlib.util.spec_from_file_location("pictures", Path(__file__).with_name("pictures.py"))
pictures = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(pictures)
SCENES = registry.available()
LONGEST = 76  # seconds
each_scene = pytest.mark.parametrize("info", SCENES, ids=lambda info: info.slug)
#: what is run by default; the rest takes turns in CI
slow = pytest.mark.slow
each_language = pytest.mark.parametrize("language", ["zh", pytest.param("en", marks=slow)])


def check(scene, settings):
    """What must hold with any weights: all beats played, every number the engine's."""
    declared = [(name, *span(steps)) for name, steps in scene.beats]
    assert [(beat.name, beat.step, beat.last_step) for beat in scene.timeline] == declared
    records = scene.record.numbers()
    assert len(records) > 5
    assert not list(numbers.check_records(records, numbers.Recomputer(settings)))
    assert check_captions(scene) == []


@each_language
@each_scene
def test_a_scene_with_the_tutorials_weights(info, language, pytestconfig):
    """It plays, tells its steps, lasts as long as it should, and looks as it did."""
    settings = Settings(language)
    frames = []
    scene = playthrough.play(
        info,
        settings,
        at_beat=lambda _, frame: frames.append(frame.copy()),
        draw=True,
        height=2 * pictures.HEIGHT,
    )
    check(scene, settings)
    spans = [span(steps) for _, steps in scene.beats]
    assert spans == sorted(spans)
    told = {step for first, last in spans for step in range(first, last + 1)}
    assert told == set(range(info.steps[0], info.steps[1] + 1))
    assert scene.beats[0][0] == "question"
    assert scene.beats[-1][0] == "takeaway"
    assert 25 <= scene.clock <= LONGEST
    for beat in scene.timeline:
        assert beat.end - beat.start >= texts.reading_time(beat.text, language)
    look(f"{info.slug}_{language}", frames, pytestconfig.getoption("accept_pictures"))


def look(name, frames, accept):
    page = pictures.strip(frames)
    if accept:
        pictures.accept(name, page)
    assert pictures.difference(name, page) is None


@pytest.mark.parametrize("seed", [None, pytest.param(1, marks=slow)])
@each_scene
def test_a_scene_passes_its_audits(info, seed, random_weights):
    """Numbers, digits, equations, tables and layout; ./render.sh audit --all does many more."""
    settings = (
        Settings() if seed is None else Settings("zh" if seed % 2 else "en", random_weights(seed))
    )
    assert audit(playthrough.scene_class(info), settings) == []


def test_changing_the_weights_changes_the_numbers_and_the_words(random_weights):
    info = registry.find("8")
    old = playthrough.play(info, Settings("zh"))
    new = playthrough.play(info, Settings("zh", random_weights(5)))
    assert [n["shown"] for n in old.record.numbers()] != [n["shown"] for n in new.record.numbers()]
    weights = new.training["encoder.0.self_attn.weights"][0, 0]
    strongest = new.training.source[weights.argmax()[0]]
    assert f"「{strongest}」" in new.timeline[-1].text


def test_a_wrong_beat_order_is_refused():
    from scenes.s08_attention_scores import AttentionScores

    class Wrong(AttentionScores):
        beats = (("question", 23), ("dot", 23))

    Wrong.__name__ = "AttentionScores"
    with pytest.raises(RuntimeError, match="'dot' is next"):
        playthrough.play_class(Wrong, Settings())


def test_a_beat_may_tell_several_steps():
    from scenes.s08_attention_scores import AttentionScores

    class Spanning(AttentionScores):
        beats = (("question", 23), ("vectors", (23, 25)))

        def construct(self):
            self.read_trace()
            self.question()
            self.vectors()

    Spanning.__name__ = "AttentionScores"
    scene = playthrough.play_class(Spanning, Settings())
    assert [(beat.step, beat.last_step) for beat in scene.timeline] == [(23, 23), (23, 25)]
    shown = [number["source"].get("constant") for number in scene.record.numbers()]
    assert 25 in shown


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


def test_a_picture_that_changed_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "FOLDER", tmp_path)
    monkeypatch.setattr(pictures, "DIFFERENCES", tmp_path / "differences")
    frames = []
    playthrough.play(
        registry.find("8"),
        Settings(),
        at_beat=lambda _, frame: frames.append(frame.copy()),
        draw=True,
        height=2 * pictures.HEIGHT,
    )
    assert "missing" in pictures.difference("s", pictures.strip(frames))
    look("s", frames, accept=True)
    moved = [frame.copy() for frame in frames]
    moved[3][100:140, 150:260] = moved[3][108:148, 150:260]  # a few cells, 8 of 288 pixels up
    assert "a block differs" in pictures.difference("s", pictures.strip(moved))
    assert (tmp_path / "differences" / "s.png").exists()
    assert "other beats" in pictures.difference("s", pictures.strip(frames[:3]))


@pytest.mark.parametrize("name", ["inference_step_1", "inference_step_2", "inference_step_3"])
def test_a_longer_vocabulary_plays(name, tmp_path):
    tutorial = engine.load_weights(engine.TUTORIAL)
    matrices = dict(tutorial.matrices)
    for table in ("embedding.weight", "output_projection.weight"):
        matrices[table] = np.vstack([matrices[table], matrices[table][:2] / 2])
    path = tmp_path / "ten.json"
    words = (*tutorial.vocabulary, "really", "now")
    config = dataclasses.replace(tutorial.config, vocabulary_size=len(words))
    engine.save_weights(engine.Weights(config, words, matrices), path)
    scene = playthrough.play(registry.find(name), Settings("en", path))
    assert scene.timeline[-1].name == "takeaway"
