"""What is remembered of each rendered scene: its length, and when which beat is shown.

A record lies in the output folder's state folder. It foretells how long the next rendering will
take, carries the beats' clock for whoever captions the video, and says what the video was made
from and which files belong together, so that a video that is up to date is not rendered again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from render.base.stamps import read_json, write_json
from render.base.workspace import STATE
from render.build.task import Result
from render.media.quality import Quality

GUESSED_SECONDS = 45.0  # a scene never rendered before: the middle of what scenes last


def write_record(
    out: Path, name: str, fps: int, result: Result, described: dict[str, Any] | None = None
) -> None:
    """Remember ``result`` for the video ``name`` in ``out``; a full disk is no reason to fail.

    Written after the files that it is about are in place: until then, and if it never is, the
    files are not those of the old record, and the scene is rendered again.
    """
    write_json(path_of(out, name), {"fps": fps, **asdict(result), **(described or {})})


def read_record(out: Path, name: str) -> dict[str, Any]:
    """What is remembered of a video; empty where nothing is."""
    return read_json(path_of(out, name))


def expected_frames(name: str, quality: Quality, folders: Sequence[Path]) -> int:
    """Frames that a scene will have: its remembered length in any folder or quality, or a guess."""
    for folder in folders:
        try:
            record = read_record(folder, name)
            return max(1, int(record["frames"] / record["fps"] * quality.fps + 0.5))
        except (OSError, ValueError, TypeError, KeyError, ZeroDivisionError):
            continue
    return round(GUESSED_SECONDS * quality.fps)


def path_of(out: Path, name: str) -> Path:
    """The record of the video ``name`` in the folder ``out``."""
    return out / STATE / f"{Path(name).stem}.json"
