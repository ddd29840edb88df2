"""The readable weight file: JSON with one matrix row on a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from engine import reader
from engine.config import FILE_FIELDS, Config
from engine.errors import LectureError, quoted
from engine.ops import Array
from engine.weights import Weights, check_vocabulary

FORMAT = "lecture-weights/1"
HEAD = ("format", "config", "vocabulary")

Document = dict[str, Any]


def read(data: bytes, path: Path) -> tuple[Document, dict[str, Array]]:
    """A file's bytes to its head (see `parse_head`) and matrices. Raises LectureError."""
    document = parse(data, path)
    check_keys(document, (*HEAD, "matrices"), "", path)
    matrices = document.pop("matrices")
    if not isinstance(matrices, dict):
        _refuse(path, "matrices", "an object of matrices by name", quoted(matrices))
    return document, {name: _matrix(rows, name, path) for name, rows in matrices.items()}


def parse(data: bytes, path: Path, field: str = "JSON") -> Document:
    """Strict, bounded JSON (see `reader.parse_json`) with an object at the top. Raises
    LectureError."""
    document = reader.parse_json(data, path, field)
    if not isinstance(document, dict):
        _refuse(path, field, "an object", f"a {type(document).__name__}")
    return document


def check_keys(document: Document, wanted: tuple[str, ...], prefix: str, path: Path) -> None:
    """Refuse an object that lacks a name or has one too many."""
    for name in wanted:
        if name not in document:
            _refuse(path, f"{prefix}{name}", "present", "missing")
    for name in document:
        if name not in wanted:
            _refuse(path, f"{prefix}{name}", f"only {', '.join(wanted)}", "an unknown name")


def parse_head(head: Document, path: Path) -> tuple[Config, tuple[str, ...]]:
    """The configuration and vocabulary out of a file's head. Raises LectureError."""
    check_keys(head, HEAD, "", path)
    if head["format"] != FORMAT:
        _refuse(path, "format", quoted(FORMAT), quoted(head["format"]))
    words, fields = head["vocabulary"], head["config"]
    if not isinstance(words, list):
        _refuse(path, "vocabulary", "a list of words", quoted(words))
    check_vocabulary(words, path)
    if not isinstance(fields, dict):
        _refuse(path, "config", "an object", quoted(fields))
    check_keys(fields, FILE_FIELDS, "config.", path)
    return Config(vocabulary_size=len(words), **_tuples(fields)), tuple(words)


def _tuples(value: Any) -> Any:
    """Lists as tuples, at any depth; `check_config` judges what is in them."""
    if isinstance(value, dict):
        return {name: _tuples(item) for name, item in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _matrix(rows: Any, name: str, path: Path) -> Array:
    """A list of equally long rows of numbers as an array, or LectureError."""
    field = f"matrices.{name}"
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        _refuse(path, field, "a list of rows, each a list of numbers", quoted(rows))
    for number, row in enumerate(rows):
        if len(row) != len(rows[0]):
            _refuse(path, f"{field}[{number}]", f"{len(rows[0])} numbers", str(len(row)))
        for column, value in enumerate(row):
            if type(value) not in (int, float):
                _refuse(path, f"{field}[{number}][{column}]", "a number", quoted(value))
    try:
        return np.array(rows, dtype=np.float64)
    except OverflowError:
        _refuse(path, field, "numbers within the range of float64", "one beyond it")


def head_document(weights: Weights) -> Document:
    """What every format stores besides the matrices."""
    config = {name: getattr(weights.config, name) for name in FILE_FIELDS}
    return {"format": FORMAT, "config": config, "vocabulary": list(weights.vocabulary)}


def write(weights: Weights) -> bytes:
    """The whole file: head first, then each matrix with one row a line, columns aligned."""
    head = head_document(weights)
    config = [f"    {_json(name)}: {_json(value)}" for name, value in head["config"].items()]
    matrices = [_matrix_text(name, matrix) for name, matrix in weights.matrices.items()]
    lines = [
        "{",
        f'  "format": {_json(FORMAT)},',
        '  "config": {',
        ",\n".join(config),
        "  },",
        f'  "vocabulary": {_json(head["vocabulary"])},',
        '  "matrices": {',
        ",\n".join(matrices),
        "  }",
        "}",
        "",
    ]
    return "\n".join(lines).encode()


def _matrix_text(name: str, matrix: Array) -> str:
    numbers = [[repr(value) for value in row] for row in matrix.tolist()]
    width = max(len(number) for row in numbers for number in row)
    rows = [f"      [{', '.join(number.rjust(width) for number in row)}]" for row in numbers]
    return f"    {_json(name)}: [\n" + ",\n".join(rows) + "\n    ]"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _refuse(path: Path, field: str, expected: str, found: str) -> NoReturn:
    raise LectureError(where=path, field=field, expected=expected, found=found)
