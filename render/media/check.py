"""Is this file what course platforms take? Looked at with PyAV, not with the tool that wrote it.

:func:`check_video` raises a LectureError that names the first thing that is wrong. A video that
has not passed never gets its final name. Where the digest of the encoder's packets is known, the
file's must be the same, and of the pictures only the keyframes are decoded; of a film only the
first, as its parts have been checked before. Else everything is decoded.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import av
from av.container import InputContainer
from av.video.stream import VideoStream

from engine.errors import LectureError, shortened
from render.base.reads import Json, Needs, Spec
from render.media import mp4
from render.media.mp4 import LANGUAGE_CODES, Chapter
from render.media.mux import Video, planned
from render.media.quality import AUDIO_RATE, Quality
from render.media.stills import is_idr, packet_units, picture_bytes

_BT709 = 1  # its number as primaries, transfer and matrix
_LIMITED = 1  # "tv" range
_LONGEST = 90  # characters of what was expected or found

#: one property: its name, what it must be, what it is
Finding = tuple[str, object, object]


def check(spec: Spec, needs: Needs, files: Mapping[str, Path], facts: Mapping[str, Json]) -> None:
    """Check what ``render.media.mux.make`` has made of ``spec`` and ``needs``, or has made once and
    a cache has kept. Raises LectureError, also where a part has become another video meanwhile."""
    expected, parts = planned(spec, needs, facts["key"])
    for slug, part in zip(spec["parts"], parts, strict=True):
        if pictures_of([part.video]) != needs[f"pictures {slug}"].facts["pictures"]:
            expect = "the pictures that were drawn"
            raise LectureError(where=slug, expected=expect, found="those of another video")
    pictures = pictures_of(part.video for part in parts)
    shown_as = spec["parts"][0] if len(parts) == 1 else "the film"
    check_video(files["video"], replace(expected, pictures=pictures), shown_as=shown_as)


def check_pictures(
    spec: Spec, needs: Needs, files: Mapping[str, Path], facts: Mapping[str, Json]
) -> None:
    """Check pictures of a scene, as they were drawn or as a cache has kept them: whether they are
    those of the record, without decoding them. Raises LectureError."""
    path, digest = files["pictures"], pictures_of([files["pictures"]])
    with _opened(path) as container:
        stream = container.streams.video[0]
        findings = [*_video_findings(stream, Quality(**spec["quality"]))]
        findings += [("frames", facts["frames"], stream.frames)]
        findings += [("pictures as they were encoded", facts["pictures"], digest)]
    _refuse(findings, spec["slug"])


def check_video(path: Path, expected: Video, *, shown_as: str | None = None) -> None:
    """Raise LectureError for the first property of ``path`` that is not as it must be.

    ``shown_as``: the name for the message, where ``path`` is a temporary one.
    """
    _refuse(_findings(path, expected), shown_as or path)


def pictures_of(paths: Iterable[Path]) -> str | None:
    """The digest of the pictures of videos, one after the other, as ``Video`` has it; None where
    they are not encoded alike."""
    digest = hashlib.blake2b(digest_size=16)
    headers = set()
    for path in paths:
        with _opened(path) as container:
            stream = container.streams.video[0]
            headers.add(bytes(stream.codec_context.extradata or b""))
            for packet in container.demux(stream):
                digest.update(picture_bytes(packet_units(bytes(packet))))
    return digest.hexdigest() if len(headers) == 1 else None


def _opened(path: Path) -> InputContainer:
    return av.open(str(path.absolute()))


def _refuse(findings: Iterable[Finding], where: str | Path) -> None:
    for field, *both in findings:
        if both[0] != both[1]:
            wanted, found = (shortened(str(value), _LONGEST) for value in both)
            raise LectureError(where=where, field=field, expected=wanted, found=found)


def _findings(path: Path, expected: Video) -> Iterator[Finding]:
    try:
        names = [name for name in mp4.top_level(path) if name in ("ftyp", "moov", "mdat")]
        yield "order of the file's boxes (faststart)", ["ftyp", "moov", "mdat"], names
        yield "edit lists", 0, mp4.edit_lists(path)
        with _opened(path) as container:
            yield from _stream_findings(container, expected)
            yield from _name_findings(container, expected)
            yield from _caption_findings(container, expected)
        yield from _packet_findings(path, expected)
        yield from _decoded_findings(path, expected)
    except (av.FFmpegError, OSError) as error:
        yield "file", "a readable MP4", str(error)


def _stream_findings(container: InputContainer, expected: Video) -> Iterator[Finding]:
    wanted = ["video", "audio", *("subtitle" for _ in expected.tracks)]
    wanted += ["data"] if expected.chapters else []
    yield "container", True, "mp4" in container.format.name.split(",")
    yield "streams", wanted, [stream.type for stream in container.streams]
    yield from _video_findings(container.streams.video[0], expected.quality)
    audio = container.streams.audio[0]
    yield "audio codec", "aac", audio.codec_context.name
    yield "audio profile", "LC", audio.profile
    yield "audio sample rate", AUDIO_RATE, audio.codec_context.sample_rate
    yield "audio channels", "stereo", audio.codec_context.layout.name


def _video_findings(stream: VideoStream, quality: Quality) -> Iterator[Finding]:
    codec = stream.codec_context
    yield "video codec", "h264", codec.name
    yield "H.264 profile", "High", stream.profile
    yield "pixel format", "yuv420p", codec.pix_fmt
    yield "width", quality.width, codec.width
    yield "height", quality.height, codec.height
    yield "frame rate", Fraction(quality.fps), stream.average_rate
    yield "pixel shape", Fraction(1), codec.sample_aspect_ratio or Fraction(1)
    yield "colour primaries (1 is BT.709)", _BT709, int(codec.color_primaries)
    yield "colour transfer (1 is BT.709)", _BT709, int(codec.color_trc)
    yield "colour matrix (1 is BT.709)", _BT709, int(codec.colorspace)
    yield "colour range (1 is limited)", _LIMITED, int(codec.color_range)


def _name_findings(container: InputContainer, expected: Video) -> Iterator[Finding]:
    """Title, origin, languages; the number of chapters, then one after the other, so that the first
    wrong one is named."""
    code = LANGUAGE_CODES[expected.origin.language]
    yield "title", _plain(expected.title), _plain(container.metadata.get("title", ""))
    yield "comment", str(expected.origin), container.metadata.get("comment")
    for stream in (container.streams.video[0], container.streams.audio[0]):
        yield f"{stream.type} language", code, stream.metadata.get("language")
    there: list[Any] = container.chapters()
    yield "chapters", len(expected.chapters), len(there)
    for number, (wanted, entry) in enumerate(zip(expected.chapters, there, strict=True), start=1):
        frames = Fraction(entry["time_base"]) * expected.quality.fps
        start, end = (round(entry[key] * frames) for key in ("start", "end"))
        found = Chapter(_plain(entry["metadata"].get("title", "")), start, end)
        yield f"chapter {number}", str(replace(wanted, title=_plain(wanted.title))), str(found)


def _plain(text: str) -> str:
    """As players show it: line ends alike, blanks at the ends left out."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").strip()


