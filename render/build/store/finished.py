"""A finished scene, as a worker leaves it, as the store gives it back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from render.base.stamps import stamp
from render.build.incremental.made import key_of
from render.build.task import Result, Task

#: the kinds of files that belong to a record
_RECORDED = ("video", "numbers")


@dataclass(frozen=True)
class Finished:
    """A finished scene: what it was made from, what its worker reported, and its files by kind
    (``video``, ``numbers``, ``cover``; more kinds are kept as well). ``notes``: what else is
    remembered of the video, such as which captions are in it."""

    made: Mapping[str, Any]
    result: Result
    files: Mapping[str, Path]
    notes: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, task: Task, result: Result) -> Finished:
        """What a worker has left in its folder."""
        made = json.loads(task.made.read_text(encoding="utf-8"))
        files = {"video": task.video, "numbers": task.numbers, "cover": task.cover}
        return cls(made, result, {kind: path for kind, path in files.items() if path.is_file()})

    @property
    def key(self) -> str:
        return key_of(dict(self.made))

    def describe(self) -> dict[str, Any]:
        """For the record beside the video."""
        stamps = {kind: stamp(path) for kind, path in self.files.items() if kind in _RECORDED}
        return {"key": self.key, "made": self.made, "files": stamps, **self.notes}
