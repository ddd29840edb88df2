"""Files that are whole or not there, private folders, locks, what killed runs leave, errors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.errors import LectureError
from render.base import files
from render.base.files import STATE, Workspace


def runs(out: Path) -> list[Path]:
    return list((out / STATE).glob("run-*"))


def test_a_private_folder_is_there_and_then_gone(tmp_path: Path) -> None:
    out = tmp_path / "new" / "deep"
    with Workspace(out) as space:
        folder = space.fresh_folder("a")
        assert folder.is_dir()
        (folder / "v.mp4").write_bytes(b"x")
        files.put_file(folder / "v.mp4", out / "v.mp4")
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
        "import os, pathlib; from render.base.files import Workspace\n"
        f"s = Workspace(pathlib.Path({str(tmp_path)!r})); s.fresh_folder('x')\n"
        "os.kill(os.getpid(), 9)"
    )
    root = Path(__file__).resolve().parents[2]
    assert subprocess.run([sys.executable, "-c", code], cwd=root).returncode == -9
    (half_made,) = runs(tmp_path)
    lockless = tmp_path / STATE / "run-before-its-lock"
    lockless.mkdir()
    os.utime(lockless, (0, 0))
    (tmp_path / STATE / "run-just-begun").mkdir()
    with Workspace(tmp_path) as space:
        assert set(runs(tmp_path)) == {space.folder, tmp_path / STATE / "run-just-begun"}
    assert not half_made.exists()


def test_a_run_that_is_killed_while_it_cleans_up_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lock goes last, so that the next run knows that the folder is nobody's."""
    space = Workspace(tmp_path)
    for name in ("a", "b"):
        (space.folder / name).mkdir()

    def killed(path: Path, **_: object) -> None:
        for each in path.glob(".*"):
            each.unlink()
        raise KeyboardInterrupt

    monkeypatch.setattr(files.shutil, "rmtree", killed)
    with pytest.raises(KeyboardInterrupt):
        space.__exit__()
    os.close(space.lock)  # as the end of the process does
    monkeypatch.undo()
    with Workspace(tmp_path):
        assert len(runs(tmp_path)) == 1
    assert runs(tmp_path) == []


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


class TestReplacing:
    def test_a_file_that_fails_half_way_leaves_the_old_one(self, tmp_path: Path) -> None:
        path = tmp_path / "sound.wav"
        path.write_text("old")
        with pytest.raises(RuntimeError), files.replacing(path) as fresh:
            fresh.write_text("half")
            assert fresh.suffix == ".wav"
            raise RuntimeError
        assert path.read_text() == "old"
        assert list(tmp_path.iterdir()) == [path]

    def test_a_full_disk_is_told_of_the_file_that_is_meant(self, tmp_path: Path) -> None:
        path = tmp_path / "a.txt"
        path.write_text("old")
        with pytest.raises(LectureError) as caught, files.replacing(path) as fresh:
            fresh.write_text("half")
            raise OSError(28, "No space left on device")
        assert str(caught.value) == f"{path}: disk: found no space left on device"
        assert list(tmp_path.iterdir()) == [path]

    @pytest.mark.parametrize("umask", [0o022, 0o027, 0o077, 0o002])
    def test_the_umask_is_respected(self, umask: int, tmp_path: Path) -> None:
        before = os.umask(umask)
        try:
            files.write(tmp_path / "a", "it")
            files.write(tmp_path / "b", b"it", mode=0o600)
        finally:
            os.umask(before)
        assert (tmp_path / "a").stat().st_mode & 0o777 == 0o666 & ~umask
        assert (tmp_path / "b").stat().st_mode & 0o077 == 0

    def test_what_is_put_in_place_is_on_the_disk_before(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        synced: list[bytes] = []
        monkeypatch.setattr(
            os, "fsync", lambda descriptor: synced.append(os.pread(descriptor, 9, 0))
        )
        (tmp_path / "made").write_bytes(b"it")
        (tmp_path / "final").write_bytes(b"old")
        files.put_file(tmp_path / "made", tmp_path / "final")
        assert synced == [b"it"]
        assert (tmp_path / "final").read_bytes() == b"it"
        assert not (tmp_path / "made").exists()

    def test_state_that_cannot_be_written_is_no_reason_to_fail(self, tmp_path: Path) -> None:
        files.write_state(tmp_path / "gone" / "s.json", {})


def test_a_folder_of_two_processes_at_once_is_locked_by_one(tmp_path: Path) -> None:
    told = "expected one upload at a time, found another one"
    with (
        files.alone(tmp_path, "", ""),
        pytest.raises(LectureError, match=told),
        files.alone(tmp_path, "one upload at a time", "another one"),
    ):
        pass
    with files.alone(tmp_path, "", ""):
        pass


def test_free_space_is_that_of_the_whole_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = tmp_path / "1", tmp_path / "2"
    one.mkdir()
    two.mkdir()
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 10_000_000}))
    files.check_free_space({one: 5e6, two: 5e6})
    with pytest.raises(LectureError, match="disk: expected about 11 MB free, found 10 MB"):
        files.check_free_space({one: 5e6, two: 6e6})
