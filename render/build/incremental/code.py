"""Which local files a scene's picture is made by, and a digest of what each of them does.

Imports are followed through the packages ``scenes`` and ``render``. A name imported from a package
whose ``__init__`` only gathers names leads to the module that has it, so a scene depends on the
parts it uses and on no others. Comments, docstrings and layout do not count. The engine's files
are not followed: whatever comes from it is recorded by value.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import sys
import threading
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from render.base.stamps import read_json, write_json

PACKAGES = ("scenes", "render")
#: draws, encodes and labels; what it imports is followed as well
WORKER = "render.draw.worker"
#: modules of the worker that only look, carry messages, or whose figures are compared one by one
_NO_PICTURE = (
    *(
        "render.media.check",
        "render.media.content",
        "render.media.boxes",
        "render.media.nal",
        "render.media.expected",
    ),
    *("render.build.task", "render.base.cores", "render.media.quality", "render.build.incremental"),
    *("render.media.captions", "render.voice", "scenes.cover"),
)
_FORM = f"1 {sys.version_info[0]}.{sys.version_info[1]}"  # of the digests that are kept
_COMPILED = (".c", ".h", ".pyx")
_PARSING = threading.Lock()  # Python 3.11 fails where two threads parse at once


class Code:
    """Reads and remembers files; with ``kept``, digests of unchanged files come from there."""

    def __init__(self, kept: Path | None = None) -> None:
        self._kept = kept
        said = read_json(kept) if kept else {}
        self._facts: dict[str, Any] = said.get("files", {}) if said.get("form") == _FORM else {}
        self._new = False
        self._seen: dict[str, Any] = {}

    def files(self, module: str) -> dict[str, str]:
        """The files behind a scene's module and the worker, each with its digest."""
        found: dict[str, str] = {}
        names: dict[str, set[str]] = {}
        for name in self._reach([module, WORKER], names):
            path = _file_of(name)
            assert path is not None
            found[_shown(name, path)] = self._read(path)["digest"]
            if name.startswith("render.") and path.parent.name != "render":
                for other in sorted(path.parent.rglob("*")):
                    if other.suffix in _COMPILED:
                        tail = other.relative_to(path.parent).as_posix()
                        shown = f"{_shown(name, path).rpartition('/')[0]}/{tail}"
                        found[shown] = _digest(other.read_bytes())
        for package, used in names.items():
            path = _file_of(package)
            assert path is not None
            found[_shown(package, path)] = _digest(" ".join(sorted(used)).encode())
        return dict(sorted(found.items()))

    def whole(self, module: str) -> dict[str, str]:
        """The same files with digests of all that is in each, also of packages that only gather
        names, where :meth:`files` has what is taken through them."""
        names: dict[str, set[str]] = {}
        found = {}
        for name in [*self._reach([module, WORKER], names), *names]:
            path = _file_of(name)
            assert path is not None
            found[_shown(name, path)] = str(self._read(path)["digest"])
        return found

    def keep(self) -> None:
        """Write down the digests found, for the next run."""
        if self._kept and self._new:
            write_json(self._kept, {"form": _FORM, "files": self._facts})

    def _reach(self, roots: Iterable[str], names: dict[str, set[str]]) -> list[str]:
        """Every module reached; ``names`` gets what was taken through gathering packages."""
        waiting, reached = list(roots), dict[str, None]()
        while waiting:
            module = waiting.pop()
            path = _file_of(module)
            if module in reached or path is None or _is_left_out(module):
                continue
            reached[module] = None
            for wanted, name in self._read(path)["imports"]:
                waiting += self._targets(_absolute(wanted, module, path), name, names)
        return list(reached)

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


def digest_of_source(data: bytes) -> str:
    """Of what a Python file does: comments, docstrings and layout do not count."""
    return str(_facts(data)["digest"])


def _is_left_out(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in _NO_PICTURE)


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


def _shown(module: str, path: Path) -> str:
    tail = "/__init__.py" if path.name == "__init__.py" else ".py"
    return module.replace(".", "/") + tail


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]
