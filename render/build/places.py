"""Where a cache keeps its files: a folder, which several users may share, or an fsspec URL."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from engine.errors import LectureError
from render.base.files import copy

VARIABLE = "LECTURE_STORE"
NONE = "none"
DEFAULT_SIZE = "20GB"
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)
#: what can be in the place of a file without being one, or is another user's alone
_NO_FILE = {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENXIO, errno.ENODEV}
_NO_FILE |= {errno.EACCES, errno.EPERM}


@dataclass(frozen=True, slots=True)
class CacheChoice:
    """``url``: a folder or an fsspec URL, None for no cache. ``named``: by the user, so that it is
    an error if it cannot be used. ``limit``: bytes; None: its other users keep it small."""

    url: str | None
    named: bool
    limit: int | None

    @property
    def address(self) -> str:
        """The URL, or the whole path of the folder: for use by processes elsewhere."""
        url = self.url or ""
        return url if "://" in url or "::" in url else str(Path(url).expanduser().absolute())


NO_CACHE = CacheChoice(None, False, None)


def choose(store: str | None, size: str) -> CacheChoice:
    """What ``--store`` and ``--store-size`` say; without the first, LECTURE_STORE or the cache
    folder. Raises LectureError for an invalid size."""
    limit = bytes_of(size)
    said = store or os.environ.get(VARIABLE) or None
    if said == NONE:
        return NO_CACHE
    return CacheChoice(said or _default(), bool(said), limit)


def bytes_of(size: str) -> int:
    """``20GB``, ``500 MB``, ``1.5GiB`` as a number of bytes. Raises LectureError."""
    found = _SIZE.fullmatch(size.strip())
    if not found:
        raise LectureError(field="--store-size", expected="a size like 20GB", found=repr(size))
    number, unit, binary = found.groups()
    factor = _UNITS[unit.lower()]
    if binary:
        factor = 2 ** (10 * list(_UNITS).index(unit.lower()))
    return int(float(number) * factor)


def _default() -> str | None:
    """In the user's cache folder; None where there is no home."""
    folder = Path(os.environ.get("XDG_CACHE_HOME", ""))
    with contextlib.suppress(RuntimeError):
        if not folder.is_absolute():
            folder = Path.home() / ".cache"
        return str(folder / "transformer-lecture" / "store")
    return None


@dataclass(frozen=True, slots=True)
class Item:
    """A file of a cache: its path from the root, bytes, and when it was last used (seconds)."""

    path: str
    size: int
    time: float


class Place(Protocol):
    """Paths are relative, with ``/``. Operations raise OSError; what is there but is no regular
    file of the size expected counts as not there. A write is seen whole or not at all where the
    file system can do that; what is read is checked by its digest anyway."""

    name: str

    def read(self, path: str, most: int) -> bytes:
        """Raises FileNotFoundError where there is no such file of at most ``most`` bytes."""

    def write(self, path: str, data: bytes) -> None: ...

    def take_in(self, file: Path, path: str) -> None:
        """Store a file."""

    def hand_out(self, path: str, file: Path, size: int) -> None:
        """Make ``file``, which is missing, the stored one, of ``size`` bytes. Raises
        FileNotFoundError where there is no such file."""

    def names(self, folder: str) -> list[str]:
        """What is directly in a folder; empty where there is none."""

    def items(self) -> list[Item]:
        """Every file."""

    def remove(self, path: str) -> None:
        """Remove a file, and folders left empty by that; nothing if there is none."""


def place_of(url: str) -> Place:
    """The folder or URL; nothing is made or reached yet. Raises LectureError for an invalid URL."""
    if url.startswith("file://"):
        url = url.removeprefix("file://") or "/"
    if "://" in url or "::" in url:
        from render.build.urls import Remote

        return Remote(url)
    return Folder(Path(url).expanduser().absolute())


class Folder:
    """A local folder, or one mounted from elsewhere.

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
        try:
            mode = stat.S_IMODE(self._root.stat().st_mode)
        except OSError:
            return 0
        return mode if mode & stat.S_ISGID and mode & stat.S_IWGRP else 0

    def read(self, path: str, most: int) -> bytes:
        with _opened(self._at(path)) as file:
            data = file.read(most + 1)
        if len(data) > most:
            raise FileNotFoundError(errno.ENOENT, "too large", path)
        return data

    def write(self, path: str, data: bytes) -> None:
        def make(aside: Path) -> None:
            aside.write_bytes(data)
            if self._shared:
                aside.chmod(0o664)

        self._put(path, make)

    def take_in(self, file: Path, path: str) -> None:
        def make(aside: Path) -> None:
            if not self._shared:
                with contextlib.suppress(OSError):
                    os.link(file, aside)
                    return
            copy(file, aside)
            aside.chmod(0o444)

        self._put(path, make)

    def hand_out(self, path: str, file: Path, size: int) -> None:
        source = self._at(path)
        with _opened(source) as stored:
            status = os.fstat(stored.fileno())
            if status.st_size != size:
                raise FileNotFoundError(errno.ENOENT, "another size", path)
            if not self._shared and status.st_uid == os.geteuid():
                with contextlib.suppress(OSError):
                    os.link(source, file, follow_symlinks=False)
                    if os.path.samestat(file.lstat(), status):
                        return
                    file.unlink()
        copy(source, file)

    def names(self, folder: str) -> list[str]:
        try:
            return sorted(path.name for path in self._at(folder).iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []

    def items(self) -> list[Item]:
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
        target = self._at(path)
        if target.is_dir() and not target.is_symlink():
            shutil.rmtree(target, ignore_errors=True)  # in the place of a file
        else:
            target.unlink(missing_ok=True)
        for folder in target.parents:
            if folder == self._root:
                break
            try:
                folder.rmdir()
            except OSError:
                break

    def _at(self, path: str) -> Path:
        """Raises FileNotFoundError where a link leads elsewhere."""
        target = self._root / path
        for folder in target.parents:
            if folder == self._root:
                return target
            if folder.is_symlink():
                break
        raise FileNotFoundError(errno.ENOENT, "a link", path)

    def _put(self, path: str, make: Callable[[Path], object]) -> None:
        """Make a file aside, then rename it. Folders may be removed by another run meanwhile."""
        final = self._at(path)
        aside = final.with_name(f".{secrets.token_hex(8)}")
        for last in (*[False] * 9, True):
            try:
                self._make_folders(final.parent)
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

    def _make_folders(self, folder: Path) -> None:
        if folder.is_dir():
            return
        if not self._shared or folder == self._root:
            folder.mkdir(parents=True, exist_ok=True)
            return
        self._make_folders(folder.parent)
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
            folder.chmod(self._shared)


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
