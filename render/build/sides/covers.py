"""Covers: which are up to date, and the drawing of those that are not."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import shutil
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from engine.errors import LectureError, from_os_error, one_line
from render.base.helpers import share_out
from render.base.stamps import holds, read_json, stamp, write_json
from render.base.workspace import STATE, Workspace
from render.build.order import Order
from render.build.records import read_record
from render.build.task import Failure
from render.media.sidefiles import SideFiles
from scenes.registry import SceneInfo


@dataclass(frozen=True)
class Drawing:
    """A cover to be drawn in another process."""

    scene: Any
    settings: Any
    path: Path


class Covers:
    """Those of the videos of an order. A cover belongs to the record of its video: it is made of
    what the video is made of."""

    def __init__(self, order: Order) -> None:
        self._order = order

    def is_stale(self, scene: SceneInfo) -> bool:
        """Whether a scene's video has no cover, or that of another video."""
        return self._is_stale(self._order.video_name(scene), scene)

    def film_is_stale(self) -> bool:
        """The same for the film, which has the cover of its first scene."""
        return self._is_stale(self._order.film_name, self._order.everything[0])

    def put(self, space: Workspace, drawn: Path, name: str, scene: SceneInfo) -> None:
        """The cover ``drawn`` for the video ``name``, whose record is in place, or whose first
        scene's is. Raises LectureError."""
        side = self._side(name)
        stamped = stamp(drawn)
        space.publish(drawn, side.cover.name, self._order.out)
        write_json(self._kept(name), {"key": self._key(scene), "file": stamped})

    def put_film(self, space: Workspace) -> None:
        """A copy of the first scene's cover for the film. Raises LectureError."""
        scene = self._order.everything[0]
        source = self._side(self._order.video_name(scene)).cover
        copy = space.fresh_folder("cover") / "cover.png"
        try:
            shutil.copyfile(source, copy)
        except OSError as error:
            raise from_os_error(error, source) from error
        self.put(space, copy, self._order.film_name, scene)

    def draw(self, space: Workspace, scenes: Sequence[SceneInfo]) -> Iterator[Failure | None]:
        """Draw and put in place the covers of videos that are up to date; yields what came of
        each, in order."""
        folder = space.fresh_folder("covers")
        drawings = [
            Drawing(scene, self._order.settings, folder / f"{index}.png")
            for index, scene in enumerate(scenes)
        ]
        done = share_out(attempt, drawings, self._order.jobs)
        for scene, drawing, failure in zip(scenes, drawings, done, strict=True):
            if failure is None:
                try:
                    self.put(space, drawing.path, self._order.video_name(scene), scene)
                except LectureError as error:
                    failure = Failure(str(error), mistake=True)
            yield failure

    def _is_stale(self, name: str, scene: SceneInfo) -> bool:
        kept, cover = read_json(self._kept(name)), self._side(name).cover
        said = kept.get("file")
        there = isinstance(said, dict) and "sha256" in said and holds(cover, said)
        return not there or kept.get("key") != self._key(scene)

    def _key(self, scene: SceneInfo) -> str:
        """Stands for what a scene's picture is made of, in whatever quality, and for the design."""
        made = read_record(self._order.out, self._order.video_name(scene)).get("made") or {}
        picture = {**made.get("picture", {}), "quality": "", "renderer": ""}
        said = [picture, *(made.get(kind) for kind in ("values", "texts", "code")), design()]
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]

    def _side(self, name: str) -> SideFiles:
        return SideFiles(self._order.out / name)

    def _kept(self, name: str) -> Path:
        return self._order.out / STATE / f"{Path(name).stem}.cover.json"


@cache
def design() -> str:
    """A digest of how covers are drawn."""
    spec = importlib.util.find_spec("scenes.cover")
    assert spec is not None and spec.origin is not None
    return hashlib.sha256(Path(spec.origin).read_bytes()).hexdigest()[:16]


def attempt(drawing: Drawing) -> Failure | None:
    """Draw one; why it could not be done is returned, so that others go on."""
    from scenes import cover

    try:
        cover.draw(drawing.scene, drawing.settings, drawing.path)
    except LectureError as error:
        return Failure(str(error), mistake=True)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        said = f"{type(error).__name__}: {error} ({where.filename}:{where.lineno})"
        return Failure(one_line(said), mistake=False)
    return None
