"""Small makers for tests of pools: what they do is said in what they are told."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from engine.errors import LectureError
from render.base.reads import Json, Made, Reads

NAME = "cover.png"


def observe(scene: Any) -> Callable[[Path], None]:
    return lambda folder: (folder / NAME).write_text(f"cover of {scene}") and None


def make(
    spec: Mapping[str, Json],
    needs: Mapping[str, Made],
    reads: Reads,
    into: Path,
    tell: Callable[[int], None],
) -> dict[str, Path]:
    (into / "pid").write_text(str(os.getpid()))
    tell(3)
    match spec.get("do"):
        case "mistake":
            raise LectureError(where="w.json", found="nonsense")
        case "bug":
            raise ZeroDivisionError("in\nthe code")
        case "print":
            print("printed", flush=True)
            os.system("echo by a child")
        case "exit":
            os._exit(3)
        case "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "killed once":
            once = into.parent / "once"
            if not once.exists():
                once.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        case "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
            time.sleep(60)  # this thread may be stopped a little later
        case "out of memory":
            raise MemoryError
        case "large":
            Connection._send = _stop_in_the_middle  # type: ignore[attr-defined]
        case "sleep":
            time.sleep(spec["seconds"])
        case "child":
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
            (into / "child").write_text(str(child.pid))
            time.sleep(spec["seconds"])
        case "wait for other":
            end = time.monotonic() + 20
            while not (into.parent / spec["other"] / "pid").exists():
                assert time.monotonic() < end
                time.sleep(0.02)
    finish = [one("a scene") for one in reads.observers]
    for each in finish:
        each(into)
    for role, made in needs.items():
        assert made.path("text").read_text(), role
    text = into / "text"
    text.write_text(f"made of {spec['name']}")
    facts = {"frames": 5, "threads": os.environ.get("OMP_NUM_THREADS")}
    if spec.get("do") == "large":
        facts["large"] = "x" * 200_000
    return {"text": text, "facts": facts}


def _stop_in_the_middle(connection: Connection, data: bytes) -> None:
    """Write to a pipe as one who is stopped as soon as it is full, or holds a part."""
    if len(data) <= select.PIPE_BUF:
        os.write(connection.fileno(), data)
    else:
        os.write(connection.fileno(), data[:5000])
        os.kill(os.getpid(), signal.SIGSTOP)


def check(
    spec: Mapping[str, Json],
    needs: Mapping[str, Made],
    files: Mapping[str, Path],
    facts: Mapping[str, Json],
) -> None:
    if spec.get("do") == "bad":
        raise LectureError(where=spec["name"], expected="good", found=files["text"].read_text())
