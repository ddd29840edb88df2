"""Which ffmpeg is used, and how its commands, built with ffmpeg-python, are run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any

import ffmpeg

from engine.errors import LectureError

VARIABLE = "LECTURE_FFMPEG"
_NEEDED = ("libx264", "aac")
_QUIET = ("-hide_banner", "-nostats", "-loglevel", "repeat+level+warning")
#: lines that count although ffmpeg exits with 0: errors, and whatever the muxer warns of
_SERIOUS = re.compile(r"\[(error|fatal|panic)\]|^\[(mp4|out#\S*) @ ")
#: the one warning that is meant: sound is cut so that no edit list is needed (render/media/mux.py)
_MEANT = "Not writing any edit list"
_PREFIX = re.compile(r"^(\[[^]]*\] )+")  # who speaks, where in memory, how loud


def find() -> str:
    """The ffmpeg to use: $LECTURE_FFMPEG, else the system's, else the one imageio-ffmpeg carries.

    Raises LectureError where the chosen one cannot encode H.264 and AAC, or there is none.
    """
    chosen = os.environ.get(VARIABLE)
    for path in [shutil.which(chosen)] if chosen else [shutil.which("ffmpeg"), carried()]:
        missing = _missing_encoders(path) if path else ["such a program"]
        if path and not missing:
            return path
    expected, found, where = f"one with the encoders {' and '.join(_NEEDED)}", "none", None
    if chosen:
        where, found = f"{VARIABLE}={chosen}", f"no {' and no '.join(missing)}"
        expected = f"an ffmpeg{expected.removeprefix('one')}"
    else:
        expected += ": install ffmpeg, or the Python package imageio-ffmpeg, "
        expected += f"or name one in {VARIABLE}"
    raise LectureError(where=where, field="ffmpeg", expected=expected, found=found)


def carried() -> str | None:
    """The binary inside the imageio-ffmpeg package; None on a platform it has none for."""
    try:
        import imageio_ffmpeg

        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        return None


def _missing_encoders(path: str) -> list[str]:
    """Those of the needed encoders that this binary lacks."""
    command = [path, "-hide_banner", "-encoders"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=30).stdout
    except (OSError, subprocess.TimeoutExpired):
        said = ""
    names = {word for line in said.splitlines() for word in line.split()[1:2]}
    return [name for name in _NEEDED if name not in names]


def named(path: Path) -> str:
    """A file of the working folder, as ffmpeg cannot take it for an option or a protocol."""
    return f"file:{path.name}"


def link(path: Path, name: Path) -> Path:
    """A second name for a file, under which it stays what it is; a copy where there is no such
    thing. Raises OSError."""
    try:
        os.link(path.resolve(), name)
    except OSError:
        shutil.copyfile(path, name)
    return name


def write(binary: str, graph: Any, target: Path) -> None:
    """Write ``target`` by a graph of ffmpeg-python that has it as its output; see :func:`run`."""
    command = ffmpeg.compile(graph, cmd=[binary, *_QUIET], overwrite_output=True)
    run(command, target.parent, target)


def run(command: Sequence[str], folder: Path, where: str | Path) -> None:
    """Run ffmpeg inside ``folder``, in this process's group.

    Files are named by plain names only: folders may be called anything ("#", "?", quotes, line
    breaks), which ffmpeg's own file names do not survive. Raises LectureError about ``where`` in
    ffmpeg's own words if it failed, or warned: its muxer exits with 0 whatever it had to drop.
    """
    done = subprocess.run(command, cwd=folder, stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE)
    said = list(_serious(done.stderr.splitlines()))
    if done.returncode != 0 or said:
        words = "; ".join(said[-3:]) or f"exit code {done.returncode}"
        if any("No space left" in line for line in said):
            words = "no space left on the disk"
        raise LectureError(where=where, field="ffmpeg", expected="an encoded video", found=words)


def _serious(lines: Iterable[bytes]) -> Iterator[str]:
    """What ffmpeg says that must not be passed over, without who says it."""
    for line in lines:
        text = line.decode("utf-8", "replace").strip()
        if _SERIOUS.search(text) and _MEANT not in text:
            yield _PREFIX.sub("", text)
