"""``./render.sh test``: everything that must hold before a change is handed in."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from collections.abc import Sequence

from render.base.cores import usable_cores
from render.base.project import ROOT
from render.build.progress import duration

_BEFORE = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
    ("mypy",),
)


#: minutes on one core of all checks, without and with the slow tests, as measured on a server
_CORE_MINUTES = {False: 14, True: 24}


def run_checks(arguments: Sequence[str]) -> int:
    """Run the checks, pytest last; returns 0, or the exit code of the last one that failed.

    With ``arguments`` only pytest runs, with them.
    """
    if arguments:
        return _run(_pytest(arguments))
    began, code = time.monotonic(), 0
    print(_outlook(usable_cores()), flush=True)
    commands = (*_BEFORE, _pytest(()))
    for number, command in enumerate(commands, start=1):
        code = _run(command, f"{number} of {len(commands)}: ") or code
    print(f"test: {'failed' if code else 'passed'} in {duration(time.monotonic() - began)}")
    return code


def _everything() -> bool:
    """Whether the slow tests run without being asked for."""
    return os.environ.get("CI") == "true"


def _outlook(cores: int) -> str:
    """What is said before all checks."""
    minutes = math.ceil(_CORE_MINUTES[_everything()] / cores)
    return (
        f"test: about {minutes} min on {cores} core{'s' * (cores > 1)}; the longest step, pytest, "
        "shows a dot per test and how much of it is done in %"
    )


def _pytest(arguments: Sequence[str]) -> tuple[str, ...]:
    workers = ("-n", str(usable_cores()), "--dist", "worksteal")  # long tests come last
    everything = ("-m", "slow or not slow") if _everything() else ()
    return ("pytest", "-q", *workers, *everything, *arguments)


def _run(command: Sequence[str], step: str = "+ ") -> int:
    print(f"{step}{' '.join(command)}", flush=True)
    return subprocess.run([sys.executable, "-m", *command], cwd=ROOT, check=False).returncode
