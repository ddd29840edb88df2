"""Prepared sound: any file that FFmpeg reads, in; WAV of 48 kHz, one channel, 16 bits, out: no
long silence at its ends, as loud as all the rest, never too loud.

Arrays are one channel at 48 kHz, float, full scale 1; it is heard in both ears, and loudness is
measured so (EBU R 128: LUFS, true peak in dBTP).
"""

from __future__ import annotations

import itertools
import wave
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import LectureError
from render.base.files import replacing
from render.base.reads import Needs, Output, Reads, Spec, Tell
from render.media.quality import AUDIO_RATE
from render.media.sound import FORM

Samples = NDArray[np.float64]

ENDINGS = (".wav", ".m4a", ".mp3", ".flac", ".ogg")
LONGEST = 180.0  # seconds
#: what follows a beat's speech before the next beat begins, in seconds
BREATH = 0.35
_UNKNOWN = 0x7FFFF000  # this size or more in a WAV file's header means unknown
_CUT_SHORT = 0.5  # seconds that may be missing of what a file announces

TARGET = -16.0  # LUFS
CEILING = -3.0  # dBTP before AAC, whose own overshoot must stay below the -1.5 promised
#: below this no window of 10 ms is taken for speech, in dB of full scale
SILENCE = -50.0
#: what is left of silence before and after the speech, in seconds
LEAD, TAIL = 0.2, 0.3
_BELOW_SPEECH = 38.0  # dB under the loudest window: silence, breath or room
_WINDOW = AUDIO_RATE // 100
_BLOCK = int(0.4 * AUDIO_RATE)  # the shortest that loudness is measured of
_FADE = int(0.003 * AUDIO_RATE)
_LOOKAHEAD = int(0.004 * AUDIO_RATE)


def make(spec: Spec, needs: Needs, reads: Reads, into: Path, tell: Tell) -> Output:
    """``sound``: the recording ``file``, prepared. Facts: ``seconds`` that its beat must last.
    Of a recording that cannot be used there is no sound, and the fact ``bad`` says why."""
    target, source = into / "sound.wav", Path(spec["file"])
    reads.uses(source)
    try:
        prepare(source, target)
    except LectureError as error:
        if error.field != "recording":
            raise
        return {"facts": {"seconds": 0.0, "bad": str(error)}}
    return {"sound": target, "facts": {"seconds": seconds_of(target)}}


def seconds_of(path: Path) -> float:
    """How long a beat must last for a prepared sound, breath and all. Raises OSError."""
    with wave.open(str(path)) as file:
        seconds: float = file.getnframes() / AUDIO_RATE
    return seconds + BREATH


