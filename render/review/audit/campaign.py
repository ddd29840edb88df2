"""Audits of many scenes with many weight files, on all cores."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import engine
from engine.errors import LectureError, from_os_error
from render.base.failure import Failure
from render.base.process import share_out
from render.review.audit.fault import Fault
from scenes import registry
from scenes.registry import SceneInfo
from scenes.settings import Settings, file_digest


@dataclass(frozen=True)
class Check:
    """One scene with its settings, and what to look for; ``label`` names the weights."""

    scene: SceneInfo
    settings: Settings
    label: str
    numbers: bool = True
    pictures: bool = True
    quarters: bool = False
    folder: Path | None = None

    @property
    def name(self) -> str:
        return f"{self.scene.slug} {self.settings.language} {self.label}"


Outcome = tuple[Check, list[Fault] | str]


def run_check(check: Check) -> Outcome:
    """Do one check; a scene that fails to play is told as its error."""
    from render.review.audit import sweep

    folder = check.folder and check.folder / f"{check.settings.language}_{check.label}"
    try:
        found = sweep.audit(
            check.scene,
            check.settings,
            numbers=check.numbers,
            pictures=check.pictures,
            quarters=check.quarters,
            folder=folder,
        )
    except Exception as error:
        return check, Failure.of(error).line
    return check, found


def run_checks(checks: Sequence[Check], jobs: int) -> Iterator[Outcome]:
    """All checks, in their order, ``jobs`` at a time."""
    return share_out(run_check, checks, jobs)


def random_weight_files(count: int, folder: Path) -> list[Path]:
    """``count`` weight files with values from -9.99 to 9.99, the same ones each time."""
    tutorial = engine.load_weights(engine.TUTORIAL)
    paths = []
    for seed in range(count):
        path = folder / f"random_{seed}.json"
        engine.save_weights(engine.random_weights(tutorial, seed), path)
        paths.append(path)
    return paths


def number_files(out: Path) -> list[Path]:
    """The records that renders left beside their videos, anywhere below ``out``."""
    return sorted(out.rglob("*.numbers.json")) if out.is_dir() else []


def check_number_file(path: Path) -> tuple[int, list[Fault]]:
    """Recompute every number of a render from the weights that it names.

    Returns how many there are, and the faults. Raises LectureError where the file or the weights
    cannot be read, or the weights have changed since in a number of the video. (Other changes
    leave it up to date: docs/incremental.md.)
    """
    record = _read(path)
    try:
        return _check_record(path, record)
    except LectureError as error:
        if error.where == str(path):
            raise
        raise LectureError(where=path, found=str(error)) from error
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise LectureError(
            where=path, expected="the numbers of a render", found=f"something else ({error!r})"
        ) from error


def _check_record(path: Path, record: dict[str, Any]) -> tuple[int, list[Fault]]:
    from render.review.audit.provenance import Recomputer, check_records

    settings = Settings(
        record["language"],
        Path(record["weights"]["file"]),
        Path(record["inference_weights"]["file"]),
        record["source"],
        record["target"],
    )
    faults = check_records(record["numbers"], Recomputer(settings))
    for key in ("weights", "inference_weights") if faults else ():
        _same_weights(path, key, record[key])
    return len(record["numbers"]), faults


def _read(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(record, dict) or "numbers" not in record:
            raise ValueError
    except OSError as error:
        raise from_os_error(error, path) from error
    except ValueError:
        raise LectureError(
            where=path, expected="the numbers of a render", found="no such"
        ) from None
    return record


def _same_weights(path: Path, field: str, said: dict[str, str]) -> None:
    now = file_digest(Path(said["file"]))
    if now != said["sha256"]:
        raise LectureError(
            where=path,
            field=field,
            expected=f"{said['file']} as it was rendered (SHA-256 {said['sha256'][:12]}…)",
            found=f"other contents ({now[:12]}…): render again, then audit",
        )


def scenes_named(names: Sequence[str]) -> tuple[SceneInfo, ...]:
    """The scenes asked for, or all there are."""
    return tuple(dict.fromkeys(map(registry.find, names))) or registry.available()


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="lecture-audit-")
