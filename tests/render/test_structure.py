"""How the code is laid out: rooms, sizes, calls and names that are held."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

from render.build import materials
from render.build.job import BuildOptions, jobs_of
from render.build.lecture import Lecture
from render.build.product import Product
from render.cli.app import app
from scenes.registry import SCENES

from .conftest import ROOT

RENDER = ROOT / "render"
FILES = sorted(RENDER.rglob("*.py"))
LONGEST_FILE, LONGEST_FUNCTION, LARGEST_PACKAGE = 350, 60, 16
#: goes down to 14,500, above all in build, media, platforms and cli
MOST_LINES = 17_150
#: calls that only these may make
KEPT = {
    "json.loads": ("render/base/", "render/build/"),
    "tomllib.loads": ("render/base/",),
    "fcntl.flock": ("render/base/",),
    "os.replace": ("render/base/",),
}
GONE = (
    *("sides", "keeper", "backlog", "joiner", "nursery", "farm", "resound"),
    *("surroundings", "commission", "supply", "combination", "wish"),
)


def functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def test_rooms_import_only_what_lies_below_them() -> None:
    assert lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True) == 0


def test_files_functions_and_packages_are_small() -> None:
    long = {str(path): n for path in FILES if (n := len(path.read_text().splitlines())) > 350}
    assert not long
    assert not {
        f"{path}: {name}": lines
        for path in FILES
        for name, lines in functions(path)
        if lines > LONGEST_FUNCTION
    }
    folders = {path.parent for path in FILES}
    assert not [str(f) for f in folders if len(list(f.glob("*.py"))) > LARGEST_PACKAGE + 1]


def test_render_stays_within_its_bound() -> None:
    code = [*FILES, *RENDER.rglob("*.c"), *RENDER.rglob("*.h")]
    assert sum(len(path.read_text().splitlines()) for path in code) <= MOST_LINES


def test_the_top_has_nine_rooms() -> None:
    rooms = {path.name for path in RENDER.iterdir() if path.is_dir() and path.name[0] != "_"}
    assert rooms == {
        *("base", "media", "voice", "draw", "documents", "platforms", "review", "build", "cli")
    }
    assert {path.name for path in RENDER.glob("*.py")} <= {"__init__.py", "__main__.py"}


@pytest.mark.parametrize("call", KEPT)
def test_what_is_done_in_one_place_is_done_nowhere_else(call: str) -> None:
    module, _, name = call.partition(".")
    for path in FILES:
        own = path.relative_to(ROOT).as_posix()
        if own.startswith(KEPT[call]):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Attribute(ast.Name(m), n) if (m, n) == (module, name):
                    raise AssertionError(f"{own}:{node.lineno}: {call}")


def test_old_names_do_not_return() -> None:
    names = {part for path in FILES for part in path.relative_to(RENDER).with_suffix("").parts}
    assert not names & set(GONE)


def kinds() -> list[Product]:
    """One of every kind that there is."""
    (job,) = jobs_of(BuildOptions(burn_captions="en"), ["8"])
    lecture, place = Lecture(job), Path("x.zip")
    found = {
        (product.kind, product.maker): product
        for product in (
            *(*lecture.products(), lecture.cues(job.scenes[0], "zh")),
            lecture.sound("08_attention_scores", "scale", Path("scale.wav")),
            materials.handout(lecture, place),
            materials.page(lecture, place),
            materials.package(lecture, place, "item", ""),
            materials.publication(lecture, place, "edx", "item", "both", {}),
        )
    }
    return list(found.values())


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.name)
def test_every_product_names_a_maker_that_there_is(kind: Product) -> None:
    module, _, name = kind.maker.partition(":")
    maker = getattr(importlib.import_module(module), name)
    assert list(inspect.signature(maker).parameters) == ["spec", "needs", "reads", "into", "tell"]
    if kind.checker:
        module, _, name = kind.checker.partition(":")
        check = getattr(importlib.import_module(module), name)
        assert list(inspect.signature(check).parameters) == ["spec", "needs", "files", "facts"]


def test_no_command_is_part_of_a_scenes_name() -> None:
    commands = [command.name or command.callback.__name__ for command in app.registered_commands]
    assert {"make", "list", "audit", "publish"} <= set(commands)
    for scene in SCENES:
        assert not [name for name in commands if name in scene.slug]
