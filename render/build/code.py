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
import importlib.metadata
import importlib.util
import re
import sys
import threading
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from render.base.files import write_state
from render.base.reader import read_state
from render.base.reads import Input

PACKAGES = ("scenes", "render")
_NOT_FOLLOWED = (*PACKAGES, "engine")
_PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"
_FORM = f"3 {_PYTHON}"  # of the digests that are kept
_COMPILED = (".c", ".h", ".pyx")
_VERSION = re.compile(r"^Version:(.*)$", re.MULTILINE)
_PARSING = threading.Lock()  # Python 3.11 fails where two threads parse at once


class Code:
    """Reads and remembers files; with ``kept``, facts about unchanged files come from there."""

    def __init__(self, kept: Path | None = None) -> None:
        self._kept = kept
        said = read_state(kept) if kept else {}
        good = said.get("form") == _FORM
        self._facts: dict[str, Any] = said.get("files", {}) if good else {}
        self._names: dict[str, str] = said.get("packages", {}) if good else {}
        self._new = False
        self._seen: dict[str, Any] = {}
        self._found: dict[tuple[str, ...], dict[str, str]] = {}
        self._used: dict[tuple[str, ...], dict[str, str]] = {}
        self._packages: dict[tuple[str, ...], set[str]] = {}
        self._reached: dict[tuple[str, ...], list[str]] = {}
        self._beside: dict[str, dict[str, str]] = {}
        self._imported: dict[str, tuple[list[str], dict[str, set[str]], set[str]]] = {}

    def files(self, roots: tuple[str, ...]) -> dict[str, str]:
        """The files behind the modules ``roots``, each with its digest."""
        if roots not in self._found:
            self._look(roots)
        return self._found[roots]

    def tools(self, roots: tuple[str, ...]) -> dict[str, str]:
        """Python and the packages behind the modules ``roots``, each with its version."""
        if roots not in self._used:
            self.files(roots)
            self._used[roots] = self._versions(self._packages[roots])
        return self._used[roots]

    def paths(self, roots: tuple[str, ...]) -> set[Path]:
        """The files as they lie on the disk."""
        self.files(roots)
        found = {path for name in self._reached[roots] if (path := _file_of(name))}
        return found | {path for each in found for path in _compiled_beside(each)}

    def keep(self) -> None:
        """Write down what was found out, for the next run."""
        if self._kept and self._new:
            seen = {_digest(Path(path).read_bytes()) for path in self._seen}
            files = {raw: facts for raw, facts in self._facts.items() if raw in seen}
            write_state(self._kept, {"form": _FORM, "files": files, "packages": self._names})

    def _look(self, roots: tuple[str, ...]) -> None:
        found: dict[str, str] = {}
        names: dict[str, set[str]] = {}
        packages: set[str] = set()
        reached = self._reach(roots, names, packages)
        for name in reached:
            path = _file_of(name)
            assert path is not None
            found[_shown(name, path)] = self._read(path)["digest"]
            found |= self._compiled(name, path)
        for package, used in names.items():
            path = _file_of(package)
            assert path is not None
            found[_shown(package, path)] = _digest(" ".join(sorted(used)).encode())
        self._reached[roots] = [*reached, *names]
        self._found[roots] = dict(sorted(found.items()))
        self._packages[roots] = packages

    def _reach(
        self, roots: Iterable[str], names: dict[str, set[str]], packages: set[str]
    ) -> list[str]:
        """Every module reached; ``names`` gets what was taken through gathering packages,
        ``packages`` the others' names."""
        waiting, reached = list(roots), dict[str, None]()
        while waiting:
            module = waiting.pop()
            path = _file_of(module)
            if module in reached or path is None:
                continue
            reached[module] = None
            targets, gathered, tops = self._imported_by(module, path)
            waiting += targets
            packages |= tops
            for package, used in gathered.items():
                names.setdefault(package, set()).update(used)
        return list(reached)

    def _compiled(self, module: str, path: Path) -> dict[str, str]:
        """The C files beside a module, each with its digest."""
        folder = _shown(module, path).rpartition("/")[0]
        if folder not in self._beside:
            self._beside[folder] = {
                f"{folder}/{other.relative_to(path.parent).as_posix()}": _digest(other.read_bytes())
                for other in _compiled_beside(path)
            }
        return self._beside[folder]

    def _imported_by(
        self, module: str, path: Path
    ) -> tuple[list[str], dict[str, set[str]], set[str]]:
        """Of one module: local modules, names taken through gathering packages, other packages."""
        if module not in self._imported:
            targets: list[str] = []
            names: dict[str, set[str]] = {}
            tops: set[str] = set()
            for wanted, name in self._read(path)["imports"]:
                whole = _absolute(wanted, module, path)
                top = whole.partition(".")[0]
                if top not in _NOT_FOLLOWED and top not in sys.stdlib_module_names:
                    tops.add(top)
                targets += self._targets(whole, name, names)
            self._imported[module] = list(dict.fromkeys(targets)), names, tops
        return self._imported[module]

    def _targets(self, module: str, name: str | None, names: dict[str, set[str]]) -> list[str]:
        """The modules that ``from module import name`` (or ``import module``) stands for."""
        path = _file_of(module)
        if path is None:
            return []
        if name and path.name == "__init__.py":
            if _file_of(f"{module}.{name}"):
                return [f"{module}.{name}"]
            gathered = self._read(path)["gathers"]
            if gathered is not None and name in gathered:
                inner, original = gathered[name]
                names.setdefault(module, set()).add(f"{name}={inner}:{original}")
                return self._targets(_absolute(inner, module, path), original, names)
        return [module]

    def _read(self, path: Path) -> Any:
        """Digest, imports and gathered names of a file."""
        key = str(path)
        if key not in self._seen:
            data = path.read_bytes()
            raw = _digest(data)
            if raw not in self._facts:
                self._facts[raw], self._new = _facts(data), True
            self._seen[key] = self._facts[raw]
        return self._seen[key]

    def _versions(self, packages: set[str]) -> dict[str, str]:
        found = {"python": _PYTHON}
        for package in sorted(packages):
            found[self._distribution(package)] = _version(self._distribution(package))
        if packages & {"manim", "cairo"}:
            import cairo

            found["cairo"] = cairo.cairo_version_string()
        return found

    def _distribution(self, package: str) -> str:
        """The name that a package is installed under."""
        if package not in self._names:
            if importlib.util.find_spec(package) is None:
                return package
            named = importlib.metadata.packages_distributions()
            self._names[package] = named.get(package, [package])[0]
            self._new = True
        return self._names[package]


