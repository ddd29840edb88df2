"""Recordings as sounds, and what is asked of a voice during a play."""

from __future__ import annotations

import json
import os
import wave
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from render.base.reads import Reads
from render.media.quality import QUALITIES
from render.voice import audio
from render.voice.choice import Voice, choose
from render.voice.recordings import Recordings
from render.voice.speaker import Speaker

from .speech import RATE, lag, read, speech, write

BEEPER = """
import wave
class Beeper:
    def say(self, text, language, target):
        with open("{log}", "a") as log:
            log.write(text + "\\n")
        with wave.open(str(target), "wb") as file:
            file.setparams((1, 2, 8000, 0, "NONE", ""))
            file.writeframes(b"\\x00\\x30\\x00\\xd0" * 100 * len(text))
"""
SLUG, TEMPLATE, FACTS = "08_attention_scores", "Look at {word}.", {"word": "I"}


def test_a_recording_becomes_a_sound(tmp_path: Path) -> None:
    source, reads = write(tmp_path / "take.wav", speech(2)), Reads({})
    made = audio.make({"file": str(source)}, {}, reads, tmp_path, lambda _: None)
    assert lag(read(made["sound"]), speech(2), 0)[1] > 0.95
    facts = made["facts"]
    assert facts == {"seconds": pytest.approx(len(read(made["sound"])) / RATE + audio.BREATH)}
    (one,) = reads.inputs()
    assert (one.kind, one.name) == ("file", str(source))


@pytest.mark.parametrize("kind", ["folder", "broken link", "pipe", "text", "silence"])
def test_what_is_no_recording_is_named_and_never_waited_for(kind: str, tmp_path: Path) -> None:
    source = tmp_path / "take.wav"
    if kind == "folder":
        source.mkdir()
    elif kind == "broken link":
        source.symlink_to("nowhere")
    elif kind == "pipe":
        os.mkfifo(source)
    elif kind == "text":
        source.write_text("no sound")
    else:
        write(source, np.zeros(RATE))
    made = audio.make({"file": str(source)}, {}, Reads({}), tmp_path, lambda _: None)
    assert set(made) == {"facts"}
    facts = made["facts"]
    assert facts["seconds"] == 0
    assert "take.wav: recording: expected" in facts["bad"]


def test_of_two_recordings_one_is_used_and_missing_ones_are_named(tmp_path: Path) -> None:
    takes = tmp_path / "takes"
    for name in ("s/only.flac", "s/only.WAV", "s/odd.aiff", "t/else.txt"):
        (takes / name).parent.mkdir(parents=True, exist_ok=True)
        (takes / name).touch()
    found = Recordings(takes, {"s": ["only", "odd", "more"], "t": ["a"], "u": ["b"]})
    assert found.files("s") == {"only": takes / "s" / "only.WAV"}
    assert [line.split("recording: ")[1] for line in found.complaints] == [
        "expected a file that ends in .wav, .m4a, .mp3, .flac or .ogg, found .aiff",
        "expected one recording for a beat, and only.WAV is used, found two recordings",
    ]
    (more,) = found.missing("s", ["only", "odd", "more"], 0)  # of the others something was said
    assert more.startswith(f"{takes}/s/more: recording: expected a file")
    (whole,) = found.missing("u", ["b"], 0)
    assert whole == f"{takes}/u: recording: expected a folder with a recording per beat, found none"


def test_of_recordings_a_play_knows_only_how_long_they_are(tmp_path: Path) -> None:
    choice = choose(f"recordings:{tmp_path}")
    assert choice is not None
    voice = Voice(choice, "en", tmp_path / "kept")
    assert voice.spoken({"a": 2.5}) == {"seconds": {"a": 2.5}}
    assert voice.modules == ()


def test_a_synthetic_voice_is_asked_once_for_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "beeps.py").write_text(BEEPER.format(log=tmp_path / "log"))
    monkeypatch.chdir(tmp_path)
    choice = choose("beeps:Beeper")
    assert choice is not None
    voice = Voice(choice, "en", tmp_path / "kept")
    said = voice.spoken({})
    assert json.loads(json.dumps(said)) == said
    for _ in range(2):
        speaker = Speaker(said, SLUG, "en")
        assert speaker.seconds("a", TEMPLATE, FACTS) > audio.BREATH
    assert (tmp_path / "log").read_text() == "Look at “I”.\n"
    speaker.seconds("b", TEMPLATE, {"word": "you"})
    beats = [SimpleNamespace(key="b", start=2.0), SimpleNamespace(key="c", start=4.0)]
    quality = QUALITIES["draft"]
    track = speaker.track(tmp_path / "sound.wav", beats, 15 * 5, quality)
    with wave.open(str(track), "rb") as file:
        assert (file.getnframes(), file.getframerate()) == (5 * RATE, RATE)
    heard = np.flatnonzero(np.abs(read(track)) > 0.05)
    assert heard[0] / RATE == pytest.approx(2.0, abs=0.05)
    (tmp_path / "s.json").write_text(json.dumps({"facts": {"sentences": speaker.sentences[:1]}}))
    os.utime(speaker.sounds["a"], (0, 0))
    os.utime(speaker.sounds["b"], (0, 0))
    voice.tidy(tmp_path)
    assert [path.stem for path in (tmp_path / "kept").iterdir()] == speaker.sentences[:1]
    with_other_code = tmp_path / "beeps.py"
    with_other_code.write_text(BEEPER.format(log=tmp_path / "log") + "\n")
    assert Voice(choice, "en", tmp_path / "kept").who != voice.who
