"""One H.264 stream per scene: frames go in as they are drawn, a silent video file comes out."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import av
import numpy as np
from av.video.reformatter import ColorRange, Colorspace, Interpolation

from engine.errors import LectureError
from render.media.quality import Quality
from render.media.stream import PictureFile

_WAITING_BYTES = 16_000_000  # of frames drawn but not yet encoded
_SCALING = Interpolation.BICUBIC | Interpolation.ACCURATE_RND | Interpolation.FULL_CHR_H_INT


def _nothing() -> None:
    pass


def _no_parts() -> list[Path]:
    return []


@dataclass(frozen=True)
class Share:
    """The frames ``first`` to ``end``, which is not among them, None for the end of the scene.

    ``rest`` waits for the videos that follow; ``done`` is called when all frames are written.
    """

    first: int = 0
    end: int | None = None
    rest: Callable[[], list[Path]] = _no_parts
    done: Callable[[], None] = _nothing

    def overlap(self, place: int, count: int) -> int:
        """How many of the ``count`` frames from ``place`` on are in the share."""
        end = place + count if self.end is None else min(self.end, place + count)
        return max(0, end - max(place, self.first))

    def is_over(self, place: int) -> bool:
        """Whether the share ends at or before the frame ``place``, with nothing left to do."""
        return self.done is not _nothing and self.end is not None and place >= self.end


class _Buffer(Protocol):
    """What the encoder needs of a NumPy frame: its bytes, in rows from the top."""

    @property
    def data(self) -> Any: ...
    @property
    def nbytes(self) -> int: ...


class FrameEncoder:
    """Encodes frames in a thread of its own, so that drawing and encoding overlap.

    ``frames`` counts what was accepted. Any failure to write (a full disk, say) is raised as a
    LectureError by the next :meth:`write`, or by :meth:`finish`.

    With ``helper``, the compiled helper of the fast renderer, frames are converted to 4:2:0 by it,
    and only where they changed; else by swscale.

    Of the frames only those of the ``share`` are encoded, all by default; without any there is no
    file in the end.
    """

    def __init__(
        self, target: Path, quality: Quality, helper: Any = None, share: Share | None = None
    ) -> None:
        self.frames = 0
        self._share = share or Share()
        self._encoded = 0
        self._target = target
        self._quality = quality
        self._helper = helper
        self._planes = np.zeros((quality.height * 3 // 2, quality.width), np.uint8)
        self._file = PictureFile(target, quality)
        room = max(1, _WAITING_BYTES // self._planes.nbytes)
        #: a picture, or None for the one before, how often it is shown, and which tiles changed,
        #: or None for all; None at the end
        self._waiting: queue.Queue[tuple[Any, int, Any] | None] = queue.Queue(room)
        self._failure: Exception | None = None
        self._feeder = threading.Thread(target=self._feed, daemon=True)
        self._feeder.start()

    @property
    def digest(self) -> str:
        """Stands for the pictures, packet by packet; known once all is finished."""
        return self._file.digest

    @property
    def wants_next(self) -> bool:
        """Whether the next frame will be encoded."""
        return self._share.overlap(self.frames, 1) > 0

    def write(self, frame: _Buffer, repeat: int = 1, changed: Any = None) -> None:
        """Add ``frame`` (height x width x 4 bytes, C order) ``repeat`` times.

        With ``changed``, where it is zero (a byte per tile) the frame is the one before; all of it
        is set to zero. The frame may be drawn over later.
        """
        if frame.nbytes != self._quality.frame_bytes:
            raise ValueError(
                f"a frame of {self._quality.frame_bytes} bytes is wanted, not {frame.nbytes}"
            )
        if self._failure is not None:
            self.finish()
        shown = self._share.overlap(self.frames, repeat)
        self.frames += repeat
        if shown:
            still = changed is not None and self._encoded > 0 and not changed.any()
            where = None if changed is None else changed.copy()
            self._waiting.put((None if still else self._converted(frame, changed), shown, where))
            if changed is not None:
                changed[:] = 0
            self._encoded += shown
        if self._share.is_over(self.frames):
            self.finish()

    def _converted(self, frame: Any, changed: Any) -> Any:
        """The frame's planes, apart from all that may be drawn over; None if they are as before."""
        if self._helper is None:
            planes = _planes(frame)
            if self._encoded and np.array_equal(planes, self._planes):
                return None
            self._planes = planes
            return planes
        if changed is None or self._encoded == 0:
            tile = self._helper.TILE
            changed = np.ones([-(-length // tile) for length in frame.shape[:2]], np.uint8)
        self._helper.to_yuv(frame, changed, self._planes)
        return self._planes.copy()

    def finish(self) -> None:
        """Write out what is waiting and close the file. Raises LectureError if that failed."""
        self._stop()
        if self._failure is None:
            try:
                self._file.finish(self._share.rest())
            except (OSError, av.FFmpegError) as error:
                self._failure = error
        if self._failure is not None:
            self._file.abort()
            raise LectureError(
                where=self._target,
                field="encoder",
                expected="an encoded video",
                found=_in_words(self._failure),
            ) from self._failure
        if not self._encoded:
            self._target.unlink()  # no video at all
        self._share.done()

    def abort(self) -> None:
        """Stop at once; what is on disk is worthless."""
        self._failure = self._failure or RuntimeError("aborted")
        self._stop()
        self._file.abort()

    def _stop(self) -> None:
        if self._feeder.is_alive():
            self._waiting.put(None)
            self._feeder.join()

    def _feed(self) -> None:
        """Runs in the thread. After a failure it keeps taking frames, so nobody waits for it."""
        while (item := self._waiting.get()) is not None:
            planes, repeat, where = item
            if self._failure is not None:
                continue
            try:
                if planes is None:
                    self._file.add_still(repeat)
                else:
                    self._file.add(planes, repeat, where)
            except Exception as error:  # raised again where the frames come from
                self._failure = error


def _planes(frame: Any) -> Any:
    """By swscale: full-range RGBA to BT.709 limited-range 4:2:0."""
    picture = av.VideoFrame.from_ndarray(np.asarray(frame), format="rgba").reformat(
        format="yuv420p",
        dst_colorspace=Colorspace.ITU709,
        src_color_range=ColorRange.JPEG,
        dst_color_range=ColorRange.MPEG,
        interpolation=_SCALING,
    )
    return picture.to_ndarray()


def _in_words(failure: Exception) -> str:
    full = getattr(failure, "errno", None) == 28 or "No space left" in str(failure)
    return "no space left on the disk" if full else str(failure) or type(failure).__name__
