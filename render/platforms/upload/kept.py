"""What is remembered of uploads: a small file beside the published folder.

It outlives the folder, which each publication replaces, and is what makes a second upload replace
the first. Sessions in it let whoever has them send bytes, so only its owner can read it.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.errors import LectureError, from_os_error


class Kept:
    """Notes by account and video: ``kept.of(account, stem)`` is a dict, ``kept.put`` writes it.

    An unreadable file counts as none: everything is then found again on the platform itself.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder.with_name(f"{folder.name}.uploads.json")
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            found = {}
        self._notes: dict[str, dict[str, dict[str, Any]]] = found if isinstance(found, dict) else {}

    def of(self, account: str, stem: str) -> dict[str, Any]:
        """A copy of what is remembered; empty where nothing is."""
        notes = self._notes.get(account, {})
        found = notes.get(stem, {}) if isinstance(notes, dict) else {}
        return dict(found) if isinstance(found, dict) else {}

    def put(self, account: str, stem: str, note: dict[str, Any]) -> None:
        """Remember; on the disk before it returns. Raises LectureError where that fails."""
        self._notes.setdefault(account, {})[stem] = dict(note)
        fresh = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(self._notes, file, ensure_ascii=False, indent=1)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self.path)
        except OSError as error:
            fresh.unlink(missing_ok=True)
            raise from_os_error(error, self.path) from error


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Raises LectureError where the folder is being uploaded by another process already."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise LectureError(
            where=folder, expected="one upload at a time", found="another one under way"
        ) from error
    finally:
        os.close(descriptor)
