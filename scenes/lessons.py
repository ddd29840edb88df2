"""Lessons: small files that say which weights and which sentences are shown. Imports no Manim.

A lesson is a TOML file in ``assets/lessons``, or one of your own, with ``weights``,
``inference_weights`` (default: the same), ``source`` and ``target``. Weight files are looked for
in ``assets/weights``; in a lesson of your own, beside it first.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import engine
from engine.errors import LectureError, quoted
from engine.reader import read_toml
from engine.tokenizer import encode

from .settings import Settings

FOLDER = Path(__file__).resolve().parent.parent / "assets" / "lessons"
DEFAULT = "tutorial"
#: What the scenes' sentences and diagrams speak of.
HEADS = LAYERS = 2
SHORTEST_TARGET = 3
SMALLEST_VECTOR = 4
LARGEST_NUMBER = 1000
_KEYS = {"weights", "inference_weights", "source", "target"}


def names() -> list[str]:
    """The lessons that come with the lecture."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def settings(
    lesson: str, language: str, weights: Path | None = None, track: str = "full"
) -> Settings:
    """What a lesson is rendered with; ``weights`` of one's own take the place of both its sets.

    ``lesson`` is a name or the path of a file. Raises LectureError where it is neither, or says
    something that a lesson cannot say, where a weight file is bad, or does not know the words.
    """
    path = _find(lesson)
    said = _read(path)
    first = _weights(path, said["weights"])
    second = _weights(path, said["inference_weights"]) if "inference_weights" in said else first
    if weights is not None:
        first = second = weights
    source, target = said.get("source", engine.SOURCE), said.get("target", engine.TARGET)
    _check_words(path, dict.fromkeys((first, second)), source, target)
    return Settings(
        language=language,
        weights=first,
        inference_weights=second,
        source=source,
        target=target,
        track=track,
    )


def _check_words(lesson: Path, files: Iterable[Path], source: str, target: str) -> None:
    """Raise LectureError where a weight file is bad, its model is not of the kind that the scenes
    tell of, or it does not know the words."""
    for file in files:
        weights = engine.load_weights(file)
        _check_model(file, weights)
        for field, text in (("source", source), ("target", target)):
            try:
                encode(text, weights, field)
            except LectureError as error:
                raise LectureError(
                    where=f"{file}: {error.where} of the lesson {lesson.name}",
                    field=error.field,
                    expected=error.expected,
                    found=error.found,
                ) from error
        words = len(encode(target, weights, "target")[0])
        if words < SHORTEST_TARGET:
            raise LectureError(
                where=lesson,
                field="target",
                expected=f"{SHORTEST_TARGET} words or more, as there are inference scenes",
                found=str(words),
            )


def _check_model(file: Path, weights: engine.Weights) -> None:
    """Raise LectureError for a model that the engine runs but the scenes do not tell of: their
    sentences and diagrams speak of two heads and of two layers on either side."""
    config = weights.config
    parts = [("config.encoder", config.encoder), ("config.decoder", config.decoder)]
    for field, found, wanted in (
        ("config.heads", config.heads, HEADS),
        *((f"{field}, layers", len(layers), LAYERS) for field, layers in parts),
    ):
        if found != wanted:
            expected = f"{wanted}, which the scenes tell of"
            raise LectureError(where=file, field=field, expected=expected, found=str(found))
    if config.d_model < SMALLEST_VECTOR:
        expected = f"{SMALLEST_VECTOR} or more, which the scenes tell of"
        raise LectureError(
            where=file, field="config.d_model", expected=expected, found=str(config.d_model)
        )
    for name, matrix in weights.matrices.items():
        largest = float(abs(matrix).max())
        if largest > LARGEST_NUMBER:
            expected = (
                f"numbers from -{LARGEST_NUMBER} to {LARGEST_NUMBER}, as the scenes show them"
            )
            raise LectureError(
                where=file, field=name, expected=expected, found=f"one of {largest:g}"
            )
    for (field, layers), last in zip(parts, ("ffn", "cross_attn"), strict=True):
        for index, layer in enumerate(layers):
            needed = {"self_attn", "ffn"} | ({last} if index == LAYERS - 1 else set())
            missing = sorted(needed - set(layer))
            if missing:
                raise LectureError(
                    where=file,
                    field=f"{field}[{index}]",
                    expected=f"{missing[0]} too, which the scenes tell of",
                    found=", ".join(layer),
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
    own = lesson.parent / name
    return own if own.is_file() else engine.TUTORIAL.parent / name
