"""Estimates, cores, records, boxes, texts for people: the small pure parts."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from types import SimpleNamespace

import pytest

from render.base.cores import usable_cores
from render.base.workspace import STATE
from render.build import records
from render.build.estimate import Estimate
from render.build.progress import duration
from render.build.task import Result, Task
from render.cli import testing
from render.media import boxes, nal
from render.media.quality import QUALITIES


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


class TestCores:
    def test_here(self) -> None:
        assert usable_cores() >= 1

    @pytest.mark.parametrize(
        ("limit", "cores"), [("max 100000", None), ("50000 100000", 1), ("100000 100000", 1)]
    )
    def test_quota_of_version_2(self, limit: str, cores: int | None, tmp_path: Path) -> None:
        (tmp_path / "cpu.max").write_text(limit)
        assert usable_cores(tmp_path) == (cores or usable_cores(tmp_path / "none"))

    @pytest.mark.parametrize(("quota", "cores"), [("-1", None), ("100000", 1)])
    def test_quota_of_version_1(self, quota: str, cores: int | None, tmp_path: Path) -> None:
        (tmp_path / "cpu").mkdir()
        (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text(quota)
        (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000")
        assert usable_cores(tmp_path) == (cores or usable_cores(tmp_path / "none"))


class TestRecords:
    TASK = Task("s", "m", "C", "t", "zh", "draft", *[""] * 5, "d", "", "", 1)

    def test_a_length_is_remembered_across_qualities(self, tmp_path: Path) -> None:
        (tmp_path / STATE).mkdir()
        beats = [{"name": "题", "step": 1, "start": 0.0, "end": 2.0, "text": "文"}]
        records.write_record(tmp_path, "s_zh.mp4", 15, Result(150, 2.0, 9, beats))
        assert (tmp_path / STATE / "s_zh.json").is_file()
        found = records.expected_frames("s_zh.mp4", QUALITIES["high"], [tmp_path / "x", tmp_path])
        assert found == 600

    @pytest.mark.parametrize("text", ["", "[]", "{}", '{"frames": 1, "fps": 0}', "{"])
    def test_a_broken_record_is_no_record(self, text: str, tmp_path: Path) -> None:
        (tmp_path / STATE).mkdir()
        (tmp_path / STATE / "s_zh.json").write_text(text)
        found = records.expected_frames("s_zh.mp4", QUALITIES["draft"], [tmp_path])
        assert found == round(records.GUESSED_SECONDS * 15)

    def test_a_folder_that_is_gone_is_no_reason_to_fail(self, tmp_path: Path) -> None:
        records.write_record(tmp_path / "gone", "s_zh.mp4", 15, Result(1, 1.0, 1))


def box(name: bytes, content: bytes = b"") -> bytes:
    return struct.pack(">I4s", 8 + len(content), name) + content


class TestBoxes:
    def test_order_and_edit_lists(self, tmp_path: Path) -> None:
        track = box(b"trak", box(b"tkhd", b"elst") + box(b"edts", box(b"elst", b"1234")))
        path = tmp_path / "f.mp4"
        path.write_bytes(box(b"ftyp", b"x") + box(b"moov", track + track) + box(b"mdat", b"elst"))
        assert boxes.top_level(path) == ["ftyp", "moov", "mdat"]
        assert boxes.edit_lists(path) == 2

    def test_sizes_of_64_bits_and_up_to_the_end(self, tmp_path: Path) -> None:
        path = tmp_path / "f.mp4"
        long = struct.pack(">I4sQ", 1, b"free", 20) + b"abcd"
        path.write_bytes(long + struct.pack(">I4s", 0, b"mdat") + b"rest")
        assert boxes.top_level(path) == ["free", "mdat"]

    @pytest.mark.parametrize("data", [b"", b"abc", b"\0\0\0\x03moov", b"\0\0\0\x01moov"])
    def test_nonsense_ends_it(self, data: bytes, tmp_path: Path) -> None:
        path = tmp_path / "f.mp4"
        path.write_bytes(data)
        assert boxes.top_level(path) == []


def test_units_of_a_packet() -> None:
    units = [b"\x06sei", b"\x65idr", b"\x41p"]
    packet = b"".join(len(unit).to_bytes(4, "big") + unit for unit in units)
    assert nal.unit_types(packet) == [6, 5, 1]
    assert nal.is_idr(packet)
    assert not nal.is_idr(packet[:8])


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (59.4, "59 s"), (60, "1 min 00 s"), (247, "4 min 07 s"), (4330, "1 h 12 min")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


class TestChecks:
    @pytest.fixture
    def ran(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """The commands that would run; ruff check fails."""
        ran: list[str] = []

        def run(command: list[str], **_: object) -> SimpleNamespace:
            ran.append(" ".join(command[2:]))
            return SimpleNamespace(returncode=int(ran[-1] == "ruff check ."))

        monkeypatch.setattr(testing.subprocess, "run", run)
        monkeypatch.delenv("CI", raising=False)
        return ran

    def test_how_long_they_take_and_how_they_ended_is_told(
        self, ran: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(testing, "usable_cores", lambda: 2)
        assert testing.run_checks(()) == 1
        first, *steps, last = capsys.readouterr().out.splitlines()
        assert re.match(r"test: about \d+ min on 2 cores; ", first)
        assert [step.split(": ")[0] for step in steps] == [f"{n} of 4" for n in (1, 2, 3, 4)]
        assert steps[-1] == "4 of 4: pytest -q -n 2 --dist worksteal"
        assert last == "test: failed in 0 s"
        assert len(ran) == 4

    def test_with_arguments_only_pytest_runs(self, ran: list[str]) -> None:
        assert testing.run_checks(["-k", "x"]) == 0
        assert ran[0].endswith("-k x")
        assert len(ran) == 1

    def test_ci_runs_the_slow_ones_and_fails_with_the_first_failure(
        self, ran: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("CI", "true")
        testing.run_checks(())
        assert "-m slow or not slow" in ran[-1]
        assert "reruns" not in ran[-1]
