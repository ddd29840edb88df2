"""Whether what is to be rendered will find room on the disk."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from engine.errors import LectureError

_MB = 1_000_000
#: of finished video, at the least: what surely does not fit is refused before it starts
BYTES_PER_SECOND = {"draft": 30_000, "standard": 80_000, "high": 90_000, "4k": 300_000}


def check_free_space(needed: Mapping[Path, float]) -> None:
    """Raise LectureError where the videos plainly do not fit. ``needed``: bytes by folder."""
    disks: dict[int, list[Path]] = {}
    for out in needed:
        disks.setdefault(out.stat().st_dev, []).append(out)
    for folders in disks.values():
        size = sum(needed[out] for out in folders)
        free = shutil.disk_usage(folders[0]).free
        if free < size:
            raise LectureError(
                where=folders[0],
                field="disk",
                expected=f"about {size / _MB:.0f} MB free",
                found=f"{free / _MB:.0f} MB",
            )
