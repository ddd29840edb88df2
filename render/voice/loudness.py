"""Speech made ready: no long silence at its ends, as loud as all the rest, never too loud.

Arrays are one channel at 48 kHz, float, full scale 1; it is heard in both ears, and loudness is
measured so (EBU R 128: LUFS, true peak in dBTP).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from render.media.quality import AUDIO_RATE

Samples = NDArray[np.float64]

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


def decibels(amplitude: float) -> float:
    return 20 * float(np.log10(max(amplitude, 1e-9)))


def level(samples: Samples) -> float:
    """The loudest 10 ms, as dB of full scale."""
    return decibels(float(_windows(samples).max(initial=0.0)))


def loudness(samples: Samples) -> float:
    """Integrated loudness in LUFS, of both ears together; -inf of silence."""
    from pyloudnorm import Meter

    if len(samples) < _BLOCK:
        samples = np.pad(samples, (0, _BLOCK - len(samples)))
    return float(Meter(AUDIO_RATE).integrated_loudness(np.stack([samples, samples], axis=1)))


def true_peak(samples: Samples) -> float:
    """In dBTP, measured at four times the rate."""
    return decibels(float(_peaks(samples).max(initial=0.0)))


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

    ceiling = 10 ** (CEILING / 20)
    peaks = _peaks(samples)
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


def _peaks(samples: Samples) -> Samples:
    """The largest magnitude at and right behind each sample, between samples too."""
    from scipy.signal import resample_poly

    fine = np.abs(resample_poly(samples, 4, 1)).reshape(-1, 4).max(axis=1)
    found: Samples = np.maximum(fine, np.abs(samples))
    return found
