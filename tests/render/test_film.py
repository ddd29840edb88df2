"""Assembling: sound, metadata, chapters, odd names, and the join of many videos."""

from __future__ import annotations

import sys
import wave
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import pytest

from engine.errors import LectureError
from render.base.reads import Stamp
from render.build.making import safe_copy
from render.media import ffmpeg
from render.media.check import check_video, pictures_of
from render.media.mp4 import LECTURE_TITLES, Chapter
from render.media.mux import Part, Video, chapters_of, escape, metadata_of, mux
from render.media.pictures import FrameEncoder
from render.media.timedtext import Cue, Track

from .conftest import DRAFT, ORIGIN, draw, encode, finished

ODD_TITLES = [
    "a=b;c#d\\e",
    "two\nlines",
    "注意力：谁该关注谁？",
    "[CHAPTER]\nTIMEBASE=1/1\nSTART=0",
    "ends with a backslash\\",
    "'quotes\" %d $HOME -i",
]


def test_escaping_covers_what_the_format_reserves() -> None:
    assert escape("=;#\\\n") == "\\=\\;\\#\\\\\\\n"
    assert escape("a\r\nb\0") == "a\\\nb"
    assert escape("题") == "题"
    assert escape("\\") == "\\\\ "


def test_the_metadata_has_a_time_base_per_chapter() -> None:
    video = Video(DRAFT, 9, "T", ORIGIN, (Chapter("x=y", 5, 9),))
    assert metadata_of(video).splitlines()[3:] == [
        "[CHAPTER]",
        "TIMEBASE=1/15",
        "START=5",
        "END=9",
        "title=x\\=y",
    ]


def join(target: Path, parts: list[Part], binary: str, captions: tuple[Track, ...] = ()) -> Path:
    """A film of the parts, checked."""
    frames, pictures = sum(part.frames for part in parts), pictures_of(p.video for p in parts)
    title, chapters = LECTURE_TITLES["zh"], chapters_of(parts)
    film = Video(DRAFT, frames, title, ORIGIN, chapters, captions, pictures)
    mux(binary, film, parts, target)
    check_video(target, film)
    return target


def test_a_film_of_many_keeps_every_frame_and_title(binary: str, tmp_path: Path) -> None:
    lengths = [17, 1, 40, 2, 33, 16]
    parts = []
    for index, (frames, title) in enumerate(zip(lengths, ODD_TITLES, strict=True)):
        video = finished(binary, tmp_path / str(index), frames, title)
        check_video(video, Video(DRAFT, frames, title, ORIGIN))
        parts.append(Part(video, frames, title))
    path = join(tmp_path / "lecture.mp4", parts, binary)
    with av.open(str(path)) as container:
        found = container.chapters()
        assert container.metadata["title"] == LECTURE_TITLES["zh"]
        assert [chapter["metadata"]["title"].rstrip() for chapter in found] == ODD_TITLES
        starts = [float(chapter["start"] * chapter["time_base"]) for chapter in found]
        assert starts == pytest.approx([sum(lengths[:n]) / 15 for n in range(6)], abs=0.001)
        times = sorted(p.pts * p.time_base for p in container.demux(video=0) if p.pts is not None)
    assert len(times) == sum(lengths)
    assert {round((b - a) * 15, 6) for a, b in pairwise(times)} == {1}


def test_chapters_longer_than_45_seconds_stay_with_captions(binary: str, tmp_path: Path) -> None:
    """ffmpeg 9 chose a clock for the film, where it has captions, in which such a chapter is lost:
    one warning, exit code 0."""
    frames, short = 60 * DRAFT.fps, 10
    encoder = FrameEncoder(tmp_path / "still.mp4", DRAFT)
    for _ in range(frames):
        encoder.write(draw(0))
    encoder.finish()
    parts = [
        Part(tmp_path / "still.mp4", frames, "long"),
        Part(encode(binary, tmp_path / "short.mp4", short), short, "short"),
    ]
    captions = (Track("zh", (Cue(0, 28, ("一行。",)),), DRAFT.fps),)
    made = join(tmp_path / "lecture.mp4", parts, binary, captions)
    with av.open(str(made)) as container:
        ends = [float(each["end"] * each["time_base"]) for each in container.chapters()]
    assert ends == pytest.approx([60, 60 + short / DRAFT.fps], abs=0.001)


