"""Work shared out to processes that end with their parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from render.base.process import share_out, usable_cores

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("processes", [1, 3])
def test_results_come_in_the_order_of_the_jobs(processes: int) -> None:
    assert list(share_out(abs, [-3, 2, -1, 0], processes)) == [3, 2, 1, 0]


def test_the_processes_end_when_the_parent_is_killed(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import os, time\nfrom pathlib import Path\n"
        "def work(n):\n    Path(f'{n}.pid').write_text(str(os.getpid()))\n    time.sleep(60)\n"
    )
    code = (
        "from render.base.process import share_out\nfrom slow import work\n"
        "if __name__ == '__main__':\n    list(share_out(work, range(6), 2))\n"
    )
    (tmp_path / "main.py").write_text(code)
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}
    parent = subprocess.Popen([sys.executable, "main.py"], cwd=tmp_path, env=environment)
    until(lambda: len(list(tmp_path.glob("*.pid"))) == 2 and all_written(tmp_path))
    workers = [int(file.read_text()) for file in tmp_path.glob("*.pid")]
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    until(lambda: not any(alive(worker) for worker in workers))


def all_written(folder: Path) -> bool:
    return all(file.read_text() for file in folder.glob("*.pid"))


def until(true) -> None:
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{process}/stat")
    return not state.exists() or state.read_text().rsplit(")", 1)[1].split()[0] != "Z"


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

    @pytest.mark.parametrize(("limit", "cores"), [("149999", 1), ("150000", 2), ("249999", 2)])
    def test_a_quota_is_rounded_to_the_nearest_core(
        self, limit: str, cores: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
        (tmp_path / "cpu.max").write_text(f"{limit} 100000")
        assert usable_cores(tmp_path) == cores
