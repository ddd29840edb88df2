"""Captions drawn into the pictures, on request: in the strip at the foot that every scene leaves
free. The scene itself is drawn as usual; the strip is laid over it in one pass of encoding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, repeat, starmap
from pathlib import Path
from typing import Any

import ffmpeg
from PIL import Image, ImageDraw, ImageFont

from render.base.project import font_file
from render.base.reads import Needs, Output, Reads, Spec, Tell
from render.media.ffmpeg import find, link, named, write
from render.media.quality import Quality
from render.media.timedtext import Track, joined

STRIP = 0.118  # of the picture's height, from its foot: below scenes.theme.CAPTION_ZONE
#: of the picture's height: the letters, from line to line, free below the last
_LETTERS, _PITCH, _MARGIN = 0.035, 0.046, 0.02
_INK, _OUTLINE, _GROUND = (232, 236, 241, 255), (14, 17, 22, 255), (14, 17, 22, 170)
_FACE = 2  # of the font collection: Simplified Chinese
#: the conversion of the whole project: full-range RGB in, BT.709 limited-range 4:2:0 out
_TO_BT709 = {
    "in_range": "full",
    "out_range": "tv",
    "out_color_matrix": "bt709",
    "flags": "accurate_rnd+full_chroma_int+bicubic",
}
_TAGS = {"color_primaries": "bt709", "color_trc": "bt709", "colorspace": "bt709"}
#: a second encoding, with closed groups, and every tag says BT.709
_SETTINGS = {
    "format": "mp4",
    "vcodec": "libx264",
    "preset": "veryfast",
    "crf": 18,
    "profile:v": "high",
    "pix_fmt": "yuv420p",
    "x264-params": "open-gop=0:scenecut=0",
    "bf": 2,
    "color_range": "tv",
    "chroma_sample_location": "left",
    **_TAGS,
}


def make(spec: Spec, needs: Needs, reads: Reads, into: Path, tell: Tell) -> Output:
    """``pictures``: those that are needed with the ``cues`` of a ``language`` drawn into them.

    Facts: those of the pictures, but for the digest of what the encoder put out.
    """
    quality, drawn = Quality(**spec["quality"]), needs["pictures"]
    source = link(drawn.path("pictures"), into / "drawn.mp4")
    track = joined([(0, needs["cues"].facts["cues"])], spec["language"], quality.fps)
    frames, font = int(drawn.facts["frames"]), reads.uses(font_file())
    target = burn(find(), source, into / "burned.mp4", quality, reads.threads, track, frames, font)
    facts = {name: fact for name, fact in drawn.facts.items() if name not in ("pictures", "cost")}
    return {"pictures": target, "facts": facts}


def burn(
    binary: str,
    video: Path,
    target: Path,
    quality: Quality,
    threads: int,
    track: Track,
    frames: int,
    font: Path,
) -> Path:
    """Write ``target``: the pictures of ``video``, in the same folder, with the track on them, in
    the lecture's ``font``. Raises LectureError."""
    height = int(STRIP * quality.height) // 2 * 2  # 4:2:0 is laid over in steps of two lines
    size = f"{quality.width}x{height}"
    strip = ffmpeg.input("pipe:", f="rawvideo", pix_fmt="rgba", s=size, framerate=quality.fps)
    strip = strip.filter("scale", **_TO_BT709).filter("format", "yuva420p")
    picture = ffmpeg.input(named(video))["v"].overlay(strip, x=0, y=quality.height - height)
    picture = picture.filter("format", "yuv420p").filter("setparams", range="tv", **_TAGS)
    settings = {**_SETTINGS, "g": quality.keyframe_interval, "threads": threads}
    strips = _strips(track, quality, height, frames, font)
    graph = picture.output(named(target), **settings)
    write(binary, graph, target, chain.from_iterable(starmap(repeat, strips)))
    return target


def _strips(
    track: Track, quality: Quality, height: int, frames: int, file: Path
) -> Iterator[tuple[bytes, int]]:
    """Strips in RGBA, each with the number of frames that it is shown."""
    font = ImageFont.truetype(str(file), round(_LETTERS * quality.height), index=_FACE)
    font.set_variation_by_axes([500])
    empty = bytes(4 * quality.width * height)
    now = 0
    for cue in track.cues:
        start, end = min(cue.start, frames), min(cue.end, frames)
        yield empty, max(0, start - now)
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
    stroke: dict[str, Any] = {"stroke_width": max(1, round(pitch / 18)), "stroke_fill": _OUTLINE}
    for index, line in enumerate(lines):
        place = middle, top + pitch * (index + 0.5)
        draw.text(place, line, font=font, anchor="mm", fill=_INK, **stroke)
    return strip.tobytes()
