"""Proof by mutation that nothing is ever stale: seeded edits of the code, each built clean and on
top of what there was.

    A = clean build before the edit, B = clean build after it; C = products whose contents differ
    R = products that a build in A's folder makes again
    C <= R, and after R all bytes are those of B                nothing is stale
    R is empty for comments, docstrings and layout              nothing is made in vain there
    R - C lies within what imports the file, or needs what was made again

Eight of sixty, chosen by the day or by MUTATION_SEED, run with the slow tests; all of them with
MUTATIONS=all (``./render.sh test --all``).
"""

from __future__ import annotations

import ast
import datetime
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from .conftest import ROOT, STANDIN

COUNT, SHARE = 60, 8
SILENT = ("comment", "docstring", "layout")
KINDS = (*SILENT, "constant", "comparison", "string", "removal", "swap")
#: where edits reach a product of the stand-in lecture; engine values come by their digests
PACKAGES = ("render", "scenes", "engine")
#: what the makers of the stand-in lecture import
NEAR = ("render/draw/", "render/media/", "render/documents/about", "render/base/reads", "engine/")
OPTIONS = ("--quality", "draft", "--store", "none", "--jobs", "2", "--burn-captions", "zh")


@dataclass(frozen=True)
class Mutation:
    """``kind`` of edit, in a file, at the ``place``-th spot where it can be made."""

    kind: str
    file: str
    place: int

    def __str__(self) -> str:
        return f"{self.kind}-{self.file}-{self.place}"

    def applied(self, text: str) -> str:
        """The edited text. Raises IndexError where there is no such spot."""
        if self.kind == "comment":
            return f"# mutated\n{text}"
        if self.kind == "layout":
            return text.replace("\n\n\ndef ", "\n\n\n\n\ndef ") + "\n\n"
        tree = ast.parse(text)
        spots = [*SPOTS[self.kind](tree)]
        node = spots[self.place % len(spots)]
        EDITS[self.kind](node)
        return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _docstrings(tree: ast.AST) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        match node:
            case ast.Module(body=[ast.Expr(ast.Constant(str()) as said), *_]):
                yield said
            case ast.FunctionDef(body=[ast.Expr(ast.Constant(str()) as said), *_]):
                yield said


def _inner(tree: ast.AST, kind: type[ast.AST], fits: Callable[..., bool]) -> Iterator[ast.AST]:
    """Nodes inside of functions, docstrings left out."""
    said = {id(node) for node in _docstrings(tree)}
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(ast.Module(function.body, [])):
                if isinstance(node, kind) and id(node) not in said and fits(node):
                    yield node


def _is(kind: type) -> Callable[[ast.Constant], bool]:
    return lambda node: type(node.value) is kind


SPOTS: dict[str, Callable[[ast.AST], Iterator[ast.AST]]] = {
    "docstring": _docstrings,
    "constant": lambda tree: _inner(tree, ast.Constant, _is(int)),
    "string": lambda tree: _inner(tree, ast.Constant, _is(str)),
    "comparison": lambda tree: _inner(
        tree, ast.Compare, lambda node: isinstance(node.ops[0], (ast.Lt, ast.Gt, ast.LtE, ast.GtE))
    ),
    "removal": lambda tree: _inner(tree, ast.FunctionDef, lambda _: True),
    "swap": lambda tree: _inner(tree, ast.Call, lambda node: len(node.args) == 2),
}
_FLIPPED = {ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt}


def _remove(node: ast.FunctionDef) -> None:
    node.body = [*node.body[:-1], ast.Pass()]


EDITS: dict[str, Callable[..., None]] = {
    "docstring": lambda node: setattr(node, "value", "Mutated."),
    "constant": lambda node: setattr(node, "value", node.value + 1),
    "string": lambda node: setattr(node, "value", f"{node.value}x"),
    "comparison": lambda node: node.ops.__setitem__(0, _FLIPPED[type(node.ops[0])]()),
    "removal": _remove,
    "swap": lambda node: node.args.reverse(),
}


