"""Captions drawn into the pictures, on request: in the strip at the foot that every scene leaves
free. The scene itself is drawn as usual; its pictures are decoded and encoded once more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any

import av
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from render.base.project import font_file
from render.base.reads import Needs, Output, Reads, Spec, Tell
from render.media.pictures import PictureFile, failure_of, yuv_planes
from render.media.quality import Quality
from render.media.settling import tiles_changed
from render.media.timedtext import Track, joined

STRIP = 0.118  # of the picture's height, from its foot: below scenes.theme.CAPTION_ZONE
#: of the picture's height: the letters, from line to line, free below the last
_LETTERS, _PITCH, _MARGIN = 0.035, 0.046, 0.02
_INK, _OUTLINE, _GROUND = (232, 236, 241, 255), (14, 17, 22, 255), (14, 17, 22, 170)
_FACE = 2  # of the font collection: Simplified Chinese


def make(spec: Spec, needs: Needs, reads: Reads, into: Path, tell: Tell) -> Output:
    """``pictures``: those that are needed with the ``cues`` of a ``language`` drawn into them.

    Facts: those of the pictures, but for their cost; ``pictures``, a digest of the new packets.
    """
    quality, drawn, target = Quality(**spec["quality"]), needs["pictures"], into / "burned.mp4"
    track = joined([(0, needs["cues"].facts["cues"])], spec["language"], quality.fps)
    font = reads.uses(font_file())
    digest = burn(drawn.path("pictures"), target, quality, reads.threads, track, font)
    facts = {name: fact for name, fact in drawn.facts.items() if name != "cost"}
    return {"pictures": target, "facts": {**facts, "pictures": digest}}


def burn(
    video: Path, target: Path, quality: Quality, threads: int, track: Track, font: Path
) -> str:
    """Write ``target``: the pictures of ``video`` with the track on them, in the lecture's
    ``font``; returns the digest of its packets. Raises LectureError."""
    file, shown = PictureFile(target, quality), None
    before: tuple[Any, Any] = None, None  # the latest frame as it was drawn, what lies over it
    try:
        with av.open(str(video.absolute())) as container:
            container.streams.video[0].codec_context.thread_count = threads
            strips = _strips(track, quality, font)
            for frame, strip in zip(container.decode(video=0), strips, strict=False):
                drawn: Any = frame.to_ndarray()
                if strip is before[1] and np.array_equal(drawn, before[0]):
                    file.add(None, 1)
                    continue
                picture = drawn if strip is None else _laid_over(drawn.copy(), strip)
                file.add(picture, 1, None if shown is None else tiles_changed(shown, picture))
                before, shown = (drawn, strip), picture
        file.finish()
    except (OSError, av.FFmpegError) as error:
        file.abort()
        raise failure_of(target, error) from error
    return file.digest


def _laid_over(planes: Any, strip: tuple[Any, Any]) -> Any:
    """Lay a strip, its planes and its opacity (height, width), over the foot of a picture."""
    own, opacity = strip
    for whole, part in zip(_apart(planes), _apart(own), strict=True):
        step = opacity.shape[0] // part.shape[0]
        alpha, foot = opacity[::step, ::step], whole[-part.shape[0] :]
        foot[:] = (foot * (255 - alpha) + part * alpha + 127) // 255
    return planes


def _apart(planes: Any) -> tuple[Any, Any, Any]:
    """Brightness and the two colours, (height, width) and half of it."""
    height = planes.shape[0] * 2 // 3
    blue, red = planes[height:].reshape(2, height // 2, -1)
    return planes[:height], blue, red


def _strips(track: Track, quality: Quality, file: Path) -> Iterator[tuple[Any, Any] | None]:
    """What is laid over each frame, the same object as long as nothing changes."""
    font = ImageFont.truetype(str(file), round(_LETTERS * quality.height), index=_FACE)
    font.set_variation_by_axes([500])
    now = 0
    for cue in track.cues:
        yield from repeat(None, cue.start - now)
        strip = _drawn(cue.lines, font, quality)
        yield from repeat(
            (yuv_planes(strip), strip[:, :, 3].astype(np.uint16)), cue.end - cue.start
        )
        now = cue.end
    yield from repeat(None)


def _drawn(lines: Sequence[str], font: Any, quality: Quality) -> Any:
    """The lines, centred, on a dark ground that is as wide as they are: RGBA pixels."""
    height = int(STRIP * quality.height) // 2 * 2  # colours have half of the lines
    strip = Image.new("RGBA", (quality.width, height), (*_GROUND[:3], 0))
    draw = ImageDraw.Draw(strip)
    middle, pitch = quality.width / 2, _PITCH * quality.height
    top = height - _MARGIN * quality.height - pitch * len(lines)
    widest = max(draw.textlength(line, font=font) for line in lines) / 2 + pitch / 2
    ground = [middle - widest, top, middle + widest, top + pitch * len(lines)]
    draw.rounded_rectangle(ground, radius=pitch / 5, fill=_GROUND)
    stroke: dict[str, Any] = {"stroke_width": max(1, round(pitch / 18)), "stroke_fill": _OUTLINE}
    for index, line in enumerate(lines):
        place = middle, top + pitch * (index + 0.5)
        draw.text(place, line, font=font, anchor="mm", fill=_INK, **stroke)
    return np.asarray(strip)
