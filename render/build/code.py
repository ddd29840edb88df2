"""Which files of the project a maker runs, what each of them does, and by which packages.

Imports are followed from the maker's module, and for scenes from the scene's, through the packages
``scenes`` and ``render``; a name imported from a package whose ``__init__`` only gathers names
leads to the module that has it. Comments, docstrings, layout and imports for type checkers do not
count; C files do by their bytes. The engine is not followed: what comes from it is recorded by
value. The other packages count by their version.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path

from render.base.reads import Input
from render.build.table import PYTHON, Facts, Table

PACKAGES = ("scenes", "render")
_NOT_FOLLOWED = (*PACKAGES, "engine")
_COMPILED = (".c", ".h", ".pyx")
_PARSING = threading.Lock()  # Python 3.11 fails where two threads parse at once
Roots = tuple[str, ...]


class Code:
    """The files of the project's packages as they are now; what each of them does is looked up in
    ``table``, and found out where it is not there."""

    def __init__(self, table: Table | None = None) -> None:
        self._table = table or Table()
        self._known: dict[str, Facts] = {}
        self._files: dict[Roots, dict[str, str]] = {}
        self._reached: dict[Roots, tuple[list[str], dict[str, set[str]], set[str]]] = {}
        self._imports: dict[str, tuple[list[str], list[tuple[str, str]], list[str]]] = {}

    def files(self, roots: Roots) -> dict[str, str]:
        """The files behind the modules ``roots``, each with its digest."""
        if roots not in self._files:
            reached, gathered, _ = self._reach(roots)
            names = [*reached, *self._compiled(reached)]
            found = {name: self._facts(name).digest for name in names}
            for name, used in gathered.items():
                found[name] = _digest(" ".join(sorted(used)).encode())
            self._files[roots] = dict(sorted(found.items()))
        return self._files[roots]

    def tools(self, roots: Roots) -> dict[str, str]:
        """Python and the packages behind the modules ``roots``, each with its version."""
        packages = self._reach(roots)[2]
        found = {"python": PYTHON} | dict(map(self._table.installed, sorted(packages)))
        if not packages.isdisjoint(("manim", "cairo")):
            import cairo

            found["cairo"] = cairo.cairo_version_string()
        return found

    def paths(self, roots: Roots) -> set[Path]:
        """The files as they lie on the disk."""
        reached, gathered, _ = self._reach(roots)
        names = [*reached, *gathered, *self._compiled(reached)]
        return {Path(self._there[name].path) for name in names}

    @cached_property
    def _there(self) -> dict[str, os.DirEntry[str]]:
        """Every file of the packages, by its name from the folder that they lie in."""
        found: dict[str, os.DirEntry[str]] = {}
        for package in PACKAGES:
            root = _root(package)
            found.update(_below(root, package) if root else ())
        return found

    @cached_property
    def _c_files(self) -> list[str]:
        return [name for name in self._there if name.endswith(_COMPILED)]

    def _file(self, module: str) -> str | None:
        """The name of a local module's file; None for every other module."""
        name = module.replace(".", "/")
        choices = f"{name}/__init__.py", f"{name}.py"
        return next((choice for choice in choices if choice in self._there), None)

    def _facts(self, name: str) -> Facts:
        if name not in self._known:
            what = _facts if name.endswith(".py") else _bytes_alone
            entry = self._there[name]
            facts = self._table.about(entry.path, entry.stat(), lambda p: what(p.read_bytes()))
            self._known[name] = facts
        return self._known[name]

    def _compiled(self, reached: Iterable[str]) -> list[str]:
        """The C files in the folders of modules of ``render``, and below them."""
        folders = {name.rpartition("/")[0] + "/" for name in reached} - {"render/"}
        return [name for name in self._c_files if any(map(name.startswith, folders))]

    def _reach(self, roots: Roots) -> tuple[list[str], dict[str, set[str]], set[str]]:
        """Every file reached, what was taken through gathering files, and other packages."""
        if roots not in self._reached:
            waiting, reached = [self._file(root) for root in roots], dict[str, None]()
            gathered, packages = dict[str, set[str]](), set[str]()
            while waiting:
                name = waiting.pop()
                if name is None or name in reached:
                    continue
                reached[name] = None
                targets, taken, others = self._imported_by(name)
                waiting += targets
                packages.update(others)
                for gatherer, what in taken:
                    gathered.setdefault(gatherer, set()).add(what)
            self._reached[roots] = list(reached), gathered, packages
        return self._reached[roots]

    def _imported_by(self, name: str) -> tuple[list[str], list[tuple[str, str]], list[str]]:
        """Of one file: local files, what it takes through gathering ones, other packages."""
        if name not in self._imports:
            facts, taken = self._facts(name), list[tuple[str, str]]()
            named = (self._target(_absolute(*one, name), taken) for one in facts.imports)
            targets = [target for target in named if target]
            self._imports[name] = list(dict.fromkeys(targets)), taken, facts.packages
        return self._imports[name]

    def _target(self, asked: tuple[str, str | None], taken: list[tuple[str, str]]) -> str | None:
        """The file that ``from module import name`` (or ``import module``) stands for."""
        module, name = asked
        file = self._file(module)
        if file and name and file.endswith("/__init__.py"):
            inner = self._file(f"{module}.{name}")
            if inner:
                return inner
            gathers = self._facts(file).gathers
            if gathers and name in gathers:
                taken.append((file, f"{name}={':'.join(gathers[name])}"))
                return self._target(_absolute(*gathers[name], file), taken)
        return file


