"""What was found out about files and installed packages, kept so that the next run is quick."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path

from engine.errors import LectureError
from render.base.files import write_state
from render.base.reader import Reader

PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"
_FORM = f"5 {PYTHON}"
_MOST = 16 << 20  # bytes
_RACY = 2_000_000_000  # ns: a file changed so lately may change again and keep its time


@dataclass(slots=True)
class Facts:
    """About a file: what stands for its contents; of a Python file also which local modules and
    names it imports, which other packages, and what it gathers where it does nothing else."""

    digest: str
    imports: list[tuple[str, str | None]] = field(default_factory=list)
    packages: list[str] = field(default_factory=list)
    gathers: dict[str, tuple[str, str]] | None = None


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
        self._path, self._new = path, False
        self._kept = _Kept()
        if path:
            try:
                kept = Reader(_MOST).json(path, _Kept)
                self._kept = kept if kept.form == _FORM else self._kept
            except LectureError:
                pass

    def keep(self) -> None:
        """Write down what was found out."""
        if self._path and self._new:
            files = self._kept.files.items()
            self._kept.files = {path: known for path, known in files if Path(path).exists()}
            write_state(self._path, asdict(self._kept))

    def about(self, path: str, status: os.stat_result, find: Callable[[Path], Facts]) -> Facts:
        """The facts about a file, found out only if it is not as it was. Raises what ``find``
        raises."""
        size, time_ns, facts = self._kept.files.get(path, (None, None, None))
        if facts is None or (size, time_ns) != (status.st_size, status.st_mtime_ns):
            facts = find(Path(path))
            if time.time_ns() - status.st_mtime_ns > _RACY:
                self._kept.files[path] = status.st_size, status.st_mtime_ns, facts
                self._new = True
        return facts

    def knows(self, path: str) -> bool:
        """Whether there are facts about a file as it is."""
        with contextlib.suppress(OSError):
            status = Path(path).stat()
            return self._kept.files.get(path, ())[:2] == (status.st_size, status.st_mtime_ns)
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
