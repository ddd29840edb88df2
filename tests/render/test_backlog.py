"""Which job is next."""

from __future__ import annotations

import pytest

from render.build.backlog import Backlog, Job
from render.build.task import Task


def job(name: str, frames: int, kind: str = "", weight: float = 1.0) -> Job:
    task = Task("s", "m", "C", "t", "zh", "draft", *[""] * 5, "", name, "", 1)
    return Job(task, frames, weight, kind)


def taken(backlog: Backlog, count: int) -> list[str]:
    return [backlog.take().task.folder for _ in range(count)]


def test_the_longest_by_what_it_takes_is_first() -> None:
    backlog = Backlog([job("a", 10), job("b", 30), job("c", 20, weight=3.0)])
    assert len(backlog) == 3
    assert taken(backlog, 3) == ["c", "b", "a"]
    assert not backlog
    with pytest.raises(LookupError):
        backlog.take()


def test_one_of_a_kind_goes_ahead() -> None:
    first, *rest = [job(f"a{n}", 30, "a") for n in range(4)]
    backlog = Backlog([first, *rest, job("b0", 20, "b"), job("b1", 20, "b"), job("c0", 10, "c")])
    assert taken(backlog, 3) == ["a0", "b0", "c0"]
    assert taken(backlog, 1) == ["a1"]  # better the same twice than an idle core
    backlog.ended(first)
    assert taken(backlog, 3) == ["a2", "a3", "b1"]


def test_what_is_put_back_is_done_again() -> None:
    lost, other = job("a0", 30, "a"), job("a1", 30, "a")
    backlog = Backlog([lost, other])
    assert backlog.take() == lost
    backlog.put_back(lost)
    assert taken(backlog, 2) == ["a0", "a1"]
