"""Nothing reaches a maker but through its doors: what a worker opens and runs is recorded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from render.build.code import Code
from render.build.job import BuildOptions, jobs_of
from render.build.lecture import Lecture

from .conftest import ROOT

#: plays a scene with hooks on what is opened and on which files' functions run
HOOKED = """
import json, pathlib, sys
opened, run, on = set(), set(), []
def hear(event, arguments):
    if on and event == "open" and isinstance(arguments[0], str):
        opened.add(arguments[0])
sys.addaudithook(hear)
spec, settings, maker = json.loads(sys.argv[1])
import importlib
from render.base.reads import Reads
module = importlib.import_module(maker)
importlib.import_module(spec["module"])
def note(frame, event, argument):
    if event == "call":
        run.add(frame.f_code.co_filename)
reads = Reads(settings)
on.append(True)
sys.setprofile(note)
module.make(spec, {}, reads, pathlib.Path.cwd(), lambda _: None)
sys.setprofile(None)
on.clear()
read = [one.name for one in reads.inputs() if one.kind == "file"]
pathlib.Path("told.json").write_text(json.dumps([sorted(opened), sorted(run), read]))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Of scene 16: what was opened, which files' functions ran, what was recorded as read."""
    folder = tmp_path_factory.mktemp("doors")
    (job,) = jobs_of(BuildOptions(quality="draft", out=folder), ["16"])
    product = Lecture(job).pictures(job.scenes[0])
    asked = json.dumps([product.spec, product.settings, "render.draw.scene"])
    cache = {"XDG_CACHE_HOME": str(folder / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    environment = {**os.environ, **cache, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", HOOKED, asked]
    subprocess.run(command, cwd=folder, env=environment, check=True)
    opened, run, read = json.loads((folder / "told.json").read_text())
    return {"opened": opened, "run": run, "read": read, "product": product, "folder": folder}


@pytest.mark.slow
def test_every_file_that_is_opened_is_recorded(told: dict[str, Any]) -> None:
    settings = told["product"].settings
    given = {str(Path(settings[name]).resolve()) for name in ("weights", "inference_weights")}
    texts = {str(ROOT / "assets" / "text" / f"{language}.toml") for language in ("zh", "en")}
    read = {str(ROOT / name) for name in told["read"]}
    roots = ("render.draw.scene", *told["product"].modules)
    code = {str(path) for path in Code().paths(roots)}  # C files of the helper
    for name in told["opened"]:
        path = Path(name).resolve()
        if not path.is_relative_to(ROOT) or ".venv" in path.parts or path.suffix == ".py":
            continue  # outlines are verified by a digest, see scenes/parts/outlines.py
        assert str(path) in {*given, *texts, *read, *code}, name  # values and texts come one by one


@pytest.mark.slow
def test_every_function_that_runs_is_in_the_closure(told: dict[str, Any]) -> None:
    product = told["product"]
    roots = (product.maker.partition(":")[0], *product.modules)
    closure = {str(path) for path in Code().paths(roots)}
    ours = {name for name in told["run"] if name.startswith((f"{ROOT}/render", f"{ROOT}/scenes"))}
    assert f"{ROOT}/scenes/base.py" in ours
    assert ours <= closure
