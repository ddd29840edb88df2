"""An MP4 file of H.264 pictures, written by x264 in this process, through PyAV."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from av.video.codeccontext import VideoCodecContext
from av.video.frame import PictureType

from render.media import mp4
from render.media.quality import Quality
from render.media.settling import Region, Settling, whole, with_regions
from render.media.stills import Stills, Unexpected, in_stream, nal_units

_IDR = 5
#: P-frames with one reference, no look ahead: nothing depends on what comes later
_X264 = (
    "cabac=1:8x8dct=1:ref=1:bframes=0:scenecut=0:open-gop=0:weightp=0:mbtree=0:rc-lookahead=0:"
    "sync-lookahead=0:sliced-threads=0:no-dct-decimate=1"
)
#: One quantizer for all frames (``crf`` with ``qcomp=1``) unless a region says otherwise. x264
#: heeds regions only along with its own adaptive quantization, here too weak to change anything.
_QUANTIZER = "crf={}:qcomp=1:ipratio=1:aq-mode=1:aq-strength=0.0001"
_BT709 = {"color_primaries": "bt709", "color_trc": "bt709", "colorspace": "bt709"}


class PictureFile:
    """Takes 4:2:0 pictures, one array each, (3/2 height, width) uint8; keyframes come at fixed
    places, all else follows from the frame before.

    ``digest`` grows with the packets and stands for the pictures of the finished file.
    Failures to write are raised as they are, OSError or FFmpegError.
    """

    def __init__(self, target: Path, quality: Quality) -> None:
        self._quality = quality
        self._shape = quality.height * 3 // 2, quality.width
        self._file = target.open("wb")
        self._container: Any = av.open(self._file, "w", format="mp4")
        self._stream = self._container.add_stream("libx264", rate=quality.fps)
        self._codec: Any = self._stream.codec_context
        _set_up(self._codec, quality)
        self._frame: Any = None  # the latest picture, for the keyframes in a still
        self._given = 0  # frames given
        self._written = 0
        self._waiting: list[int] = []  # still frames after each picture that x264 still has
        self._stills = _stills(quality)
        self._settling = Settling(quality)
        self._digest = hashlib.blake2b(digest_size=16)

    @property
    def digest(self) -> str:
        return self._digest.hexdigest()

    def add(self, planes: Any, repeat: int, where: Any = None) -> None:
        """The picture ``planes``, shown ``repeat`` times; it must not be changed afterwards.

        ``where``: what differs from the picture before, see :class:`render.media.settling.Settling`.
        """
        self._frame = planes
        self._settling.change(where)
        self._show(repeat, new=True)

    def add_still(self, repeat: int) -> None:
        """The picture before, ``repeat`` times more."""
        self._show(repeat, new=False)

    def _show(self, repeat: int, *, new: bool) -> None:
        for _ in range(repeat):
            place = self._given % self._quality.keyframe_interval
            settled = self._settling.settled(place)
            if place and not new and not settled and self._stills is not None:
                self._skip()
            else:
                self._encode(settled, keyframe=not place)
            new = False

    def _skip(self) -> None:
        self._given += 1
        if self._waiting:
            self._waiting[-1] += 1
        else:
            self._write_stills(1)

    def _encode(self, settled: list[Region], *, keyframe: bool) -> None:
        quality = self._quality
        frame = av.VideoFrame.from_numpy_buffer(self._frame.reshape(self._shape), "yuv420p")
        frame.pts = self._given
        if keyframe:
            offset = quality.keyframe_quantizer - quality.quantizer
            frame = with_regions(frame, quality, whole(quality), offset)
        elif settled:
            offset = quality.settled_quantizer - quality.quantizer
            frame = with_regions(frame, quality, settled, offset)
        frame.pict_type = PictureType.I if keyframe else PictureType.NONE
        self._given += 1
        self._waiting.append(0)
        self._take(self._codec.encode(frame))

    def _take(self, packets: list[Any]) -> None:
        for packet in packets:
            data = bytes(packet)
            if self._stills is not None:
                number = self._written % self._quality.keyframe_interval
                data = self._stills.renumbered(data, number)
            self._write(data)
            self._write_stills(self._waiting.pop(0))

    def _write_stills(self, count: int) -> None:
        for _ in range(count):
            number = self._written % self._quality.keyframe_interval
            self._write(self._stills.packet(number))  # type: ignore[union-attr]

    def _write(self, data: bytes) -> None:
        packet = av.Packet(data)
        packet.stream = self._stream
        packet.pts = packet.dts = self._written
        packet.time_base = Fraction(1, self._quality.fps)
        packet.duration = 1
        packet.is_keyframe = self._written % self._quality.keyframe_interval == 0
        self._digest.update(mp4.picture(nal_units(data)))
        self._written += 1
        self._container.mux(packet)

    def finish(self, parts: Sequence[Path] = ()) -> None:
        """Close the file; ``parts`` are videos written like this one, which go on from here at a
        keyframe: their packets are added as they are."""
        self._take(self._codec.encode(None))
        for part in parts:
            self._join(part)
        self._container.close()
        self._file.close()

    def _join(self, part: Path) -> None:
        with av.open(str(part)) as container:
            for packet in container.demux(video=0):
                if packet.size:
                    self._write(in_stream(mp4.units(bytes(packet))))

    def abort(self) -> None:
        """Close; what is on disk is worthless."""
        for opened in (self._container, self._file):
            with contextlib.suppress(OSError, av.FFmpegError):
                opened.close()


def _set_up(codec: Any, quality: Quality) -> None:
    codec.width, codec.height, codec.pix_fmt = quality.width, quality.height, "yuv420p"
    codec.time_base, codec.framerate = Fraction(1, quality.fps), Fraction(quality.fps)
    codec.sample_aspect_ratio = Fraction(1)
    codec.thread_count = 1
    codec.options = {
        "preset": quality.preset,
        "profile": "high",
        "forced-idr": "1",
        "g": str(quality.keyframe_interval),
        "x264-params": f"{_QUANTIZER.format(quality.quantizer)}:{_X264}",
        "color_range": "tv",
        "chroma_sample_location": "left",
        **_BT709,
    }


def is_joined_exactly(quality: Quality) -> bool:
    """Whether parts of a film make the same bytes as one encoder does: where we know its form."""
    return _stills(quality) is not None


def _stills(quality: Quality) -> Stills | None:
    """Still frames as this x264 makes them; None where it makes them in some other way."""
    codec: Any = VideoCodecContext.create("libx264", "w")
    _set_up(codec, quality)
    codec.flags |= 1 << 22  # parameter sets apart from the pictures, as in a file
    planes = np.zeros((quality.height * 3 // 2, quality.width), np.uint8)
    packets: list[bytes] = []
    for index in range(2):
        frame = av.VideoFrame.from_numpy_buffer(planes, "yuv420p")
        frame.pts = index
        packets += [bytes(packet) for packet in codec.encode(frame)]
    packets += [bytes(packet) for packet in codec.encode(None)]
    try:
        headers = bytes(codec.extradata)
        if not any(unit[0] & 0x1F == _IDR for unit in nal_units(packets[0])):
            return None
        return Stills(headers, packets[1])
    except (Unexpected, TypeError, IndexError):
        return None
