"""A scene drawn by several processes at once, for runs with fewer scenes than cores.

The worker forks a helper for each part of the film but the first, which it draws itself. Each plays
the scene from its beginning, frame by frame, so that everything stands where it would, but draws
and encodes only its own frames. A helper ends with its part; the worker plays on to the end, for
the scene's record, waits, and joins the packets. They are those of a single encoder, byte for byte:
nothing refers to what is before a keyframe, and parts begin at every second one, since x264
numbers keyframes 0, 1, 0, 1 ...
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

from engine.errors import LectureError, one_line
from render.base.process import end_with
from render.base.reads import Reads
from render.media.quality import Quality
from render.media.share import Share

VIDEO = "part.mp4"
_NUMBERED = 2  # keyframes until their numbers repeat
_CORES = 2  # that a process keeps busy: one draws, one encodes


def bounds(expected_frames: int, parts: int, keyframe_interval: int) -> list[int]:
    """Where parts begin: the first at 0, all of them about as long."""
    step = _NUMBERED * keyframe_interval
    found = {step * round(expected_frames * k / parts / step) for k in range(1, parts)}
    return [0, *sorted(place for place in found if 0 < place < expected_frames)]


class Helpers:
    """Processes that draw all parts but the first.

    ``draw`` plays the scene ``slug`` into an encoder for ``part.mp4`` in the folder that is given
    to it, with the share that is given to it. ``share`` is what is left to this process. Leaving
    the context ends the helpers and removes their videos.
    """

    def __init__(
        self, slug: str, folder: Path, places: list[int], draw: Callable[[Path, Share], None]
    ) -> None:
        self._slug = slug
        self._pids: dict[int, Path] = {}
        self._folders: list[Path] = []
        self.memory = 0  # bytes, of all helpers that have ended
        ends: list[int | None] = [*places[1:], None]
        self.share = Share(0, ends[0], self.wait)
        if len(places) == 1:
            return
        alive, self._alive = os.pipe()  # its end tells the helpers that we are gone
        for first, end in zip(places[1:], ends[1:], strict=True):
            part = folder / f"part_{first}"
            part.mkdir()
            pid = os.fork()
            if pid == 0:
                os.close(self._alive)
                _work(part, first, end, draw, alive)
            self._pids[pid] = part
            self._folders.append(part)
        os.close(alive)

    def __enter__(self) -> Helpers:
        return self

    def __exit__(self, *_: object) -> None:
        for pid in self._pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        for folder in self._folders:
            (folder / VIDEO).unlink(missing_ok=True)  # joined
        if self.share.end is not None:
            os.close(self._alive)

    def wait(self) -> list[Path]:
        """The videos of the parts, in order. Raises LectureError where one was not made."""
        return list(self._videos())

    def _videos(self) -> Iterator[Path]:
        for pid, folder in list(self._pids.items()):
            _, status, used = os.wait4(pid, 0)
            del self._pids[pid]
            self.memory += used.ru_maxrss * 1024
            if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
                os.kill(os.getpid(), signal.SIGKILL)  # out of memory: so are we, for the pool
            if status:
                raise LectureError(
                    where=self._slug,
                    field=folder.name,
                    expected="a part of the video",
                    found=_failure(folder),
                )
            if (folder / VIDEO).exists():  # else the scene was over before
                yield folder / VIDEO


def _work(
    folder: Path, first: int, end: int | None, draw: Callable[[Path, Share], None], alive: int
) -> None:
    """Be a helper; does not return. The part is left at ``part.mp4``, if it has any frames."""
    try:
        end_with(alive)
        draw(folder, Share(first, end, done=lambda: os._exit(0)))
    except BaseException as error:
        traceback.print_exc()
        line = str(error) if isinstance(error, LectureError) else f"{type(error).__name__}: {error}"
        with contextlib.suppress(OSError):
            (folder / "failure.txt").write_text(one_line(line), encoding="utf-8")
    finally:
        os._exit(1)


def _failure(folder: Path) -> str:
    try:
        return (folder / "failure.txt").read_text(encoding="utf-8")
    except OSError:
        return "its process ended without a message"


def places(reads: Reads, quality: Quality, *, compiled: bool) -> list[int]:
    """Where the parts of a scene begin; one only, unless cores would idle and joining is exact.

    ``compiled``: the compiled helper draws, the only one that leaves frames out.
    """
    from render.media.pictures import is_joined_exactly

    synthetic = reads.spoken is not None and "name" in reads.spoken  # spoken as it plays
    parts = -(-reads.threads // _CORES)
    if parts < 2 or not compiled or synthetic or sys.platform != "linux":
        return [0]
    found = bounds(reads.length, parts, quality.keyframe_interval)
    return found if len(found) > 1 and is_joined_exactly(quality) else [0]