def recheck(inputs: Iterable[Input], roots: Roots) -> tuple[Input, ...]:
    """``inputs`` of a product that has just been made; files that are no longer as they were
    planned with get no digest, since nobody knows which of their versions was run."""
    now = Code().files(roots)
    return tuple(
        one._replace(digest="") if one.kind == "code" and now.get(one.name) != one.digest else one
        for one in inputs
    )


def digest_of_source(data: bytes) -> str:
    """Of what a Python file does: comments, docstrings and layout do not count."""
    return _facts(data).digest


def _bytes_alone(data: bytes) -> Facts:
    return Facts(_digest(data))


@cache
def _facts(data: bytes) -> Facts:
    try:
        with _PARSING:
            tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return _bytes_alone(data)
    imports = [*_imports(tree)]
    tops = {module: module.partition(".")[0] for module, _ in imports}
    followed = [each for each in imports if tops[each[0]] in ("", *PACKAGES)]
    others = {*tops.values()} - {"", *_NOT_FOLLOWED} - sys.stdlib_module_names
    gathers = _gathers(tree)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            match node.body:
                case [ast.Expr(ast.Constant(str())), *rest]:
                    node.body = rest
    digest = _digest(ast.dump(tree).encode())
    return Facts(digest, followed, sorted(others), gathers)


def _imports(node: ast.AST) -> Iterator[tuple[str, str | None]]:
    """Module (with leading dots where relative) and name, but for those of type checkers only."""
    match node:
        case ast.Import():
            yield from ((alias.name, None) for alias in node.names)
        case ast.ImportFrom():
            module = "." * node.level + (node.module or "")
            yield from ((module, None if a.name == "*" else a.name) for a in node.names)
        case ast.If(ast.Name("TYPE_CHECKING") | ast.Attribute(_, "TYPE_CHECKING")):
            return
    for child in ast.iter_child_nodes(node):
        yield from _imports(child)


def _gathers(tree: ast.Module) -> dict[str, tuple[str, str]] | None:
    """What a file that consists of imports and ``__all__`` gathers; None for any other file."""
    gathered: dict[str, tuple[str, str]] = {}
    for node in tree.body:
        match node:
            case ast.Expr(ast.Constant()) | ast.Assign([ast.Name("__all__")]):
                pass
            case ast.ImportFrom(level=1) if all(alias.name != "*" for alias in node.names):
                for alias in node.names:
                    gathered[alias.asname or alias.name] = f".{node.module or ''}", alias.name
            case _:
                return None
    return gathered


def _absolute(module: str, name: str | None, importer: str) -> tuple[str, str | None]:
    """``..theme`` seen from ``scenes/parts/grid.py`` is ``scenes.theme``."""
    rest = module.lstrip(".")
    level = len(module) - len(rest)
    if level:
        folder = importer.split("/")[:-level]
        module = ".".join([*folder, rest] if rest else folder)
    return module, name


@cache
def _root(package: str) -> str | None:
    spec = importlib.util.find_spec(package)
    return str(Path(spec.origin).parent) if spec and spec.origin else None


def _below(folder: str, name: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir() and entry.name != "__pycache__":
                yield from _below(entry.path, f"{name}/{entry.name}")
            elif entry.name.endswith((".py", *_COMPILED)):
                yield f"{name}/{entry.name}", entry


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]
