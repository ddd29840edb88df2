"""The tutorial's weights and passes, and other models, for all tests of the engine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer.core
import typer.main

import engine
from engine import Config, LectureError, Trace, Weights
from engine.cli import app, main


@pytest.fixture(scope="session")
def tutorial() -> Weights:
    return engine.load_weights(engine.TUTORIAL)


@pytest.fixture(scope="session")
def other() -> Weights:
    """The weights of the tutorial's inference page."""
    return engine.load_weights(engine.TUTORIAL_INFERENCE)


@pytest.fixture(scope="session")
def training(tutorial: Weights) -> Trace:
    return engine.training_pass(tutorial)


@pytest.fixture(scope="session")
def odd() -> Weights:
    """Nothing like the tutorial: three heads, odd widths, sub-layers in unusual orders."""
    config = Config(
        vocabulary_size=5,
        d_model=9,
        heads=3,
        d_ff=7,
        max_length=6,
        encoder=(("ffn", "self_attn"), ("ffn",), ("self_attn",)),
        decoder=(("cross_attn", "ffn", "self_attn"), ("cross_attn", "ffn")),
    )
    return engine.random_weights(config, seed=7, low=-1.0, high=1.0)


@pytest.fixture
def refusal() -> Callable[[Path], LectureError]:
    """The error of loading a file: one line that begins with the file's name."""

    def refused(path: Path) -> LectureError:
        with pytest.raises(LectureError) as caught:
            engine.load_weights(path)
        message = str(caught.value)
        where = message.partition(": ")[0]  # a long path loses its middle
        assert where == str(path) or ("…" in where and where.endswith(path.name))
        assert "\n" not in message
        assert len(message) < len(str(path)) + 400
        return caught.value

    return refused


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """The command line within this process, which is faster: exit code, output, errors."""

    def called(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return called


@pytest.fixture
def parsed() -> Callable[..., dict[str, Any]]:
    """The options of a command, which is not run. Raises where it cannot be parsed."""

    def parse(*arguments: str) -> dict[str, Any]:
        command, rest = typer.main.get_command(app), list(arguments)
        while isinstance(command, typer.core.TyperGroup):
            command = command.commands[rest.pop(0)]
        params: dict[str, Any] = command.make_context("engine", rest).params
        return params

    return parse


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """The command line as a user runs it: a process of its own, in another folder."""

    def ran(
        *arguments: str, env: dict[str, str] | None = None, stdout: Any = subprocess.PIPE
    ) -> subprocess.CompletedProcess[str]:
        root = str(Path(engine.__file__).parents[1])
        return subprocess.run(
            [sys.executable, "-m", "engine", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": root, **(env or {})},
            stdout=stdout,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            check=False,
        )

    return ran