def test_a_warning_of_the_muxer_is_a_failure(tmp_path: Path) -> None:
    line = "[mp4 @ 0x5f] [warning] track 2 is invalid"
    talker = [sys.executable, "-c", f"import sys; print({line!r}, file=sys.stderr)"]
    with pytest.raises(LectureError, match=r"film\.mp4: ffmpeg: .*found track 2 is invalid"):
        ffmpeg.run(talker, tmp_path, "film.mp4")


def test_names_that_ffmpeg_could_misread(binary: str, tmp_path: Path) -> None:
    folder = tmp_path / "-i 'a' \"b\"\nc #1? 中 %d [x];=\\"
    video = finished(binary, folder, 20)
    check_video(video, Video(DRAFT, 20, "标题 = title; #1", ORIGIN))


def test_sound_is_as_long_as_the_pictures_to_the_sample(binary: str, tmp_path: Path) -> None:
    for frames in (1, 2, 7, 31):
        with av.open(str(finished(binary, tmp_path / str(frames), frames))) as container:
            audio = container.streams.audio[0]
            assert audio.duration == frames * 3200
            assert audio.start_time == 0
            assert container.streams.video[0].duration * 15 == frames * audio_base(container)


def audio_base(container: av.container.InputContainer) -> int:
    base = container.streams.video[0].time_base
    assert base is not None
    return base.denominator


class TestParts:
    """The videos that a film is joined of, safe from other runs."""

    def test_a_missing_scene_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(LectureError, match=r"a\.mp4: expected a file, found none any more"):
            safe_copy(tmp_path / "a.mp4", Stamp(1, 1, ""), tmp_path / "copy.mp4")

    def test_another_video_is_not_mixed_in(self, tmp_path: Path) -> None:
        video = tmp_path / "a.mp4"
        video.write_bytes(b"one")
        stamp = Stamp.of(video)
        assert safe_copy(video, stamp, tmp_path / "b.mp4").read_bytes() == b"one"
        video.unlink()
        video.write_bytes(b"two")
        with pytest.raises(LectureError, match=r"a\.mp4: expected .*, found another one"):
            safe_copy(video, stamp, tmp_path / "c.mp4")
        assert (tmp_path / "b.mp4").read_bytes() == b"one"


def test_parts_are_never_encoded_again(binary: str, tmp_path: Path) -> None:
    one, two = (finished(binary, tmp_path / name, 20) for name in ("a", "b"))
    film_path = tmp_path / "lecture.mp4"
    parts = [Part(one, 20, "1"), Part(two, 20, "2")]
    mux(binary, Video(DRAFT, 40, "t", ORIGIN, chapters_of(parts)), parts, film_path)

    def pictures(path: Path) -> list[bytes]:
        with av.open(str(path)) as container:
            return [bytes(p) for p in container.demux(video=0) if p.pts is not None]

    assert pictures(film_path) == pictures(one) + pictures(two)


def test_sound_of_a_file_stands_where_it_should(binary: str, tmp_path: Path) -> None:
    """Bursts at frames 4 and 20 of a track are heard there, in both ears, at the same level."""
    frames, burst = 31, 0.3 * np.sin(2 * np.pi * 1000 * np.arange(2400) / 48000)
    track = np.zeros(frames * 3200)
    for frame in (4, 20):
        track[frame * 3200 : frame * 3200 + burst.size] = burst
    with wave.open(str(tmp_path / "sound.wav"), "wb") as file:
        file.setparams((1, 2, 48000, 0, "NONE", ""))
        file.writeframes((track * 32767).astype("<i2").tobytes())
    part = Part(encode(binary, tmp_path / "pictures.mp4", frames), frames)
    wanted = Video(DRAFT, frames, "t", ORIGIN)
    video = mux(binary, wanted, [part], tmp_path / "video.mp4", tmp_path / "sound.wav")
    check_video(video, wanted)
    with av.open(str(video)) as container:
        heard = np.concatenate([f.to_ndarray() for f in container.decode(audio=0)], axis=1)
        assert container.streams.audio[0].duration == frames * 3200
    for ear in heard:
        match = np.correlate(ear[: track.size], burst, "valid")
        for frame in (4, 20):
            near = match[frame * 3200 - 1500 : frame * 3200 + 1500]
            assert abs(int(near.argmax()) - 1500) <= 2
            assert near.max() == pytest.approx(burst @ burst, rel=0.05)