def _caption_findings(container: InputContainer, expected: Video) -> Iterator[Finding]:
    """Each track: its language, name, that it waits to be asked for, and every cue."""
    for track, stream in zip(expected.tracks, container.streams.subtitles, strict=True):
        named, tags = f"captions in {track.name}", stream.metadata
        yield f"{named}: codec", "mov_text", stream.codec_context.name
        yield f"{named}: language", track.code, tags.get("language")
        yield f"{named}: name", track.name, tags.get("handler_name")
        yield f"{named}: shown by default", 0, int(stream.disposition)
        wanted, found = track.shown(), [*_cues(container, stream)]
        yield f"{named}: cues", len(wanted), len(found)
        for index, (cue, there) in enumerate(zip(wanted, found, strict=True), start=1):
            yield f"{named}: cue {index}", cue, there
        container.seek(0)


def _cues(container: Any, stream: Any) -> Iterator[tuple[int, int, str]]:
    """Start and end in milliseconds, and text. Between cues a track has empty texts."""
    for packet in container.demux(stream):
        data = bytes(packet)
        size = int.from_bytes(data[:2], "big")
        if packet.pts is not None and size:
            times = packet.pts, packet.pts + packet.duration
            start, end = (round(time * packet.time_base * 1000) for time in times)
            yield start, end, data[2 : 2 + size].decode("utf-8", "replace")


