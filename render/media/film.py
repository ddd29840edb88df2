"""The whole lecture as one film: all scene videos end to end, a chapter for each."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import LectureError
from render.media import check
from render.media.captions.tracks import Track, embed
from render.media.content import pictures_of
from render.media.expected import Expected
from render.media.finish import Part, assemble
from render.media.metadata import LECTURE_TITLES, Origin
from render.media.quality import Quality
from render.voice.track import Sound, write_track
from render.base.workspace import Workspace


@dataclass(frozen=True)
class SceneVideo:
    """A scene's video by its name in the output folder, its title, and what its comment says."""

    name: str
    title: str
    origin: Origin


def snapshot(
    space: Workspace, scenes: Sequence[SceneVideo], out: Path | None = None
) -> list[Part] | str:
    """The scenes' videos as they are now, safe from other runs; or why they make no film.

    ``out``: where they are, if not in the folder of ``space``.
    """
    folder = space.fresh_folder("film")
    parts: list[Part] = []
    for scene in scenes:
        copy = folder / scene.name
        try:
            _keep((out or space.out) / scene.name, copy)
            found, frames = check.read_origin(copy)
        except (OSError, LectureError):
            return f"{scene.name} is not there yet"
        if found != str(scene.origin):
            return f"{scene.name} has just become another one"
        parts.append(Part(copy, frames, scene.title))
    return parts


def join(
    name: str,
    parts: Sequence[Part],
    origin: Origin,
    quality: Quality,
    binary: str,
    captions: Sequence[Track] = (),
    sounds: Sequence[Sound] | None = None,
) -> Path:
    """Write and check the film ``name``; return where it is, in a private folder.

    ``sounds``: what is heard, by the frames of the film; None for silence.
    """
    target = parts[0].video.parent / name
    frames = sum(part.frames for part in parts)
    track = None
    if sounds is not None:
        track = write_track(target.with_suffix(".wav"), sounds, frames, quality.samples_per_frame)
    title = LECTURE_TITLES[origin.language]
    chapters = assemble(
        binary,
        parts,
        target,
        title=title,
        origin=origin,
        quality=quality,
        with_chapters=True,
        sound=track,
    )
    if captions:
        bare = target.replace(target.with_name(f"bare_{name}"))
        embed(binary, bare, target, captions)
    pictures = pictures_of(part.video for part in parts)
    expected = Expected(quality, frames, title, origin, chapters, tuple(captions), pictures)
    check.check_video(target, expected, shown_as=name)
    return target


def _keep(video: Path, copy: Path) -> None:
    """A second name for the same file; a copy where the file system has no such thing."""
    try:
        os.link(video, copy)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copyfile(video, copy)
