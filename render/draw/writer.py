"""Manim's file writer, replaced: every frame of a scene goes to one encoder.

Plain Manim encodes each ``play()`` into a file of its own and joins them afterwards. Here the
hooks of ``SceneFileWriter`` (Manim 0.22) lead to a single :class:`FrameEncoder` instead. The
frames, and so their number, are those that plain Manim would write.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from manim import SceneFileWriter

from engine.errors import LectureError
from render.media.encoding import FrameEncoder

_REPORT_EVERY = 10  # frames


class StreamWriter(SceneFileWriter):  # type: ignore[misc]  # Manim is untyped for us
    """Sends frames to ``encoder`` and tells ``report`` how many there are so far."""

    takes_changes = True  # see render.draw.fast.renderer

    def __init__(self, settings: Any, encoder: FrameEncoder, report: Callable[[int], None]) -> None:
        super().__init__(settings)
        self._encoder = encoder
        self._report = report
        self._reported = 0
        self._in_play = False

    def open_partial_movie_stream(self, **_: Any) -> None:
        """A ``play()`` begins: frames drawn from now on belong to the film."""
        self._in_play = True

    def close_partial_movie_stream(self) -> None:
        self._in_play = False

    def write_frame(self, pixels: Any, *, repeat: int = 1, changed: Any = None) -> None:
        """Take one RGBA frame, shown ``repeat`` times; ``changed``: see the encoder."""
        if not self._in_play or repeat < 1:
            return
        if changed is None:
            self._encoder.write(pixels, repeat)
        else:
            self._encoder.write(pixels, repeat, changed)
        if self._encoder.frames >= self._reported + _REPORT_EVERY:
            self._tell()

    @property
    def wants_next(self) -> bool:
        """Whether the next frame need be drawn."""
        return self._encoder.wants_next

    def is_already_cached(self, hash_invocation: str) -> bool:
        """Never: there are no partial files."""
        return False

    def join_all_encode_jobs(self) -> None:
        """Nothing to wait for: the encoder is finished in :meth:`finish`."""

    def abort_encode_jobs(self, reraise_encoder_failures: bool = False) -> None:
        """The scene failed; its video is dropped."""
        self._in_play = False
        self._encoder.abort()

    def finish(self) -> None:
        """All plays are drawn: close the video. Raises LectureError if encoding failed."""
        if self.includes_sound:
            raise LectureError(
                field="sound", expected="a silent scene", found="a call of add_sound()"
            )
        self._encoder.finish()
        if self._encoder.frames > self._reported:
            self._tell()

    def _tell(self) -> None:
        self._reported = self._encoder.frames
        self._report(self._reported)
