"""Where a store keeps its files: the few operations it needs, and a local folder that has them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

_FICLONE = 0x40049409  # Linux: share the blocks of another file until one of them is written to


@dataclass(frozen=True)
class Item:
    """A file of a store: its path from the root, bytes, and when it was written (seconds)."""

    path: str
    size: int
    time: float


class Place(Protocol):
    """Paths are relative, with ``/``. Operations raise OSError. A write is seen whole or not at
    all where the file system can do that; what is read is checked by its digest anyway."""

    name: str

    def read(self, path: str) -> bytes:
        """Raises FileNotFoundError where there is no such file."""

    def write(self, path: str, data: bytes) -> None: ...

    def take_in(self, file: Path, path: str) -> None:
        """Store a file."""

    def hand_out(self, path: str, file: Path) -> None:
        """Make ``file``, which is not there yet, the stored one."""

    def names(self, folder: str) -> list[str]:
        """What is directly in a folder; empty where there is none."""

    def items(self) -> list[Item]:
        """Every file."""

    def remove(self, path: str) -> None:
        """Remove a file, and folders left empty by that; nothing if there is none."""


class Folder:
    """A local folder, or one mounted from elsewhere."""

    def __init__(self, root: Path) -> None:
        self.name = str(root)
        self._root = root

    def read(self, path: str) -> bytes:
        return (self._root / path).read_bytes()

    def write(self, path: str, data: bytes) -> None:
        self._put(path, lambda aside: aside.write_bytes(data))

    def take_in(self, file: Path, path: str) -> None:
        self._put(path, lambda aside: _same(file, aside))

    def hand_out(self, path: str, file: Path) -> None:
        _same(self._root / path, file)

    def names(self, folder: str) -> list[str]:
        try:
            return sorted(path.name for path in (self._root / folder).iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []

    def items(self) -> list[Item]:
        return list(self._walk(str(self._root), ""))

    def _walk(self, folder: str, path: str) -> Iterator[Item]:
        with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
            for entry in entries:
                below = f"{path}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    yield from self._walk(entry.path, f"{below}/")
                    continue
                with contextlib.suppress(FileNotFoundError):  # another run removes things, too
                    status = entry.stat(follow_symlinks=False)
                    yield Item(below, status.st_size, status.st_mtime)

    def remove(self, path: str) -> None:
        target = self._root / path
        target.unlink(missing_ok=True)
        for folder in target.parents:
            if folder == self._root:
                break
            try:
                folder.rmdir()
            except OSError:
                break

    def _put(self, path: str, make: Callable[[Path], object]) -> None:
        """Make a file aside, then rename it. Folders may be removed by another run meanwhile."""
        final = self._root / path
        aside = final.with_name(f".{secrets.token_hex(8)}")
        for last in (*[False] * 9, True):
            try:
                final.parent.mkdir(parents=True, exist_ok=True)
                make(aside)
                aside.replace(final)
                return
            except (FileNotFoundError, FileExistsError):
                if last:
                    raise
            finally:
                aside.unlink(missing_ok=True)


def _same(file: Path, other: Path) -> None:
    """Make ``other`` the same file without taking room where that can be: sharing blocks, else a
    second name, else a copy."""
    if not _shared(file, other):
        try:
            os.link(file, other)
        except FileNotFoundError:
            raise
        except OSError:
            shutil.copyfile(file, other)


def _shared(file: Path, other: Path) -> bool:
    try:
        with file.open("rb") as source, other.open("wb") as target:
            fcntl.ioctl(target.fileno(), _FICLONE, source.fileno())
        return True
    except FileNotFoundError:
        raise
    except OSError:
        other.unlink(missing_ok=True)
        return False
