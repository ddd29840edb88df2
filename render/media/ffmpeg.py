"""The only module that talks to ffmpeg: which binary, how a command is built and run.

Commands are built with ffmpeg-python. Everything ffmpeg says is drained while it runs, so it can
never block on a full pipe, and its last words are kept for the error message.
"""

from __future__ import annotations

import collections
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import ffmpeg

from engine.errors import LectureError
from render.media.quality import AUDIO_RATE, Quality

VARIABLE = "LECTURE_FFMPEG"
_NEEDED = ("libx264", "aac")
_CRF = 18  # of pictures that are encoded a second time
_QUIET = ("-hide_banner", "-nostats", "-loglevel", "repeat+level+warning")
_LAST_LINES = 12
#: lines that count although ffmpeg exits with 0: errors, and whatever the muxer warns of
_SERIOUS = re.compile(r"\[(error|fatal|panic)\]|^\[(mp4|out#\S*) @ ")
#: the one warning that is meant: sound is cut so that no edit list is needed (see :func:`mux`)
_MEANT = "Not writing any edit list"
_PREFIX = re.compile(r"^(\[[^]]*\] )+")  # who speaks, where in memory, how loud

#: ticks a second of the film's own clock. ffmpeg 9 would take the least common multiple of all
#: tracks' scales, 48,000,000 with captions, in which a chapter of 45 s no longer fits into 31 bits.
_MOVIE_TIMESCALE = AUDIO_RATE

#: one conversion for the whole project: full-range RGB in, BT.709 limited-range 4:2:0 out
_TO_BT709 = {
    "in_range": "full",
    "out_range": "tv",
    "out_color_matrix": "bt709",
    "flags": "accurate_rnd+full_chroma_int+bicubic",
}
#: glibc must not give the memory of each frame back to the system: a seventh of ffmpeg's time
_KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": "100000000", "MALLOC_TRIM_THRESHOLD_": "200000000"}
_TAGS = {"color_primaries": "bt709", "color_trc": "bt709", "colorspace": "bt709"}


def find() -> str:
    """The ffmpeg to use: $LECTURE_FFMPEG, else the system's, else the one imageio-ffmpeg carries.

    Raises LectureError where the chosen one cannot encode H.264 and AAC, or none is there.
    """
    chosen = os.environ.get(VARIABLE)
    if chosen:
        path = shutil.which(chosen)
        missing = _missing_encoders(path) if path else ["such a program"]
        if path is None or missing:
            raise LectureError(
                where=f"{VARIABLE}={chosen}",
                field="ffmpeg",
                expected=f"an ffmpeg with the encoders {' and '.join(_NEEDED)}",
                found=f"no {' and no '.join(missing)}",
            )
        return path
    for path in (shutil.which("ffmpeg"), _carried()):
        if path is not None and not _missing_encoders(path):
            return path
    raise LectureError(
        field="ffmpeg",
        expected=f"one with the encoders {' and '.join(_NEEDED)}: install ffmpeg, or the Python "
        f"package imageio-ffmpeg, or name one in {VARIABLE}",
        found="none",
    )


def _carried() -> str | None:
    """The binary inside the imageio-ffmpeg package; None on a platform it has none for."""
    try:
        import imageio_ffmpeg

        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        return None


