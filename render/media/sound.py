"""The sound track of a video: each sound from its first frame on, else silence."""

from __future__ import annotations

import wave
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import LectureError, from_os_error
from render.media.quality import AUDIO_RATE

_PIECE = AUDIO_RATE * 10  # samples copied at a time


@dataclass(frozen=True)
class Sound:
    """A WAV file (48 kHz, one channel, 16 bits) that is heard from a frame on."""

    frame: int
    path: Path


def write_track(target: Path, sounds: Sequence[Sound], frames: int, samples_per_frame: int) -> Path:
    """Write one channel of exactly ``frames`` frames; a sound ends where the next one begins.

    Raises LectureError where a sound is gone or the disk is full.
    """
    ordered = sorted(sounds, key=lambda sound: sound.frame)
    ends = [*(sound.frame for sound in ordered[1:]), frames]
    try:
        with wave.open(str(target), "wb") as track:
            track.setparams((1, 2, AUDIO_RATE, 0, "NONE", ""))
            for sound, end in zip(ordered, ends, strict=False):
                _silence(track, sound.frame * samples_per_frame - track.tell())
                _copy(track, sound.path, end * samples_per_frame - track.tell())
            _silence(track, frames * samples_per_frame - track.tell())
    except wave.Error as error:
        raise LectureError(
            where=target, expected="sounds of this project", found=str(error)
        ) from error
    except OSError as error:
        raise from_os_error(error, error.filename or target) from error
    return target


def _copy(track: wave.Wave_write, path: Path, most: int) -> None:
    with wave.open(str(path), "rb") as sound:
        while most > 0 and (data := sound.readframes(min(most, _PIECE))):
            track.writeframesraw(data)
            most -= len(data) // 2


def _silence(track: wave.Wave_write, samples: int) -> None:
    while samples > 0:
        track.writeframesraw(bytes(2 * min(samples, _PIECE)))
        samples -= _PIECE
