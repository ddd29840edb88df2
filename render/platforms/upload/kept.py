"""What is remembered of uploads: a small file beside the published folder.

It outlives the folder, which each publication replaces, and is what makes a second upload replace
the first. Sessions in it let whoever has them send bytes, so only its owner can read it.
"""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from render.base import files


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
        text = json.dumps(self._notes, ensure_ascii=False, indent=1)
        files.write(self.path, text, durable=True, mode=0o600)


def alone(folder: Path) -> AbstractContextManager[None]:
    """Raises LectureError where the folder is being uploaded by another process already."""
    return files.alone(folder, "one upload at a time", "another one under way")
