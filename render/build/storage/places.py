"""Which cache a run uses (``--store``, ``--store-size``, LECTURE_STORE), and where it is: a folder,
which several users may share, or a URL."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import re
import secrets
import shutil
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from engine.errors import LectureError
from render.base.files import copy

if TYPE_CHECKING:
    from render.build.storage.urls import Remote

    Place: TypeAlias = "Folder | Remote"

#: what can be in the place of a file without being one, or is another user's alone
_NO_FILE = {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENXIO, errno.ENODEV}
_NO_FILE |= {errno.EACCES, errno.EPERM}
_HOUR = 3600.0
_SKEW = 120.0  # seconds that the clocks of two machines may be apart
_ENOUGH = 0.9  # of the limit is left, so that not every run has to evict
VARIABLE = "LECTURE_STORE"
NONE = "none"
DEFAULT_SIZE = "20GB"
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)


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
        return url if is_url(url) else str(Path(url).expanduser().absolute())


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
    return int(float(number) * (1024 if binary else 1000) ** ("kmgt".find(unit.lower() or "-") + 1))


def _default() -> str | None:
    """In the user's cache folder; None where there is no home."""
    folder = Path(os.environ.get("XDG_CACHE_HOME", ""))
    with contextlib.suppress(RuntimeError):
        if not folder.is_absolute():
            folder = Path.home() / ".cache"
            if not folder.parent.is_dir():
                return None  # rather than make one
        return str(folder / "transformer-lecture" / "store")
    return None


def is_url(url: str) -> bool:
    """Whether it is one that fsspec might know; else it is a folder."""
    return "://" in url or "::" in url


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
                aside.chmod(0o444 if self._shared else aside.stat().st_mode & 0o444)

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
        for tries_left in range(9, -1, -1):
            try:
                self._root.mkdir(parents=True, exist_ok=True)
                for folder in reversed(self._above(final)):
                    if not folder.is_dir():
                        folder.mkdir(exist_ok=True)
                        if self._shared:
                            folder.chmod(self._shared)
                make(aside)
                if final.is_dir() and not final.is_symlink():
                    self.remove(path)
                aside.replace(final)
                return
            except (FileNotFoundError, FileExistsError):
                if not tries_left:
                    raise
            finally:
                with contextlib.suppress(OSError):
                    aside.unlink()


def _linked(source: Path, target: Path) -> bool:
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


def evict(
    place: Place, limit: int, now: float, objects_of: Callable[[str], frozenset[str]]
) -> None:
    """Remove entries, what was used longest ago first, until a cache has at most ``limit`` bytes;
    and what killed runs left.

    ``objects_of`` tells the paths of the objects of the entry at a path. What runs in progress use
    stays. Raises OSError.
    """
    items, begun = place.items(), [now]
    for item in items:
        is_run = item.path.startswith("runs/")
        if item.time < now - _HOUR and (is_run or _is_unfinished(item)):
            place.remove(item.path)
        elif is_run:
            start = item.path.removeprefix("runs/").partition("-")[0]
            begun.append(float(start) if start.isdigit() else now)
    needed_since = min(begun) - _SKEW * (len(begun) > 1)
    total = sum(item.size for item in items)
    if total <= limit:
        return
    entries = [item for item in items if item.path.startswith("entries/")]
    objects = {item.path: item for item in items if item.path.startswith("objects/")}
    of = {item.path: objects_of(item.path) for item in entries if not _is_unfinished(item)}
    used = Counter(path for paths in of.values() for path in paths)
    for path, item in objects.items():
        if not used[path] and item.time < now - _HOUR:
            place.remove(path)
            total -= item.size
    for entry in sorted(entries, key=lambda item: item.time):
        if total <= limit * _ENOUGH or entry.time >= needed_since:
            break
        place.remove(entry.path)
        total -= entry.size
        used.subtract(of.get(entry.path, ()))
        for path in of.get(entry.path, ()):
            if not used[path] and path in objects:
                place.remove(path)
                total -= objects[path].size


def _is_unfinished(item: Item) -> bool:
    return item.path.rpartition("/")[2].startswith(".")