def recheck(inputs: Iterable[Input], roots: tuple[str, ...]) -> tuple[Input, ...]:
    """``inputs`` of a product that has just been made; files that are no longer as they were
    planned with get no digest, since nobody knows which of their versions was run."""
    now = Code().files(roots)
    return tuple(
        Input(one.kind, one.name, one.arg, "")
        if one.kind == "code" and now.get(one.name) != one.digest
        else one
        for one in inputs
    )


def digest_of_source(data: bytes) -> str:
    """Of what a Python file does: comments, docstrings and layout do not count."""
    return str(_facts(data)["digest"])


@cache
def _version(distribution: str) -> str:
    try:
        said = importlib.metadata.distribution(distribution).read_text("METADATA") or ""
    except importlib.metadata.PackageNotFoundError:
        return "none"
    found = _VERSION.search(said)  # parsed as a letter, it takes 10 ms a package
    return found[1].strip() if found else "none"


@cache
def _facts(data: bytes) -> dict[str, Any]:
    try:
        with _PARSING:
            tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return {"digest": _digest(data), "imports": [], "gathers": None}
    imports = [list(pair) for pair in _imports(tree)]
    gathers = _gathers(tree)
    for node in ast.walk(tree):
        _forget_docstring(node)
    return {"digest": _digest(ast.dump(tree).encode()), "imports": imports, "gathers": gathers}


def _forget_docstring(node: ast.AST) -> None:
    if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        match node.body:
            case [ast.Expr(ast.Constant(str())), *rest]:
                node.body = rest


def _imports(node: ast.AST) -> Iterator[tuple[str, str | None]]:
    """Module (with leading dots where relative) and name, but for those of type checkers only."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, None) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        yield from ((module, None if a.name == "*" else a.name) for a in node.names)
    elif isinstance(node, ast.If) and _names(node.test) == "TYPE_CHECKING":
        return
    for child in ast.iter_child_nodes(node):
        yield from _imports(child)


def _names(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _gathers(tree: ast.Module) -> dict[str, list[str]] | None:
    """What a file that consists of imports and ``__all__`` gathers; None for any other file."""
    gathered: dict[str, list[str]] = {}
    for node in tree.body:
        match node:
            case ast.Expr(ast.Constant()) | ast.Assign([ast.Name("__all__")]):
                pass
            case ast.ImportFrom(level=1) if all(alias.name != "*" for alias in node.names):
                for alias in node.names:
                    gathered[alias.asname or alias.name] = [f".{node.module or ''}", alias.name]
            case _:
                return None
    return gathered


def _absolute(module: str, importer: str, path: Path) -> str:
    """``..theme`` seen from ``scenes.parts.grid`` is ``scenes.theme``."""
    rest = module.lstrip(".")
    level = len(module) - len(rest)
    if not level:
        return module
    parts = importer.split(".")
    up = level - (path.name == "__init__.py")
    return ".".join([*parts[: len(parts) - up], *([rest] if rest else [])])


@cache
def _root(package: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    return Path(spec.origin).parent if spec and spec.origin else None


@cache
def _file_of(module: str) -> Path | None:
    """The file of a local module; None for every other."""
    package, _, rest = module.partition(".")
    root = _root(package) if package in PACKAGES else None
    if root is None:
        return None
    place = root.joinpath(*rest.split(".")) if rest else root
    choices = place / "__init__.py", place.with_name(f"{place.name}.py")
    return next((path for path in choices if path.is_file()), None)


def _compiled_beside(path: Path) -> tuple[Path, ...]:
    """C files in the folder of a module of ``render`` and below it."""
    root = _root("render")
    folder = path.parent
    if root is None or folder == root or not folder.is_relative_to(root):
        return ()
    return _compiled_in(folder)


@cache
def _compiled_in(folder: Path) -> tuple[Path, ...]:
    return tuple(path for path in sorted(folder.rglob("*")) if path.suffix in _COMPILED)


def _shown(module: str, path: Path) -> str:
    tail = "/__init__.py" if path.name == "__init__.py" else ".py"
    return module.replace(".", "/") + tail


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]
