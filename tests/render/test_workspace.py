"""The output folder: private folders, locks, what is left of killed runs, errors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.errors import LectureError
from render.base.workspace import STATE, Workspace


def runs(out: Path) -> list[Path]:
    return list((out / STATE).glob("run-*"))


def test_a_private_folder_is_there_and_then_gone(tmp_path: Path) -> None:
    out = tmp_path / "new" / "deep"
    with Workspace(out) as space:
        folder = space.task_folder("a")
        assert folder.is_dir()
        (folder / "v.mp4").write_bytes(b"x")
        assert space.publish(folder / "v.mp4", "v.mp4") == out / "v.mp4"
    assert runs(out) == []
    assert (out / "v.mp4").read_bytes() == b"x"


def test_it_is_gone_after_an_error_too(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), Workspace(tmp_path):
        raise KeyboardInterrupt
    assert runs(tmp_path) == []


def test_two_runs_leave_each_other_alone(tmp_path: Path) -> None:
    with Workspace(tmp_path) as one:
        with Workspace(tmp_path) as two:
            assert one.folder != two.folder
            assert len(runs(tmp_path)) == 2
        assert one.folder.is_dir()


def test_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    code = (
        "import os, pathlib; from render.base.workspace import Workspace\n"
        f"s = Workspace(pathlib.Path({str(tmp_path)!r})); s.task_folder('x')\n"
        "os.kill(os.getpid(), 9)"
    )
    root = Path(__file__).resolve().parents[2]
    assert subprocess.run([sys.executable, "-c", code], cwd=root).returncode == -9
    (half_made,) = runs(tmp_path)
    (tmp_path / STATE / "run-before-its-lock").mkdir()
    with Workspace(tmp_path) as space:
        assert runs(tmp_path) == [space.folder]
    assert not half_made.exists()


def test_a_folder_is_kept_while_a_worker_of_a_killed_run_lives(tmp_path: Path) -> None:
    """The worker has inherited the lock."""
    space = Workspace(tmp_path)
    worker = subprocess.Popen(["sleep", "60"], pass_fds=(space.lock,))
    os.close(space.lock)  # as the end of our process would
    try:
        with Workspace(tmp_path):
            assert space.folder.is_dir()
    finally:
        worker.kill()
        worker.wait()
    with Workspace(tmp_path):
        assert not space.folder.exists()


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("I am a file")
    for out in (tmp_path / "out", tmp_path / "out" / "deeper"):
        with pytest.raises(LectureError, match="output folder: expected a folder, found a file"):
            Workspace(out)
    assert (tmp_path / "out").read_text() == "I am a file"


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="uses /proc as a read-only folder")
def test_a_folder_that_cannot_be_written_to() -> None:
    with pytest.raises(LectureError, match="one that can be written to"):
        Workspace(Path("/proc/self/lecture"))


def test_a_folder_of_someone_else(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)  # nobody: root may write anywhere
    try:
        with pytest.raises(LectureError, match="permission denied"):
            Workspace(tmp_path / "out")
    finally:
        if root:
            os.seteuid(0)
