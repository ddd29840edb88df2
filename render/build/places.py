"""Where a cache keeps its files: a folder, which several users may share, or an fsspec URL."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, ParamSpec, Protocol, TypeVar

from engine.errors import LectureError, one_line
from render.base.files import copy

P = ParamSpec("P")
R = TypeVar("R")
#: what can be in the place of a file without being one, or is another user's alone
_NO_FILE = {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENXIO, errno.ENODEV}
_NO_FILE |= {errno.EACCES, errno.EPERM}
#: as the file systems of fsspec call the time of a file
_TIMES = ("mtime", "LastModified", "last_modified", "updated", "modified", "created")
#: what to install for a kind of URL that needs more
_EXTRAS = {"s3": "s3", "s3a": "s3"}
#: have no folders; making one there would make a bucket
_FLAT = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oci", "oss"}


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
        """Make ``file``, which is not there yet, the stored one, of ``size`` bytes. Raises
        FileNotFoundError where there is no such file."""

    def touch(self, path: str, data: bytes) -> None:
        """The file, whose contents are ``data``, was used now."""

    def names(self, folder: str) -> list[str]:
        """What is directly in a folder; empty where there is none."""

    def items(self) -> list[Item]:
        """Every file."""

    def remove(self, path: str) -> None:
        """Remove a file, and folders left empty by that; nothing if there is none."""

    def is_there(self) -> bool:
        """Whether anything was ever stored here, as far as can be seen."""


def place_of(url: str) -> Place:
    """The folder or URL; nothing is made or reached yet. Raises LectureError for no URL."""
    if url.startswith("file://"):
        url = url.removeprefix("file://") or "/"
    if "://" in url or "::" in url:
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

    def touch(self, path: str, data: bytes) -> None:
        os.utime(self._at(path), follow_symlinks=False)

    def names(self, folder: str) -> list[str]:
        try:
            return sorted(path.name for path in self._at(folder).iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []

    def items(self) -> list[Item]:
        return list(self._walk(str(self._root), ""))

    def _walk(self, folder: str, path: str) -> Iterator[Item]:
        with contextlib.suppress(FileNotFoundError, PermissionError), os.scandir(folder) as found:
            for entry in found:
                below = f"{path}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    yield from self._walk(entry.path, f"{below}/")
                    continue
                with contextlib.suppress(FileNotFoundError):  # another run removes things, too
                    status = entry.stat(follow_symlinks=False)
                    used = status.st_mtime
                    if below.startswith("objects/"):  # it may be older than its use here
                        used = max(used, status.st_ctime)
                    yield Item(below, status.st_size, used)

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

    def is_there(self) -> bool:
        return self._root.is_dir()

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


def _told(method: Callable[P, R]) -> Callable[P, R]:
    """Whatever the file system raises, as an OSError of one line."""

    @functools.wraps(method)
    def wrapped(*args: P.args, **options: P.kwargs) -> R:
        try:
            return method(*args, **options)
        except OSError:
            raise
        except Exception as error:
            raise OSError(one_line(f"{type(error).__name__}: {error}")) from error

    return wrapped


class Remote:
    """Files below a URL on any file system that fsspec knows: s3://bucket/folder, sftp://…"""

    def __init__(self, url: str) -> None:
        import fsspec

        self.name = url
        expected = "one that can be reached"
        try:
            self._files, self._root = fsspec.core.url_to_fs(url)
        except Exception as error:
            extra = _EXTRAS.get(url.partition(":")[0])
            if isinstance(error, ImportError):
                found = f"./render.sh install {extra} was not run" if extra else str(error)
            elif isinstance(error, ValueError):
                expected, found = "a folder or a URL that fsspec knows", str(error)
            else:
                found = f"{type(error).__name__}: {error}"
            raise LectureError(
                where=url, field="store", expected=expected, found=one_line(found)
            ) from error
        self._root = self._root.rstrip("/")
        self._files.invalidate_cache()

    def _at(self, path: str) -> str:
        return f"{self._root}/{path}"

    @_told
    def read(self, path: str, most: int) -> bytes:
        self._regular(path, lambda size: size <= most)
        return bytes(self._files.cat_file(self._at(path)))

    @_told
    def write(self, path: str, data: bytes) -> None:
        self._make_folder(path)
        self._files.pipe_file(self._at(path), data)

    @_told
    def take_in(self, file: Path, path: str) -> None:
        self._make_folder(path)
        self._files.put_file(str(file), self._at(path))

    @_told
    def hand_out(self, path: str, file: Path, size: int) -> None:
        self._regular(path, lambda found: found == size)
        self._files.get_file(self._at(path), str(file))

    def _regular(self, path: str, fits: Callable[[int], bool]) -> None:
        info = self._files.info(self._at(path), refresh=True)
        if info.get("type") != "file" or info.get("islink") or not fits(int(info.get("size") or 0)):
            raise FileNotFoundError(errno.ENOENT, "another file", path)

    def touch(self, path: str, data: bytes) -> None:
        self.write(path, data)

    @_told
    def names(self, folder: str) -> list[str]:
        try:
            listed = self._files.ls(self._at(folder), detail=False, refresh=True)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return sorted({str(path).rstrip("/").rpartition("/")[2] for path in listed})

    @_told
    def items(self) -> list[Item]:
        self._files.invalidate_cache()
        try:
            listed = self._files.find(self._root, detail=True)
        except FileNotFoundError:
            return []
        cut = len(self._files._strip_protocol(self._root)) + 1
        return [
            Item(path[cut:], int(info.get("size") or 0), _time(info))
            for path, info in listed.items()
        ]

    @_told
    def remove(self, path: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._files.rm_file(self._at(path))

    def is_there(self) -> bool:
        return True

    def _make_folder(self, path: str) -> None:
        """Where the file system has folders."""
        kinds = self._files.protocol
        if _FLAT.isdisjoint([kinds] if isinstance(kinds, str) else kinds):
            self._files.makedirs(self._at(path).rpartition("/")[0], exist_ok=True)


def _time(info: Mapping[str, Any]) -> float:
    """Seconds since 1970; 0 where the file system does not say."""
    for field in _TIMES:
        value = info.get(field)
        if isinstance(value, datetime):
            return value.timestamp()
        if isinstance(value, (int, float)):
            return float(value)
        if isinstance(value, str):
            try:
                return datetime.fromisoformat(value).timestamp()
            except ValueError:
                continue
    return 0.0
