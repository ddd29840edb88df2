"""One H.264 stream per scene: frames go in as they are drawn, a silent video file comes out."""

from __future__ import annotations

import contextlib
import queue
import threading
from pathlib import Path
from typing import Any, Protocol

from engine.errors import LectureError
from render import ffmpeg
from render.quality import Quality

_WAITING_BYTES = 30_000_000  # of frames drawn but not yet encoded: 3 at 1080p, 1 at 4k


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
    """

    def __init__(self, binary: str, target: Path, quality: Quality, threads: int) -> None:
        self.frames = 0
        self._target = target
        self._size = quality.frame_bytes
        self._process = ffmpeg.encode_frames(binary, target, quality, threads)
        room = max(1, _WAITING_BYTES // self._size)
        self._waiting: queue.Queue[tuple[_Buffer, int] | None] = queue.Queue(room)
        self._broken = threading.Event()
        self._feeder = threading.Thread(target=self._feed, daemon=True)
        self._feeder.start()

    def write(self, frame: _Buffer, repeat: int = 1) -> None:
        """Add ``frame`` (height x width x 4 bytes, C order) ``repeat`` times; it is now ours."""
        if frame.nbytes != self._size:
            raise ValueError(f"a frame of {self._size} bytes is wanted, not {frame.nbytes}")
        if self._broken.is_set():
            self.finish()
        self._waiting.put((frame, repeat))
        self.frames += repeat

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
            frame, repeat = item
            try:
                for _ in range(0 if self._broken.is_set() else repeat):
                    pipe.write(frame.data)
            except (OSError, ValueError):
                self._broken.set()
        with contextlib.suppress(OSError):
            pipe.close()
