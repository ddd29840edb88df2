"""The readable weight file: JSON with one matrix row, or a whole vector, on a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from engine import reader
from engine.errors import LectureError, quoted
from engine.head import Document, check_head, head_document
from engine.ops import Array
from engine.weights import Weights


def read(data: bytes, path: Path) -> tuple[Document, dict[str, Array]]:
    """A file's bytes to its head (see `engine.head`) and matrices. Raises LectureError."""
    document = parse(data, path)
    check_head(document, path, ("matrices",))
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


def _matrix(rows: Any, name: str, path: Path) -> Array:
    """A vector, or a list of equally long rows of numbers, as an array, or LectureError."""
    field = f"matrices.{name}"
    if isinstance(rows, list) and rows and not any(isinstance(row, list) for row in rows):
        _check_numbers(rows, field, path)
    elif not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        _refuse(path, field, "a list of rows, each a list of numbers", quoted(rows))
    else:
        for number, row in enumerate(rows):
            if len(row) != len(rows[0]):
                _refuse(path, f"{field}[{number}]", f"{len(rows[0])} numbers", str(len(row)))
            _check_numbers(row, f"{field}[{number}]", path)
    try:
        return np.array(rows, dtype=np.float64)
    except OverflowError:
        _refuse(path, field, "numbers within the range of float64", "one beyond it")


def _check_numbers(row: list[Any], field: str, path: Path) -> None:
    for column, value in enumerate(row):
        if type(value) not in (int, float):
            _refuse(path, f"{field}[{column}]", "a number", quoted(value))


def write(weights: Weights) -> bytes:
    """The whole file: head first, then each matrix with one row a line, columns aligned."""
    head = head_document(weights)
    parts = []
    for name, value in head.items():
        if name == "config":
            lines = [f"    {_json(setting)}: {_json(said)}" for setting, said in value.items()]
            parts.append('  "config": {\n' + ",\n".join(lines) + "\n  }")
        else:
            parts.append(f"  {_json(name)}: {_json(value)}")
    matrices = [_matrix_text(name, matrix) for name, matrix in weights.matrices.items()]
    parts.append('  "matrices": {\n' + ",\n".join(matrices) + "\n  }")
    return ("{\n" + ",\n".join(parts) + "\n}\n").encode()


def _matrix_text(name: str, matrix: Array) -> str:
    if matrix.ndim == 1:
        return f"    {_json(name)}: [{', '.join(map(repr, matrix.tolist()))}]"
    numbers = [[repr(value) for value in row] for row in matrix.tolist()]
    width = max(len(number) for row in numbers for number in row)
    rows = [f"      [{', '.join(number.rjust(width) for number in row)}]" for row in numbers]
    return f"    {_json(name)}: [\n" + ",\n".join(rows) + "\n    ]"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _refuse(path: Path, field: str, expected: str, found: str) -> NoReturn:
    raise LectureError(where=path, field=field, expected=expected, found=found)
