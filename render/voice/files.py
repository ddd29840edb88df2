"""Sound files: any that FFmpeg reads, in; WAV of 48 kHz, one channel, 16 bits, out."""

from __future__ import annotations

import os
import wave
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import LectureError
from render.media.quality import AUDIO_RATE
from render.voice.loudness import SILENCE, Samples, level, make_ready

ENDINGS = (".wav", ".m4a", ".mp3", ".flac", ".ogg")
LONGEST = 180.0  # seconds
_BYTES = 2
_HEAD = 44  # bytes before the samples
_UNKNOWN = 0x7FFFF000  # this size or more in a WAV file's head is none
_CUT_SHORT = 0.5  # seconds that may be missing of what a file announces


def read(path: Path) -> Samples:
    """A recording as one channel at 48 kHz. Raises LectureError where it is no sound, cut short,
    or longer than :data:`LONGEST`."""
    import av

    try:
        with av.open(str(path.absolute())) as container:
            if not container.streams.audio:
                raise _bad(path, "sound", "none in it")
            stream = container.streams.audio[0]
            announced = float((stream.duration or 0) * (stream.time_base or 0))
            resampler = av.AudioResampler(format="fltp", layout="stereo", rate=AUDIO_RATE)
            pieces: list[NDArray[np.float32]] = []
            length = 0
            for frame in container.decode(stream):
                frame.pts = None
                pieces += [np.asarray(piece.to_ndarray()) for piece in resampler.resample(frame)]
                length += frame.samples
                if length > LONGEST * frame.sample_rate:
                    expected = f"at most {LONGEST:.0f} s for one beat"
                    raise _bad(path, expected, f"{max(announced, LONGEST):.0f} s or more")
            pieces += [np.asarray(piece.to_ndarray()) for piece in resampler.resample(None)]
    except (av.FFmpegError, OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise _bad(path, "a sound file that can be read", f"one that cannot: {said}") from error
    if _is_cut(path):
        raise _bad(path, "a whole WAV file", "one that ends before it should")
    both = np.concatenate(pieces, axis=1) if pieces else np.zeros((2, 0), np.float32)
    seconds = both.shape[1] / AUDIO_RATE
    if seconds < announced - _CUT_SHORT:
        raise _bad(path, f"{announced:.1f} s, as it says itself", f"only {seconds:.1f} s")
    return _one_channel(both.astype(np.float64))


def prepare(source: Path, target: Path) -> None:
    """Write the recording ``source``, made ready, to ``target``. Raises LectureError as
    :func:`read` does, and where nobody speaks in it."""
    samples = read(source)
    loudest = level(samples) if len(samples) else -180.0
    if loudest < SILENCE:
        found = f"silence ({loudest:.0f} dB)" if loudest > -170 else "silence"
        raise _bad(source, f"speech, louder than {SILENCE:.0f} dB", found)
    write(target, make_ready(samples))


def write(target: Path, samples: Samples) -> None:
    """Write a WAV file, whole or not at all. Raises LectureError where that cannot be."""
    fresh = target.with_name(f"{target.name}.{os.getpid()}")
    data = np.round(np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes()
    try:
        with wave.open(str(fresh), "wb") as file:
            file.setparams((1, _BYTES, AUDIO_RATE, 0, "NONE", ""))
            file.writeframes(data)
        fresh.replace(target)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise LectureError(
            where=target, field="file", expected="room for sound", found=str(error)
        ) from error


def samples_of(path: Path) -> int:
    """Length of a WAV file of ours."""
    return max(0, path.stat().st_size - _HEAD) // _BYTES


def _is_cut(path: Path) -> bool:
    """Whether a WAV file is shorter than its head says; those written to a pipe do not know."""
    with path.open("rb") as file:
        head = file.read(8)
    said = int.from_bytes(head[4:], "little")
    return head[:4] == b"RIFF" and 8 + path.stat().st_size < said < _UNKNOWN


def _one_channel(both: Samples) -> Samples:
    """Both channels mixed; where they cancel out, or only one of them speaks, that one."""
    mixed: Samples = both.mean(axis=0)
    if not mixed.size:
        return mixed
    powers = np.mean(both**2, axis=1)
    if np.mean(mixed**2) < 0.3 * powers.max():
        mixed = both[int(powers.argmax())]
    return mixed


def _bad(path: Path, expected: str, found: str) -> LectureError:
    return LectureError(where=path, field="recording", expected=expected, found=found)
