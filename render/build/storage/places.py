"""A cache's folder, which several users may share."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from render.base.files import copy
from render.build.storage.choice import is_url

if TYPE_CHECKING:
    from render.build.storage.urls import Remote

    Place: TypeAlias = "Folder | Remote"

#: what can be in the place of a file without being one, or is another user's alone
_NO_FILE = {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENXIO, errno.ENODEV}
_NO_FILE |= {errno.EACCES, errno.EPERM}


@dataclass(frozen=True, slots=True)
class Item:
    """A file of a cache: its path from the root, bytes, and when it was last used (seconds)."""

    path: str
    size: int
    time: float


def place_of(url: str) -> Place:
    """The folder or URL; nothing is made or reached yet. Raises LectureError for an invalid URL."""
    if url.startswith("file://"):
        url = url.removeprefix("file://") or "/"
    if is_url(url):
        from render.build.storage.urls import Remote

        return Remote(url)
    return Folder(Path(url).expanduser().absolute())


class Folder:
    """A local folder, or one mounted from elsewhere.

    Paths are relative, with ``/``. What is there but is no regular file of the size expected counts
    as not there. A write is seen whole or not at all. Methods raise OSError.

    Where the root is writable for its group and hands the group on (setgid), it is shared: folders
    get the root's permissions, files are readable and writable for the group, and no file is one
    with a user's own. Else the umask decides, and files take no room twice.
    """

    def __init__(self, root: Path) -> None:
        self.name = str(root)
        self._root = root

    @functools.cached_property
    def _shared(self) -> int:
        """The permissions of a shared root; 0 for one that is not shared."""
        with contextlib.suppress(OSError):
            mode = stat.S_IMODE(self._root.stat().st_mode)
            return mode if mode & stat.S_ISGID and mode & stat.S_IWGRP else 0
        return 0

    def read(self, path: str, most: int) -> bytes:
        """Raises FileNotFoundError where there is no such file of at most ``most`` bytes."""
        with _opened(self._at(path)) as file:
            data = file.read(most + 1)
        if len(data) > most:
            raise FileNotFoundError(errno.ENOENT, "too large", path)
        return data

    def write(self, path: str, data: bytes) -> None:
        """Store bytes."""

        def make(aside: Path) -> None:
            aside.write_bytes(data)
            if self._shared:
                aside.chmod(0o664)

        self._put(path, make)

    def take_in(self, file: Path, path: str) -> None:
        """Store a file."""

        def make(aside: Path) -> None:
            if self._shared or not _linked(file, aside):
                copy(file, aside)
                aside.chmod(0o444)

        self._put(path, make)

    def hand_out(self, path: str, file: Path, size: int) -> None:
        """Make ``file``, which is missing, the stored one, of ``size`` bytes. Raises
        FileNotFoundError where there is no such file."""
        source = self._at(path)
        with _opened(source) as stored:
            status = os.fstat(stored.fileno())
            if status.st_size != size:
                raise FileNotFoundError(errno.ENOENT, "another size", path)
            own = not self._shared and status.st_uid == os.geteuid()
            if own and _linked(source, file):
                if os.path.samestat(file.lstat(), status):
                    return
                file.unlink()
        copy(source, file)

    def names(self, folder: str) -> list[str]:
        """What is directly in a folder; empty where there is none."""
        try:
            return sorted(path.name for path in self._at(folder).iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []

    def items(self) -> list[Item]:
        """Every file."""
        found = []
        for folder, _, names in os.walk(self._root):
            for path in (Path(folder, name) for name in names):
                with contextlib.suppress(FileNotFoundError):  # another run removes things, too
                    status, below = path.lstat(), path.relative_to(self._root).as_posix()
                    is_object = below.startswith("objects/")  # maybe older than its use here
                    used = max(status.st_mtime, status.st_ctime) if is_object else status.st_mtime
                    found.append(Item(below, status.st_size, used))
        return found

    def remove(self, path: str) -> None:
        """Remove a file, and folders left empty by that; nothing if there is none."""
        target = self._at(path)
        if target.is_dir() and not target.is_symlink():
            shutil.rmtree(target, ignore_errors=True)  # in the place of a file
        else:
            target.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # one that is not empty
            for folder in self._above(target):
                folder.rmdir()

    def _above(self, target: Path) -> list[Path]:
        """The folders between a file and the root, from below."""
        parents = list(target.parents)
        return parents[: parents.index(self._root)]

    def _at(self, path: str) -> Path:
        """Raises FileNotFoundError where a link leads elsewhere."""
        target = self._root / path
        if any(folder.is_symlink() for folder in self._above(target)):
            raise FileNotFoundError(errno.ENOENT, "a link", path)
        return target

    def _put(self, path: str, make: Callable[[Path], object]) -> None:
        """Make a file aside, then rename it. Folders may be removed by another run meanwhile."""
        final = self._at(path)
        aside = final.with_name(f".{secrets.token_hex(8)}")
        for last in (*[False] * 9, True):
            try:
                self._make_folders(final)
                make(aside)
                if final.is_dir() and not final.is_symlink():
                    self.remove(path)
                aside.replace(final)
                return
            except (FileNotFoundError, FileExistsError):
                if last:
                    raise
            finally:
                with contextlib.suppress(OSError):
                    aside.unlink()

    def _make_folders(self, final: Path) -> None:
        self._root.mkdir(parents=True, exist_ok=True)
        for folder in reversed(self._above(final)):
            with contextlib.suppress(FileExistsError):
                if not folder.is_dir():
                    folder.mkdir()
                    if self._shared:
                        folder.chmod(self._shared)


def _linked(source: Path, target: Path) -> bool:
    """Whether a file now has a second name."""
    with contextlib.suppress(OSError):
        os.link(source, target, follow_symlinks=False)
        return True
    return False


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """A regular file, without following a link or waiting for a pipe. Raises FileNotFoundError
    for anything else."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in _NO_FILE:
            raise FileNotFoundError(errno.ENOENT, error.strerror, str(path)) from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise FileNotFoundError(errno.ENOENT, "no regular file", str(path))
    with os.fdopen(descriptor, "rb") as file:
        yield file
