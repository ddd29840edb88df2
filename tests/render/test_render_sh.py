"""render.sh, with stand-ins for Python, pip, apt-get and the rest that write down their calls."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .conftest import ROOT
from .house import BASH, PYTHON, House


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def test_the_first_run_makes_everything_the_second_only_starts(house: House) -> None:
    arguments = ["8", "--out", "a b\nc", "--lang=en", ""]
    first = house.run(*arguments)
    assert first.returncode == 0, first.stderr
    started = "[render]\n" + "".join(f"[{argument}]\n" for argument in arguments)
    assert first.stdout == started
    (pip,) = house.called(" pip ")
    assert pip.endswith("-c constraints.txt -e .")
    assert len(house.called("-m venv")) == 1
    second = house.run(*arguments)
    assert (second.returncode, second.stdout, second.stderr) == (0, started, "")
    calls = house.calls.read_text()
    assert calls.startswith("python -I -S -c ")
    assert len(calls.splitlines()) == 1 + 2 + arguments[2].count("\n")  # our code has two, too


def test_it_works_from_anywhere_and_through_links(house: House, tmp_path: Path) -> None:
    house.run()
    (tmp_path / "bin").mkdir()
    (tmp_path / "one").symlink_to(house.project / "render.sh")
    (tmp_path / "bin" / "two").symlink_to("../one")
    result = house.run("list", script=tmp_path / "bin" / "two")
    assert result.stdout == "[render]\n[list]\n"


def test_the_environment_of_another_python_does_no_harm(house: House) -> None:
    result = house.run("list", PYTHONHOME="/nowhere", PYTHONPATH="/nowhere")
    assert (result.returncode, result.stdout) == (0, "[render]\n[list]\n")


@pytest.mark.parametrize("seconds", [0.05, 0.1, 0.2, 0.3])
def test_ctrl_c_while_it_starts_leaves_one_line_at_most(seconds: float, house: House) -> None:
    house.run("list")
    (house.project / ".venv" / "bin" / "python").write_text(f'#!{BASH}\nexec {sys.executable} "$@"')
    process = house.start("list", stderr=subprocess.PIPE)
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    stopped = 130, "render: stopped; finished videos are unchanged\n"
    assert (process.returncode, said) in (stopped, (-signal.SIGINT, ""), (0, ""))


def test_tests_get_the_developer_packages_and_rendering_then_needs_nothing(house: House) -> None:
    assert house.run("test", "-k", "x").stdout == "[render]\n[test]\n[-k]\n[x]\n"
    assert house.called(" pip ")[0].endswith("-e .[dev]")
    house.run("8")
    assert house.called(" pip ") == []
    (house.project / ".venv" / ".ready-dev").unlink()
    house.run("8")
    assert house.called(" pip ")[0].endswith("-e .")


def test_other_pins_bring_the_environment_up_to_date(house: House) -> None:
    house.run()
    with (house.project / "constraints.txt").open("a") as file:
        file.write("one-more==1\n")
    assert "up to date" in house.run().stderr
    assert len(house.called(" pip ")) == 1
    assert house.called("-m venv") == []
    assert house.run().stderr == ""


def test_an_environment_that_was_moved_or_lost_its_python_is_made_anew(house: House) -> None:
    house.run()
    moved = house.project.with_name("moved")
    house.project.rename(moved)
    house.project = moved
    assert len(house.run().stderr.splitlines()) == 1
    (moved / ".venv" / "bin" / "python").unlink()
    house.run()
    assert len(house.called("-m venv")) == 1


def test_a_pip_that_fails_is_exit_2_and_the_next_run_begins_anew(house: House) -> None:
    failed = house.run(PIP_EXIT="1")
    assert failed.returncode == 2
    assert "pip could not install" in failed.stderr
    assert "Collecting two" in failed.stderr
    assert house.run().returncode == 0
    assert len(house.called("-m venv")) == 1


def test_a_first_run_that_is_killed_is_begun_anew(house: House) -> None:
    house.calls.write_text("")
    process = house.start(PIP_SLEEP="60")
    end = time.monotonic() + 20
    while not house.called(" pip ") and time.monotonic() < end:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert (house.project / ".venv").exists()
    assert house.run().returncode == 0
    assert len(house.called("-m venv")) == 1


def test_two_first_runs_install_once(house: House) -> None:
    house.calls.write_text("")
    runs = [house.start("list", PIP_SLEEP="0.5") for _ in range(3)]
    for run in runs:
        out, _ = run.communicate(timeout=60)
        assert (run.returncode, out) == (0, "[render]\n[list]\n")
    assert len(house.called(" pip ")) == 1


def test_on_a_terminal_the_stage_and_its_seconds_move_in_place(house: House) -> None:
    screen, terminal = os.openpty()
    process = house.start("list", stderr=terminal, PIP_SLEEP="2.5")
    out, _ = process.communicate(timeout=60)
    os.close(terminal)
    with os.fdopen(screen, "rb") as file:
        said = file.read1().decode()
    assert (process.returncode, out) == (0, "[render]\n[list]\n")
    stage = r"\r\033\[Krender\.sh: installing Python packages, (\d+) s: Collecting one"
    seconds = list(map(int, re.findall(stage, said)))
    assert seconds == sorted(set(seconds))
    assert len(seconds) >= 2 and seconds[-1] >= 2
    assert said.endswith("\r\033[K")
    assert said.count("\n") == 1


@pytest.mark.slow
def test_without_a_terminal_the_stage_is_a_line_every_ten_seconds(house: House) -> None:
    first = house.run("list", PIP_SLEEP="12")
    _, stage = first.stderr.splitlines()
    assert re.fullmatch(r"render.sh: installing Python packages, 1\d s: Collecting one", stage)


class TestExtras:
    def test_they_are_installed_and_come_back_with_every_new_environment(
        self, house: House
    ) -> None:
        house.run()
        first = house.run("install", "cluster")
        assert (first.returncode, first.stdout) == (0, ""), first.stderr
        assert [line.rpartition(" ")[2] for line in house.called(" pip ")] == [".[cluster]"]
        assert house.run("8").stderr == ""
        again = house.run("install", "cluster")
        assert (again.returncode, house.called(" pip ")) == (0, [])
        assert "already" in again.stderr
        shutil.rmtree(house.project / ".venv")
        house.run("8")
        assert house.called(" pip ")[0].endswith("-c constraints.txt -e .[cluster]")
        house.run("test")
        assert house.called(" pip ")[0].endswith("-e .[dev,cluster]")
        assert house.run("8").stderr == ""

    def test_more_are_added_to_those_there_are(self, house: House) -> None:
        house.run("install", "cluster")
        assert house.run("install", "dev", "cluster").returncode == 0
        assert house.called(" pip ")[-1].endswith("-e .[cluster,dev]")

    @pytest.mark.parametrize("names", [[], ["clutser"], ["cluster", "no such"], ["*"]])
    def test_an_unknown_one_is_told_in_one_line(self, names: list[str], house: House) -> None:
        result = house.run("install", *names)
        assert result.returncode == 2
        (line,) = result.stderr.splitlines()
        assert "cluster" in line
        assert house.called(" pip ") == []
        assert not (house.project / ".venv.extras").exists()

    def test_one_that_cannot_be_had_leaves_all_as_it_was(self, house: House) -> None:
        house.run("8")
        failed = house.run("install", "cluster", PIP_EXIT="1")
        assert failed.returncode == 2
        assert "as before" in failed.stderr
        after = house.run("8")
        assert (after.stderr, house.called(" pip ")) == ("", [])

    def test_two_at_once_are_both_installed(self, house: House) -> None:
        house.run()
        house.calls.write_text("")
        runs = [house.start("install", name, PIP_SLEEP="0.3") for name in ("cluster", "dev")]
        for run in runs:
            run.communicate(timeout=60)
            assert run.returncode == 0
        assert sorted((house.project / ".venv.extras").read_text().strip().split(",")) == [
            "cluster",
            "dev",
        ]
        assert house.run("8").stderr == ""


class TestSystemPackages:
    def test_only_what_is_missing_is_installed(self, house: House) -> None:
        house.without("cc")
        house.tool("pkg-config", '[ "$2" = cairo ] || exit 1')
        assert house.run().returncode == 0
        installs = [line for line in house.called("apt-get") if " install " in line]
        assert len(installs) == 1
        assert installs[0].endswith("--no-install-recommends gcc libc6-dev libpango1.0-dev")

    def test_nothing_is_installed_when_all_is_there(self, house: House) -> None:
        house.run()
        assert house.called("apt-get") == []

    @pytest.mark.parametrize("sudo", [None, "exit 1"])
    def test_without_rights_the_command_is_told(self, sudo: str | None, house: House) -> None:
        house.without("cc")
        house.tool("id", "echo 1000")
        if sudo:
            house.tool("sudo", sudo)
        result = house.run()
        assert result.returncode == 2
        assert "sudo apt-get install gcc libc6-dev" in result.stderr
        assert house.called("apt-get") == []

    def test_sudo_without_a_password_is_used(self, house: House) -> None:
        house.without("cc")
        house.tool("id", "echo 1000")
        house.tool("sudo", '[ "$2" = true ] && exit 0\nshift 2; exec "$@"')
        assert house.run().returncode == 0
        assert house.called("apt-get install")

    def test_what_apt_says_is_shown_when_it_fails(self, house: House) -> None:
        house.without("cc")
        house.tool("apt-get", '[ "$1" = update ] || { echo "E: no such package" >&2; exit 100; }')
        result = house.run()
        assert result.returncode == 2
        assert "E: no such package" in result.stderr

    def test_another_apt_that_holds_the_lock_is_waited_for(self, house: House) -> None:
        house.without("cc")
        busy = "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt-get)"
        house.tool("sleep", "")
        once = (
            f'[ -e "{house.tools}/$1" ] || {{ >"{house.tools}/$1"; echo "{busy}" >&2; exit 100; }}'
        )
        house.tool("apt-get", once)
        result = house.run()
        assert result.returncode == 0, result.stderr
        assert busy not in result.stderr
        assert len(house.called("sleep 10")) == 2
        assert len(house.called("apt-get install")) == 2
        assert "Lock::Timeout" in house.called("apt-get install")[0]

    def test_macs_get_cairo_from_homebrew(self, house: House) -> None:
        house.without("apt-get")
        house.tool("uname", "echo Darwin")
        house.tool("pkg-config", "exit 1")
        house.tool("brew", "")
        assert house.run().returncode == 0
        assert house.called("brew") == ["brew install --quiet pkgconf cairo"]
        house.without("brew")
        shutil.rmtree(house.project / ".venv")
        result = house.run()
        assert result.returncode == 2
        assert "Homebrew" in result.stderr

    def test_other_systems_are_told_what_is_missing(self, house: House) -> None:
        house.without("apt-get")
        house.without("cc")
        result = house.run()
        assert result.returncode == 2
        assert "gcc" in result.stderr
        assert "dnf install" in result.stderr


class TestPython:
    def test_too_old_a_python_is_told(self, house: House) -> None:
        house.without("python3.11")
        house.tool("python3", 'case "$2" in *exit*) exit 1 ;; *) echo 3.9 ;; esac')
        result = house.run()
        assert result.returncode == 2
        assert "3.11 or newer is needed, this system offers 3.9" in result.stderr

    def test_a_newer_one_is_taken_from_the_system_if_it_has_it(self, house: House) -> None:
        house.without("python3.11")
        (house.tools.parent / "new").write_text(PYTHON)
        house.tool("apt-cache", '[ "$2" != python3.12 ] || echo "Package: python3.12"')
        new = house.tools.parent / "new"
        install = f'case "$*" in *install*) cp "{new}" "{house.tools}/python3.12"\n'
        house.link("chmod")
        install += f'chmod 755 "{house.tools}/python3.12" ;; esac'
        house.tool("apt-get", install)
        assert house.run().returncode == 0
        assert any("python3.12-venv" in line for line in house.called("apt-get"))

    def test_one_can_be_named(self, house: House, tmp_path: Path) -> None:
        (house.tools / "python3.11").rename(tmp_path / "my python")
        assert house.run(LECTURE_PYTHON=str(tmp_path / "my python")).returncode == 0
        shutil.rmtree(house.project / ".venv")
        result = house.run(LECTURE_PYTHON="/nowhere/python")
        assert result.returncode == 2
        assert "/nowhere/python" in result.stderr


class TestOfCi:
    """.ci/run in a house whose .ci/bare-machine is a stand-in."""

    @pytest.fixture
    def ci(self, house: House) -> House:
        (house.project / ".ci").mkdir()
        shutil.copy(ROOT / ".ci" / "run", house.project / ".ci" / "run")
        for name in ("chromium", "ffmpeg", "npm"):
            house.tool(name, "")
        house.link("date")
        house.tool("git", "echo 7")
        house.tool("bare-machine", 'echo "CI=${CI:-none}"; exit "${BARE_EXIT:-0}"')
        shutil.move(house.tools / "bare-machine", house.project / ".ci" / "bare-machine")
        return house

    def run(self, ci: House, **more: str) -> subprocess.CompletedProcess[str]:
        return ci.run(script=ci.project / ".ci" / "run", CI="true", **more)

    def test_it_installs_what_is_missing_and_tells_the_minutes_of_each_part(
        self, ci: House
    ) -> None:
        done = self.run(ci)
        assert done.returncode == 0, done.stderr
        parts = re.findall(r"^.ci/run: (.*): 0 min 0\d s$", done.stdout, re.MULTILINE)
        assert parts[:3] == ["tools", "./render.sh test", "eight mutations"]
        assert re.fullmatch(r"slow tests, share [0-7]/8", parts[3])
        assert parts[4:] == ["bare machine"]
        assert "CI=none" in done.stdout
        (installed,) = ci.called("apt-get install")
        assert installed.endswith("debootstrap")
        assert "Lock::Timeout" in installed

    def test_a_bare_machine_that_fails_fails_all(self, ci: House) -> None:
        done = self.run(ci, BARE_EXIT="3")
        assert done.returncode == 3
        assert ".ci/run: bare machine: 0 min 0" in done.stdout

    def test_without_root_it_is_skipped_with_a_word(self, ci: House) -> None:
        ci.tool("id", "echo 1000")
        ci.tool("debootstrap", "")
        done = self.run(ci)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1] == "bare machine: skipped: making one needs root"
        assert ci.called("bare-machine") == []


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="shellcheck is not installed")
def test_shellcheck_finds_nothing() -> None:
    files = [ROOT / "render.sh", ROOT / ".ci" / "run", ROOT / ".ci" / "bare-machine"]
    result = subprocess.run(["shellcheck", *files], capture_output=True, text=True)
    assert result.stdout == ""


def test_nothing_newer_than_bash_3_is_used() -> None:
    text = (ROOT / "render.sh").read_text()
    for newer in (
        "mapfile",
        "readarray",
        "declare -A",
        "${!",
        ",,}",
        "^^}",
        "|&",
        "&>>",
        "local -n",
    ):
        assert newer not in text
