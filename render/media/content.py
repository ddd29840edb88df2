"""The second half of the check: packets one by one, then what they hold, decoded.

If the digest of the encoder's packets is known, the file's must be the same, and of the pictures
only the keyframes are decoded; in a film only those that begin its chapters, as the parts have been
checked before. Else everything is decoded.
"""

from __future__ import annotations

import hashlib
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
from av.container import InputContainer
from av.video.frame import VideoFrame

from render.media import nal
from render.media.expected import BT709, LIMITED, Expected, Finding
from render.media.quality import AUDIO_RATE, Quality


def content_findings(path: Path, expected: Expected) -> Iterator[Finding]:
    """Everything that only reading the whole file tells."""
    yield from _packet_findings(path, expected)
    yield from _decoded_findings(path, expected)
    yield from _sound_decoded(path, expected)


def pictures_of(paths: Iterable[Path]) -> str | None:
    """The digest of the pictures of videos, one after the other, as ``Expected`` has it; None
    where they are not encoded alike."""
    digest = hashlib.blake2b(digest_size=16)
    headers = set()
    for path in paths:
        with av.open(str(path.absolute())) as container:
            stream = container.streams.video[0]
            headers.add(bytes(stream.codec_context.extradata or b""))
            for packet in container.demux(stream):
                digest.update(nal.picture(nal.units(bytes(packet))))
    return digest.hexdigest() if len(headers) == 1 else None


@dataclass(frozen=True)
class _Packet:
    """Of one packet: presentation time and length in seconds, and for pictures the restart."""

    time: Fraction
    length: Fraction
    keyframe: bool
    idr: bool


def _packets(path: Path) -> tuple[list[_Packet], list[_Packet], str]:
    """The packets of the pictures and of the sound, in file order; a digest of the pictures."""
    found: dict[str, list[_Packet]] = {"video": [], "audio": []}
    digest = hashlib.blake2b(digest_size=16)
    with av.open(str(path.absolute())) as container:
        streams = container.streams.video[0], container.streams.audio[0]
        for packet in container.demux(*streams):
            if packet.pts is None or packet.time_base is None:
                continue  # the empty packet at the end
            kind, base = packet.stream.type, packet.time_base
            idr = False
            if kind == "video":
                data = bytes(packet)
                digest.update(nal.picture(nal.units(data)))
                idr = packet.is_keyframe and nal.is_idr(data)
            times = packet.pts * base, (packet.duration or 0) * base
            found[kind].append(_Packet(*times, packet.is_keyframe, idr))
    return found["video"], found["audio"], digest.hexdigest()


def same_packets(one: Path, other: Path) -> bool:
    """Whether pictures and sound of two files are the same, byte by byte and in time."""
    return all(_bare(one, kind) == _bare(other, kind) for kind in ("video", "audio"))


def _bare(path: Path, kind: str) -> list[tuple[Any, ...]]:
    """Times and a digest of each packet."""
    with av.open(str(path.absolute())) as container:
        stream = getattr(container.streams, kind)[0]
        return [
            (
                *(packet.pts, packet.dts, packet.duration, packet.time_base),
                *(packet.is_keyframe, packet.size, zlib.crc32(bytes(packet))),
            )
            for packet in container.demux(stream)
            if packet.pts is not None
        ]


def _packet_findings(path: Path, expected: Expected) -> Iterator[Finding]:
    """Time stamps, keyframes and lengths, from the packets, nothing decoded."""
    quality, frames = expected.quality, expected.frames
    pictures, sound, digest = _packets(path)
    yield Finding("frames", frames, len(pictures))
    times = sorted(picture.time * quality.fps for picture in pictures)
    yield Finding("constant frame rate from 0", True, times == list(range(frames)))
    restarts = [picture.time * quality.fps for picture in pictures if picture.keyframe]
    yield Finding("first keyframe", [0], restarts[:1])
    gaps = (b - a for a, b in pairwise([*restarts, Fraction(frames)]))
    limit = quality.keyframe_interval
    yield Finding(
        f"frames between keyframes, over {limit}", [], [int(g) for g in gaps if g > limit]
    )
    yield Finding("closed groups of pictures", True, _closed(pictures))
    if expected.pictures is not None:
        yield Finding("pictures as they were encoded", expected.pictures, digest)
    yield from _sound_findings(sound, frames * quality.samples_per_frame, quality)


def _sound_findings(sound: Sequence[_Packet], samples: int, quality: Quality) -> Iterator[Finding]:
    """The sound starts with the pictures and ends with them, give or take one frame."""
    yield Finding("start of the sound", [0], [packet.time for packet in sound[:1]])
    length = int(sum(packet.length for packet in sound) * AUDIO_RATE)
    within = abs(length - samples) <= quality.samples_per_frame
    yield Finding("samples of sound", samples, samples if within else length)


def _closed(pictures: Sequence[_Packet]) -> bool:
    """Every keyframe is an IDR picture, and nothing sent after it is shown before it."""
    newest = Fraction(0)
    for picture in pictures:
        if picture.keyframe:
            newest = picture.time
        if picture.time < newest or picture.keyframe != picture.idr:
            return False
    return True


def _decoded_findings(path: Path, expected: Expected) -> Iterator[Finding]:
    """Decode; the decoder is told to complain rather than to patch things up.

    The colour tags are looked at again: here they are those inside the H.264 stream, which some
    players believe rather than the container's.
    """
    tags: Counter[tuple[int, ...]] = Counter()
    with av.open(str(path.absolute())) as container:
        video = container.streams.video[0]
        video.thread_type = "AUTO"
        video.codec_context.options = {"err_detect": "explode"}
        for frame in _frames(container, expected):
            colours = frame.color_primaries, frame.color_trc, frame.colorspace, frame.color_range
            tags[tuple(map(int, colours))] += 1
    yield Finding("decoded frames", _decoded_frames(expected), sum(tags.values()))
    named = "colours in the H.264 stream (primaries, transfer, matrix, range)"
    yield Finding(named, [(BT709, BT709, BT709, LIMITED)], list(tags))


def _frames(container: InputContainer, expected: Expected) -> Iterator[VideoFrame]:
    """Those to be looked at: all, the keyframes, or those that begin a chapter."""
    video = container.streams.video[0]
    if expected.pictures is not None and expected.chapters:
        assert video.time_base is not None
        for chapter in expected.chapters:
            time = Fraction(chapter.start, expected.quality.fps)
            container.seek(int(time / video.time_base), stream=video)
            frame = next(container.decode(video))
            if frame.pts is not None and frame.pts * video.time_base == time:
                yield frame
        return
    if expected.pictures is not None:
        video.codec_context.skip_frame = "NONKEY"
    yield from container.decode(video)


def _decoded_frames(expected: Expected) -> int:
    """How many frames :func:`_frames` gives for a good video."""
    if expected.pictures is None:
        return expected.frames
    if expected.chapters:
        return len(expected.chapters)
    return -(-expected.frames // expected.quality.keyframe_interval)


def _sound_decoded(path: Path, expected: Expected) -> Iterator[Finding]:
    with av.open(str(path.absolute())) as container:
        samples = sum(frame.samples for frame in container.decode(audio=0))
    wanted = expected.frames * expected.quality.samples_per_frame
    yield Finding("decoded sound is as long", True, samples >= wanted - 1024)
