"""A published folder, read back from its manifest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import LectureError
from render.platforms.folder import FORM, MANIFEST


@dataclass(frozen=True)
class Video:
    """A video to upload and what goes with it; ``captions`` by language."""

    path: Path
    size: int
    sha256: str
    title: str
    description: str
    tags: tuple[str, ...]
    cover: Path
    captions: Mapping[str, Path]

    @property
    def stem(self) -> str:
        return self.path.stem


@dataclass(frozen=True)
class Published:
    """A folder that ``./render.sh publish`` has made for ``platform``; ``item`` is what it is
    called wherever it is uploaded to."""

    folder: Path
    platform: str
    item: str
    language: str
    videos: tuple[Video, ...]


def read(folder: Path, platform: str) -> Published:
    """Raises LectureError for a folder that was not published, was published for another
    platform, or has lost files since."""
    path = folder / MANIFEST
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        if said["form"] != FORM:
            raise ValueError(f"form {said['form']}")
        videos = tuple(_video(folder, entry) for entry in said["pieces"])
        published = Published(folder, said["platform"], said["item"], said["language"], videos)
    except FileNotFoundError as error:
        raise LectureError(
            where=folder,
            expected=f"a folder made by ./render.sh publish --for {platform}",
            found=f"no {MANIFEST} in it",
        ) from error
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise LectureError(
            where=path, expected="what ./render.sh publish writes", found=str(error)
        ) from error
    if published.platform != platform:
        raise LectureError(
            where=folder,
            expected=f"a folder published for {platform}",
            found=f"one for {published.platform}",
        )
    for video in videos:
        _complete(video)
    return published


def _video(folder: Path, entry: Mapping[str, Any]) -> Video:
    def file(name: str) -> Path:
        if Path(name).name != name:
            raise ValueError(f"{name!r} is not a file name")
        return folder / name

    return Video(
        path=file(entry["video"]),
        size=int(entry["size"]),
        sha256=str(entry["sha256"]),
        title=str(entry["title"]),
        description=str(entry["description"]),
        tags=tuple(map(str, entry["tags"])),
        cover=file(entry["cover"]),
        captions={str(lang): file(name) for lang, name in entry["captions"].items()},
    )


def _complete(video: Video) -> None:
    for path in (video.path, video.cover, *video.captions.values()):
        if not path.is_file():
            raise LectureError(where=path, expected="a file (publish again)", found="nothing")
    size = video.path.stat().st_size
    if size != video.size:
        raise LectureError(
            where=video.path,
            field="size",
            expected=f"{video.size} bytes, as published (publish again)",
            found=f"{size}",
        )


def find(root: Path, platform: str) -> Path:
    """The folder published for ``platform`` under the output folder ``root``, where there is just
    one. Raises LectureError otherwise."""
    found = sorted(path.parent for path in root.glob(f"*/publish/{platform}_*/{MANIFEST}"))
    if len(found) == 1:
        return found[0]
    raise LectureError(
        field="folder",
        expected="the published folder to be named"
        if found
        else f"one made by ./render.sh publish --for {platform}",
        found=", ".join(str(path) for path in found) or "none",
    )
