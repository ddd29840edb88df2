"""Captions drawn into the pictures, on request: in the strip at the foot that every scene leaves
free. The scene itself is drawn as ever; the strip is laid over it in one pass of encoding.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from render.media import ffmpeg
from render.media.captions.sentences import sentences
from render.media.captions.timing import cues
from render.media.captions.tracks import Track
from render.build.incremental.surroundings import font_file
from render.media.quality import Quality

STRIP = 0.118  # of the picture's height, from its foot: below scenes.theme.CAPTION_ZONE
#: of the picture's height: the letters, from line to line, free below the last
_LETTERS, _PITCH, _MARGIN = 0.035, 0.046, 0.02
_INK, _OUTLINE, _GROUND = (232, 236, 241, 255), (14, 17, 22, 255), (14, 17, 22, 170)
_FACE = 2  # of the font collection: Simplified Chinese


def track_of(slug: str, beats: Sequence[Mapping[str, Any]], language: str, fps: int) -> Track:
    """The captions of a scene that has been played. Raises LectureError."""
    return Track(language, tuple(cues(sentences(slug, beats, language), language, fps)), fps)


def burn(
    binary: str,
    video: Path,
    target: Path,
    quality: Quality,
    threads: int,
    track: Track,
    frames: int,
) -> Path:
    """Write ``target``: the pictures of ``video`` with the track on them. Raises LectureError."""
    height = _even(STRIP * quality.height)
    process = ffmpeg.encode_over(binary, video, target, quality, threads, height)
    try:
        with contextlib.suppress(BrokenPipeError):  # finish() tells why
            for strip, repeat in _strips(track, quality, height, frames):
                for _ in range(repeat):
                    process.stdin.write(strip)
            process.stdin.close()
    except BaseException:
        process.kill()
        raise
    process.finish(target)
    return target


def _strips(
    track: Track, quality: Quality, height: int, frames: int
) -> Iterator[tuple[bytes, int]]:
    """Strips in RGBA, each with the number of frames that it is shown."""
    font = ImageFont.truetype(str(font_file()), round(_LETTERS * quality.height), index=_FACE)
    font.set_variation_by_axes([500])
    empty = bytes(4 * quality.width * height)
    now = 0
    for cue in track.cues:
        start, end = min(cue.start, frames), min(cue.end, frames)
        yield empty, start - now
        yield _drawn(cue.lines, font, quality, height), end - start
        now = end
    yield empty, frames - now


def _drawn(lines: Sequence[str], font: Any, quality: Quality, height: int) -> bytes:
    """The lines, centred, on a dark ground that is as wide as they are."""
    strip = Image.new("RGBA", (quality.width, height))
    draw = ImageDraw.Draw(strip)
    middle, pitch = quality.width / 2, _PITCH * quality.height
    top = height - _MARGIN * quality.height - pitch * len(lines)
    widest = max(draw.textlength(line, font=font) for line in lines) / 2 + pitch / 2
    ground = [middle - widest, top, middle + widest, top + pitch * len(lines)]
    draw.rounded_rectangle(ground, radius=pitch / 5, fill=_GROUND)
    for index, line in enumerate(lines):
        place = middle, top + pitch * (index + 0.5)
        draw.text(
            place,
            line,
            font=font,
            anchor="mm",
            fill=_INK,
            stroke_width=max(1, round(pitch / 18)),
            stroke_fill=_OUTLINE,
        )
    return strip.tobytes()


def _even(number: float) -> int:
    """4:2:0 pictures are laid over one another in steps of two lines."""
    return int(number) // 2 * 2
