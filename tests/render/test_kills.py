"""Fifty runs killed with ``kill -9`` at random times: nothing is spoilt, and the next run that is
left alone gives the same files as a clean one."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import engine
from render.base.reads import sha256

from .conftest import FrontDoor, command, environment, leftovers

KILLS = 50
VARIANTS = 3
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
        process = subprocess.Popen(
            command(*asked, "--store-size", size, *force),
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(random.uniform(0.05, 0.9) * lasts)
        if process.returncode is None:
            killed += kill(process, random.choice(["parent", "group", "all", "child"]))
            ended["killed"] += 1
        else:
            assert process.returncode == 0
            ended["done"] += 1
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
