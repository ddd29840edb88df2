"""The error family."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import engine
from engine import LectureError
from engine.errors import UnknownNameError, from_os_error, quoted, unknown_name


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"where": "w.json", "field": "heads", "expected": "2", "found": "3"},
            "w.json: heads: expected 2, found 3",
        ),
        ({"where": Path("w.json"), "found": "nothing"}, "w.json: found nothing"),
        ({"field": "steps", "expected": "1 or more"}, "steps: expected 1 or more"),
        ({}, "something went wrong"),
        ({"where": "a\nb\x1b[31m", "found": "课\t\udcff"}, r"a\nb\x1b[31m: found 课\t\udcff"),
    ],
)
def test_message_is_one_line(fields: dict[str, str], message: str) -> None:
    assert str(LectureError(**fields)) == message  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [LectureError, UnknownNameError])
def test_errors_cross_process_borders(kind: type[LectureError]) -> None:
    error = kind(where="w.json", field="heads", expected="2", found="3")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert vars(again) == vars(error)
    assert str(again) == str(error)


def test_long_values_are_cut() -> None:
    assert len(quoted("x" * 10_000)) == 160
    assert quoted("课") == "'课'"


def test_unknown_names_get_a_hint() -> None:
    error = unknown_name("encoder.inputs", ["encoder.input", "memory"], "the trace")
    assert str(error) == (
        "the trace: name: expected one such as encoder.input, found 'encoder.inputs'"
    )
    assert isinstance(error, KeyError)
    assert unknown_name(7, ["memory"], "x").expected == "one of 1 names"


def test_system_errors() -> None:
    with pytest.raises(LectureError) as caught:
        engine.load_weights("/nowhere/w.json")
    assert str(caught.value) == "/nowhere/w.json: file: found no such file or directory"
    assert str(from_os_error(OSError("odd"), "x")) == "x: file: found odd"
