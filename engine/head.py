"""The head of a weight file, the same in all formats: everything but the matrices.

Version 2 says all that a model of the family can be; version 1, which is still read and written,
only what the tutorial's needs. A model that version 1 can hold stays in it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, NoReturn

from numpy.typing import NDArray

from engine.config import FILE_FIELDS, FILE_FIELDS_1, GROUPS, REQUIRED, Config, Norm, check_eps
from engine.errors import LectureError, quoted
from engine.parameters import check_names
from engine.weights import OBJECTIVES, Weights
from engine.words import TOKEN_FIELDS, Tokens

Document = dict[str, Any]

FORMATS = {1: "lecture-weights/1", 2: "lecture-weights/2"}
_NEEDED = ("format", "config", "vocabulary")
_ALLOWED = {1: _NEEDED, 2: (*_NEEDED, "objective", "tokens", "training")}


def check_head(document: Document, path: Path, more: tuple[str, ...] = ()) -> int:
    """The version of a file, whose head may have the names it has, besides the names `more`.
    Raises LectureError."""
    if "format" not in document:
        _refuse(path, "format", "present", "missing")
    versions = [version for version, text in FORMATS.items() if text == document["format"]]
    if not versions:
        expected = " or ".join(quoted(text) for text in FORMATS.values())
        _refuse(path, "format", expected, quoted(document["format"]))
    version = versions[0]
    check_keys(document, (*_NEEDED, *more), "", path, (*_ALLOWED[version], *more))
    if version > 1 and "objective" not in document:
        _refuse(path, "objective", " or ".join(OBJECTIVES), "none, and nothing else says it")
    return version


def weights_of(document: Document, matrices: Mapping[str, NDArray[Any]], path: Path) -> Weights:
    """The model of a head and its matrices. Raises LectureError."""
    version = check_head(document, path)
    source, target = _vocabularies(document["vocabulary"], version, path)
    settings = _object(document["config"], "config", path)
    settings = _settings_1(settings, path) if version == 1 else _settings(settings, path)
    weights = Weights(
        Config(
            vocabulary_size=len(target),
            source_vocabulary_size=None if source is None else len(source),
            **settings,
        ),
        target,
        matrices,
        path,
        source_vocabulary=source,
        objective=document.get("objective", "copy"),
        tokens=_tokens(document.get("tokens"), path),
        training=_training(document.get("training"), path),
        version=version,
    )
    if weights.version > version:  # by biases or the like, of which version 1 knows nothing
        check_names(weights.matrices, weights.config, (), path)
    return weights


def head_document(weights: Weights) -> Document:
    """What every format stores besides the matrices."""
    config = weights.config
    names = FILE_FIELDS_1 if weights.version == 1 else FILE_FIELDS
    document: Document = {
        "format": FORMATS[weights.version],
        "config": {
            name: asdict(getattr(config, name)) if name in GROUPS else getattr(config, name)
            for name in names
        },
        "vocabulary": list(weights.vocabulary),
    }
    if weights.source_vocabulary is not None:
        words = {"source": weights.source_vocabulary, "target": weights.vocabulary}
        document["vocabulary"] = {side: list(given) for side, given in words.items()}
    if weights.version == 1:
        return document
    document["objective"] = weights.objective
    if weights.tokens != Tokens():
        said = asdict(weights.tokens)
        document["tokens"] = {name: value for name, value in said.items() if value is not None}
    if weights.training is not None:
        document["training"] = dict(weights.training)
    return document


def check_keys(
    document: Document,
    wanted: Collection[str],
    prefix: str,
    path: Path,
    allowed: Collection[str] | None = None,
) -> None:
    """Refuse an object that lacks a name or has one that is not allowed. Raises LectureError."""
    allowed = wanted if allowed is None else allowed
    for name in wanted:
        if name not in document:
            _refuse(path, f"{prefix}{name}", "present", "missing")
    for name in document:
        if name not in allowed:
            _refuse(path, f"{prefix}{name}", f"only {', '.join(allowed)}", "an unknown name")


def _vocabularies(
    said: Any, version: int, path: Path
) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """The source's words, None where they are the target's, and the target's."""
    if version == 2 and isinstance(said, dict):
        check_keys(said, ("source", "target"), "vocabulary.", path)
        for side, words in said.items():
            if not isinstance(words, list):
                _refuse(path, f"vocabulary.{side}", "a list of words", quoted(words))
        return tuple(said["source"]), tuple(said["target"])
    if not isinstance(said, list):
        either = ", or one of source and one of target" if version == 2 else ""
        _refuse(path, "vocabulary", f"a list of words{either}", quoted(said))
    return None, tuple(said)


def _settings_1(said: Document, path: Path) -> Document:
    check_keys(said, FILE_FIELDS_1, "config.", path)
    settings = {name: _tuples(said[name]) for name in REQUIRED}
    check_eps(said["layer_norm_eps"], "config.layer_norm_eps", path)
    return {**settings, "norm": Norm(eps=said["layer_norm_eps"])}


def _settings(said: Document, path: Path) -> Document:
    check_keys(said, REQUIRED, "config.", path, FILE_FIELDS)
    settings = {}
    for name, value in said.items():
        if name not in GROUPS:
            settings[name] = _tuples(value)
            continue
        group = _object(value, f"config.{name}", path)
        check_keys(group, (), f"config.{name}.", path, [f.name for f in fields(GROUPS[name])])
        settings[name] = GROUPS[name](**_tuples(group))
    return settings


def _tokens(said: Any, path: Path) -> Tokens:
    if said is None:
        return Tokens()
    check_keys(_object(said, "tokens", path), (), "tokens.", path, TOKEN_FIELDS)
    return Tokens(**{name: value for name, value in said.items() if value is not None})


def _training(said: Any, path: Path) -> Document | None:
    """How a model came to be: command, corpus, steps, seed and the like, by name."""
    if said is None:
        return None
    for name, value in _object(said, "training", path).items():
        if not isinstance(value, (str, int, float)):
            _refuse(path, f"training.{name}", "a text or a number", quoted(value))
    return dict(said)


def _object(value: Any, field: str, path: Path) -> Document:
    if not isinstance(value, dict):
        _refuse(path, field, "an object", quoted(value))
    return value


def _tuples(value: Any) -> Any:
    """Lists as tuples, at any depth; `check_config` judges what is in them."""
    if isinstance(value, dict):
        return {name: _tuples(item) for name, item in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _refuse(path: Path, field: str, expected: str, found: str) -> NoReturn:
    raise LectureError(where=path, field=field, expected=expected, found=found)
