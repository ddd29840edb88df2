"""Whether a file is still the one it was: by size and time, or failing that by its contents."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def sha256(path: Path) -> str:
    """The digest of a file's contents."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def stamp(path: Path) -> dict[str, Any]:
    """Size, time and digest of a file; they stay what they are when it is renamed."""
    status = path.stat()
    return {"size": status.st_size, "mtime_ns": status.st_mtime_ns, "sha256": sha256(path)}


def holds(path: Path, said: Mapping[str, Any]) -> bool:
    """Whether ``path`` is the file that was stamped. Contents are read only where its time is
    another, as in a copied folder."""
    try:
        status = path.stat()
        if status.st_size != said["size"]:
            return False
        return bool(status.st_mtime_ns == said["mtime_ns"] or sha256(path) == said["sha256"])
    except OSError:
        return False


def write_json(path: Path, document: Any) -> None:
    """Write a file of state, whole or not at all; a full disk is no reason to fail."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        fresh.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)


def read_json(path: Path) -> dict[str, Any]:
    """A file of state; empty where there is none that can be read."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
