"""The sound track of a video: each sound from its first frame on, else silence."""

from __future__ import annotations

import wave
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from engine.errors import LectureError, from_os_error
from render.media.quality import AUDIO_RATE

_PIECE = AUDIO_RATE * 10  # samples copied at a time
FORM = (1, 2, AUDIO_RATE, 0, "NONE", "")  # of WAV files: one channel, 16 bits


class Sound(NamedTuple):
    """A WAV file of :data:`FORM` that is heard from a frame on."""

    frame: int
    path: Path


def write_track(target: Path, sounds: Sequence[Sound], frames: int, samples_per_frame: int) -> Path:
    """Write one channel of exactly ``frames`` frames; a sound ends where the next one begins.

    Raises LectureError where a sound is gone or the disk is full.
    """
    ordered = sorted(sounds)
    starts = [sound.frame * samples_per_frame for sound in ordered]
    ends = [*starts[1:], frames * samples_per_frame]
    try:
        with wave.open(str(target), "wb") as track:
            track.setparams(FORM)
            for (_, path), start, end in zip(ordered, starts, ends, strict=False):
                _silence(track, start)
                with wave.open(str(path), "rb") as sound:
                    while data := sound.readframes(min(end - track.tell(), _PIECE)):
                        track.writeframesraw(data)
            _silence(track, frames * samples_per_frame)
    except wave.Error as error:
        expected = "sounds of this project"
        raise LectureError(where=target, expected=expected, found=str(error)) from error
    except OSError as error:
        raise from_os_error(error, error.filename or target) from error
    return target


def _silence(track: wave.Wave_write, end: int) -> None:
    """Silence up to the sample ``end``."""
    while track.tell() < end:
        track.writeframesraw(bytes(2 * min(end - track.tell(), _PIECE)))
