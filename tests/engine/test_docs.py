"""docs/weights.md shows what works."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import engine
from engine.cli import parser
from engine.config import FILE_FIELDS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "weights.md").read_text(encoding="utf-8")


def test_commands_parse() -> None:
    lines = re.findall(r"^    python -m engine (.*?)(?:   .*)?$", PAGE, flags=re.MULTILINE)
    assert len(lines) >= 8
    for line in lines:
        assert callable(parser().parse_args(shlex.split(line)).command), line


def test_python_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    example = PAGE.split("## From Python")[1]
    code = "\n".join(line[4:] for line in example.splitlines() if line.startswith("    "))
    exec(compile(code, "weights.md", "exec"), {})
    assert capsys.readouterr().out == "['love', 'easy', 'courses']\n"
    assert engine.load_weights("mine.json").matrices["embedding.weight"][0, 0] == 1.0
    assert {path.name for path in tmp_path.iterdir()} == {"mine.json", "trained.json"}


@pytest.mark.parametrize("name", FILE_FIELDS)
def test_every_field_is_explained(name: str) -> None:
    assert f"`config.{name}`" in PAGE
