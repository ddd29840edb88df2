"""`python -m engine`: every mistake and every mishap is one line, or silence, and a clear code."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import engine
from engine.cli import main

Call = Callable[..., tuple[int, str, str]]
Run = Callable[..., subprocess.CompletedProcess[str]]

MISTAKES = [
    ([], "Missing command."),
    (["dance"], "No such command 'dance'. Did you mean 'trace'?"),
    (["trace", "--wieghts", "x"], "No such option: --wieghts (Possible options: --weights)"),
    (["trace", "--weights", "none.json"], "none.json: file: found no such file or directory"),
    (["trace", "--source", "我爱猫"], "source: token: expected words of the vocabulary (我 爱"),
    (["trace", "--target", "I hate"], "found the unknown 'hate'"),
    (["trace", "--decode", ""], "prefix: length: expected 1 to 16 tokens"),
    (["trace", "--decode", "I " * 17], "found 17"),
    (
        ["trace", "--decode", "I", "--target", "I"],
        "only one of --target and --decode",
    ),
    (["generate", "--steps", "x"], "Invalid value for '--steps': 'x' is not a valid int"),
    (["generate", "--steps", "0"], "generate: steps: expected 1 to 16"),
    (["generate", "--steps", "99"], "found 99"),
    (["generate", "--start", ""], "start: length"),
    (["gradients", "--targets", "both"], "expected next, copy, as-printed, shifted; found 'both'"),
    (["weights"], "Missing command."),
    (["weights", "check", "/"], "/: file name: expected one ending in .json, .npz, .safetensors"),
    (
        ["weights", "init", "w.json", "--recipe", "x"],
        "tutorial-inference; found 'x'",
    ),
    (["weights", "init", "w.json", "--random", "-1"], "seed: expected 0 to 4294967295"),
    (["weights", "init", "w.json", "--random", "1", "--low", "nan"], "range: expected finite"),
    (["weights", "init", "w.json", "--random", "1", "--decimals", "-400"], "decimals: expected 0"),
    (["weights", "init", "w.json", "--random", "1", "--recipe", "tutorial"], "found both"),
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
    call: Call,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert message in err
    assert list(tmp_path.iterdir()) == []


def test_a_mistake_in_a_process(run: Run) -> None:
    done = run("trace", "--source", "猫")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: source: token: ")
    assert done.stderr.endswith("found the unknown '猫'\n")


def test_arguments_that_are_not_text(run: Run) -> None:
    done = run("trace", "--source", os.fsdecode(b"\xff"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1


def test_file_names_that_are_not_text(tmp_path: Path, run: Run) -> None:
    name = os.fsdecode(b"\xff.json")
    (tmp_path / name).write_bytes(engine.TUTORIAL.read_bytes())
    done = run("weights", "check", name)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("\\udcff.json: good")


@pytest.mark.parametrize("command", [[], ["trace"], ["generate"], ["weights", "diff"]])
def test_help(command: list[str], call: Call) -> None:
    code, out, err = call(*command, "--help")
    assert (code, err) == (0, "")
    assert out.startswith("Usage: python -m engine")
    assert "--help" in out


def test_ascii_locale(run: Run) -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = run("generate", env=plain)
    assert (done.returncode, done.stderr) == (0, "")
    assert "水" in done.stdout


@pytest.mark.parametrize("unbuffered", ["", "1"])  # the default, and as some images have it
@pytest.mark.parametrize("command", ["trace", "generate"])  # more and less than one buffer
def test_broken_pipe_is_quiet(command: str, unbuffered: str, run: Run) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe:
        done = run(command, stdout=pipe, env={"PYTHONUNBUFFERED": unbuffered})
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_closed_streams(
    closed: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(f"sys.{closed}", None)
        assert main(["trace", "--source", "猫"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == ("error: standard output: expected open, found closed\n") * (closed == "stdout")


def test_interrupt_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(engine, "load_weights", interrupt)
    assert main(["trace"]) == 130


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", ["trace", "generate"])
def test_full_disk_is_one_line(command: str, unbuffered: str, run: Run) -> None:
    with Path("/dev/full").open("w") as full:
        done = run(command, stdout=full, env={"PYTHONUNBUFFERED": unbuffered})
    assert done.returncode == 2
    assert done.stderr == "error: standard output: disk: found no space left on device\n"
