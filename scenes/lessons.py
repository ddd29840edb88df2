"""Lessons: small files that say which weights and which sentences are shown. Imports no Manim.

A lesson is a TOML file in ``assets/lessons``, or one of your own, with ``weights``,
``inference_weights`` (default: the same), ``source`` and ``target``. Weight files are looked for
from the lesson's folder; a name that is not there may be one of those in ``assets/weights``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import engine
from engine.errors import LectureError, quoted
from engine.reader import read_toml

from . import limits
from .settings import LANGUAGES, Settings

FOLDER = Path(__file__).resolve().parent.parent / "assets" / "lessons"
DEFAULT = "tutorial"
_KEYS = {"weights", "inference_weights", "source", "target"}


def names() -> list[str]:
    """The lessons that come with the lecture."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def settings(
    lesson: str, language: str, weights: Path | None = None, track: str = "full"
) -> Settings:
    """What a lesson is rendered with; ``weights`` of one's own take the place of both its sets.

    ``lesson`` is a name or the path of a file. Raises LectureError where it is neither, or says
    something that a lesson cannot say, where a weight file is bad, or beyond the family.
    """
    path = _find(lesson)
    said = _read(path)
    first = _weights(path, said["weights"])
    second = _weights(path, said["inference_weights"]) if "inference_weights" in said else first
    if weights is not None:
        first = second = weights
    found = Settings(
        language=language,
        weights=first,
        inference_weights=second,
        source=said.get("source", engine.SOURCE),
        target=said.get("target", engine.TARGET),
        track=track,
    )
    limits.preflight(found, path if weights is None else f"{path} with {weights}")
    return found


@dataclass(frozen=True)
class Verdict:
    """Whether a lesson will be filmed, as one line; ``code`` is 0, or 2 where it is refused, or
    3 where only today's layouts are too small for it."""

    code: int
    line: str


def check(lesson: str = DEFAULT, weights: Path | None = None) -> Verdict:
    """What would become of a lesson, without drawing anything."""
    try:
        found = settings(lesson, LANGUAGES[0], weights)
    except limits.BeyondLayouts as error:
        return Verdict(3, str(error))
    except LectureError as error:
        return Verdict(2, str(error))
    return Verdict(
        0, f"{weights or _find(lesson)}: good, will be filmed: {found.source} → {found.target}"
    )


def _find(lesson: str) -> Path:
    if lesson in names():
        return FOLDER / f"{lesson}.toml"
    path = Path(lesson)
    if path.suffix == ".toml" and path.is_file():
        return path
    expected = f"{', '.join(names())}, or a .toml file"
    raise LectureError(field="lesson", expected=expected, found=repr(lesson))


def _read(path: Path) -> dict[str, Any]:
    said = read_toml(path)
    unknown = sorted(said.keys() - _KEYS)
    if unknown:
        expected = f"only {', '.join(sorted(_KEYS))}"
        raise LectureError(where=path, field=unknown[0], expected=expected, found="a name unknown")
    if "weights" not in said:
        raise LectureError(where=path, field="weights", expected="a weight file", found="nothing")
    for key, value in said.items():
        if not isinstance(value, str) or not value.strip():
            raise LectureError(where=path, field=key, expected="a text", found=quoted(value))
    return said


def _weights(lesson: Path, name: str) -> Path:
    own, ours = lesson.parent / name, engine.TUTORIAL.parent / name
    return ours if not own.exists() and ours.is_file() else own
