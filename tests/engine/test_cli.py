"""`python -m engine`, as a user runs it: a process of its own, in another folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest

import engine
from engine import Trace, Weights
from engine.cli import main

ROOT = Path(engine.__file__).parents[1]


def run(*arguments: str, cwd: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "engine", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **options.pop("env", {})},
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        encoding="utf-8",
        check=False,
        **options,
    )


def output(*arguments: str, cwd: Path) -> str:
    done = run(*arguments, cwd=cwd)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def arrays_equal(document: dict[str, Any], trace: Trace) -> None:
    assert list(document) == list(trace)
    for name, value in trace.items():
        np.testing.assert_array_equal(np.array(document[name]), value)  # to the last bit


def test_trace_of_the_training_pass(training: Trace, tmp_path: Path) -> None:
    arrays_equal(json.loads(output("trace", cwd=tmp_path)), training)


def test_trace_of_an_inference_pass(tutorial: Weights, tmp_path: Path) -> None:
    document = json.loads(output("trace", "--decode", "I love", cwd=tmp_path))
    arrays_equal(document, engine.inference_pass(tutorial, "I love"))


def test_trace_of_other_weights_and_sentences(other: Weights, tmp_path: Path) -> None:
    engine.save_weights(other, tmp_path / "other.npz")
    text = output(
        *("trace", "--weights", "other.npz", "--source", "课水", "--target", "easy 我"),
        cwd=tmp_path,
    )
    arrays_equal(json.loads(text), engine.training_pass(other, "课水", "easy 我"))


@pytest.mark.parametrize("extra", [[], ["--uncached"]])
def test_generate(extra: list[str], tutorial: Weights, tmp_path: Path) -> None:
    lines = output("generate", "--start", "I love", "--steps", "2", *extra, cwd=tmp_path)
    steps = [json.loads(line) for line in lines.splitlines()]
    wanted = engine.generate(tutorial, start="I love", steps=2, cached=not extra)
    assert len(steps) == 2
    for step, right in zip(steps, wanted, strict=True):
        assert list(step) == ["input", "logits", "probabilities", "choice"]
        assert (tuple(step["input"]), step["choice"]) == (right.input, right.choice)
        assert step["logits"] == right.logits.tolist()
        assert step["probabilities"] == right.probabilities.tolist()


@pytest.mark.parametrize("targets", ["as-printed", "shifted"])
def test_gradients(targets: str, tutorial: Weights, tmp_path: Path) -> None:
    document = json.loads(output("gradients", "--targets", targets, cwd=tmp_path))
    wanted = engine.gradients(tutorial, targets=targets)
    assert list(document) == list(tutorial.matrices)
    for name, gradient in wanted.items():
        assert document[name] == gradient.tolist()


def test_errata(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
    assert output("errata", cwd=tmp_path) == page


def test_weights_init_check_convert_diff(tmp_path: Path) -> None:
    assert output("weights", "init", "a.json", cwd=tmp_path) == ""
    assert (tmp_path / "a.json").read_bytes() == engine.TUTORIAL.read_bytes()
    output("weights", "init", "b.json", "--recipe", "tutorial-inference", cwd=tmp_path)
    assert (tmp_path / "b.json").read_bytes() == engine.TUTORIAL_INFERENCE.read_bytes()
    assert output("weights", "check", "a.json", cwd=tmp_path) == (
        "a.json: good; 8 words, d_model 4, 2 heads, 2 encoder and 2 decoder layers, "
        "30 matrices, 640 numbers\n"
    )
    output("weights", "convert", "a.json", "a.safetensors", cwd=tmp_path)
    output("weights", "convert", "a.safetensors", "a.npz", cwd=tmp_path)
    output("weights", "convert", "a.npz", "again.json", cwd=tmp_path)
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "a.json").read_bytes()
    assert output("weights", "diff", "a.npz", "again.json", cwd=tmp_path) == "no difference\n"
    done = run("weights", "diff", "a.json", "b.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "matrix decoder.1.self_attn.q_proj.weight: 15 of 16 differ, by up to 1.8"
    assert lines[4].startswith("trace decoder.1.self_attn.q: 16 of 16 differ, by up to ")
    assert lines[-1].startswith("trace loss.mean: 1 of 1 differ, by up to ")
    assert not any("encoder" in line for line in lines)


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """The command line within this process, which is faster."""
    code = main(arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_init_random(capsys: pytest.CaptureFixture[str], tmp_path: Path, odd: Weights) -> None:
    path = tmp_path / "r.json"
    assert call(capsys, "weights", "init", str(path), "--random", "3") == (0, "", "")
    wanted = engine.random_weights(engine.load_weights(engine.TUTORIAL), 3)
    for name, matrix in engine.load_weights(path).matrices.items():
        np.testing.assert_array_equal(matrix, wanted.matrices[name])
    engine.save_weights(odd, tmp_path / "odd.json")
    options = ["--like", str(tmp_path / "odd.json"), "--low", "-1", "--high", "1"]
    command = ["weights", "init", str(path), "--random", "7", "--force", *options]
    assert call(capsys, *command) == (0, "", "")
    assert path.read_bytes() == (tmp_path / "odd.json").read_bytes()


def test_diff_of_other_models(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, odd: Weights
) -> None:
    engine.save_weights(odd, tmp_path / "odd.json")
    first, second = str(engine.TUTORIAL), str(tmp_path / "odd.json")
    code, out, err = call(capsys, "weights", "diff", first, second)
    assert (code, err) == (1, "")
    assert "config.heads: 2 -> 3\n" in out
    assert "vocabulary: 我 爱 水 课 I love easy courses -> t0 t1 t2 t3 t4\n" in out
    assert "matrix embedding.weight: 8 x 4 -> 5 x 9\n" in out
    assert "matrix decoder.0.cross_attn.q_proj.weight: only in the second file\n" in out
    assert "trace: not compared, as the second file cannot run this: source: token" in out
    assert call(capsys, "weights", "diff", second, second) == (0, "no difference\n", "")
    code, out, _ = call(capsys, "weights", "diff", first, second, "--source", "猫")
    assert (code, out) == (2, "")


MISTAKES = [
    ([], "the following arguments are required: COMMAND"),
    (["dance"], "invalid choice: 'dance'"),
    (["trace", "--wieghts", "x"], "unrecognized arguments: --wieghts x"),
    (["trace", "--weights", "none.json"], "none.json: file: found no such file or directory"),
    (["trace", "--source", "我爱猫"], "source: token: expected words of the vocabulary (我 爱"),
    (["trace", "--target", "I hate"], "found the unknown 'hate'"),
    (["trace", "--decode", ""], "prefix: length: expected 1 to 16 tokens"),
    (["trace", "--decode", "I " * 17], "found 17"),
    (["trace", "--decode", "I", "--target", "I"], "not allowed with argument"),
    (["generate", "--steps", "x"], "invalid int value: 'x'"),
    (["generate", "--steps", "0"], "generate: steps: expected 1 to 16"),
    (["generate", "--steps", "99"], "found 99"),
    (["generate", "--start", ""], "start: length"),
    (["gradients", "--targets", "both"], "invalid choice: 'both'"),
    (["weights"], "required: COMMAND"),
    (["weights", "check", "/"], "/: file name: expected one ending in .json, .npz, .safetensors"),
    (["weights", "init", "w.json", "--recipe", "x"], "invalid choice: 'x'"),
    (["weights", "init", "w.json", "--random", "-1"], "seed: expected 0 to 4294967295"),
    (["weights", "init", "w.json", "--random", "1", "--low", "nan"], "range: expected finite"),
    (["weights", "init", "w.json", "--random", "1", "--decimals", "-400"], "decimals: expected 0"),
    (["weights", "init", "w.json", "--low", "3"], "--low: expected --random with it"),
    (["weights", "init", "w.json", "--like", "x.json"], "--like: expected --random with it"),
    (["weights", "init", "w.pt"], "found '.pt'"),
    (["weights", "init", "/nowhere/w.json"], "/nowhere/w.json: file: found no such file"),
    (["weights", "init", str(engine.TUTORIAL)], "--force to replace it, found a file that exists"),
    (["weights", "convert", str(engine.TUTORIAL), str(engine.TUTORIAL_INFERENCE)], "--force"),
    (["weights", "diff", str(engine.TUTORIAL), "none.npz"], "none.npz: file: found no such file"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_mistakes_are_one_line(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = call(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert message in err
    assert list(tmp_path.iterdir()) == []


def test_a_mistake_in_a_process(tmp_path: Path) -> None:
    done = run("trace", "--source", "猫", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: source: token: ")
    assert done.stderr.endswith("found the unknown '猫'\n")


def test_arguments_that_are_not_text(tmp_path: Path) -> None:
    done = run("trace", "--source", os.fsdecode(b"\xff"), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", [[], ["trace"], ["generate"], ["weights", "diff"]])
def test_help(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, *command, "--help")
    assert (code, err) == (0, "")
    assert out.startswith("usage: python -m engine")
    assert "--help" in out


def test_ascii_locale(tmp_path: Path) -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = run("generate", cwd=tmp_path, env=plain)
    assert (done.returncode, done.stderr) == (0, "")
    assert "水" in done.stdout


def test_broken_pipe_is_quiet(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe:
        done = run("trace", cwd=tmp_path, stdout=pipe)
    assert (done.returncode, done.stderr) == (141, "")


def test_interrupt_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(engine, "load_weights", interrupt)
    assert main(["trace"]) == 130


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device /dev/full")
def test_full_disk_is_one_line(tmp_path: Path) -> None:
    full: IO[str]
    with Path("/dev/full").open("w") as full:
        done = run("trace", cwd=tmp_path, stdout=full)
    assert done.returncode == 2
    assert done.stderr == "error: standard output: file: found no space left on device\n"


def test_imports_only_numpy(tmp_path: Path) -> None:
    """No Manim, and nothing else that is not part of Python, unless a file needs it."""
    script = (
        "import sys; before = set(sys.modules); import engine.cli\n"
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


def test_a_copy_elsewhere_works(tmp_path: Path) -> None:
    """The package finds its weights by its own place, not by the current folder."""
    place = tmp_path / "elsewhere"
    shutil.copytree(ROOT / "engine", place / "engine")
    shutil.copytree(ROOT / "assets" / "weights", place / "assets" / "weights")
    default = tmp_path / "elsewhere" / "assets" / "weights" / "tutorial.json"
    default.write_bytes(default.read_bytes().replace(b" 0.5, -0.3", b" 9.5, -0.3", 1))
    text = run("trace", cwd=tmp_path, env={"PYTHONPATH": str(place)}).stdout
    assert json.loads(text)["embedding"][0][0] == 9.5
