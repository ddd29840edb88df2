"""Which files of the project a maker runs, what each of them does, and by which packages.

Imports are followed from the maker's module, and for scenes from the scene's, through the packages
``scenes`` and ``render``. Comments, docstrings, layout and imports for type checkers do not count;
C files do by their bytes. The engine is not followed: what comes from it is recorded by value. The
other packages count by their version.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib.util
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property
from pathlib import Path

from engine.errors import LectureError
from render.base.files import write_state
from render.base.reader import Reader
from render.base.reads import Input

PACKAGES = ("scenes", "render")
_COMPILED = (".c", ".h", ".pyx")
_PARSING = threading.Lock()  # Python 3.11 fails where two threads parse at once
Roots = tuple[str, ...]
PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"
_FORM = f"6 {PYTHON}"
_MOST = 16 << 20  # bytes
_RACY = 2_000_000_000  # ns: a file changed so lately may change again and keep its time


@dataclass(slots=True)
class Facts:
    """About a file: what stands for its contents; of a Python file also which local modules and
    names it imports, and which other packages."""

    digest: str
    imports: list[tuple[str, str | None]] = field(default_factory=list)
    packages: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Kept:
    form: str = _FORM
    files: dict[str, tuple[int, int, Facts]] = field(default_factory=dict)  # size, mtime_ns, facts
    names: dict[str, str] = field(default_factory=dict)  # of packages, as they are installed
    versions: dict[str, str] = field(default_factory=dict)
    searched: list[tuple[str, int]] = field(default_factory=list)  # for the versions


class Table:
    """Facts about files by size and time, versions by the folders that packages lie in."""

    def __init__(self, path: Path | None = None) -> None:
        self._path, self._new, self._kept = path, False, _Kept()
        if path:
            with contextlib.suppress(LectureError):
                kept = Reader(_MOST).json(path, _Kept)
                self._kept = kept if kept.form == _FORM else self._kept

    def keep(self) -> None:
        if self._path and self._new:
            files = self._kept.files.items()
            self._kept.files = {path: known for path, known in files if Path(path).exists()}
            write_state(self._path, asdict(self._kept))

    def about(
        self, path: str | Path, status: os.stat_result, find: Callable[[Path], Facts]
    ) -> Facts:
        """The facts about a file, found out only if it is not as it was. Raises what ``find``
        raises."""
        as_it_is, known = (status.st_size, status.st_mtime_ns), self._kept.files.get(str(path))
        if known and known[:2] == as_it_is:
            return known[2]
        facts = find(Path(path))
        if time.time_ns() - status.st_mtime_ns > _RACY:
            self._kept.files[str(path)] = (*as_it_is, facts)
            self._new = True
        return facts

    def knows(self, path: str | Path) -> bool:
        """Whether there are facts about a file as it is."""
        with contextlib.suppress(OSError):
            status = Path(path).stat()
            known = self._kept.files.get(str(path))
            return known is not None and known[:2] == (status.st_size, status.st_mtime_ns)
        return False

    def installed(self, package: str) -> tuple[str, str]:
        """The name that a package is installed under, and its version."""
        kept = self._kept
        if kept.searched != self._searched:
            kept.searched, kept.versions = self._searched, {}
        if package not in kept.versions:
            from importlib import metadata, util

            if package not in kept.names and util.find_spec(package):
                kept.names[package] = metadata.packages_distributions().get(package, [package])[0]
            try:
                kept.versions[package] = metadata.version(kept.names.get(package, package))
            except metadata.PackageNotFoundError:
                kept.versions[package] = "none"
            self._new = True
        return kept.names.get(package, package), kept.versions[package]

    @cached_property
    def _searched(self) -> list[tuple[str, int]]:
        folders = [Path(folder) for folder in sys.path]
        return [(str(each), each.stat().st_mtime_ns) for each in folders if each.is_dir()]


class Code:
    """The files of the project's packages as they are now; what each of them does is looked up in
    ``table``, and found out where it is not there."""

    def __init__(self, table: Table | None = None) -> None:
        self._table = table or Table()
        for name in ("files", "_reach", "_facts", "_imported_by"):
            setattr(self, name, cache(getattr(self, name)))  # each is looked up once

    def files(self, roots: Roots) -> dict[str, str]:
        """The files behind the modules ``roots``, each with its digest."""
        reached = self._reach(roots)
        names = sorted((*reached, *self._compiled(reached)))
        return {name: self._facts(name).digest for name in names}

    def tools(self, roots: Roots) -> dict[str, str]:
        """Python and the packages behind the modules ``roots``, each with its version."""
        packages = {each for name in self._reach(roots) for each in self._facts(name).packages}
        found = {"python": PYTHON} | dict(map(self._table.installed, sorted(packages)))
        if not packages.isdisjoint(("manim", "cairo")):
            import cairo

            found["cairo"] = cairo.cairo_version_string()
        return found

    def paths(self, roots: Roots) -> set[Path]:
        """The files as they lie on the disk."""
        return {Path(self._there[name].path) for name in self.files(roots)}

    @cached_property
    def _there(self) -> dict[str, os.DirEntry[str]]:
        """Every file of the packages, by its name from the folder that they lie in."""
        return {name: entry for package in PACKAGES for name, entry in _below(package)}

    def _file(self, module: str) -> str | None:
        """The name of a local module's file; None for every other module."""
        name = module.replace(".", "/")
        choices = f"{name}/__init__.py", f"{name}.py"
        return next((choice for choice in choices if choice in self._there), None)

    def _facts(self, name: str) -> Facts:
        entry = self._there[name]
        find = facts_of if name.endswith(".py") else _bytes_alone
        return self._table.about(entry.path, entry.stat(), lambda path: find(path.read_bytes()))

    def _compiled(self, reached: Iterable[str]) -> list[str]:
        """The C files in the folders of modules of ``render``, and below them."""
        folders = {name.rpartition("/")[0] + "/" for name in reached} - {"render/"}
        there = (name for name in self._there if name.endswith(_COMPILED))
        return [name for name in there if name.startswith(tuple(folders))]

    def _reach(self, roots: Roots) -> dict[str, None]:
        waiting, reached = [self._file(root) for root in roots], dict[str, None]()
        while waiting:
            name = waiting.pop()
            if name is not None and name not in reached:
                reached[name] = None
                waiting += self._imported_by(name)
        return reached

    def _imported_by(self, name: str) -> set[str | None]:
        package = name.rpartition("/")[0].replace("/", ".")
        return {self._target(*each, package) for each in self._facts(name).imports}

    def _target(self, module: str, name: str | None, package: str) -> str | None:
        """The file that ``from module import name`` (or ``import module``) in a file of ``package``
        stands for."""
        module = importlib.util.resolve_name(module, package)
        inner = self._file(f"{module}.{name}") if name else None
        return inner or self._file(module)


