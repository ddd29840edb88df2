"""One H.264 stream per scene: frames go in as they are drawn, a silent video file comes out."""

from __future__ import annotations

import contextlib
import queue
import threading
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from engine.errors import LectureError
from render import ffmpeg
from render.quality import Quality

_WAITING_BYTES = 16_000_000  # of frames drawn but not yet encoded


class _Buffer(Protocol):
    """What the encoder needs of a NumPy frame: its bytes, in rows from the top."""

    @property
    def data(self) -> Any: ...
    @property
    def nbytes(self) -> int: ...


class FrameEncoder:
    """Feeds frames to one ffmpeg from a thread of its own, so drawing and encoding overlap.

    ``frames`` counts what was accepted. Any failure of ffmpeg (a full disk, say) is raised as a
    LectureError by the next :meth:`write`, or by :meth:`finish`.

    With ``helper``, the compiled helper of the fast renderer, frames are converted to 4:2:0 here,
    and only where they changed; else ffmpeg does it.
    """

    def __init__(
        self, binary: str, target: Path, quality: Quality, threads: int, helper: Any = None
    ) -> None:
        self.frames = 0
        self.memory = 0  # peak bytes of ffmpeg, known at the end
        self._target = target
        self._size = quality.frame_bytes
        self._helper = helper
        self._planes = np.zeros(self._size * 3 // 8 if helper else 0, np.uint8)
        self._latest: Any = None  # what was last given to ffmpeg
        self._process = ffmpeg.encode_frames(
            binary, target, quality, threads, converted=helper is not None
        )
        room = max(1, _WAITING_BYTES // (self._planes.nbytes or self._size))
        self._waiting: queue.Queue[tuple[Any, int] | None] = queue.Queue(room)
        self._broken = threading.Event()
        self._feeder = threading.Thread(target=self._feed, daemon=True)
        self._feeder.start()

    def write(self, frame: _Buffer, repeat: int = 1, changed: Any = None) -> None:
        """Add ``frame`` (height x width x 4 bytes, C order) ``repeat`` times.

        Without ``changed`` it is now ours. With it, the frame may be drawn over later, and where
        ``changed`` is zero (a byte per tile) it is the frame before; all of it is set to zero.
        """
        if frame.nbytes != self._size:
            raise ValueError(f"a frame of {self._size} bytes is wanted, not {frame.nbytes}")
        if self._broken.is_set():
            self.finish()
        if changed is None:
            self._latest = self._convert(frame, None)
        elif self._latest is None or changed.any():
            self._latest = self._convert(frame, changed)
            changed[:] = 0
        self._waiting.put((self._latest, repeat))
        self.frames += repeat

    def _convert(self, frame: Any, changed: Any) -> Any:
        """A copy of the frame as ffmpeg takes it, in one piece of memory."""
        if self._helper is None:
            return (frame if changed is None else frame.copy()).data
        if changed is None:
            tile = self._helper.TILE
            changed = np.ones([-(-length // tile) for length in frame.shape[:2]], np.uint8)
        self._helper.to_yuv(frame, changed, self._planes)
        return self._planes.tobytes()

    def finish(self) -> None:
        """Write out what is waiting and close the file. Raises LectureError if ffmpeg failed."""
        self._waiting.put(None)
        self._feeder.join()
        self._process.finish(self._target)
        if self._broken.is_set():
            raise LectureError(
                where=self._target, field="ffmpeg", expected="all frames", found="an early end"
            )

    def abort(self) -> None:
        """Stop at once; what is on disk is worthless."""
        self._process.kill()
        self._waiting.put(None)
        self._feeder.join()

    def _feed(self) -> None:
        """Runs in the thread. After a failure it keeps taking frames, so nobody waits for it."""
        pipe = self._process.stdin
        while (item := self._waiting.get()) is not None:
            data, repeat = item
            try:
                for _ in range(0 if self._broken.is_set() else repeat):
                    pipe.write(data)
            except (OSError, ValueError):
                self._broken.set()
        self.memory = self._process.memory
        with contextlib.suppress(OSError):
            pipe.close()
