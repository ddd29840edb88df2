"""From encoded pictures to a video for upload: sound, names, chapters, and the join of many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from render.media import ffmpeg
from render.media.metadata import LANGUAGE_CODES, Chapter, Origin, write_metadata
from render.media.quality import Quality


@dataclass(frozen=True)
class Part:
    """A video whose pictures go into another: the file, its length in frames, its title."""

    video: Path
    frames: int
    title: str


def assemble(
    binary: str,
    parts: Sequence[Part],
    target: Path,
    *,
    title: str,
    origin: Origin,
    quality: Quality,
    with_chapters: bool,
    sound: Path | None = None,
) -> tuple[Chapter, ...]:
    """Write ``target`` from the pictures of ``parts``, copied, with one sound track.

    The track is ``sound``, a WAV file beside ``target`` of exactly the pictures' length, or
    silence. It is encoded anew over the whole length, so it cannot drift from the pictures where
    parts meet. Works in the folder of ``target``, which must be private. Returns the chapters.
    """
    folder = target.parent
    chapters = chapters_of(parts) if with_chapters else ()
    metadata = folder / f"{target.stem}.ffmetadata"
    write_metadata(metadata, title=title, comment=str(origin), fps=quality.fps, chapters=chapters)
    listing = folder / f"{target.stem}.ffconcat"
    listing.write_text(_listing(folder, target.stem, parts, quality.fps), encoding="utf-8")
    frames = sum(part.frames for part in parts)
    ffmpeg.mux(
        binary,
        listing,
        metadata,
        target,
        samples=frames * quality.samples_per_frame,
        language=LANGUAGE_CODES[origin.language],
        sound=sound,
    )
    return chapters


def chapters_of(parts: Sequence[Part]) -> tuple[Chapter, ...]:
    """A chapter per part, end to end from the first frame."""
    chapters: list[Chapter] = []
    start = 0
    for part in parts:
        chapters.append(Chapter(part.title, start, start + part.frames))
        start += part.frames
    return tuple(chapters)


def _listing(folder: Path, stem: str, parts: Sequence[Part], fps: int) -> str:
    """The concat script. Parts are reached by links with plain names, so no name needs quoting."""
    lines = ["ffconcat version 1.0"]
    for index, part in enumerate(parts):
        link = folder / f"{stem}_part{index:03d}.mp4"
        link.unlink(missing_ok=True)
        link.symlink_to(part.video.absolute())
        lines += [f"file {link.name}", f"duration {part.frames / fps:.6f}"]
    return "\n".join(lines) + "\n"