def read(path: Path) -> Samples:
    """A recording as one channel at 48 kHz. Raises LectureError where it is no sound, cut short,
    or longer than :data:`LONGEST`."""
    import av

    if not path.is_file():  # a folder, a broken link, a pipe
        raise _bad(path, "a sound file that can be read", "no file")
    try:
        with av.open(str(path.absolute())) as container:
            if not container.streams.audio:
                raise _bad(path, "sound", "none in it")
            stream = container.streams.audio[0]
            announced = float((stream.duration or 0) * (stream.time_base or 0))
            resampler = av.AudioResampler(format="fltp", layout="stereo", rate=AUDIO_RATE)
            pieces = [np.zeros((2, 0), np.float32)]
            length = 0
            for frame in itertools.chain(container.decode(stream), [None]):
                if frame:
                    frame.pts = None
                    length += frame.samples
                    if length > LONGEST * frame.sample_rate:
                        expected = f"at most {LONGEST:.0f} s for one beat"
                        raise _bad(path, expected, f"{max(announced, LONGEST):.0f} s or more")
                pieces += [np.asarray(piece.to_ndarray()) for piece in resampler.resample(frame)]
    except (av.FFmpegError, OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise _bad(path, "a sound file that can be read", f"one that cannot: {said}") from error
    if _is_cut(path):
        raise _bad(path, "a complete WAV file", "a truncated one")
    both = np.concatenate(pieces, axis=1)
    seconds = both.shape[1] / AUDIO_RATE
    if seconds < announced - _CUT_SHORT:
        raise _bad(path, f"{announced:.1f} s, as its header says", f"only {seconds:.1f} s")
    return _one_channel(both.astype(np.float64))


def prepare(source: Path, target: Path) -> None:
    """Write the recording ``source``, prepared, to ``target``. Raises LectureError as
    :func:`read` does, and where nobody speaks in it."""
    samples = read(source)
    loudest = level(samples) if len(samples) else -180.0
    if loudest < SILENCE:
        found = f"silence ({loudest:.0f} dB)" if loudest > -170 else "silence"
        raise _bad(source, f"speech, louder than {SILENCE:.0f} dB", found)
    write(target, make_ready(samples))


def write(target: Path, samples: Samples) -> None:
    """Write a WAV file, whole or not at all. Raises LectureError where that cannot be."""
    data = np.round(np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes()
    with replacing(target) as fresh, wave.open(str(fresh), "wb") as file:
        file.setparams(FORM)
        file.writeframes(data)


def level(samples: Samples) -> float:
    """The loudest 10 ms, as dB of full scale."""
    return 20 * float(np.log10(_windows(samples).max(initial=1e-9)))


def loudness(samples: Samples) -> float:
    """Integrated loudness in LUFS, of both ears together; -inf of silence."""
    from pyloudnorm import Meter

    if len(samples) < _BLOCK:
        samples = np.pad(samples, (0, _BLOCK - len(samples)))
    return float(Meter(AUDIO_RATE).integrated_loudness(np.stack([samples, samples], axis=1)))


def make_ready(samples: Samples) -> Samples:
    """Trim, bring to :data:`TARGET`, keep under :data:`CEILING`, soften both ends."""
    speech = trim(samples)
    gain = TARGET - loudness(speech)
    for _ in range(4):  # what the limiter takes away is made up for
        ready = limit(speech * 10 ** (gain / 20))
        short = TARGET - loudness(ready)
        if abs(short) < 0.05:
            break
        gain += short
    ramp = np.linspace(0, 1, min(_FADE, len(ready) // 2))
    ready[: len(ramp)] *= ramp
    ready[len(ready) - len(ramp) :] *= ramp[::-1]
    return ready


def trim(samples: Samples) -> Samples:
    """Without what is longer than LEAD and TAIL of silence before and after the speech."""
    windows = _windows(samples)
    speaks = np.flatnonzero(windows > windows.max() * 10 ** (-_BELOW_SPEECH / 20))
    first = int(speaks[0]) * _WINDOW - int(LEAD * AUDIO_RATE)
    last = int(speaks[-1] + 1) * _WINDOW + int(TAIL * AUDIO_RATE)
    return samples[max(0, first) : last]


def limit(samples: Samples) -> Samples:
    """Turned down smoothly, a few milliseconds around each peak over :data:`CEILING`."""
    from scipy.ndimage import minimum_filter1d, uniform_filter1d
    from scipy.signal import resample_poly

    ceiling = 10 ** (CEILING / 20)
    between = np.abs(resample_poly(samples, 4, 1)).reshape(-1, 4).max(axis=1)
    peaks = np.maximum(between, np.abs(samples))  # at and right behind each sample
    if peaks.max(initial=0.0) <= ceiling:
        return samples.copy()
    wanted = np.minimum(1.0, ceiling / np.maximum(peaks, 1e-9))
    size = 2 * _LOOKAHEAD + 1
    gain: Samples = uniform_filter1d(minimum_filter1d(wanted, size), size)
    return samples * gain


def _windows(samples: Samples) -> Samples:
    """RMS of each 10 ms; the last one may be short of some."""
    padded = np.pad(samples, (0, -len(samples) % _WINDOW))
    return np.asarray(np.sqrt(np.mean(padded.reshape(-1, _WINDOW) ** 2, axis=1)))


def _is_cut(path: Path) -> bool:
    """Whether a WAV file is shorter than its head says; those written to a pipe do not know."""
    with path.open("rb") as file:
        head = file.read(8)
    said = int.from_bytes(head[4:], "little")
    return head[:4] == b"RIFF" and 8 + path.stat().st_size < said < _UNKNOWN


def _one_channel(both: Samples) -> Samples:
    """Both channels mixed; where they cancel out, or only one of them speaks, that one."""
    mixed: Samples = both.mean(axis=0)
    powers = np.sum(both**2, axis=1)
    return mixed if np.sum(mixed**2) >= 0.3 * powers.max() else both[int(powers.argmax())]


def _bad(path: Path, expected: str, found: str) -> LectureError:
    return LectureError(where=path, field="recording", expected=expected, found=found)
