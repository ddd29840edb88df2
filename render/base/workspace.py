"""The output folder, and a private folder inside it for each run.

Everything unfinished lives in ``OUT/.render/run-*``: on the same file system as the finished
videos, so that a rename puts a video in place at once or not at all. A run holds a lock on its
folder for as long as it or any of its workers lives; folders whose lock is free were left by a
killed run, and the next run removes them. Runs on the same folder do not disturb each other.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from engine.errors import LectureError, from_os_error

STATE = ".render"
_LOCK = "lock"


class Workspace:
    """``with Workspace(out) as space``: makes and locks a private folder, removes it at the end.

    ``out`` is made if need be. Raises LectureError where it cannot be written to.
    """

    def __init__(self, out: Path) -> None:
        self.out = out
        self.state = out / STATE
        try:
            self.state.mkdir(parents=True, exist_ok=True)
            with _locked(self.state / _LOCK):
                _remove_abandoned(self.state)
                self.folder = Path(tempfile.mkdtemp(prefix="run-", dir=self.state))
                self._lock = _open_lock(self.folder / _LOCK)
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (NotADirectoryError, FileExistsError) as error:
            raise LectureError(
                where=out, field="output folder", expected="a folder", found="a file"
            ) from error
        except OSError as error:
            raise _told(error, out) from error

    @property
    def lock(self) -> int:
        """The descriptor of the lock; a worker that inherits it keeps the folder from removal."""
        return self._lock

    def task_folder(self, name: str) -> Path:
        """A new private folder for one task."""
        folder = self.folder / name
        folder.mkdir()
        return folder

    def fresh_folder(self, name: str) -> Path:
        """A new private folder, with a name of its own that begins with ``name``."""
        return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.folder))

    def publish(self, finished: Path, name: str, out: Path | None = None) -> Path:
        """Move a finished file to its final name in the output folder (or the folder ``out``),
        replacing what was there."""
        final = (out or self.out) / name
        try:
            if finished.stat().st_dev != final.parent.stat().st_dev:
                finished = _brought_over(finished, final)
            with finished.open("rb") as file:
                os.fsync(file.fileno())
            finished.replace(final)
        except OSError as error:
            raise from_os_error(error, final) from error
        return final

    def __enter__(self) -> Workspace:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self._lock)
        with contextlib.suppress(OSError), _locked(self.state / _LOCK):
            _remove_abandoned(self.state)  # whose last worker may have ended meanwhile


def _brought_over(finished: Path, final: Path) -> Path:
    """A copy on the file system of ``final``, out of sight."""
    state = final.parent / STATE
    state.mkdir(exist_ok=True)
    copy = state / f"{final.name}.{os.getpid()}"
    try:
        shutil.copy2(finished, copy)
    except OSError:
        copy.unlink(missing_ok=True)
        raise
    return copy


def make_folder(path: Path) -> None:
    """Make a folder for results where there is none. Raises LectureError where that cannot be, or
    nothing can be written in it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except (NotADirectoryError, FileExistsError) as error:
        raise LectureError(
            where=path, field="output folder", expected="a folder", found="a file"
        ) from error
    except OSError as error:
        raise _told(error, path) from error


def _told(error: OSError, out: Path) -> LectureError:
    told = from_os_error(error, out)
    return LectureError(
        where=out, field="output folder", expected="one that can be written to", found=told.found
    )


def _open_lock(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock at ``path`` for a moment, waiting for it."""
    descriptor = _open_lock(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _remove_abandoned(state: Path) -> None:
    """Remove the folders of runs that are no longer alive."""
    for folder in state.glob("run-*"):
        try:
            descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)  # killed before it could lock
            continue
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)
