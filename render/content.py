"""The second half of the check: packets one by one, then everything decoded."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import av

from render import nal
from render.expected import BT709, LIMITED, Expected, Finding
from render.quality import AUDIO_RATE, Quality


def content_findings(path: Path, expected: Expected) -> Iterator[Finding]:
    """Everything that only reading the whole file tells."""
    yield from _packet_findings(path, expected)
    yield from _decoded_findings(path, expected)


@dataclass(frozen=True)
class _Packet:
    """Of one packet: presentation time and length in seconds, and for pictures the restart."""

    time: Fraction
    length: Fraction
    keyframe: bool
    idr: bool


def _packets(path: Path) -> tuple[list[_Packet], list[_Packet]]:
    """The packets of the pictures and of the sound, in file order."""
    found: dict[str, list[_Packet]] = {"video": [], "audio": []}
    with av.open(str(path.absolute())) as container:
        streams = container.streams.video[0], container.streams.audio[0]
        for packet in container.demux(*streams):
            if packet.pts is None or packet.time_base is None:
                continue  # the empty packet at the end
            kind, base = packet.stream.type, packet.time_base
            idr = kind == "video" and packet.is_keyframe and nal.is_idr(bytes(packet))
            times = packet.pts * base, (packet.duration or 0) * base
            found[kind].append(_Packet(*times, packet.is_keyframe, idr))
    return found["video"], found["audio"]


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
    pictures, sound = _packets(path)
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
    """Decode everything; the decoder is told to complain rather than to patch things up.

    The colour tags are looked at again: here they are those inside the H.264 stream, which some
    players believe rather than the container's.
    """
    tags: Counter[tuple[int, ...]] = Counter()
    with av.open(str(path.absolute())) as container:
        video = container.streams.video[0]
        video.thread_type = "AUTO"
        video.codec_context.options = {"err_detect": "explode"}
        for frame in container.decode(video):
            colours = frame.color_primaries, frame.color_trc, frame.colorspace, frame.color_range
            tags[tuple(map(int, colours))] += 1
    yield Finding("decoded frames", expected.frames, sum(tags.values()))
    named = "colours in the H.264 stream (primaries, transfer, matrix, range)"
    yield Finding(named, [(BT709, BT709, BT709, LIMITED)], list(tags))
    with av.open(str(path.absolute())) as container:
        samples = sum(frame.samples for frame in container.decode(audio=0))
    wanted = expected.frames * expected.quality.samples_per_frame
    yield Finding("decoded sound is as long", True, samples >= wanted - 1024)
