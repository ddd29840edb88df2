"""Typed reading: what has a different shape, size or kind is refused in one line."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from engine.errors import LectureError
from render.base.reader import Reader, read_state, shaped


class Rule(msgspec.Struct):
    name: str
    most: int = 1


class Rules(msgspec.Struct, forbid_unknown_fields=True):
    rules: list[Rule]


def test_a_file_of_the_shape(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"\xef\xbb\xbf" + b'{"rules": [{"name": "x"}]}')
    (tmp_path / "a.toml").write_text('[[rules]]\nname = "x"\nmost = 3\n')
    assert Reader().json(tmp_path / "a.json", Rules).rules == [Rule("x")]
    assert Reader().toml(tmp_path / "a.toml", Rules).rules == [Rule("x", 3)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"rules": [{"name": 3}]}', "rules[0].name: expected str, found int"),
        ('{"rules": 3}', "rules: expected array, found int"),
        ("[]", "contents: expected object, found array"),
        ('{"rules": [', "line 1 column"),
        ("", "expected valid JSON"),
        ("[" * 100_000, "nested deeper"),
        ('{"rules": [{"name": "x", "most": ' + "9" * 5000 + "}]}", "at most 1000 digits"),
        ("\0", "line 1 column 1: expected valid JSON"),
    ],
)
def test_another_one_is_told_with_its_place(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(LectureError) as caught:
        Reader().json(path, Rules)
    line = str(caught.value)
    assert line.startswith(f"{path}: ")
    assert told in line
    assert len(line) <= 200
    assert "\n" not in line


def test_an_unknown_field_is_told(tmp_path: Path) -> None:
    with pytest.raises(LectureError, match="unknown field"):
        shaped({"rules": [], "ruels": []}, Rules, tmp_path)


@pytest.mark.parametrize("kind", ["fifo", "folder", "large", "missing", "broken link"])
def test_what_is_no_file_of_that_size_is_never_waited_for(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "large":
            path.write_bytes(b" " * 101)
        case "broken link":
            path.symlink_to("nowhere")
    with pytest.raises(LectureError, match=r"a\.json: "):
        Reader(most=100).json(path, Rules)
    assert read_state(path) == {}
