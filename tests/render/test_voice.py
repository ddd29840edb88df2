"""The front door with a voice: in step with the pictures, and only what changed is made anew."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from engine.errors import LectureError
from render.base.reads import Reads, Stamp
from render.cli.look import script as script_command
from render.voice import audio, provider, script
from render.voice.audio import BREATH, TARGET
from render.voice.choice import choose
from render.voice.recordings import Recordings
from scenes import registry

from .conftest import FrontDoor
from .speech import RATE, lag, measure, read, speech, write

ROOT = Path(__file__).resolve().parents[2]
QUIET = ("--quality", "draft", "--out", "o")
FRAME = RATE // 15
SCENES = ("01_square", "02_circle")


class Studio:
    """A folder of recordings, and runs with it."""

    def __init__(self, folder: Path, door: FrontDoor) -> None:
        self.folder, self.out, self.door = folder / "takes", folder / "o", door

    def record(self, slug: str, seconds: float, seed: int, *, lead: float = 0.1) -> Path:
        silence = np.zeros(int(lead * RATE))
        return write(
            self.folder / slug / "only.wav", np.concatenate([silence, speech(seconds, seed)])
        )

    def run(self, *arguments: str, code: int = 0) -> tuple[list[str], list[str]]:
        """What a run says, and what it complains of, line by line."""
        voice = ("--voice", f"recordings:{self.folder}") if "--voice" not in arguments else ()
        done = self.door(*QUIET, *voice, *arguments)
        assert done.returncode == code, done
        return done.stdout.splitlines(), done.stderr.splitlines()

    def record_of(self, name: str) -> dict:
        return json.loads((self.out / ".render" / f"{name}.json").read_text())["facts"]

    def pictures(self, name: str) -> list[bytes]:
        with av.open(str(self.out / f"{name}.mp4")) as container:
            return [bytes(p) for p in container.demux(video=0) if p.pts is not None]


@pytest.fixture
def studio(tmp_path: Path, front_door: FrontDoor) -> Studio:
    made = Studio(tmp_path, front_door)
    made.record("01_square", 3.3, 1)
    made.record("02_circle", 0.5, 2)
    return made


def test_scenes_and_film_are_in_step_with_their_recordings(
    studio: Studio, ffmpeg_tool: str
) -> None:
    studio.run()
    starts = {}
    film = read(studio.out / "lecture.mp4")
    offset = 0
    for slug in SCENES:
        record = studio.record_of(f"{slug}_zh")
        heard = read(studio.out / f"{slug}_zh.mp4")
        said = read(studio.folder / slug / "only.wav")
        for track, start in ((heard, 0), (film, offset * FRAME)):
            late, like = lag(track, said, start)
            assert abs(late) < FRAME // 4
            assert like > 0.95
        starts[slug] = record["beats"][0]["start"]
        assert record["frames"] * FRAME >= len(said)
        offset += record["frames"]
    # 3.3 s and 0.1 s before them, 0.35 s behind; and where the animation is longer, it decides
    assert studio.record_of("01_square_zh")["frames"] == int((3.4 + 0.35) * 15)
    assert studio.record_of("02_circle_zh")["frames"] == 15
    for name in ("01_square_zh", "02_circle_zh", "lecture"):
        loud, peak = measure(ffmpeg_tool, studio.out / f"{name}.mp4")
        assert loud == pytest.approx(TARGET, abs=1)
        assert peak < -1.5
    with av.open(str(studio.out / "lecture.mp4")) as container:
        assert container.streams.audio[0].duration == offset * FRAME


@pytest.mark.slow
def test_only_what_another_recording_changes_is_made(studio: Studio) -> None:
    studio.run()
    said, _ = studio.run()
    assert [line.rsplit(": ", 1)[1] for line in said] == ["up to date"] * 3
    before = {slug: studio.pictures(f"{slug}_zh") for slug in SCENES}
    square = Stamp.of(studio.out / "01_square_zh.mp4")

    studio.record("02_circle", 0.4, 3)  # still shorter than the animation
    explained, _ = studio.run("--explain")
    assert explained[:3] == [
        "01_square_zh.mp4: up to date",
        "02_circle_zh.mp4: to be rendered",
        "    recording 02_circle/only: another one",
    ]
    said, _ = studio.run()
    assert f"{studio.out}/02_circle_zh.mp4: pictures kept, new sound" in said
    assert any("lecture.mp4: the whole lecture" in line for line in said)
    assert Stamp.of(studio.out / "01_square_zh.mp4") == square
    assert studio.pictures("02_circle_zh") == before["02_circle"]
    film, frames = read(studio.out / "lecture.mp4"), studio.record_of("01_square_zh")["frames"]
    takes = read(studio.folder / "02_circle" / "only.wav")
    for heard, start in ((film, frames * FRAME), (read(studio.out / "02_circle_zh.mp4"), 0)):
        late, like = lag(heard, takes, start)
        assert abs(late) < FRAME // 4
        assert like > 0.95

    studio.record("02_circle", 2.0, 3)
    said, _ = studio.run()
    assert any("02_circle_zh.mp4: 2.4 s of film in" in line for line in said)
    assert Stamp.of(studio.out / "01_square_zh.mp4") == square

    (studio.folder / "02_circle" / "only.wav").unlink()
    said, complaints = studio.run(code=1)
    assert any("02_circle_zh.mp4: 1.0 s of film in" in line for line in said)
    assert complaints == [
        f"render: {studio.folder}/02_circle/only: recording: expected a file that ends in "
        ".wav, .m4a, .mp3, .flac or .ogg, found none"
    ]
    _, again = studio.run(code=1)  # told each time, though nothing is to be done
    assert again == complaints
    assert not read(studio.out / "02_circle_zh.mp4").any()


def test_what_is_wrong_with_a_folder_is_told_line_by_line(studio: Studio, tmp_path: Path) -> None:
    shutil.rmtree(studio.folder / "02_circle")
    square = studio.folder / "01_square"
    (square / "only.wav").write_bytes(b"RIFF")
    write(square / "onyl.wav", speech(1))
    write(studio.folder / "01_sqare" / "only.wav", speech(1))
    (square / "notes.txt").write_text("louder")
    (square / ".DS_Store").write_text("")
    said, complaints = studio.run(code=1)
    parts = [line.removeprefix(f"render: {studio.folder}/") for line in complaints]
    told = "recording: expected"
    assert (
        parts[0]
        == f"01_sqare: {told} a scene's folder such as 01_square or 05_noise, found '01_sqare'"
    )
    assert parts[1] == f"01_square/onyl.wav: {told} a beat's name such as only, found 'onyl'"
    # in at most 200 characters, which costs the path its middle
    assert f"01_square/only.wav: {told} a sound file that can be read, found " in parts[2]
    assert parts[3] == f"02_circle: {told} a folder with a recording per beat, found none"
    assert len(parts) == 4
    assert any("lecture.mp4: the whole lecture" in line for line in said)  # the rest is not lost
    assert studio.record_of("01_square_zh")["frames"] == 18  # in silence


def test_of_two_recordings_one_is_used_and_the_other_named(tmp_path: Path) -> None:
    for ending in ("flac", "WAV", "aiff"):
        write(tmp_path / "takes" / "s" / f"only.{ending}", speech(1))
    found = Recordings(tmp_path / "takes", {"s": ["only"]})
    assert [line.split("recording: ")[1] for line in found.complaints] == [
        "expected one recording for a beat, and only.WAV is used, found two recordings",
        "expected a file that ends in .wav, .m4a, .mp3, .flac or .ogg, found .aiff",
    ]
    made = sound_of(found.files("s")["only"], tmp_path / "o")
    assert made["seconds"] == pytest.approx(1 + BREATH, abs=0.01)


def sound_of(recording: Path, into: Path) -> dict[str, Any]:
    """The facts of a recording that was made ready."""
    into.mkdir()
    files = audio.make({"file": str(recording)}, {}, Reads({}), into, lambda _: None)
    return files["facts"]


@pytest.mark.slow
def test_a_recording_known_to_be_bad_is_not_read_again(studio: Studio) -> None:
    take = studio.folder / "02_circle" / "only.wav"
    write(take, 0 * speech(1))
    _, complaints = studio.run(code=1)
    assert [line.partition(": recording: ")[0] for line in complaints] == [f"render: {take}"]
    explained, _ = studio.run("--explain")
    assert [line.rpartition(": ")[2] for line in explained] == ["up to date"] * 3
    assert studio.run(code=1)[1] == complaints
    write(take, speech(1))
    assert studio.run()[1] == []


@pytest.mark.parametrize("kind", ["folder", "broken link", "loop", "device", "pipe"])
def test_one_that_is_no_file_costs_its_beat(kind: str, studio: Studio) -> None:
    """Whatever it is, nothing waits for it, also where it is looked at again."""
    take = studio.folder / "02_circle" / "only.wav"
    take.unlink()
    match kind:
        case "folder":
            take.mkdir()
        case "broken link":
            take.symlink_to("/nowhere/only.wav")
        case "loop":
            take.symlink_to(take)
        case "device":
            take.symlink_to("/dev/zero")
        case "pipe":
            os.mkfifo(take)
    told = f"render: {take}: recording: expected a sound file that can be read, found no file"
    for _ in range(2):
        assert studio.run("1", "2", code=1)[1] == [told]
    assert all("up to date" in line for line in studio.run("1", "2", "--explain")[0][:2])


def test_one_that_may_be_read_again_is_noticed(tmp_path: Path) -> None:
    take = write(tmp_path / "takes" / "only.wav", speech(1))
    aside = take.rename(tmp_path / "aside")
    take.mkdir()
    reads = Reads({})
    assert "bad" in audio.make({"file": str(take)}, {}, reads, tmp_path, lambda _: None)["facts"]
    before = reads.inputs()
    take.rmdir()
    aside.rename(take)
    reads = Reads({})
    audio.make({"file": str(take)}, {}, reads, tmp_path, lambda _: None)
    assert [one.digest for one in before] == [""] != [one.digest for one in reads.inputs()]


def test_a_full_disk_is_no_fault_of_a_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take = write(tmp_path / "takes" / "s" / "only.wav", speech(1))

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(LectureError, match=r"(?i)no space left"):
        patch.setattr("wave.Wave_write.writeframes", fail)
        sound_of(take, tmp_path / "o")
    assert list((tmp_path / "o").iterdir()) == []
    assert "bad" not in sound_of(take, tmp_path / "p")


@pytest.mark.slow
def test_without_a_voice_nothing_of_it_is_remembered(studio: Studio) -> None:
    studio.run("1", "--voice", "none")
    record = json.loads((studio.out / ".render" / "01_square_zh.json").read_text())
    assert "voice" not in {name for kind, name, *_ in record["inputs"] if kind == "spec"}
    assert not read(studio.out / "01_square_zh.mp4").any()
    explained, _ = studio.run("1", "--explain")
    assert explained[1] == "    voice: none so far"
    studio.run("1")
    explained, _ = studio.run("1", "--voice", "none", "--explain")
    assert explained[1] == "    voice: one so far"


OWN = """
import wave
class Beeper:
    def say(self, text, language, target):
        with wave.open(str(target), "wb") as file:
            file.setparams((1, 2, 8000, 0, "NONE", ""))
            tone = b"".join(
                (12000 * (1 if n // 8 % 2 else -1)).to_bytes(2, "little", signed=True)
                for n in range(400 * len(text))
            )
            file.writeframes(tone)
class Mute:
    def say(self, text, language, target):
        with wave.open(str(target), "wb") as file:
            file.setparams((1, 2, 8000, 0, "NONE", ""))
            file.writeframes(bytes(9000))
"""


@pytest.mark.slow
def test_a_voice_of_ones_own(studio: Studio, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    options = ("1", "--voice", "mine:Beeper")
    studio.run(*options)
    heard = np.abs(read(studio.out / "01_square_zh.mp4"))
    # "文 zh，in zh。" as it is spoken: 50 ms a letter
    letters = len("文 zh, in zh。")
    assert abs(int(np.flatnonzero(heard > 0.05)[-1]) / RATE - 0.05 * letters) < 0.1
    said, _ = studio.run(*options)
    assert said[0].endswith("up to date")
    (tmp_path / "mine.py").write_text(OWN.replace("400", "500"))
    explained, _ = studio.run(*options, "--explain")
    assert explained[1] == "    voice: another one"
    said, _ = studio.run("1", "--voice", "mine:Mute", code=2)
    assert "expected speech, louder than -50 dB, found silence" in said[0]


@pytest.mark.parametrize(
    ("voice", "told"),
    [
        (
            "recordings:/no/such",
            "/no/such: --voice: expected a folder of recordings, found nothing",
        ),
        ("recordings:", "expected recordings:DIR"),
        ("loud", "expected none, draft, recordings:DIR, or module:Class"),
        ("no_such:Voice", "--voice no_such:Voice: expected a voice (docs/voice.md)"),
        ("json:", "expected none, draft, recordings:DIR, or module:Class"),
    ],
)
def test_a_voice_that_there_is_not(voice: str, told: str, front_door: FrontDoor) -> None:
    done = front_door("1", *QUIET, "--voice", voice)
    assert done.returncode == 2
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_a_class_that_is_no_voice_is_told(studio: Studio) -> None:
    said, _ = studio.run("1", "--voice", "fractions:Fraction", code=2)
    assert "01_square: no video: --voice fractions:Fraction: expected a voice" in said[0]


def test_folders_tell_voices_apart() -> None:
    chosen = choose("recordings:takes")
    assert chosen is not None
    assert chosen.label == "voiced"
    draft = choose("draft")
    assert draft is not None
    assert draft.label == "voice_draft"
    assert choose("none") is None


def test_two_languages_have_two_folders(tmp_path: Path) -> None:
    with pytest.raises(LectureError, match=r"such as recordings:takes/\{lang\}"):
        choose("recordings:takes", ["zh", "en"])
    chosen = choose("recordings:takes/{lang}", ["zh", "en"])
    assert chosen is not None
    assert chosen.folder_for("en") == Path("takes/en")


def test_what_is_not_recorded_yet(tmp_path: Path) -> None:
    lines = tuple(script.Line(f"s/{key}", key, 1) for key in ("a", "b"))
    parts = [script.Part("s", "t", lines)]
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "a.ogg").write_text("")
    assert [line.key for line in script.without_recorded(parts, tmp_path)[0].lines] == ["s/b"]
    (tmp_path / "s" / "b.wav").write_text("")
    assert script.without_recorded(parts, tmp_path) == []


def test_recordings_that_say_something_else_now_are_told(tmp_path: Path) -> None:
    key = "08_attention_scores/takeaway"
    (tmp_path / script.SCRIPT).write_text(json.dumps({key: "「我」最关注「爱」：零点五。"}))
    assert list(script.changed({key: "我最关注爱，零点五"}, tmp_path)) == []
    (line,) = script.changed({key: "「我」最关注「水」：零点六。"}, tmp_path)
    assert line.startswith(f"{tmp_path}/{key}: recording: expected the current sentence: 「我」")
    assert "found 「我」最关注「爱」：零点五。" in line
    (tmp_path / script.SCRIPT).write_text("[3")
    (line,) = script.changed({key: ""}, tmp_path)
    assert line.startswith(f"{tmp_path}/script.json: expected sentences by key")


def test_a_folder_made_with_the_draft_voice_makes_a_voiced_lecture(tmp_path: Path) -> None:
    pytest.importorskip("espeakng_loader")
    parts = [
        script.Part(
            "01_square", "t", (script.Line("01_square/only", "一个正方形，边长为四。", 1),)
        ),
        script.Part("02_circle", "t", (script.Line("02_circle/only", "A circle, and 我.", 1),)),
    ]
    own = write(tmp_path / "02_circle" / "only.mp3", speech(1))
    told = list(script.record(tmp_path, parts, "draft", "zh"))
    assert told == [
        f"{tmp_path}/01_square: 1 recorded",
        f"{tmp_path}/02_circle: 0 recorded, 1 kept unchanged",
    ]
    heard = read(tmp_path / "01_square" / "only.wav")
    assert 1 < len(heard) / 22050 < 5
    assert np.abs(heard).max() > 0.05
    assert list((tmp_path / "02_circle").iterdir()) == [own]
    assert json.loads((tmp_path / "script.json").read_text()) == {
        "01_square/only": "一个正方形，边长为四。"
    }
    with pytest.raises(LectureError, match="expected a voice"):
        list(script.record(tmp_path, parts, "nothing:Here", "zh"))


def test_nothing_is_published_without_a_word(studio: Studio) -> None:
    """A missing recording stops it, and it says so; --no-render goes on, and names it as well."""
    (studio.folder / "02_circle" / "only.wav").unlink()
    asked = ("--voice", f"recordings:{studio.folder}", "--quality", "draft", "--videos", "o")
    publish = ("publish", "--for", "moodle")
    done = studio.door(*publish, *asked)
    assert done.returncode == 1, done
    *told, last = done.stderr.splitlines()
    assert any("02_circle/only: recording: expected" in line for line in told), done
    assert last.startswith("render: nothing published, ")
    assert "--no-render" in last
    target = studio.out / "publish" / "moodle_full"
    assert not target.exists()
    done = studio.door(*publish, *asked, "--no-render")
    assert done.returncode == 0, done
    assert f"note: {studio.folder}/02_circle/only: recording: expected" in done.stdout
    assert target.is_dir()


@pytest.mark.slow
def test_a_script_of_a_track(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(LectureError, match="--track: expected 'full', 'training' or 'inference'"):
        script_command(track="both")
    with pytest.raises(LectureError, match="--track: expected no scenes beside it, found 3"):
        script_command(scenes=["3"], track="training")
    script_command(track="inference", out=tmp_path / "all.json", jobs=1)
    keys = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))
    slugs = {scene.slug for scene in registry.film("inference")}
    assert {key.split("/")[0] for key in keys} == slugs
    assert "00_title_card" in slugs
    for key in keys:
        (tmp_path / key).parent.mkdir(exist_ok=True)
        (tmp_path / f"{key}.wav").touch()
    capsys.readouterr()
    script_command(track="inference", missing=tmp_path, jobs=1)
    assert capsys.readouterr().out == f"{tmp_path}: every beat has a recording\n"


@pytest.mark.slow
def test_a_real_scene_with_recordings_of_all_sorts(tmp_path: Path, ffmpeg_tool: str) -> None:
    """Recordings made with the draft voice as if they were a lecturer's own: one missing, one
    silent, one broken, one of 44.1 kHz and one channel. The rest is in step within a frame."""
    pytest.importorskip("espeakng_loader")
    takes, out = tmp_path / "takes", tmp_path / "o"

    def front_door(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "render", *map(str, arguments)]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    assert front_door("script", "2", "--record-draft", takes).returncode == 0
    scene = takes / "02_decoder_inputs"
    (scene / "training.wav").unlink()
    write(scene / "forcing.wav", np.zeros(2 * RATE))
    (scene / "grow.wav").write_bytes(b"no sound" * 99)
    other = ["-ar", "44100", "-ac", "1", str(scene / "compare.flac")]
    subprocess.run(
        [ffmpeg_tool, "-v", "error", "-i", str(scene / "compare.wav"), *other], check=True
    )
    (scene / "compare.wav").unlink()

    voice = f"recordings:{takes}"
    done = front_door("2", "--voice", voice, "--quality", "draft", "--out", out)
    assert done.returncode == 1
    named = [line.split(": ")[1] for line in done.stderr.splitlines()]
    assert named == [f"{scene}/forcing.wav", f"{scene}/grow.wav", f"{scene}/training"]

    video = out / "02_decoder_inputs_zh.mp4"
    record = json.loads((out / ".render" / f"{video.stem}.json").read_text())["facts"]
    heard, silent = read(video), []
    for beat in record["beats"]:
        start, end = round(beat["start"] * RATE), round(beat["end"] * RATE)
        path = next(scene.glob(f"{beat['name']}.*"), None)
        if path is None or path.stem in ("forcing", "grow"):
            silent.append(beat["name"])
            assert np.abs(heard[start + 1024 : end]).max() < 0.001
            continue
        said = audio.read(path)
        late, like = lag(heard, said, start)
        assert abs(late) <= FRAME, beat["name"]
        assert like > 0.95, beat["name"]
        assert end - start >= len(said), beat["name"]
    assert silent == ["training", "forcing", "grow"]
    loud, peak = measure(ffmpeg_tool, video)
    assert loud == pytest.approx(TARGET, abs=0.5)
    assert peak < -1.5


def test_the_example_in_the_documentation_speaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """docs/voice.md's class, with a program named piper that writes what it was told to."""
    text = (ROOT / "docs" / "voice.md").read_text(encoding="utf-8")
    (tmp_path / "mine_example.py").write_text(text.split("```python\n")[1].split("```")[0])
    take = write(tmp_path / "take.wav", speech(1))
    program = tmp_path / "piper"
    program.write_text(f'#!/bin/sh\ncat > "{tmp_path}/said"; cp "{take}" "$4"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    voice = provider.find("mine_example:Piper", str(tmp_path))
    voice.say("你好。", "zh", tmp_path / "raw.wav")
    audio.prepare(tmp_path / "raw.wav", tmp_path / "ready.wav")
    assert (tmp_path / "said").read_text() == "你好。"
    assert lag(read(tmp_path / "ready.wav"), speech(1), 0)[1] > 0.95