def mutations() -> list[Mutation]:
    """All sixty, always the same: kinds in turn, files and places by lot."""
    lot = random.Random(11)
    files = sorted(
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if path.name not in ("__init__.py", "__main__.py") and not _is_front(path)
    )
    near = [file for file in files if file.startswith(NEAR)] + ["scenes/tiny.py"] * 8
    found: dict[str, Mutation] = {}
    while len(found) < COUNT:
        kind = KINDS[len(found) % len(KINDS)]
        file = lot.choice(files if lot.random() < 1 / 3 else near)  # most where it matters
        mutation = Mutation(kind, file, lot.randrange(1000))
        if kind in SPOTS and not any(True for _ in SPOTS[kind](ast.parse(_source(file)))):
            continue
        found[str(mutation)] = mutation
    return list(found.values())


def _source(file: str) -> str:
    own = STANDIN / file
    return (own if own.is_file() else ROOT / file).read_text()


def _is_front(path: Path) -> bool:
    """Files that decide what is built, not how: to change them is to ask for something else."""
    return path.relative_to(ROOT).parts[:2] in (("render", "cli"), ("render", "build"))


def chosen() -> list[Mutation]:
    everything = mutations()
    if os.environ.get("MUTATIONS") == "all":
        return everything
    seed = os.environ.get("MUTATION_SEED") or datetime.date.today().isoformat()
    return random.Random(seed).sample(everything, SHARE)


class Project:
    """A copy of the project with the stand-in scenes, to edit and to build."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for package in (*PACKAGES, "assets"):
            shutil.copytree(
                ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__")
            )
        shutil.copytree(STANDIN, folder / "standin")

    def path(self, file: str) -> Path:
        own = self.folder / "standin" / file
        return own if own.is_file() else self.folder / file

    def build(self, out: str) -> int:
        """Build the lecture into a folder; the exit code."""
        path = os.pathsep.join(map(str, (self.folder / "standin", self.folder)))
        quiet = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "LECTURE_OUTLINES": "0"}
        command = [sys.executable, "-P", "-m", "render", *OPTIONS, "--out", out]
        done = subprocess.run(
            command, cwd=self.folder, env={**os.environ, **quiet}, capture_output=True, timeout=300
        )
        return done.returncode

    def files(self, out: str) -> dict[str, bytes]:
        """What is for people, but for the record of weight files."""
        paths = (path for path in (self.folder / out).iterdir() if path.is_file())
        return {path.name: path.read_bytes() for path in paths}

    def records(self, out: str) -> dict[str, tuple[str, str, int]]:
        """Content, key and time of every record."""
        found = {}
        for path in (self.folder / out / ".render").glob("*.json"):
            said = json.loads(path.read_text())
            if "content" in said:
                found[path.name] = said["content"], said["key"], path.stat().st_mtime_ns
        return found


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("project"))
    assert project.build("before") == 0
    return project


@pytest.mark.slow
@pytest.mark.parametrize("mutation", chosen(), ids=str)
def test_nothing_is_stale(mutation: Mutation, built: Project, tmp_path: Path) -> None:
    path, before = built.path(mutation.file), built.records("before")
    text, again, clean = path.read_text(), f"again {tmp_path.name}", f"clean {tmp_path.name}"
    shutil.copytree(built.folder / "before", built.folder / again)
    try:
        path.write_text(mutation.applied(text))
        code = built.build(again)
        after = built.records(again)
        made = {name for name in after if after[name][2] != before.get(name, ("", "", 0))[2]}
        if mutation.kind in SILENT:
            assert code == 0
            assert not made
            return
        broken = built.build(clean)
        if broken:  # the same way, or by what no maker imports
            assert code == broken or not made
            return
        assert code == 0
        fresh = built.records(clean)
        differ = {name for name in fresh if fresh[name][0] != before.get(name, ("",))[0]}
        assert differ <= made, "stale"
        assert built.files(again) == built.files(clean)
        for name in made - differ:  # in vain, but for a reason: the record says so
            assert after[name][1] != before[name][1]
        print(f"{mutation}: {len(differ)} differ, {len(made - differ)} in vain")
    finally:
        path.write_text(text)
        for folder in (again, clean):
            shutil.rmtree(built.folder / folder, ignore_errors=True)
