"""What the audit says on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.errors import LectureError
from render.review.audit.campaign import Check, check_number_file, number_files, run_checks
from render.review.audit.fault import Fault


def line(fault: Fault) -> str:
    """A fault in one line: kind, beat, time, what."""
    return f"  {fault.kind:<9} {fault.beat:<14} {fault.time:6.1f} s  {fault.what}"


def run(checks: Sequence[Check], jobs: int) -> int:
    """Run checks and print what they find; returns the number of faults."""
    total = 0
    for check, outcome in run_checks(checks, jobs):
        if isinstance(outcome, str):
            print(f"{check.name}: cannot be played: {outcome}", flush=True)
            total += 1
            continue
        said = "good" if not outcome else f"{len(outcome)} fault{'s'[: len(outcome) > 1]}"
        print(f"{check.name}: {said}", flush=True)
        for fault in outcome:
            print(line(fault))
        total += len(outcome)
    faulty = f"{total} faults" if total else "no fault"
    print(f"{len(checks)} checks, {faulty}")
    return total


def run_number_files(out: Path, slugs: Sequence[str]) -> int:
    """Recompute the numbers of finished renders below ``out``; returns the number of faults."""
    total = 0
    for path in number_files(out):
        if not path.name.startswith(tuple(slugs)):
            continue
        try:
            count, faults = check_number_file(path)
        except LectureError as error:
            print(error)
            total += 1
            continue
        said = "all the engine's" if not faults else f"{len(faults)} are not the engine's"
        print(f"{path}: {count} numbers, {said}")
        for fault in faults:
            print(line(fault))
        total += len(faults)
    return total
