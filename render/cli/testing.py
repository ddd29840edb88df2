"""``./render.sh test``: everything that must hold before a change is handed in."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from render.base.cores import usable_cores
from render.base.project import ROOT

_BEFORE = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
    ("mypy",),
)


def run_checks(arguments: Sequence[str]) -> int:
    """Run the checks, pytest last; returns 0, or the exit code of the last one that failed.

    With ``arguments`` only pytest runs, with them.
    """
    code = 0
    for command in () if arguments else _BEFORE:
        code = _run(command) or code
    return _run(_pytest(arguments)) or code


def _pytest(arguments: Sequence[str]) -> tuple[str, ...]:
    workers = ("-n", str(usable_cores()), "--dist", "worksteal")  # long tests come last
    everything: tuple[str, ...] = ()
    if os.environ.get("CI") == "true":
        # What fails is tried once more, and told as a rerun: nobody is there to do it by hand.
        everything = ("-m", "slow or not slow", "--reruns", "1")
    return ("pytest", "-q", *workers, *everything, *arguments)


def _run(command: Sequence[str]) -> int:
    print("+", " ".join(command), flush=True)
    return subprocess.run([sys.executable, "-m", *command], cwd=ROOT, check=False).returncode
