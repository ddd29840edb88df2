"""The check lets good videos through and refuses each kind of bad one."""

from __future__ import annotations

import dataclasses
import subprocess
from fractions import Fraction
from pathlib import Path

import av
import pytest

from engine.errors import LectureError
from render.media.check import _decoded_findings, _packet_findings, check_video, pictures_of
from render.media.mp4 import Chapter, Origin
from render.media.mux import Part, Video, chapters_of, mux

from .conftest import DRAFT, ORIGIN, TITLE, encode, finished

FRAMES = 70
GOOD = Video(DRAFT, FRAMES, TITLE, ORIGIN)
REENCODE = ["-c:v", "libx264", "-preset", "veryfast", "-bf", "2", "-profile:v", "high", "-g", "30"]
FAST = ["-movflags", "+faststart+negative_cts_offsets", "-use_editlist", "0"]
KEEP = ["-c", "copy", *FAST]

#: how a good file is spoiled (options of ffmpeg), and the field that must be complained of
SPOILED = {
    "no faststart": (["-c", "copy", "-use_editlist", "0"], "faststart"),
    "edit lists": (["-c", "copy", "-movflags", "+faststart"], "edit lists"),
    "no sound": ([*KEEP, "-an"], "streams"),
    "matrix": ([*KEEP, "-bsf:v", "h264_metadata=matrix_coefficients=6"], "colours in"),
    "primaries": ([*KEEP, "-bsf:v", "h264_metadata=colour_primaries=5"], "colours in"),
    "transfer": ([*KEEP, "-bsf:v", "h264_metadata=transfer_characteristics=6"], "colours in"),
    "matrix in the container": ([*REENCODE, *FAST, "-colorspace", "smpte170m"], "colour matrix"),
    "range in the container": (
        [*REENCODE, *FAST, "-vf", "scale=out_range=full", "-color_range", "pc"],
        "pixel format",
    ),
    # decoders give yuv420p of full range a name of its own, yuvj420p
    "full range": (
        [*KEEP, "-bsf:v", "h264_metadata=video_full_range_flag=1"],
        "pixel format",
    ),
    "long gap": ([*REENCODE, *FAST, "-g", "300", "-sc_threshold", "0"], "between keyframes"),
    "open groups": (
        [*REENCODE, *FAST, "-x264-params", "open-gop=1:scenecut=0", "-preset", "medium"],
        "closed groups",
    ),
    "baseline": ([*REENCODE, *FAST, "-profile:v", "baseline", "-bf", "0"], "profile"),
    "4:4:4": ([*REENCODE, *FAST, "-profile:v", "high444", "-pix_fmt", "yuv444p"], "profile"),
    "mpeg4": (["-c:v", "mpeg4", *FAST], "video codec"),
    "width": ([*REENCODE, *FAST, "-vf", "scale=640:480"], "width"),
    "frame rate": ([*REENCODE, *FAST, "-r", "30"], "frame rate"),
    "44.1 kHz": ([*KEEP, "-c:a", "aac", "-ar", "44100"], "sample rate"),
    "mono": ([*KEEP, "-c:a", "aac", "-ac", "1"], "channels"),
    "mp3": ([*KEEP, "-c:a", "libmp3lame"], "audio codec"),
    "title": ([*KEEP, "-metadata", "title=other"], "title"),
    "comment": ([*KEEP, "-metadata", "comment=other"], "comment"),
    "language": ([*KEEP, "-metadata:s:a:0", "language=eng"], "audio language"),
    "short": ([*KEEP, "-t", "3"], "frames"),
    "matroska": (["-f", "matroska", "-c", "copy"], "boxes"),
}


@pytest.fixture(scope="module")
def good(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return finished(binary, tmp_path_factory.mktemp("good"), FRAMES)


def refusal(video: Path, expected: Video = GOOD) -> LectureError:
    with pytest.raises(LectureError) as caught:
        check_video(video, expected)
    assert "\n" not in str(caught.value)
    return caught.value


def test_a_good_video_passes(good: Path) -> None:
    check_video(good, GOOD)


@pytest.mark.parametrize("kind", SPOILED)
def test_a_spoiled_video_is_refused(kind: str, good: Path, tmp_path: Path, binary: str) -> None:
    options, field = SPOILED[kind]
    video = tmp_path / "spoiled.mp4"
    tags = ["-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709"]
    if "copy" in options or "-colorspace" in options:
        tags = []
    subprocess.run(
        [binary, "-v", "error", "-i", str(good), *tags, *options, str(video)], check=True
    )
    error = refusal(video)
    assert error.field is not None
    assert field in error.field


@pytest.mark.parametrize("sound", ["-af atrim=end_sample=211200", "-af apad=pad_len=12800"])
def test_sound_that_is_four_frames_off_at_its_end_is_refused(
    sound: str, good: Path, tmp_path: Path, binary: str
) -> None:
    """Of 224,000 samples, at 3,200 for a frame."""
    video = tmp_path / "spoiled.mp4"
    options = ["-c:v", "copy", "-c:a", "aac", *sound.split(), *FAST]
    subprocess.run([binary, "-v", "error", "-i", str(good), *options, str(video)], check=True)
    assert refusal(video).field == "samples of sound"


def test_sound_that_begins_late_is_found(good: Path, tmp_path: Path, binary: str) -> None:
    video = tmp_path / "late.mp4"
    late = ["-itsoffset", str(4 / 15), "-i", str(good), "-map", "0:v", "-map", "1:a", "-c", "copy"]
    subprocess.run([binary, "-v", "error", "-i", str(good), *late, str(video)], check=True)
    found = {name: (wanted, there) for name, wanted, there in _packet_findings(video, GOOD)}
    assert found["start of the sound"][0] == [0]
    (start,) = found["start of the sound"][1]
    assert abs(start - Fraction(4, 15)) < Fraction(1, 100)


def test_sound_that_cannot_be_decoded_to_its_end_is_found(
    good: Path,
) -> None:
    def length(frames: int) -> tuple[object, object]:
        findings = _decoded_findings(good, dataclasses.replace(GOOD, frames=frames))
        return next(found[1:] for found in findings if "length of the decoded" in found[0])

    assert length(FRAMES) == (True, True)
    assert length(FRAMES + 1) == (True, False)


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("matrix", "colours in the H.264 stream (primaries, transfer, matrix, range)"),
        ("full range", "pixel format"),
        ("short", "frames"),
        ("other pictures", "pictures as they were encoded"),
    ],
)
def test_so_it_is_with_the_digest_of_the_pictures(
    kind: str, field: str, good: Path, tmp_path: Path, binary: str
) -> None:
    """With it little is decoded, but as much is found."""
    known = dataclasses.replace(GOOD, pictures=pictures_of([good]))
    check_video(good, known)
    options = SPOILED[kind][0] if kind in SPOILED else [*REENCODE, *FAST]
    video = tmp_path / "spoiled.mp4"
    tags = ["-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709"]
    if kind in SPOILED:
        tags = []
    subprocess.run(
        [binary, "-v", "error", "-i", str(good), *tags, *options, str(video)], check=True
    )
    assert refusal(video, known).field == field


