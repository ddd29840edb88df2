"""Captions inside an MP4, written by either ffmpeg, and the check that demands them."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

import av
import msgspec
import pytest

from engine.errors import LectureError
from render.media.check import check_video, pictures_of
from render.media.mp4 import Chapter, edit_lists, hide_subtitles
from render.media.mux import Part, Video, chapters_of, mux
from render.media.timedtext import Cue, Track, joined

from .conftest import DRAFT, ORIGIN, TITLE, encode, finished

FRAMES = 70
ZH = Track("zh", (Cue(0, 28, ("第一行，", "第二行。")), Cue(30, 60, ("「<bos>」{x} & y",))), 15)
PLAIN = msgspec.to_builtins(ZH.cues)
EN = Track("en", (Cue(4, 40, ("One line",)),), 15)
BOTH = Video(DRAFT, FRAMES, TITLE, ORIGIN, (), (ZH, EN))


@pytest.fixture(scope="module")
def bare(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return finished(binary, tmp_path_factory.mktemp("bare"), FRAMES)


@pytest.fixture(scope="module")
def captioned(binary: str, bare: Path) -> Path:
    return mux(binary, BOTH, [Part(bare, FRAMES)], bare.with_name("captioned.mp4"))


def test_both_ffmpegs_write_what_the_check_demands(binary: str, bare: Path, tmp_path: Path) -> None:
    part, wanted = Part(bare, FRAMES), dataclasses.replace(BOTH, pictures=pictures_of([bare]))
    made = mux(binary, wanted, [part], tmp_path / "captioned.mp4")
    check_video(made, wanted)
    check_video(made, BOTH)


def test_a_player_sees_two_named_tracks_that_are_off(captioned: Path) -> None:
    with av.open(str(captioned)) as container:
        streams = container.streams.subtitles
        assert [stream.metadata["language"] for stream in streams] == ["zho", "eng"]
        assert [stream.metadata["handler_name"] for stream in streams] == ["中文", "English"]
        assert [int(stream.disposition) for stream in streams] == [0, 0]
        texts = [bytes(p)[2:] for p in container.demux(streams[1]) if len(bytes(p)) > 2]
    assert texts == [b"One line"]
    assert edit_lists(captioned) == 0


def test_a_film_has_chapters_and_captions(binary: str, bare: Path, tmp_path: Path) -> None:
    parts = [Part(bare, FRAMES, "a = b; #c \\ d"), Part(bare, FRAMES, "二")]
    chapters = chapters_of(parts)
    assert chapters[0] == Chapter("a = b; #c \\ d", 0, FRAMES)
    whole = joined([(0, PLAIN), (FRAMES, PLAIN)], "zh", 15)
    assert whole.cues[2].start == FRAMES
    film = Video(DRAFT, 2 * FRAMES, TITLE, ORIGIN, chapters, (whole,))
    check_video(mux(binary, film, parts, tmp_path / "film.mp4"), film)


#: how a captioned file is spoiled, and what must be complained of
SPOILED = {
    "no captions": (["-sn"], "streams"),
    "one track": (["-map", "0:v", "-map", "0:a", "-map", "0:s:0"], "streams"),
    "language": (["-map", "0", "-metadata:s:s:1", "language=fra"], "English: language"),
    "name": (["-map", "0", "-metadata:s:s:0", "handler_name=x"], "中文: name"),
    "shown unasked": (["-map", "0", "-disposition:s:1", "default"], "shown by default"),
}


@pytest.mark.parametrize("kind", SPOILED)
def test_what_is_wrong_is_named(kind: str, binary: str, captioned: Path, tmp_path: Path) -> None:
    options, field = SPOILED[kind]
    spoilt = tmp_path / "spoilt.mp4"
    kept = ["-c", "copy", "-movflags", "+faststart+negative_cts_offsets", "-use_editlist", "0"]
    subprocess.run(
        [binary, "-loglevel", "error", "-i", captioned, *kept, *options, spoilt], check=True
    )
    if kind != "shown unasked":
        hide_subtitles(spoilt)
    with pytest.raises(LectureError, match=field):
        check_video(spoilt, BOTH)


@pytest.mark.parametrize(
    ("cue", "field"),
    [
        (Cue(4, 40, ("Another line",)), "cue 1"),
        (Cue(5, 40, ("One line",)), "cue 1"),
        (Cue(4, 39, ("One line",)), "cue 1"),
    ],
)
def test_every_cue_is_compared(cue: Cue, field: str, captioned: Path) -> None:
    other = dataclasses.replace(BOTH, tracks=(ZH, Track("en", (cue,), 15)))
    with pytest.raises(LectureError, match=field):
        check_video(captioned, other)
    more = Track("en", (*EN.cues, Cue(50, 60, ("x",))), 15)
    with pytest.raises(LectureError, match="cues: expected 2, found 1"):
        check_video(captioned, dataclasses.replace(BOTH, tracks=(ZH, more)))


def test_other_pictures_are_noticed(binary: str, captioned: Path, tmp_path: Path) -> None:
    other = encode(binary, tmp_path / "other.mp4", FRAMES, first=1)
    wanted = dataclasses.replace(BOTH, pictures=pictures_of([other]))
    with pytest.raises(LectureError, match="pictures as they were encoded"):
        check_video(captioned, wanted)
