"""Sounds for the tests of the voice, and where in a video they are heard."""

from __future__ import annotations

import subprocess
import wave
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray
from scipy.signal import fftconvolve

Samples = NDArray[np.float64]
RATE = 48_000


def speech(seconds: float, seed: int = 0, peak: float = 0.4) -> Samples:
    """Syllables of noise between short pauses: as unlike itself elsewhere as speech is."""
    random = np.random.default_rng(seed)
    count = int(seconds * RATE)
    syllables = random.uniform(0, 1, int(seconds * 6) + 2) ** 2
    syllables[random.integers(0, len(syllables), len(syllables) // 5)] = 0
    syllables[0] = syllables[-1] = 1
    where = np.linspace(0, len(syllables) - 1, count)
    shape = np.interp(where, np.arange(len(syllables)), syllables)
    sound = np.convolve(random.standard_normal(count), np.hanning(24), "same") * shape
    return np.asarray(peak * sound / np.abs(sound).max())


def write(path: Path, samples: Samples, rate: int = RATE) -> Path:
    """A WAV file; of two channels where ``samples`` has two rows."""
    channels = samples.ndim
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setparams((channels, 2, rate, 0, "NONE", ""))
        file.writeframes((samples.T * 32767).astype("<i2").tobytes())
    return path


def read(path: Path) -> Samples:
    """The left channel of a sound or a video, decoded to the end."""
    with av.open(str(path)) as container:
        frames = [frame.to_ndarray() for frame in container.decode(audio=0)]
    data = np.concatenate(frames, axis=1)[0].astype(float)
    return data / 32768 if frames[0].dtype == np.int16 else data


def lag(heard: Samples, said: Samples, start: int, around: int = 20_000) -> tuple[int, float]:
    """How many samples later than at ``start`` the sound ``said`` is heard, and how much like it
    what is heard there is, from 0 to 1. A resounding match elsewhere would be found instead."""
    low = max(0, start - around)
    part = heard[low : start + len(said) + around]
    match = fftconvolve(part, said[::-1], "valid")
    best = int(match.argmax())
    same = part[best : best + len(said)]
    likeness = float(same @ said / np.sqrt((same @ same) * (said @ said) or 1))
    return low + best - start, likeness


def measure(binary: str, path: Path) -> tuple[float, float]:
    """Loudness in LUFS and true peak in dBTP, by ffmpeg's meter, which is none of ours."""
    command = [binary, "-hide_banner", "-nostats", "-i", str(path)]
    command += ["-map", "0:a", "-af", "ebur128=peak=true", "-f", "null", "-"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    summary = said[said.rindex("Summary:") :]
    return _figure(summary, "I:"), _figure(summary, "Peak:")


def _figure(text: str, name: str) -> float:
    return float(text.split(name)[1].split()[0])
