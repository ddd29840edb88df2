"""What is remembered of each rendered scene: its length, and when which beat is shown.

A record lies in the output folder's state folder. It foretells how long the next rendering will
take, and carries the beats' clock for whoever captions the video.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from render.quality import Quality
from render.task import Result, Task
from render.workspace import STATE

GUESSED_SECONDS = 45.0  # a scene never rendered before: the middle of what scenes last


def write_record(out: Path, name: str, task: Task, result: Result) -> None:
    """Remember ``result`` for the video ``name`` in ``out``; a full disk is no reason to fail."""
    record = {"origin": asdict(task.origin), "fps": task.quality.fps, **asdict(result)}
    path = _path(out, name)
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        fresh.write_text(json.dumps(record, ensure_ascii=False, indent=1), encoding="utf-8")
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)


def expected_frames(name: str, quality: Quality, folders: Sequence[Path]) -> int:
    """Frames that a scene will have: its remembered length in any folder or quality, or a guess."""
    for folder in folders:
        try:
            record = json.loads(_path(folder, name).read_text(encoding="utf-8"))
            return max(1, int(record["frames"] / record["fps"] * quality.fps + 0.5))
        except (OSError, ValueError, TypeError, KeyError, ZeroDivisionError):
            continue
    return round(GUESSED_SECONDS * quality.fps)


def _path(out: Path, name: str) -> Path:
    return out / STATE / f"{Path(name).stem}.json"
