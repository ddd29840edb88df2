"""Recordings made ready: read, trimmed, loud enough, never too loud; and the track of a video."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy.signal import resample_poly

from engine.errors import LectureError
from render.media.sound import Sound, write_track
from render.voice import audio

from .speech import RATE, lag, measure, read, speech, write


def db(value: float) -> float:
    return 10 ** (value / 20)


@pytest.mark.parametrize("peak", [0.99, 0.4, 0.02])
def test_every_recording_is_as_loud_as_all(peak: float, tmp_path: Path, binary: str) -> None:
    source = write(tmp_path / "s.wav", speech(4, peak=peak))
    audio.prepare(source, tmp_path / "r.wav")
    heard = read(tmp_path / "r.wav")
    both = write(tmp_path / "both.wav", np.stack([heard, heard]))
    loud, peak_found = measure(binary, both)
    assert loud == pytest.approx(audio.TARGET, abs=0.3)
    assert peak_found <= audio.CEILING + 0.15


def test_what_peaks_sharply_is_limited_and_still_loud(tmp_path: Path, binary: str) -> None:
    """Quiet speech with clicks 30 dB above it: neither may the clicks be louder than allowed, nor
    the speech be left behind for their sake."""
    samples = speech(5, peak=0.03)
    samples[::24_000] = 0.95
    audio.prepare(write(tmp_path / "s.wav", samples), tmp_path / "r.wav")
    heard = read(tmp_path / "r.wav")
    loud, peak = measure(binary, write(tmp_path / "both.wav", np.stack([heard, heard])))
    assert loud == pytest.approx(audio.TARGET, abs=0.5)
    assert peak <= audio.CEILING + 0.15


def test_the_limiter_touches_only_what_is_near_a_peak() -> None:
    samples = np.full(RATE, 0.1)
    samples[20_000] = 0.99
    limited = audio.limit(samples)
    between = np.abs(resample_poly(limited, 4, 1)).max()
    assert 20 * np.log10(between) <= audio.CEILING + 0.01
    assert np.array_equal(limited[:19_000], samples[:19_000])
    assert np.array_equal(limited[21_000:], samples[21_000:])
    assert np.abs(np.diff(limited[19_000:19_990])).max() < 0.001  # no step


def test_short_things_have_a_loudness_too(tmp_path: Path) -> None:
    ready = audio.make_ready(speech(0.2))
    assert np.isfinite(ready).all()
    assert audio.loudness(ready) == pytest.approx(audio.TARGET, abs=0.5)


@pytest.mark.parametrize("room", [0.0, 0.0005])
def test_long_silence_at_the_ends_goes_and_short_stays(room: float) -> None:
    said = speech(2)
    hiss = np.random.default_rng(5).standard_normal(6 * RATE) * room
    long = hiss.copy()
    long[2 * RATE : 4 * RATE] += said
    kept = audio.trim(long)
    lead = lag(kept, said, 0)[0] / RATE
    assert lead == pytest.approx(audio.LEAD, abs=0.03)
    assert len(kept) / RATE == pytest.approx(2 + audio.LEAD + audio.TAIL, abs=0.1)
    short = np.concatenate([hiss[: RATE // 10], said, hiss[: RATE // 10]])
    assert len(audio.trim(short)) == len(short)


@pytest.mark.parametrize(
    ("ending", "options"),
    [
        ("wav", ["-ar", "44100", "-ac", "1"]),
        ("wav", ["-ar", "96000", "-c:a", "pcm_s24le"]),
        ("m4a", ["-c:a", "aac", "-ar", "44100"]),
        ("flac", ["-ar", "22050"]),
        ("mp3", ["-c:a", "libmp3lame"]),
        ("ogg", ["-c:a", "libvorbis"]),
    ],
)
def test_what_recorders_write(ending: str, options: list[str], tmp_path: Path, binary: str) -> None:
    said = speech(2)
    source, made = write(tmp_path / "s.wav", said), tmp_path / f"made.{ending}"
    command = [binary, "-v", "error", "-i", str(source), *options, str(made)]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip(f"this ffmpeg cannot write {ending}")
    found = audio.read(made)
    assert len(found) / RATE == pytest.approx(2, abs=0.1)
    late, like = lag(found, said, 0)
    assert abs(late) < RATE // 60
    assert like > 0.9


def test_a_take_with_one_ear_or_crossed_wires_is_heard(tmp_path: Path) -> None:
    said = speech(2)
    for left, right in ((said, 0 * said), (0 * said, said), (said, -said), (said, said)):
        heard = audio.read(write(tmp_path / "s.wav", np.stack([left, right])))
        assert abs(lag(heard, said, 0)[1]) > 0.99


def spoil_text(path: Path) -> None:
    path.write_text("no sound at all")


def spoil_empty(path: Path) -> None:
    path.write_bytes(b"")


def spoil_silent(path: Path) -> None:
    write(path, np.zeros(2 * RATE))


def spoil_hiss(path: Path) -> None:
    write(path, np.random.default_rng(1).standard_normal(2 * RATE) * db(-70))


def spoil_no_samples(path: Path) -> None:
    write(path, np.zeros(0))


def spoil_long(path: Path) -> None:
    write(path, np.tile(speech(1), 181))


SPOILT = [
    (spoil_text, "a sound file that can be read"),
    (spoil_empty, "a sound file that can be read"),
    (spoil_silent, "speech, louder than -50 dB, found silence"),
    (spoil_hiss, r"found silence \(-\d\d dB\)"),
    (spoil_no_samples, "found"),
    (spoil_long, "at most 180 s for one beat"),
]


@pytest.mark.parametrize(("spoil", "told"), SPOILT)
def test_what_cannot_be_used_is_told(spoil, told: str, tmp_path: Path) -> None:
    path = tmp_path / "scale.wav"
    spoil(path)
    with pytest.raises(LectureError, match=told) as caught:
        audio.prepare(path, tmp_path / "r.wav")
    assert str(caught.value).startswith(f"{path}: recording: expected ")
    assert not (tmp_path / "r.wav").exists()


@pytest.mark.parametrize("ending", ["wav", "flac", "m4a"])
def test_a_file_cut_short_is_told(ending: str, tmp_path: Path, binary: str) -> None:
    source, cut = write(tmp_path / "s.wav", speech(6)), tmp_path / f"cut.{ending}"
    subprocess.run([binary, "-v", "error", "-i", str(source), str(cut)], check=True)
    cut.write_bytes(cut.read_bytes()[: cut.stat().st_size // 2])
    with pytest.raises(LectureError, match=rf"cut\.{ending}: recording: expected"):
        audio.read(cut)


def test_a_picture_is_no_recording(tmp_path: Path, binary: str) -> None:
    video = tmp_path / "v.m4a"
    command = [binary, "-v", "error", "-f", "lavfi", "-i", "testsrc=d=1", "-f", "mp4", str(video)]
    subprocess.run(command, check=True)
    with pytest.raises(LectureError, match="expected sound, found none"):
        audio.read(video)


def test_a_track_has_each_sound_from_its_frame_on(tmp_path: Path) -> None:
    first, second = np.full(5000, 0.25), np.full(9000, 0.5)
    sounds = [
        Sound(4, write(tmp_path / "b.wav", second)),
        Sound(1, write(tmp_path / "a.wav", first)),
    ]
    track = read(write_track(tmp_path / "t.wav", sounds, 6, 3200))
    assert len(track) == 6 * 3200
    assert not track[:3200].any()
    assert track[3200:8200] == pytest.approx(0.25, abs=0.001)
    assert not track[8200 : 4 * 3200].any()
    assert track[4 * 3200 :] == pytest.approx(0.5, abs=0.001)  # the end is cut


def test_a_sound_does_not_run_into_the_next(tmp_path: Path) -> None:
    long = write(tmp_path / "a.wav", np.full(9000, 0.25))
    track = read(write_track(tmp_path / "t.wav", [Sound(0, long), Sound(1, long)], 2, 3200))
    assert len(track) == 6400


def test_a_sound_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(LectureError, match=r"gone\.wav: file: found no such file"):
        write_track(tmp_path / "t.wav", [Sound(0, tmp_path / "gone.wav")], 2, 3200)


def test_a_track_may_be_silent(tmp_path: Path) -> None:
    track = read(write_track(tmp_path / "t.wav", [], 2, 3200))
    assert len(track) == 6400
    assert not track.any()