def recheck(inputs: Iterable[Input], roots: Roots) -> tuple[Input, ...]:
    """``inputs`` of a product that has just been made; files that are no longer as they were
    planned with get no digest, since nobody knows which of their versions was run."""
    now = Code().files(roots)
    return tuple(
        one._replace(digest="") if one.kind == "code" and now.get(one.name) != one.digest else one
        for one in inputs
    )


def _bytes_alone(data: bytes) -> Facts:
    return Facts(_digest(data))


@cache
def facts_of(data: bytes) -> Facts:
    """About a Python file; its digest is of what it does: comments, docstrings and layout do not
    count."""
    try:
        with _PARSING:
            tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return _bytes_alone(data)
    imports = [*_imports(tree)]
    tops = {module: module.partition(".")[0] for module, _ in imports}
    followed = [each for each in imports if tops[each[0]] in ("", *PACKAGES)]
    others = {*tops.values()} - {"", "engine", *PACKAGES} - sys.stdlib_module_names
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            match node.body:
                case [ast.Expr(ast.Constant(str())), *rest]:
                    node.body = rest
    return Facts(_digest(ast.dump(tree).encode()), followed, sorted(others))


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


@cache
def _root(package: str) -> str | None:
    spec = importlib.util.find_spec(package)
    return str(Path(spec.origin).parent) if spec and spec.origin else None


def _below(name: str, folder: str | None = None) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """The files of a package or of a folder in it, with their names."""
    folder = folder or _root(name)
    with os.scandir(folder) if folder else contextlib.nullcontext(()) as entries:
        for entry in entries:
            if entry.is_dir() and entry.name != "__pycache__":
                yield from _below(f"{name}/{entry.name}", entry.path)
            elif entry.name.endswith((".py", *_COMPILED)):
                yield f"{name}/{entry.name}", entry


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]