def _packet_findings(path: Path, expected: Video) -> Iterator[Finding]:
    """Time stamps, keyframes and lengths, from the packets, nothing decoded. Groups of pictures are
    closed where every keyframe is an IDR picture, and nothing sent after it is shown before it. The
    sound starts with the pictures and ends with them, give or take one frame."""
    quality, frames, digest = expected.quality, expected.frames, hashlib.blake2b(digest_size=16)
    places: list[Fraction] = []  # of pictures, in frames
    restarts: list[Fraction] = []
    heard: list[tuple[Fraction, Fraction]] = []  # time and length of each packet
    closed = True
    with _opened(path) as container:
        for packet in container.demux(container.streams.video[0], container.streams.audio[0]):
            if packet.pts is None or packet.time_base is None:
                continue  # the empty packet at the end
            time = packet.pts * packet.time_base
            if packet.stream.type == "audio":
                heard.append((time, (packet.duration or 0) * packet.time_base))
                continue
            data = bytes(packet)
            digest.update(picture_bytes(packet_units(data)))
            places.append(time * quality.fps)
            restarts += places[-1:] if packet.is_keyframe else []
            closed &= restarts[-1:] <= places[-1:] and (not packet.is_keyframe or is_idr(data))
    yield "frames", frames, len(places)
    yield "constant frame rate from 0", True, sorted(places) == list(range(frames))
    yield "first keyframe", [0], restarts[:1]
    limit = quality.keyframe_interval
    gaps = [int(b - a) for a, b in pairwise([*restarts, Fraction(frames)]) if b - a > limit]
    yield f"frames between keyframes, over {limit}", [], gaps
    yield "closed groups of pictures", True, closed
    if expected.pictures is not None:
        yield "pictures as they were encoded", expected.pictures, digest.hexdigest()
    yield "start of the sound", [0], [start for start, _ in heard[:1]]
    samples = frames * quality.samples_per_frame
    length = int(sum(each for _, each in heard) * AUDIO_RATE)
    within = abs(length - samples) <= quality.samples_per_frame
    yield "samples of sound", samples, samples if within else length


def _decoded_findings(path: Path, expected: Video) -> Iterator[Finding]:
    """Decode; the decoder is told to complain rather than to patch things up.

    The colour tags are checked again: here they are those inside the H.264 stream, which some
    players believe rather than the container's.
    """
    tags: Counter[tuple[int, ...]] = Counter()
    quality, wanted = expected.quality, expected.frames
    with _opened(path) as container:
        video = container.streams.video[0]
        video.thread_type = "AUTO"
        video.codec_context.options = {"err_detect": "explode"}
        if expected.pictures is not None:
            video.codec_context.skip_frame = "NONKEY"
            wanted = 1 if expected.chapters else -(-wanted // quality.keyframe_interval)
        for frame in islice(container.decode(video), wanted):
            colours = frame.color_primaries, frame.color_trc, frame.colorspace, frame.color_range
            tags[tuple(map(int, colours))] += 1
    with _opened(path) as container:
        samples = sum(frame.samples for frame in container.decode(audio=0))
    yield "decoded frames", wanted, sum(tags.values())
    named = "colours in the H.264 stream (primaries, transfer, matrix, range)"
    yield named, [(_BT709, _BT709, _BT709, _LIMITED)], list(tags)
    least = expected.frames * quality.samples_per_frame - 1024
    yield "length of the decoded sound", True, samples >= least
