"""The pictures of a scene: frames go in as they are drawn, a silent MP4 of H.264 comes out.

x264 runs in this process, through PyAV.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from av.video.codeccontext import VideoCodecContext
from av.video.frame import PictureType
from av.video.reformatter import ColorRange, Colorspace, Interpolation

from engine.errors import LectureError
from render.media.quality import Quality
from render.media.settling import Region, Settling, whole, with_regions
from render.media.stills import Unexpected, nal_units, picture_bytes, renumbered

_WAITING_BYTES = 16_000_000  # of frames drawn but not yet encoded
_SCALING = Interpolation.BICUBIC | Interpolation.ACCURATE_RND | Interpolation.FULL_CHR_H_INT
#: P-frames with one reference, no look ahead: nothing depends on what comes later, and x264 gives
#: each frame back at once
_X264 = (
    "cabac=1:8x8dct=1:ref=1:bframes=0:scenecut=0:open-gop=0:weightp=0:mbtree=0:rc-lookahead=0:"
    "sync-lookahead=0:sliced-threads=0:force-cfr=1:no-dct-decimate=1"
)
#: One quantizer for all frames (``crf`` with ``qcomp=1``) unless a region says otherwise. x264
#: heeds regions only along with its own adaptive quantization, here too weak to change anything.
_QUANTIZER = "crf={}:qcomp=1:ipratio=1:aq-mode=1:aq-strength=0.0001"
_BT709 = {"color_primaries": "bt709", "color_trc": "bt709", "colorspace": "bt709"}


class FrameEncoder:
    """Encodes frames in a thread of its own, so that drawing and encoding overlap.

    ``frames`` counts what was accepted. Any failure to write (a full disk, say) is raised as a
    LectureError by a later :meth:`write`, or by :meth:`finish`.

    With ``helper``, the compiled helper of the fast renderer, frames are converted to 4:2:0 by it,
    and only where they changed; else by swscale.
    """

    def __init__(self, target: Path, quality: Quality, helper: Any = None) -> None:
        self.frames = 0
        self._target, self._quality, self._helper = target, quality, helper
        self._planes = np.zeros((quality.height * 3 // 2, quality.width), np.uint8)
        self._file = PictureFile(target, quality)
        self._thread = ThreadPoolExecutor(1)
        self._waiting: deque[Future[None]] = deque()
        self._most_waiting = max(1, _WAITING_BYTES // self._planes.nbytes)

    @property
    def digest(self) -> str:
        """Stands for the pictures, packet by packet; known once all is finished."""
        return self._file.digest

    def write(self, frame: Any, repeat: int = 1, changed: Any = None) -> None:
        """Add ``frame`` (height x width x 4 bytes, C order) ``repeat`` times.

        With ``changed``, where it is zero (a byte per tile) the frame is the one before; all of it
        is set to zero. The frame may be drawn over later.
        """
        if frame.nbytes != self._quality.frame_bytes:
            wanted = self._quality.frame_bytes
            raise ValueError(f"a frame of {wanted} bytes is wanted, not {frame.nbytes}")
        still = changed is not None and self.frames > 0 and not changed.any()
        planes = None if still else self._converted(frame, changed)
        where = None if changed is None else changed.copy()
        with self._reporting():
            while self._waiting and (
                self._waiting[0].done() or len(self._waiting) >= self._most_waiting
            ):
                self._waiting.popleft().result()
        self._waiting.append(self._thread.submit(self._file.add, planes, repeat, where))
        if changed is not None:
            changed[:] = 0
        self.frames += repeat

    def _converted(self, frame: Any, changed: Any) -> Any:
        """The frame's planes, apart from all that may be drawn over; None if they are as before."""
        if self._helper is None:
            planes = yuv_planes(frame)
            if self.frames and np.array_equal(planes, self._planes):
                return None
            self._planes = planes
            return planes
        if changed is None or self.frames == 0:
            tile = self._helper.TILE
            changed = np.ones([-(-length // tile) for length in frame.shape[:2]], np.uint8)
        self._helper.to_yuv(frame, changed, self._planes)
        return self._planes.copy()

    def finish(self) -> None:
        """Write out what is waiting and close the file. Raises LectureError if that failed."""
        with self._reporting():
            for each in self._waiting:
                each.result()
            self._thread.shutdown()
            self._file.finish()

    def abort(self) -> None:
        """Stop at once; what is on disk is worthless."""
        self._thread.shutdown(cancel_futures=True)
        self._file.abort()

    @contextlib.contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self.abort()
            raise failure_of(self._target, error) from error


def failure_of(target: Path, error: Exception) -> LectureError:
    """Why pictures could not be encoded."""
    words = str(error) or type(error).__name__
    found = "no space left on the disk" if "No space left" in words else words
    expected = "an encoded video"
    return LectureError(where=target, field="encoder", expected=expected, found=found)


def yuv_planes(frame: Any) -> Any:
    """RGBA pixels (height, width, 4) of full range as BT.709 of limited range, 4:2:0: the planes
    (3/2 height, width). By swscale."""
    picture = av.VideoFrame.from_ndarray(np.asarray(frame), format="rgba").reformat(
        format="yuv420p",
        dst_colorspace=Colorspace.ITU709,
        src_color_range=ColorRange.JPEG,
        dst_color_range=ColorRange.MPEG,
        interpolation=_SCALING,
    )
    return picture.to_ndarray()


class PictureFile:
    """Takes 4:2:0 pictures, one array each, (3/2 height, width) uint8; keyframes come at fixed
    places, all else follows from the frame before.

    ``digest`` grows with the packets and stands for the pictures of the finished file.
    Failures to write are raised as they are, OSError or FFmpegError.
    """

    def __init__(self, target: Path, quality: Quality) -> None:
        self._quality = quality
        self._file = target.open("wb")
        self._container: Any = av.open(self._file, "w", format="mp4")
        self._stream = self._container.add_stream("libx264", rate=quality.fps)
        self._codec: Any = self._stream.codec_context
        _set_up(self._codec, quality)
        self._frame: Any = None  # the latest picture, for the keyframes in a still
        self._given = self._written = 0  # frames, packets
        self._still = _still_frame(quality)
        self._settling = Settling(quality)
        self._digest = hashlib.blake2b(digest_size=16)

    @property
    def digest(self) -> str:
        return self._digest.hexdigest()

    def add(self, planes: Any, repeat: int, where: Any = None) -> None:
        """The picture ``planes``, None for the one before, shown ``repeat`` times; it must not be
        changed afterwards.

        ``where``: what differs from the picture before, see :mod:`render.media.settling`.
        """
        if planes is not None:
            self._frame = planes
            self._settling.change(where)
        for index in range(repeat):
            place = self._given % self._quality.keyframe_interval
            settled = self._settling.settled(place)
            is_new = planes is not None and index == 0
            if place == 0 or is_new or settled or self._still is None:
                self._take(self._prepared(settled, keyframe=place == 0))
            else:
                self._write(renumbered(self._still, place))
            self._given += 1

    def _prepared(self, settled: list[Region], *, keyframe: bool) -> Any:
        """The latest picture for x264, with notes of what is to be coded finely."""
        quality = self._quality
        frame = _frame(self._frame, self._given)
        fine = whole(quality) if keyframe else settled
        if fine:
            quantizer = quality.keyframe_quantizer if keyframe else quality.settled_quantizer
            frame = with_regions(frame, quality, fine, quantizer - quality.quantizer)
        frame.pict_type = PictureType.I if keyframe else PictureType.NONE
        return frame

    def _take(self, frame: Any) -> None:
        """Write what x264 makes of a frame; of None: what it still has."""
        for packet in self._codec.encode(frame):
            data, place = bytes(packet), self._written % self._quality.keyframe_interval
            self._write(data if self._still is None else renumbered(data, place))

    def _write(self, data: bytes) -> None:
        packet = av.Packet(data)
        packet.stream = self._stream
        packet.pts = packet.dts = self._written
        packet.time_base = Fraction(1, self._quality.fps)
        packet.duration = 1
        packet.is_keyframe = self._written % self._quality.keyframe_interval == 0
        self._digest.update(picture_bytes(nal_units(data)))
        self._written += 1
        self._container.mux(packet)

    def finish(self) -> None:
        """Close the file."""
        self._take(None)
        self._container.close()
        self._file.close()

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


def _frame(planes: Any, number: int) -> Any:
    frame = av.VideoFrame.from_numpy_buffer(planes, "yuv420p")
    frame.pts = number
    return frame


def _still_frame(quality: Quality) -> bytes | None:
    """The packet of a still frame as this x264 makes them; None where it makes them in some other
    way, or does not give each frame back at once."""
    codec: Any = VideoCodecContext.create("libx264", "w")
    _set_up(codec, quality)
    planes = np.zeros((quality.height * 3 // 2, quality.width), np.uint8)
    _, one, two = (b"".join(map(bytes, codec.encode(_frame(planes, i)))) for i in range(3))
    try:
        return one if renumbered(one, 2) == renumbered(two, 2) else None
    except Unexpected:
        return None
