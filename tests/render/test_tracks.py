"""Captions inside an MP4, written by either ffmpeg, and the check that demands them."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

import av
import pytest

from engine.errors import LectureError
from render.media import boxes
from render.media.captions.cues import Cue
from render.media.captions.tracks import Track, embed, joined
from render.media.check import check_captioned, check_video
from render.media.expected import Expected
from render.media.metadata import Chapter

from .conftest import DRAFT, ORIGIN, TITLE, finished

FRAMES = 70
ZH = Track("zh", (Cue(0, 28, ("第一行，", "第二行。")), Cue(30, 60, ("「<bos>」{x} & y",))), 15)
EN = Track("en", (Cue(4, 40, ("One line",)),), 15)
BOTH = Expected(DRAFT, FRAMES, TITLE, ORIGIN, (), (ZH, EN))


@pytest.fixture(scope="module")
def bare(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return finished(binary, tmp_path_factory.mktemp("bare"), FRAMES)


@pytest.fixture(scope="module")
def captioned(binary: str, bare: Path) -> Path:
    target = bare.with_name("captioned.mp4")
    embed(binary, bare, target, (ZH, EN))
    return target


def test_both_ffmpegs_write_what_the_check_demands(binary: str, bare: Path, tmp_path: Path) -> None:
    target = bare.with_name("both.mp4")
    embed(binary, bare, target, (ZH, EN))
    check_video(target, BOTH)
    check_captioned(target, bare, BOTH)
    again = bare.with_name("again.mp4")
    embed(binary, target, again, (EN,))
    check_captioned(again, bare, dataclasses.replace(BOTH, captions=(EN,)))


def test_a_player_sees_two_named_tracks_that_are_off(captioned: Path) -> None:
    with av.open(str(captioned)) as container:
        streams = container.streams.subtitles
        assert [stream.metadata["language"] for stream in streams] == ["zho", "eng"]
        assert [stream.metadata["handler_name"] for stream in streams] == ["中文", "English"]
        assert [int(stream.disposition) for stream in streams] == [0, 0]
        texts = [bytes(p)[2:] for p in container.demux(streams[1]) if len(bytes(p)) > 2]
    assert texts == [b"One line"]
    assert boxes.edit_lists(captioned) == 0


def test_chapters_stay_when_captions_are_put_in(binary: str, bare: Path) -> None:
    from render.media.finish import Part, assemble

    film, target = bare.with_name("film.mp4"), bare.with_name("film_captioned.mp4")
    parts = [Part(bare, FRAMES, "a = b; #c \\ d"), Part(bare, FRAMES, "二")]
    kinds = {"title": TITLE, "origin": ORIGIN, "quality": DRAFT}
    chapters = assemble(binary, parts, film, with_chapters=True, **kinds)
    assert chapters[0] == Chapter("a = b; #c \\ d", 0, FRAMES)
    whole = joined([(0, ZH), (FRAMES, ZH)], "zh", 15)
    assert whole.cues[2].start == FRAMES
    embed(binary, film, target, (whole,))
    check_video(target, Expected(DRAFT, 2 * FRAMES, TITLE, ORIGIN, chapters, (whole,)))


#: how a captioned file is spoiled, and what must be complained of
SPOILED = {
    "no captions": (["-sn"], "streams"),
    "one track": (["-map", "0:v", "-map", "0:a", "-map", "0:s:0"], "streams"),
    "language": (["-map", "0", "-metadata:s:s:1", "language=fra"], "English: language"),
    "name": (["-map", "0", "-metadata:s:s:0", "handler_name=x"], "中文: name"),
    "shown unasked": (["-map", "0", "-disposition:s:1", "default"], "shown unasked"),
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
        boxes.hide_subtitles(spoilt)
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
def test_every_cue_is_compared(cue: Cue, field: str, captioned: Path, bare: Path) -> None:
    other = dataclasses.replace(BOTH, captions=(ZH, Track("en", (cue,), 15)))
    with pytest.raises(LectureError, match=field):
        check_captioned(captioned, bare, other)
    more = Track("en", (*EN.cues, Cue(50, 60, ("x",))), 15)
    with pytest.raises(LectureError, match="cues: expected 2, found 1"):
        check_captioned(captioned, bare, dataclasses.replace(BOTH, captions=(ZH, more)))


def test_other_pictures_are_noticed(binary: str, captioned: Path, tmp_path: Path) -> None:
    other = finished(binary, tmp_path / "other", FRAMES - 1)
    with pytest.raises(LectureError, match="pictures and sound as before"):
        check_captioned(captioned, other, BOTH)
