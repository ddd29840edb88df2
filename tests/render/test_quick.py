"""A run with nothing to do is over at once: what it reads, imports and costs, on the real lecture
with records of videos that nobody has drawn."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .conftest import ROOT
from .made_up import made_up

#: runs the command line and says what that took
COUNTED = """
import ast, json, resource, sys
parsed, parse = [], ast.parse
def count(source, *arguments, **more):
    if isinstance(source, bytes):  # a file of the project; NumPy parses text
        parsed.append(source)
    return parse(source, *arguments, **more)
ast.parse = count
from render.cli.app import run
code = run(sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_SELF)
said = {"code": code, "parsed": len(parsed), "modules": sorted(sys.modules)}
print(json.dumps({**said, "seconds": used.ru_utime + used.ru_stime}), file=sys.stderr)
"""
#: what a run with nothing to do has no use for
SLOW = {
    *("manim", "av", "ffmpeg", "PIL", "rich", "jinja2", "typst", "fsspec", "distributed"),
    *("pydantic", "fontTools", "multiprocessing", "importlib.metadata", "email"),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lecture that is up to date, after a run that has found out what there is to find out."""
    out = tmp_path_factory.mktemp("made") / "o"
    assert made_up(out) > 100
    assert counted(out)[1]["parsed"] > 0
    return out


@pytest.fixture
def lecture(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "o"))


def counted(out: Path, *arguments: str) -> tuple[list[str], dict[str, Any]]:
    """What the front door says, and what that took."""
    options = ("--quality", "draft", "--out", str(out), *arguments)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-P", "-c", COUNTED, *options],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )
    return done.stdout.splitlines(), json.loads(done.stderr)


def test_explain_parses_nothing_imports_little_and_is_quick(lecture: Path) -> None:
    lines, said = counted(lecture, "--explain")
    assert len(lines) == 21
    assert all(line.endswith(": up to date") for line in lines)
    assert (said["code"], said["parsed"]) == (0, 0)
    assert not SLOW & set(said["modules"])
    assert said["seconds"] < 2  # 0.2 on a core of its own


def test_a_file_that_was_edited_is_the_only_one_that_is_parsed(lecture: Path) -> None:
    table = lecture / ".render" / "files.json"
    said = json.loads(table.read_text())
    scene = str(ROOT / "scenes" / "s08_attention_scores.py")
    said["files"][scene][1] += 1
    table.write_text(json.dumps(said))
    assert counted(lecture, "--explain")[1]["parsed"] == 1


@pytest.mark.parametrize("text", ["[]", '{"form": 3}', '{"files": {"a": 1}}'])
def test_a_spoiled_table_is_no_table(text: str, lecture: Path) -> None:
    (lecture / ".render" / "files.json").write_text(text)
    said, _ = counted(lecture, "--explain")
    assert all(line.endswith(": up to date") for line in said)