@pytest.mark.parametrize("place", [0.1, 0.33, 0.6, 0.95])
def test_one_byte_of_a_picture_is_enough(place: float, good: Path, tmp_path: Path) -> None:
    data = bytearray(good.read_bytes())
    start = data.index(b"mdat") + 8
    with av.open(str(good)) as container:
        packets = [(p.pos, p.size) for p in container.demux(video=0) if p.size]
    position, size = packets[int(place * len(packets))]
    assert position > start - 8
    data[position + size - 1] ^= 1
    video = tmp_path / "damaged.mp4"
    video.write_bytes(data)
    error = refusal(video, dataclasses.replace(GOOD, pictures=pictures_of([good])))
    assert error.field == "pictures as they were encoded"


@pytest.mark.parametrize("part", [0.98, 0.5])
def test_a_cut_file_is_refused(part: float, good: Path, tmp_path: Path) -> None:
    data = good.read_bytes()
    video = tmp_path / "cut.mp4"
    video.write_bytes(data[: int(len(data) * part)])
    refusal(video)


def test_damage_in_the_middle_is_refused(good: Path, tmp_path: Path) -> None:
    data = bytearray(good.read_bytes())
    with av.open(str(good)) as container:
        largest = max(container.demux(video=0), key=lambda packet: packet.size)
        assert largest.pos is not None
        start = largest.pos + largest.size // 3
    data[start : start + 400] = b"\x5a" * 400
    video = tmp_path / "damaged.mp4"
    video.write_bytes(data)
    refusal(video)


def test_other_files_are_refused(tmp_path: Path) -> None:
    text = tmp_path / "text.mp4"
    text.write_text("this is no video")
    refusal(text)
    refusal(tmp_path / "missing.mp4")


def test_what_was_ordered_counts(good: Path) -> None:
    change = dataclasses.replace
    assert refusal(good, change(GOOD, frames=FRAMES + 1)).field == "frames"
    assert refusal(good, change(GOOD, title="x")).field == "title"
    origin = Origin("en", "draft", "0" * 16)
    assert refusal(good, change(GOOD, origin=origin)).field == "comment"
    chapters = (Chapter("one", 0, FRAMES),)
    assert refusal(good, change(GOOD, chapters=chapters)).field == "streams"


def test_the_message_names_the_final_file(good: Path) -> None:
    with pytest.raises(LectureError, match=r"^08_x\.mp4: title: "):
        check_video(good, dataclasses.replace(GOOD, title="x"), shown_as="08_x.mp4")


def test_the_wrong_chapter_is_named_in_a_short_line(binary: str, tmp_path: Path) -> None:
    parts = [Part(encode(binary, tmp_path / f"{i}.mp4", 5), 5, f"part {i}") for i in range(1, 21)]
    film = tmp_path / "lecture.mp4"
    chapters = chapters_of(parts)
    mux(binary, Video(DRAFT, 100, TITLE, ORIGIN, chapters), parts, film)
    wrong = (chapters[0], Chapter("part 2", 5, 11), *chapters[2:])
    error = refusal(film, Video(DRAFT, 100, TITLE, ORIGIN, wrong))
    told = "chapter 2: expected 'part 2' in frames 5 to 11, found 'part 2' in frames 5 to 10"
    assert str(error).endswith(f"lecture.mp4: {told}")
    early = (chapters[0], Chapter("part 2", 4, 10), *chapters[2:])
    error = refusal(film, Video(DRAFT, 100, TITLE, ORIGIN, early))
    told = "chapter 2: expected 'part 2' in frames 4 to 10, found 'part 2' in frames 5 to 10"
    assert str(error).endswith(f"lecture.mp4: {told}")
    error = refusal(film, Video(DRAFT, 100, TITLE, ORIGIN, chapters[1:]))
    assert str(error).endswith("lecture.mp4: chapters: expected 19, found 20")
