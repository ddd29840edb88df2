"""Folders and files that are whole or not there: made aside, then renamed.

What is unfinished lies beside its place under a name that starts with a dot, and is locked for as
long as its process lives; what a killed process left is removed by the next one.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from engine.errors import LectureError, from_os_error
from render.base.workspace import make_folder

_LOCK = ".lock"


@contextlib.contextmanager
def folder_aside(target: Path) -> Iterator[Path]:
    """An empty private folder beside ``target``, on the same disk; gone at the end.

    Raises LectureError where nothing can be written, and for a full disk inside the ``with``.
    """
    make_folder(target.parent)
    prefix = f".{target.name}."
    _remove_abandoned(target.parent, prefix)
    private = Path(tempfile.mkdtemp(prefix=prefix, dir=target.parent))
    lock = os.open(private / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        inside = private / "new"
        inside.mkdir()
        yield inside
    except OSError as error:
        raise from_os_error(error, error.filename or target) from error
    finally:
        shutil.rmtree(private, ignore_errors=True)
        os.close(lock)


def put_folder(finished: Path, target: Path) -> None:
    """Rename a folder of :func:`folder_aside` to its place; what was there goes."""
    old = finished.parent / "old"
    with contextlib.suppress(FileNotFoundError):
        target.rename(old)
    try:
        finished.rename(target)
    except BaseException:
        with contextlib.suppress(OSError):
            old.rename(target)
        raise


def put_file(finished: Path, target: Path) -> None:
    """Rename a file to its place, when all of it is on the disk."""
    with finished.open("rb") as file:
        os.fsync(file.fileno())
    finished.replace(target)


def bring(source: Path, target: Path) -> None:
    """``target`` becomes the same file as ``source``: a second name for it where the file system
    has such a thing, so it takes no room; else a copy. Videos are replaced by renaming, never
    written to, so a second name stays what it was."""
    try:
        os.link(source, target)
        return
    except FileNotFoundError:
        raise
    except OSError:
        pass
    size, free = source.stat().st_size, shutil.disk_usage(target.parent).free
    if size > free:
        raise LectureError(
            where=source,
            field="room for a copy",
            expected=f"{size / 1e6:.0f} MB free on the disk that it goes to",
            found=f"{free / 1e6:.0f} MB",
        )
    shutil.copyfile(source, target)


def _remove_abandoned(folder: Path, prefix: str) -> None:
    """Remove what processes that are no longer alive left unfinished."""
    for private in folder.iterdir():
        if not private.name.startswith(prefix):
            continue
        try:
            lock = os.open(private / _LOCK, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            continue
        with contextlib.suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(private, ignore_errors=True)
        os.close(lock)