def _missing_encoders(path: str) -> list[str]:
    """Those of the encoders we need that this binary lacks."""
    try:
        listing = subprocess.run(
            [path, "-hide_banner", "-encoders"], capture_output=True, text=True, timeout=30
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return list(_NEEDED)
    names = {line.split()[1] for line in listing.splitlines() if len(line.split()) > 1}
    return [name for name in _NEEDED if name not in names]


class Process:
    """A running ffmpeg whose stderr is drained. Stays in the caller's process group.

    It runs inside ``folder``, so that a command names files only by plain names: folders may be
    called anything ("#", "?", quotes, line breaks), which ffmpeg's own file names do not survive.
    """

    def __init__(self, arguments: list[str], folder: Path, *, takes_frames: bool = False) -> None:
        self._said: collections.deque[str] = collections.deque(maxlen=_LAST_LINES)
        self._popen = subprocess.Popen(
            arguments,
            cwd=folder,
            env={**_KEEP_MEMORY, **os.environ} if takes_frames else None,
            stdin=subprocess.PIPE if takes_frames else subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self._popen.stderr is not None
        for line in self._popen.stderr:
            said = line.decode("utf-8", "replace").strip()
            if _SERIOUS.search(said) and _MEANT not in said:
                self._said.append(_PREFIX.sub("", said))

    @property
    def stdin(self) -> IO[bytes]:
        assert self._popen.stdin is not None
        return self._popen.stdin

    def finish(self, where: str | Path) -> None:
        """Wait for the end. Raises LectureError with ffmpeg's own words if it failed, or if it
        warned: its muxer drops what it cannot write and still exits with 0."""
        code = self._popen.wait()
        self._listener.join()
        if code != 0 or self._said:
            said = list(self._said) or [f"exit code {code}"]
            full = [line for line in said if "No space left" in line]
            raise LectureError(
                where=where,
                field="ffmpeg",
                expected="an encoded video",
                found="no space left on the disk" if full else "; ".join(said[-3:]),
            )

    def kill(self) -> None:
        self._popen.kill()
        self._popen.wait()


def encode_over(
    binary: str, video: Path, target: Path, quality: Quality, threads: int, height: int
) -> Process:
    """Start one ffmpeg that lays strips of raw RGBA on its stdin, ``height`` lines high, over the
    foot of ``video``, frame by frame, and encodes that as ``target``. Both are in one folder."""
    strip = ffmpeg.input(
        "pipe:",
        format="rawvideo",
        pix_fmt="rgba",
        s=f"{quality.width}x{height}",
        framerate=quality.fps,
    )
    strip = strip.filter("scale", **_TO_BT709).filter("format", "yuva420p")
    picture = ffmpeg.input(_name(video))["v"].overlay(strip, x=0, y=quality.height - height)
    command = _encoded(binary, picture.filter("format", "yuv420p"), target, quality, threads)
    return Process(command, target.parent, takes_frames=True)


def _encoded(binary: str, picture: Any, target: Path, quality: Quality, threads: int) -> list[str]:
    """The command that encodes a picture of 4:2:0 planes: closed GOP, every tag says BT.709."""
    picture = picture.filter("setparams", range="tv", **_TAGS)
    settings: dict[str, Any] = {
        "format": "mp4",
        "vcodec": "libx264",
        "preset": "veryfast",
        "crf": _CRF,
        "profile:v": "high",
        "pix_fmt": "yuv420p",
        "g": quality.keyframe_interval,
        "x264-params": "open-gop=0:scenecut=0",
        "bf": 2,
        "threads": threads,
        "color_range": "tv",
        "chroma_sample_location": "left",
        **_TAGS,
    }
    return _command(binary, picture.output(_name(target), **settings))


def mux(
    binary: str,
    listing: Path,
    metadata: Path,
    target: Path,
    *,
    samples: int,
    language: str,
    sound: Path | None = None,
) -> None:
    """Copy the videos of a concat ``listing`` into ``target``, add sound and the ``metadata``.

    All files are in one folder, beside the videos listed, under plain names.
    ``samples``: length of the sound at 48 kHz. ``sound``: a WAV file of that length, one channel;
    without it there is silence. ``metadata``: an FFMETADATA file. The encoder's delay (1024
    samples) is taken off the front, so that no edit list is needed.
    """
    video = ffmpeg.input(_name(listing), format="concat", safe=0)
    if sound is None:
        audio = ffmpeg.input(
            f"anullsrc=r={AUDIO_RATE}:cl=stereo,atrim=end_sample={max(samples - 1024, 1)},"
            "asetpts=PTS+1024",
            format="lavfi",
        )["a"]
    else:
        ears = ffmpeg.input(_name(sound))["a"].asplit()
        audio = ffmpeg.filter([ears[0], ears[1]], "join", inputs=2, channel_layout="stereo")
        audio = audio.filter("atrim", start_sample=min(1024, samples - 1), end_sample=samples)
    notes = ffmpeg.input(_name(metadata), format="ffmetadata")
    settings = {
        "format": "mp4",
        "c:v": "copy",
        "c:a": "aac",
        "b:a": "128k",
        "ac": 2,
        "map_metadata": 2,
        "map_chapters": 2,
        "metadata:s:v:0": f"language={language}",
        "metadata:s:a:0": f"language={language}",
        "use_editlist": 0,
        "movie_timescale": _MOVIE_TIMESCALE,
        "movflags": "+faststart+negative_cts_offsets",
    }
    # "v?" maps nothing: it only keeps the metadata file among the inputs.
    graph = ffmpeg.output(video["v"], audio, notes["v?"], _name(target), **settings)
    Process(_command(binary, graph), target.parent).finish(target)


def add_captions(
    binary: str,
    video: Path,
    captions: Sequence[Path],
    labels: Sequence[tuple[str, str]],
    target: Path,
) -> None:
    """Copy ``video`` into ``target``, with a text track from each WebVTT file of ``captions``.

    ``labels``: language code and name of each track. Whatever else the video has stays as it is,
    but for captions it had before. All files are in one folder, under plain names.
    """
    whole = ffmpeg.input(_name(video))
    texts = [ffmpeg.input(_name(file), format="webvtt") for file in captions]
    settings: dict[str, Any] = {
        "format": "mp4",
        "c:v": "copy",
        "c:a": "copy",
        "c:s": "mov_text",
        "map_metadata": 0,
        "map_chapters": 0,
        "use_editlist": 0,
        "movie_timescale": _MOVIE_TIMESCALE,
        "movflags": "+faststart+negative_cts_offsets",
    }
    for index, (code, name) in enumerate(labels):
        settings[f"metadata:s:s:{index}"] = f"language={code}"
        settings[f"metadata:s:{2 + index}"] = f"handler_name={name}"  # behind pictures and sound
        settings[f"disposition:s:{index}"] = "0"
    streams = [whole["v"], whole["a"], *(text["s"] for text in texts)]
    graph = ffmpeg.output(*streams, _name(target), **settings)
    Process(_command(binary, graph), target.parent).finish(target)


def _name(path: Path) -> str:
    """A file of the working folder, as ffmpeg cannot take it for an option or a protocol."""
    return f"file:{path.name}"


def _command(binary: str, graph: Any) -> list[str]:
    arguments: list[str] = ffmpeg.compile(graph, cmd=[binary, *_QUIET], overwrite_output=True)
    return arguments
