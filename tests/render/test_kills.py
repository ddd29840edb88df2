"""Fifty runs killed with ``kill -9`` at random times: nothing is spoilt, and the next run that is
left alone gives the same files as a clean one."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import engine
from render.base.reads import sha256

from .conftest import ROOT, FrontDoor, command, environment, leftovers
from .made_up import made_up

KILLS = 50
VARIANTS = 3
ABOUT = {language: {"title": "T", "description": "D", "tags": ["t"]} for language in ("zh", "en")}
needs_proc = pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="looks for processes in /proc"
)


def descendants(process: int) -> list[int]:
    found = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                found += [child, *descendants(child)]
    return found


def kill(process: subprocess.Popen[bytes], how: str) -> list[int]:
    """``parent``: only the front door; ``group``: what a terminal would; ``all``: workers and
    encoders, too; ``child``: one of those, and then the front door. Returns which there were."""
    below = descendants(process.pid)
    victims = {"all": below, "child": random.sample(below, min(1, len(below)))}.get(how, [])
    for victim in victims:
        with contextlib.suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        (os.killpg if how == "group" else os.kill)(process.pid, signal.SIGKILL)
    process.wait()
    return below


def alive(process: int) -> bool:
    with contextlib.suppress(OSError):
        line = Path(f"/proc/{process}/cmdline").read_bytes()
        return b"render" in line or b"ffmpeg" in line  # the number may have been given to another
    return False


def results(out: Path) -> dict[str, bytes]:
    """Everything for people; about.json and the like included, but not what was just written."""
    paths = (path for path in out.iterdir() if path.is_file() and not path.name.startswith("."))
    return {path.name: path.read_bytes() for path in paths}


def records(out: Path) -> dict[str, object]:
    """What is remembered of the videos, but for times."""
    found = {}
    for path in (out / ".render").glob("0?_*_zh.json"):
        record = json.loads(path.read_text())
        facts = {name: fact for name, fact in record["facts"].items() if name != "cost"}
        found[path.name] = [record["key"], record["inputs"], record["content"], facts]
    return found


def check_store(store: Path) -> int:
    """Every entry has its files, and each of them is what the entry says; returns how many of
    pictures there are."""
    for entry in (store / "entries").rglob("*.json"):
        for stamp in json.loads(entry.read_text())["files"].values():
            digest = stamp["sha256"]
            assert sha256(store / "objects" / digest[:2] / digest) == digest
    return len(list((store / "entries" / "pictures").rglob("*.json")))


def cut_short(arguments: list[str], folder: Path, lasts: float, **more: str) -> list[int] | None:
    """Kill a run at a random time; returns the processes there were, None if it was done before.
    ``lasts``: seconds that one takes."""
    process = subprocess.Popen(
        command(*arguments),
        cwd=folder,
        env=environment(**more),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(random.uniform(0.05, 0.9) * lasts)
    if process.returncode is None:
        return kill(process, random.choice(["parent", "group", "all", "child"]))
    assert process.returncode == 0
    return None


@pytest.mark.slow
@needs_proc
def test_fifty_kills(tmp_path: Path, front_door: FrontDoor) -> None:
    tutorial = engine.load_weights(engine.TUTORIAL)
    name = "encoder.0.self_attn.q_proj.weight"
    for number in range(VARIANTS):
        matrix = np.array(tutorial.matrices[name])
        matrix[0, 0] += number
        file = tmp_path / f"w{number}.json"
        engine.save_weights(tutorial.with_matrices({name: matrix}), file)

    def options(number: int) -> list[str]:
        # one job, so that each encoder has one thread: with two its bytes are others
        return ["--quality", "draft", "--jobs", "1", "--weights", f"w{number}.json"]

    clean, good = [], Counter[tuple[str, bytes]]()
    began = time.monotonic()
    for number in range(VARIANTS):
        out = tmp_path / f"clean{number}"
        assert front_door(*options(number), "--out", out.name).returncode == 0
        clean.append(results(out))
        good.update(clean[-1].items())
    lasts = (time.monotonic() - began) / VARIANTS

    out, store = tmp_path / "o", tmp_path / "s"
    random.seed(20)
    ended, killed = Counter[str](), list[int]()
    while ended["killed"] < KILLS:
        size = random.choice(["20GB", "20GB", "1kB"])
        asked = [*options(random.randrange(VARIANTS)), "--out", "o", "--store", "s"]
        force = ["--force"] if random.random() < 0.7 else []
        began = time.monotonic()
        below = cut_short([*asked, "--store-size", size, *force], tmp_path, lasts)
        if below is None and force:  # the machine has become faster
            lasts = min(lasts, time.monotonic() - began)
        killed += below or []
        ended["done" if below is None else "killed"] += 1
        for found in results(out).items() if out.exists() else ():
            assert found in good, f"{found[0]} is spoilt"

    end = time.monotonic() + 60  # a worker that was just starting looks only when it has started
    while any(map(alive, killed)) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(map(alive, killed))

    for number in range(VARIANTS):
        result = front_door(*options(number), "--out", "o", "--store", "s")
        assert result.returncode == 0, result
        assert results(out) == clean[number]
        assert records(out) == records(tmp_path / f"clean{number}")
        assert leftovers(out) == []
    assert check_store(store) >= 2 * VARIANTS - 2
    again = front_door(*options(0), "--out", "o2", "--store", "s")
    assert again.stdout.count("taken from the store") == 2
    assert results(tmp_path / "o2") == clean[0]


def whole(path: Path) -> dict[str, bytes] | None:
    """All files of a folder, or one file; None where there is nothing."""
    if not path.exists():
        return None
    files = [each for each in path.rglob("*") if each.is_file()] if path.is_dir() else [path]
    return {str(each.relative_to(path)): each.read_bytes() for each in files}


@pytest.mark.slow
@needs_proc
@pytest.mark.parametrize("kind", ["page", "scorm", "generic"])
def test_ten_kills_of_what_is_published(kind: str, tmp_path: Path, front_door: FrontDoor) -> None:
    """It is there as a whole or not at all, and in the end byte for byte that of a clean run."""
    out, target = tmp_path / "o", tmp_path / ("p.zip" if kind == "scorm" else "p")
    verb = ["page"] if kind == "page" else ["publish", "--for", kind]
    asked = [*verb, "--quality", "draft", "--videos", "o", "--out", target.name, "--no-render"]
    if kind == "generic":
        more = {}
        assert front_door("--quality", "draft", "--out", "o").returncode == 0
    else:
        more = {"PYTHONPATH": str(ROOT)}
        made_up(out)
        (out / "lecture.about.json").write_text(json.dumps(ABOUT))
    began = time.monotonic()
    result = front_door(*asked, **more)
    lasts = time.monotonic() - began
    assert result.returncode == 0, result
    clean = whole(target)
    assert clean

    random.seed(kind)
    allowed, killed = [None, clean], 0
    while killed < 10:
        if target.is_dir() and random.random() < 0.5:  # the next one replaces it
            next(target.glob("*.md"), target / "index.html").write_text("another")
            allowed = [None, clean, whole(target)]
        elif target.exists():
            shutil.rmtree(target) if target.is_dir() else target.unlink()
        killed += cut_short(asked, tmp_path, lasts, **more) is not None
        assert whole(target) in allowed
    result = front_door(*asked, **more)
    assert result.returncode == 0, result
    assert whole(target) == clean
    assert leftovers(out) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["o", target.name]
