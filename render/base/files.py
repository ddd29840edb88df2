"""Files and folders that appear whole or not at all; locks and free space.

What is unfinished lies on the disk where it will be put: under a hidden name beside it, or in a
private folder whose lock is held for as long as its process, or a worker that inherited the lock,
lives. A folder whose lock is free was left by a killed process; the next one removes it.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from engine.errors import LectureError, from_os_error

#: folder in an output folder with the records and what is unfinished
STATE = ".render"
_LOCK = ".lock"
_RUN, _NEW = "run-", "new"  # names of private folders, and of what is in them
_MB = 1_000_000
_SECONDS_TO_LOCK = 60  # a private folder without a lock that is older is nobody's
_FICLONE = 0x40049409  # Linux: share the blocks of another file until one of them is written to


@contextlib.contextmanager
def replacing(path: Path, *, durable: bool = False) -> Iterator[Path]:
    """A hidden name beside ``path``, with its ending, to write a file to; at the end of the
    ``with`` it is renamed to ``path``. ``durable``: on the disk before that.

    Whatever is raised leaves ``path`` as it was. An OSError becomes a LectureError about ``path``.
    """
    fresh = path.with_name(f".{secrets.token_hex(8)}{path.suffix}")
    try:
        yield fresh
        if durable:
            with fresh.open("rb") as file:
                os.fsync(file.fileno())
        fresh.replace(path)
    except OSError as error:
        raise from_os_error(error, place_of(path)) from error
    finally:
        with contextlib.suppress(OSError):
            fresh.unlink()


def write(path: Path, data: str | bytes, *, durable: bool = False, mode: int = 0o666) -> None:
    """Write a whole file; text in UTF-8. ``mode``: permissions, cut by the umask. Raises
    LectureError, and the old file is as it was."""
    with replacing(path, durable=durable) as fresh:
        fresh.touch(mode, exist_ok=False)
        fresh.write_bytes(data.encode("utf-8") if isinstance(data, str) else data)


def write_state(path: Path, document: Any) -> None:
    """Write what is remembered as JSON; a full disk is no reason to fail."""
    with contextlib.suppress(LectureError):
        write(path, json.dumps(document, ensure_ascii=False))


def put_file(finished: Path, target: Path) -> None:
    """Move a finished file to its place, when all of it is on the disk. It may come from another
    file system. Raises LectureError about ``target``."""
    with replacing(target, durable=True) as fresh:
        shutil.move(finished, fresh)


def put_folder(finished: Path, target: Path) -> None:
    """Rename a folder of :func:`staging_folder` to its place; what was there goes."""
    old = finished.parent / "old"
    with contextlib.suppress(FileNotFoundError):
        target.rename(old)
    try:
        finished.rename(target)
    except BaseException:
        with contextlib.suppress(OSError):
            old.rename(target)
        raise


def bring(source: Path, target: Path) -> None:
    """``target`` becomes the same file as ``source``: a second name for it where the file system
    has such a thing, so it takes no room; else a copy. Videos are replaced by renaming, never
    written to, so a second name stays what it was."""
    try:
        os.link(source, target)
    except OSError:
        size = source.stat().st_size
        check_free_space({target.parent: size}, where=place_of(target), field="disk")
        copy(source, target)


def copy(source: Path, target: Path) -> None:
    """A file of its own with the same bytes, which shares their blocks where it can."""
    with source.open("rb") as old, target.open("xb") as new:
        try:
            fcntl.ioctl(new.fileno(), _FICLONE, old.fileno())
        except OSError:
            shutil.copyfileobj(old, new, 1 << 20)


class PrivateFolder:
    """``with PrivateFolder(parent, prefix) as private``: a new ``folder`` that is locked, and gone
    at the end; what killed processes left under the same prefix is removed. Raises OSError.

    ``lock``: a worker that inherits this descriptor keeps the folder from removal.
    """

    def __init__(self, parent: Path, prefix: str) -> None:
        self._left = parent, prefix
        _remove_abandoned(*self._left)
        while True:
            self.folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
            self.lock = os.open(self.folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            if _try_lock(self.lock) and os.fstat(self.lock).st_nlink:
                break
            os.close(self.lock)  # another process thought it abandoned

    def fresh_folder(self, name: str) -> Path:
        """A new folder inside, with a name of its own that begins with ``name``."""
        return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.folder))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        _remove(self.folder)
        os.close(self.lock)
        with contextlib.suppress(OSError):
            _remove_abandoned(*self._left)  # whose last worker may have ended meanwhile


class Workspace(PrivateFolder):
    """The private folder of one run in ``OUT/.render``.

    ``out`` is created if need be. Raises LectureError where it cannot be written to.
    """

    def __init__(self, out: Path) -> None:
        with _output_folder(out):
            (out / STATE).mkdir(parents=True, exist_ok=True)
            super().__init__(out / STATE, _RUN)


@contextlib.contextmanager
def staging_folder(target: Path) -> Iterator[Path]:
    """An empty private folder beside ``target``, on the same disk; gone at the end.

    Raises LectureError where nothing can be written, and for a full disk inside the ``with``.
    """
    make_folder(target.parent)
    try:
        with PrivateFolder(target.parent, f".{target.name}.") as private:
            inside = private.folder / _NEW
            inside.mkdir()
            yield inside
    except OSError as error:
        raise from_os_error(error, place_of(Path(error.filename or target))) from error


def place_of(path: Path) -> Path:
    """What people know a path by: inside a private folder, what is made there, or else the output
    folder."""
    for folder in path.parents:
        if folder.parent.name == STATE and folder.name.startswith(_RUN):
            return folder.parent.parent
        if folder.name == _NEW and (found := re.fullmatch(r"\.(.+)\.\w{8}", folder.parent.name)):
            return folder.parent.with_name(found[1])
    return path


def make_folder(path: Path) -> None:
    """Make a folder for results if there is none. Raises LectureError if that is impossible, or
    nothing can be written in it."""
    with _output_folder(path):
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass


def refuse_foreign(target: Path, mark: str, expected: str) -> None:
    """Raise LectureError where ``target``, a folder to be replaced, is neither free nor empty nor
    has the file ``mark`` in it, by which our own are known."""
    is_folder = target.is_dir() and not target.is_symlink()
    if is_folder and ((target / mark).is_file() or not any(target.iterdir())):
        return
    if is_folder or target.exists() or target.is_symlink():
        found = f"a folder with other contents and no {mark}" if is_folder else "a file or a link"
        raise LectureError(where=target, field="--out", expected=expected, found=found)


@contextlib.contextmanager
def alone(path: Path, expected: str, found: str) -> Iterator[None]:
    """Hold the lock of a file or folder. Raises LectureError with ``expected`` and ``found`` where
    another process holds it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if not _try_lock(descriptor):
            raise LectureError(where=path, expected=expected, found=found)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _output_folder(out: Path) -> Iterator[None]:
    field, expected = "output folder", "one that can be written to"
    try:
        yield
    except (NotADirectoryError, FileExistsError) as error:
        raise LectureError(where=out, field=field, expected="a folder", found="a file") from error
    except OSError as error:
        found = from_os_error(error, out).found
        raise LectureError(where=out, field=field, expected=expected, found=found) from error


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _remove_abandoned(parent: Path, prefix: str) -> None:
    """Remove the private folders of processes that are no longer alive."""
    for folder in [path for path in parent.iterdir() if path.name.startswith(prefix)]:
        try:
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
        except OSError:  # its process was killed before it could lock it
            with contextlib.suppress(OSError):
                if folder.is_dir() and time.time() - folder.stat().st_mtime > _SECONDS_TO_LOCK:
                    shutil.rmtree(folder, ignore_errors=True)
            continue
        if _try_lock(lock):
            _remove(folder)
        os.close(lock)


def _remove(folder: Path) -> None:
    """Remove a private folder, its lock last: killed meanwhile, it leaves one that is abandoned,
    not one that looks new."""
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            elif path.name != _LOCK:
                path.unlink()
    shutil.rmtree(folder, ignore_errors=True)


def check_free_space(
    needed: Mapping[Path, float], where: Path | None = None, field: str = "disk"
) -> None:
    """Raise LectureError where that plainly does not fit. ``needed``: bytes by folder."""
    disks: dict[int, list[Path]] = {}
    for folder in needed:
        disks.setdefault(folder.stat().st_dev, []).append(folder)
    for folders in disks.values():
        size = sum(needed[folder] for folder in folders)
        free = shutil.disk_usage(folders[0]).free
        if free < size:
            expected, found = f"about {math.ceil(size / _MB)} MB free", f"{free / _MB:.0f} MB"
            place = where or folders[0]
            raise LectureError(where=place, field=field, expected=expected, found=found)
