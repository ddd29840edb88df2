"""docs/weights.md and docs/trace.md show what works."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import engine
from engine.config import CHOICES, FILE_FIELDS, FILE_FIELDS_1
from engine.words import TOKEN_FIELDS

from .members import seeded

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "weights.md").read_text(encoding="utf-8")
TRACE_PAGE = (DOCS / "trace.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", [PAGE, TRACE_PAGE], ids=["weights", "trace"])
def test_commands_parse(page: str, parsed: Callable[..., dict[str, Any]]) -> None:
    lines = re.findall(r"^    python -m engine (.*?)(?:   .*)?$", page, flags=re.MULTILINE)
    assert len(lines) >= 5
    for line in lines:
        parsed(*shlex.split(line))


def run_example(page: str) -> None:
    example = page.split("## From Python")[1]
    code = "\n".join(line[4:] for line in example.splitlines() if line.startswith("    "))
    exec(compile(code, "example", "exec"), {})


def test_trace_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    run_example(TRACE_PAGE)
    assert capsys.readouterr().out.startswith("[[0.202 0.526 0.064 0.208]")


def test_every_trace_name_is_explained(training: engine.Trace) -> None:
    explained = {name.rsplit(".", 1)[-1] for name in re.findall(r"`([\w.]+)`", TRACE_PAGE)}
    names = {*training}
    for weights in map(seeded, range(24)):
        names |= {*engine.training_pass(weights, weights.source_words[:2], weights.vocabulary[:2])}
    for name in sorted(names):
        last = re.sub(r"^add\d$", "addK", name.rsplit(".", 1)[-1])
        assert last in explained, name


def test_python_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run_example(PAGE)
    assert capsys.readouterr().out == "['love', 'easy', 'courses']\n"
    assert engine.load_weights("mine.json").matrices["embedding.weight"][0, 0] == 1.0
    assert {path.name for path in tmp_path.iterdir()} == {"mine.json", "trained.json"}


@pytest.mark.parametrize("name", dict.fromkeys([*FILE_FIELDS_1, *FILE_FIELDS, *CHOICES]))
def test_every_field_is_explained(name: str) -> None:
    assert f"`config.{name}`" in PAGE
    for choice in CHOICES.get(name, ()):
        assert f'"{choice}"' in PAGE or not isinstance(choice, str)


@pytest.mark.parametrize("name", TOKEN_FIELDS)
def test_every_token_is_explained(name: str) -> None:
    assert re.search(rf"`(tokens\.)?{name}`", PAGE)
