"""Captions into videos, and side files beside them, while a run has its private folder."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from render.base.stamps import sha256, stamp, write_json
from render.base.workspace import Workspace
from render.build.order import Order
from render.build.records import path_of, read_record
from render.build.sides.keeper import Keeper, digest_of
from render.documents.story import Story
from render.media import check
from render.media.captions.tracks import embed
from render.media.expected import Expected
from render.media.metadata import LECTURE_TITLES, Origin
from scenes.registry import SceneInfo


class Making:
    """For the videos of one order."""

    def __init__(self, order: Order, keeper: Keeper, space: Workspace, binary: str) -> None:
        self._order = order
        self._keeper = keeper
        self._space = space
        self._binary = binary

    def caption(self, video: Path, story: Story, origin: Origin, title: str) -> dict[str, Any]:
        """Put the captions into a finished ``video`` in a private folder. Returns what is to be
        remembered of it. Raises LectureError; the video is then as it was."""
        before = sha256(video)
        captions = story.captions()
        target = video.with_name(f"captioned_{video.name}")
        embed(self._binary, video, target, captions)
        expected = Expected(
            self._order.quality,
            sum(part.frames for part in story.told),
            title,
            origin,
            story.chapters(story.language),
            captions,
        )
        check.check_captioned(target, video, expected, shown_as=video.name)
        target.replace(video)
        return {"captions": digest_of(captions), "pictures": before}

    def write(self, name: str, story: Story) -> None:
        """Everything beside the video ``name``. Raises LectureError."""
        self._keeper.write(name, story, story.captions())

    def refresh_scene(self, scene: SceneInfo) -> None:
        """Captions and side files of a scene whose video is up to date. Raises LectureError."""
        name, title = self._order.video_name(scene), self._order.title(scene)
        self._refresh(name, self._keeper.story(scene), title, "video")

    def refresh_film(self) -> None:
        """The same for the film."""
        title = LECTURE_TITLES[self._order.language]
        self._refresh(self._order.film_name, self._keeper.film_story(), title, "film")

    def _refresh(self, name: str, story: Story, title: str, kind: str) -> None:
        order, record = self._order, read_record(self._order.out, name)
        if record.get("captions") != digest_of(story.captions()):
            folder = self._space.fresh_folder("captions")
            video = folder / "video.mp4"
            video.symlink_to(order.out / name)
            origin = Origin(order.language, order.quality.name, record["key"])
            remembered = {**self.caption(video, story, origin, title), **_pictures(record)}
            record["files"][kind] = stamp(video)
            self._space.publish(video, name, order.out)
            write_json(path_of(order.out, name), {**record, **remembered})
            shutil.rmtree(folder, ignore_errors=True)
        self.write(name, story)


def _pictures(record: dict[str, Any]) -> dict[str, Any]:
    return {"pictures": record["pictures"]} if "pictures" in record else {}
