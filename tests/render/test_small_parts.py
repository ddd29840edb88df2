"""Estimates, records, boxes, texts for people: the small pure parts."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from render.base.files import STATE
from render.build.job import BuildOptions, jobs_of
from render.build.lecture import GUESSED_SECONDS, Lecture
from render.build.screen import Estimate, duration
from render.media import mp4
from render.media.stills import is_idr, packet_units


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class TestEstimate:
    def test_no_time_is_told_before_there_is_a_speed(self) -> None:
        clock = Clock()
        estimate = Estimate({"a": 100}, 1, clock)
        assert estimate.seconds_left() is None
        estimate.start("a")
        assert estimate.seconds_left() is None
        clock.now = 5  # start-up: not counted as slowness
        estimate.advance("a", 10)
        assert estimate.seconds_left() is None
        clock.now = 6
        estimate.advance("a", 20)
        assert estimate.seconds_left() == pytest.approx(8)

    def test_one_worker(self) -> None:
        clock = Clock()
        estimate = Estimate({"a": 100, "b": 50}, 1, clock)
        estimate.start("a")
        estimate.advance("a", 0)
        clock.now = 10
        estimate.advance("a", 50)
        assert estimate.seconds_left() == pytest.approx(20)  # 100 frames left at 5 a second
        assert (estimate.done, estimate.total) == (50, 150)

    def test_the_last_long_scene_decides(self) -> None:
        clock = Clock()
        estimate = Estimate({"a": 1000, "b": 10, "c": 10}, 2, clock)
        for task in "ab":
            estimate.start(task)
            estimate.advance(task, 0)
        clock.now = 10
        estimate.advance("a", 5)
        estimate.advance("b", 5)
        # two workers, a frame every two seconds each: 995 frames are left for the one with "a"
        assert estimate.seconds_left() == pytest.approx(1990)

    def test_a_scene_longer_than_foretold_and_one_shorter(self) -> None:
        clock = Clock()
        estimate = Estimate({"a": 10, "b": 10}, 1, clock)
        estimate.start("a")
        estimate.advance("a", 1)
        clock.now = 1
        estimate.advance("a", 40)
        assert estimate.total > 50
        assert estimate.done < estimate.total
        estimate.end("a")
        estimate.start("b")
        estimate.end("b")
        assert estimate.total == estimate.done == 40
        assert estimate.seconds_left() == 0


class TestLengths:
    """What is remembered of how long a scene is, for the time left and the room on the disk."""

    def length(self, out: Path, quality: str) -> float:
        (job,) = jobs_of(BuildOptions(quality=quality, out=out), ["8"])
        return Lecture(job).length(job.scenes[0])

    @pytest.mark.parametrize("where", ["o", "beside"])
    def test_a_length_is_remembered_across_qualities(self, where: str, tmp_path: Path) -> None:
        (tmp_path / where / STATE).mkdir(parents=True)
        record = tmp_path / where / STATE / "08_attention_scores_zh.json"
        record.write_text('{"facts": {"frames": 150, "fps": 15}}')
        assert self.length(tmp_path / "o", "high") == 600

    @pytest.mark.parametrize("text", ["", "[]", "{}", '{"facts": {"frames": 1, "fps": 0}}', "{"])
    def test_a_broken_record_is_no_record(self, text: str, tmp_path: Path) -> None:
        (tmp_path / STATE).mkdir()
        (tmp_path / STATE / "08_attention_scores_zh.json").write_text(text)
        assert self.length(tmp_path, "draft") == GUESSED_SECONDS * 15


def box(name: bytes, content: bytes = b"") -> bytes:
    return struct.pack(">I4s", 8 + len(content), name) + content


class TestBoxes:
    def test_order_and_edit_lists(self, tmp_path: Path) -> None:
        track = box(b"trak", box(b"tkhd", b"elst") + box(b"edts", box(b"elst", b"1234")))
        path = tmp_path / "f.mp4"
        path.write_bytes(box(b"ftyp", b"x") + box(b"moov", track + track) + box(b"mdat", b"elst"))
        assert mp4.top_level(path) == ["ftyp", "moov", "mdat"]
        assert mp4.edit_lists(path) == 2

    def test_sizes_of_64_bits_and_up_to_the_end(self, tmp_path: Path) -> None:
        path = tmp_path / "f.mp4"
        long = struct.pack(">I4sQ", 1, b"free", 20) + b"abcd"
        path.write_bytes(long + struct.pack(">I4s", 0, b"mdat") + b"rest")
        assert mp4.top_level(path) == ["free", "mdat"]

    @pytest.mark.parametrize("data", [b"", b"abc", b"\0\0\0\x03moov", b"\0\0\0\x01moov"])
    def test_nonsense_ends_it(self, data: bytes, tmp_path: Path) -> None:
        path = tmp_path / "f.mp4"
        path.write_bytes(data)
        assert mp4.top_level(path) == []


def test_units_of_a_packet() -> None:
    units = [b"\x06sei", b"\x65idr", b"\x41p"]
    packet = b"".join(len(unit).to_bytes(4, "big") + unit for unit in units)
    assert list(packet_units(packet)) == units
    assert is_idr(packet)
    assert not is_idr(packet[:8])


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (59.4, "59 s"), (60, "1 min 00 s"), (247, "4 min 07 s"), (4330, "1 h 12 min")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text
