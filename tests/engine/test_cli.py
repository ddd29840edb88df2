"""`python -m engine`: every command does what it says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine import Trace, Weights, errata

ROOT = Path(engine.__file__).parents[1]


Call = Callable[..., tuple[int, str, str]]
Run = Callable[..., subprocess.CompletedProcess[str]]


def output(run: Run, *arguments: str) -> str:
    done = run(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return str(done.stdout)


def arrays_equal(document: dict[str, Any], trace: Trace) -> None:
    assert list(document) == list(trace)
    for name, value in trace.items():
        np.testing.assert_array_equal(np.array(document[name]), value)  # to the last bit


def test_trace_of_the_training_pass(training: Trace, run: Run) -> None:
    arrays_equal(json.loads(output(run, "trace")), training)


def test_trace_of_an_inference_pass(tutorial: Weights, run: Run) -> None:
    document = json.loads(output(run, "trace", "--decode", "I love"))
    arrays_equal(document, engine.inference_pass(tutorial, "I love"))


def test_trace_of_other_weights_and_sentences(other: Weights, tmp_path: Path, run: Run) -> None:
    engine.save_weights(other, tmp_path / "other.npz")
    text = output(
        run,
        *("trace", "--weights", "other.npz", "--source", "课水", "--target", "easy 我"),
    )
    arrays_equal(json.loads(text), engine.training_pass(other, "课水", "easy 我"))


@pytest.mark.parametrize("extra", [[], ["--uncached"]])
def test_generate(extra: list[str], tutorial: Weights, run: Run) -> None:
    lines = output(run, "generate", "--start", "I love", "--steps", "2", *extra)
    steps = [json.loads(line) for line in lines.splitlines()]
    wanted = engine.generate(tutorial, start="I love", steps=2, cached=not extra)
    assert len(steps) == 2
    for step, right in zip(steps, wanted, strict=True):
        assert list(step) == ["input", "logits", "probabilities", "choice"]
        assert (tuple(step["input"]), step["choice"]) == (right.input, right.choice)
        assert step["logits"] == right.logits.tolist()
        assert step["probabilities"] == right.probabilities.tolist()


@pytest.mark.parametrize("targets", ["as-printed", "shifted"])
def test_gradients(targets: str, tutorial: Weights, run: Run) -> None:
    document = json.loads(output(run, "gradients", "--targets", targets))
    wanted = engine.gradients(tutorial, targets=targets)
    assert list(document) == list(tutorial.matrices)
    for name, gradient in wanted.items():
        assert document[name] == gradient.tolist()


def test_errata(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errata, "page", lambda: "# The page\n")  # computed in test_errata.py
    assert call("errata") == (0, "# The page\n", "")


def test_weights_init_check_convert_diff(tmp_path: Path, run: Run) -> None:
    assert output(run, "weights", "init", "a.json") == ""
    assert (tmp_path / "a.json").read_bytes() == engine.TUTORIAL.read_bytes()
    output(run, "weights", "init", "b.json", "--recipe", "tutorial-inference")
    assert (tmp_path / "b.json").read_bytes() == engine.TUTORIAL_INFERENCE.read_bytes()
    assert output(run, "weights", "check", "a.json") == (
        "a.json: good; 8 words, d_model 4, 2 heads, 2 encoder and 2 decoder layers, "
        "30 matrices, 640 numbers; "
        "whether a lesson can be shown: ./render.sh check --weights a.json\n"
    )
    output(run, "weights", "convert", "a.json", "a.safetensors")
    output(run, "weights", "convert", "a.safetensors", "a.npz")
    output(run, "weights", "convert", "a.npz", "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "a.json").read_bytes()
    assert output(run, "weights", "diff", "a.npz", "again.json") == "no difference\n"
    done = run("weights", "diff", "a.json", "b.json")
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "matrix decoder.1.self_attn.q_proj.weight: 15 of 16 differ, by up to 1.8"
    assert lines[4].startswith("trace decoder.1.self_attn.q: 16 of 16 differ, by up to ")
    assert lines[-1].startswith("trace loss.mean: 1 of 1 differ, by up to ")
    assert not any("encoder" in line for line in lines)


def test_init_random(call: Call, tmp_path: Path, odd: Weights) -> None:
    path = tmp_path / "r.json"
    assert call("weights", "init", str(path), "--random", "3") == (0, "", "")
    wanted = engine.random_weights(engine.load_weights(engine.TUTORIAL), 3)
    for name, matrix in engine.load_weights(path).matrices.items():
        np.testing.assert_array_equal(matrix, wanted.matrices[name])
    engine.save_weights(odd, tmp_path / "odd.json")
    options = ["--like", str(tmp_path / "odd.json"), "--low", "-1", "--high", "1"]
    command = ["weights", "init", str(path), "--random", "7", "--force", *options]
    assert call(*command) == (0, "", "")
    assert path.read_bytes() == (tmp_path / "odd.json").read_bytes()


def test_diff_of_other_models(call: Call, tmp_path: Path, odd: Weights) -> None:
    engine.save_weights(odd, tmp_path / "odd.json")
    first, second = str(engine.TUTORIAL), str(tmp_path / "odd.json")
    code, out, err = call("weights", "diff", first, second)
    assert (code, err) == (1, "")
    assert "config.heads: 2 -> 3\n" in out
    assert "vocabulary: 我 爱 水 课 I love easy courses -> t0 t1 t2 t3 t4\n" in out
    assert "matrix embedding.weight: 8 x 4 -> 5 x 9\n" in out
    assert "matrix decoder.0.cross_attn.q_proj.weight: only in the second file\n" in out
    assert "trace: not compared, as the second file cannot run this: source: token" in out
    assert call("weights", "diff", second, second) == (0, "no difference\n", "")
    code, out, _ = call("weights", "diff", first, second, "--source", "猫")
    assert (code, out) == (2, "")


def test_imports_only_numpy(tmp_path: Path) -> None:
    """No Manim, and nothing else that is not part of Python, unless a file needs it."""
    script = (
        "import sys; before = set(sys.modules); import engine\n"
        "names = {name.split('.')[0] for name in set(sys.modules) - before}\n"
        "print(*sorted(n for n in names if n not in sys.stdlib_module_names))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["engine", "numpy"]


def test_safetensors_may_be_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    with pytest.raises(engine.LectureError, match="not installed"):
        engine.save_weights(engine.tutorial_weights(), tmp_path / "w.safetensors")


def test_a_copy_elsewhere_works(tmp_path: Path, run: Run) -> None:
    """The package finds its weights by its own place, not by the current folder."""
    place = tmp_path / "elsewhere"
    shutil.copytree(ROOT / "engine", place / "engine")
    shutil.copytree(ROOT / "assets" / "weights", place / "assets" / "weights")
    default = tmp_path / "elsewhere" / "assets" / "weights" / "tutorial.json"
    default.write_bytes(default.read_bytes().replace(b" 0.5, -0.3", b" 9.5, -0.3", 1))
    text = run("trace", env={"PYTHONPATH": str(place)}).stdout
    assert json.loads(text)["embedding"][0][0] == 9.5
