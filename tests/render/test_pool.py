"""Scheduling, with workers that are small scripts instead of scenes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from render.base.workspace import Workspace
from render.build import pool
from render.build.task import Failure, Result, Task, decode_message, encode_message

OK = "send({'frames': 3}); send({'result': {'frames': 5, 'seconds': 1.0, 'memory': 9}})"
PREAMBLE = (
    "import json, os, sys, time\ndef send(x): os.write(FD, json.dumps(x).encode() + b'\\n')\n"
)


class Story:
    """A listener that writes down what it is told."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.most_at_once = 0
        self.frames: list[int] = []
        self.outcomes: dict[str, Result | Failure] = {}
        self.unwanted: set[str] = set()
        self._alive = 0

    def wanted(self, task: Task) -> bool:
        return task.slug not in self.unwanted

    def started(self, task: Task) -> None:
        self.order.append(task.slug)
        self._alive += 1
        self.most_at_once = max(self.most_at_once, self._alive)

    def advanced(self, task: Task, frames: int) -> None:
        self.frames.append(frames)

    def ended(self, task: Task, outcome: Result | Failure) -> None:
        self._alive -= 1
        self.outcomes[task.slug] = outcome


def job(space: Workspace, slug: str, code: str, frames: int = 1) -> pool.Job:
    """A job whose worker runs ``code``; it can call ``send``."""
    folder = str(space.task_folder(slug))
    task = Task(slug, code, "", "", "zh", "draft", *[""] * 5, "", folder, "", 1)
    return pool.Job(task, frames)


def fake(task: Task, descriptor: int) -> list[str]:
    return [sys.executable, "-c", f"FD = {descriptor}\n{PREAMBLE}{task.module}"]


def run(
    space: Workspace, jobs: list[pool.Job], slots: int = 2, story: Story | None = None
) -> Story:
    story = story or Story()
    pool.run(jobs, slots, story, lock=space.lock, command=fake)
    return story


@pytest.fixture
def space(tmp_path: Path):
    with Workspace(tmp_path / "out") as made:
        yield made


def test_longest_first_and_never_more_than_the_slots(space: Workspace) -> None:
    lengths = {"a": 10, "b": 400, "c": 30, "d": 200}
    story = run(space, [job(space, s, f"time.sleep(.1); {OK}", n) for s, n in lengths.items()])
    assert story.order == ["b", "d", "c", "a"]
    assert story.most_at_once == 2
    assert story.frames == [3, 3, 3, 3]
    assert story.outcomes == dict.fromkeys(lengths, Result(5, 1.0, 9))


def test_a_task_that_is_wanted_no_more_is_not_started(space: Workspace) -> None:
    story = Story()
    story.unwanted = {"a", "b"}
    run(space, [job(space, slug, OK) for slug in "abc"], story=story)
    assert list(story.outcomes) == ["c"]
    story.unwanted.add("d")
    run(space, [job(space, "d", OK)], story=story)
    assert list(story.outcomes) == ["c"]


def test_two_really_run_at_the_same_time(space: Workspace) -> None:
    def waits_for(other: str) -> str:
        here = "open('here', 'w').close()\n"
        return here + f"while not os.path.exists('../{other}/here'): time.sleep(.01)\n" + OK

    jobs = [job(space, "a", waits_for("b")), job(space, "b", waits_for("a"))]
    assert set(run(space, jobs).outcomes) == {"a", "b"}


def test_a_failure_does_not_stop_the_others(space: Workspace) -> None:
    failing = "send({'failure': {'line': 'no such matrix', 'mistake': True}}); sys.exit(1)"
    jobs = [job(space, "bad", failing, 9), job(space, "good", OK), job(space, "more", OK)]
    outcomes = run(space, jobs, slots=1).outcomes
    assert outcomes["bad"] == Failure("no such matrix", mistake=True)
    assert isinstance(outcomes["good"], Result)
    assert isinstance(outcomes["more"], Result)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("os.kill(os.getpid(), 9)", "killed (out of memory?)"),
        ("sys.exit(7)", "code 7 and no result"),
        ("send({'frames': 3})", "code 0 and no result"),
    ],
)
def test_a_worker_that_just_ends_has_failed(code: str, said: str, space: Workspace) -> None:
    outcome = run(space, [job(space, "x", code)]).outcomes["x"]
    assert isinstance(outcome, Failure)
    assert said in outcome.line
    assert not outcome.mistake


def test_prints_of_a_worker_go_nowhere(space: Workspace, capfd: pytest.CaptureFixture[str]) -> None:
    run(space, [job(space, "x", f"print('noise'); print('noise', file=sys.stderr); {OK}")])
    assert capfd.readouterr() == ("", "")


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def gone_soon(pids: list[int], seconds: float = 60) -> bool:
    end = time.monotonic() + seconds
    while any(map(alive, pids)) and time.monotonic() < end:
        time.sleep(0.05)
    return not any(map(alive, pids))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_an_interrupt_kills_workers_and_their_children(space: Workspace, tmp_path: Path) -> None:
    code = (
        "import subprocess\n"
        "child = subprocess.Popen(['sleep', '300'])\n"
        f"open({str(tmp_path / 'pids')!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
        "send({'frames': 1}); time.sleep(300)"
    )

    class Impatient(Story):
        def advanced(self, task: Task, frames: int) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(space, [job(space, "x", code)], story=Impatient())
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert len(pids) == 2
    assert gone_soon(pids)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_a_child_left_behind_by_a_worker_is_killed(space: Workspace, tmp_path: Path) -> None:
    code = (
        "import subprocess\n"
        "child = subprocess.Popen(['sleep', '300'])\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\n" + OK
    )
    run(space, [job(space, "x", code)])
    assert gone_soon([int((tmp_path / "pid").read_text())])


def test_the_real_worker_ends_with_its_parent(tmp_path: Path) -> None:
    """Its stdin closes, nothing else happens: it must go, whatever it is doing."""
    reader, writer = os.pipe()
    code = (
        "import render.draw.worker as w, time; "
        "w.threading.Thread(target=w._die_with_parent).start()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", f"{code}; time.sleep(300)"],
        stdin=reader,
        start_new_session=True,
        cwd=Path(__file__).resolve().parents[2],
    )
    os.close(reader)
    time.sleep(0.3)
    assert process.poll() is None
    os.close(writer)
    assert process.wait(timeout=20) == -9


def test_messages_survive_the_way() -> None:
    for message in (7, Result(1, 2.0, 3, [{"name": "题"}]), Failure("x\ny", mistake=True)):
        assert decode_message(encode_message(message).rstrip(b"\n")) == message
    with pytest.raises(ValueError, match="not a message"):
        decode_message(b'{"other": 1}')


def test_a_task_survives_the_way() -> None:
    task = Task(
        "s",
        "m",
        "C",
        "题\n",
        "zh",
        "draft",
        "/w \udcff",
        "/i",
        "我",
        "I",
        "full",
        "d",
        "/f",
        "x",
        2,
    )
    assert Task.from_json(task.to_json()) == task
