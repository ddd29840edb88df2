"""Is this file what course platforms take? Looked at with PyAV, not with the tool that wrote it.

:func:`check_video` raises a LectureError that names the first thing that is wrong. A video that
has not passed never gets its final name.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.video.stream import VideoStream

from engine.errors import LectureError
from render.media import boxes
from render.media.captions.check import caption_findings
from render.media.content import content_findings, same_packets
from render.media.expected import BT709, LIMITED, Expected, Finding
from render.media.metadata import LANGUAGE_CODES, Chapter
from render.media.quality import AUDIO_RATE, Quality


_LONGEST = 90  # characters of what was expected or found


def check_video(path: Path, expected: Expected, *, shown_as: str | None = None) -> None:
    """Raise LectureError for the first property of ``path`` that is not as it must be.

    ``shown_as``: the name for the message, where ``path`` is a temporary one.
    """
    _demand(_findings(path, expected), shown_as or path)


def check_captioned(
    path: Path, source: Path, expected: Expected, *, shown_as: str | None = None
) -> None:
    """As :func:`check_video`, for a copy with captions of a ``source`` that has passed it: its
    pictures and sound are not decoded again, but must be the same packets at the same times."""
    _demand(_head_findings(path, expected), shown_as or path)
    _demand(iter([Finding("pictures and sound as before", True, same_packets(path, source))]), path)


def _demand(findings: Iterator[Finding], where: str | Path) -> None:
    for finding in findings:
        if not finding.good:
            raise LectureError(
                where=where,
                field=finding.field,
                expected=_short(finding.expected),
                found=_short(finding.found),
            )


def _short(value: object) -> str:
    """For a line that is read by people: long lists lose their middle."""
    text = str(value)
    half = _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[:half]} … {text[-half:]}"


def read_origin(path: Path) -> tuple[str, int]:
    """A finished video's comment tag and its number of frames. Raises LectureError if it has none.

    Looks at the file's head only.
    """
    try:
        with av.open(str(path.absolute())) as container:
            frames = container.streams.video[0].frames
            return container.metadata["comment"], frames
    except (av.FFmpegError, OSError, LookupError) as error:
        raise LectureError(where=path, expected="a video of ours", found=str(error)) from error


def _findings(path: Path, expected: Expected) -> Iterator[Finding]:
    yield from _head_findings(path, expected)
    try:
        yield from content_findings(path, expected)
    except (av.FFmpegError, OSError) as error:
        yield Finding("file", "a readable MP4", str(error))


def _head_findings(path: Path, expected: Expected) -> Iterator[Finding]:
    try:
        yield from _file_findings(path)
        with av.open(str(path.absolute())) as container:
            yield from _stream_findings(container, expected)
            video, audio = container.streams.video[0], container.streams.audio[0]
            yield from _video_findings(video, expected.quality)
            yield from _audio_findings(audio)
            yield from _name_findings(container, expected)
            yield from _chapter_findings(container, expected)
        yield from caption_findings(path, expected)
    except (av.FFmpegError, OSError) as error:
        yield Finding("file", "a readable MP4", str(error))


def _file_findings(path: Path) -> Iterator[Finding]:
    names = [name for name in boxes.top_level(path) if name in ("ftyp", "moov", "mdat")]
    yield Finding("order of the file's boxes (faststart)", ["ftyp", "moov", "mdat"], names)
    yield Finding("edit lists", 0, boxes.edit_lists(path))


def _stream_findings(container: InputContainer, expected: Expected) -> Iterator[Finding]:
    kinds = [stream.type for stream in container.streams]
    wanted = ["video", "audio", *("subtitle" for _ in expected.captions)]
    wanted += ["data"] if expected.chapters else []
    yield Finding("container", True, "mp4" in container.format.name.split(","))
    yield Finding("streams", wanted, kinds)


def _video_findings(stream: VideoStream, quality: Quality) -> Iterator[Finding]:
    codec = stream.codec_context
    yield Finding("video codec", "h264", codec.name)
    yield Finding("H.264 profile", "High", stream.profile)
    yield Finding("pixel format", "yuv420p", codec.pix_fmt)
    yield Finding("width", quality.width, codec.width)
    yield Finding("height", quality.height, codec.height)
    yield Finding("frame rate", Fraction(quality.fps), stream.average_rate)
    yield Finding("pixel shape", Fraction(1), codec.sample_aspect_ratio or Fraction(1))
    yield Finding("colour primaries (1 is BT.709)", BT709, int(codec.color_primaries))
    yield Finding("colour transfer (1 is BT.709)", BT709, int(codec.color_trc))
    yield Finding("colour matrix (1 is BT.709)", BT709, int(codec.colorspace))
    yield Finding("colour range (1 is limited)", LIMITED, int(codec.color_range))


def _audio_findings(stream: AudioStream) -> Iterator[Finding]:
    codec = stream.codec_context
    yield Finding("audio codec", "aac", codec.name)
    yield Finding("audio profile", "LC", stream.profile)
    yield Finding("audio sample rate", AUDIO_RATE, codec.sample_rate)
    yield Finding("audio channels", "stereo", codec.layout.name)


def _name_findings(container: InputContainer, expected: Expected) -> Iterator[Finding]:
    code = LANGUAGE_CODES[expected.origin.language]
    yield Finding("title", _plain(expected.title), _plain(container.metadata.get("title", "")))
    yield Finding("comment", str(expected.origin), container.metadata.get("comment"))
    for stream in (container.streams.video[0], container.streams.audio[0]):
        yield Finding(f"{stream.type} language", code, stream.metadata.get("language"))


def _chapter_findings(container: InputContainer, expected: Expected) -> Iterator[Finding]:
    """How many chapters there are, then one after the other, so that the first wrong one is named."""
    found = [_as_chapter(entry, expected.quality.fps) for entry in container.chapters()]
    yield Finding("chapters", len(expected.chapters), len(found))
    for number, (wanted, given) in enumerate(zip(expected.chapters, found, strict=False), start=1):
        wanted = Chapter(_plain(wanted.title), wanted.start, wanted.end)
        yield Finding(f"chapter {number}", str(wanted), str(given))


def _as_chapter(entry: Any, fps: int) -> Chapter:
    base = Fraction(entry["time_base"])
    start, end = (round(entry[key] * base * fps) for key in ("start", "end"))
    return Chapter(_plain(entry["metadata"].get("title", "")), start, end)


def _plain(text: str) -> str:
    """As players show it: line ends alike, blanks at the ends left out."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").strip()
