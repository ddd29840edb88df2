"""The one bounded reader: everything that somebody else may have written comes in through here.

Only regular files are read, never more than a stated number of bytes, and nothing waits for a
pipe. JSON and TOML are limited in depth, in the length of numbers and of dotted keys before
anything recursive sees them. Whatever goes wrong becomes one `LectureError` that names the file.
Zip archives (NPZ, PyTorch checkpoints) are in `archive.py`, on the same terms.
"""

from __future__ import annotations

import json
import os
import re
import stat
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from engine.errors import LectureError, from_os_error, quoted

TEXT_BYTES = 4 * 2**20  # JSON, word lists
TOML_BYTES = 2**20  # whose parser is slower
WEIGHT_BYTES = 64 * 2**20  # NPZ, safetensors, checkpoints, packed and unpacked
DEPTH = 64  # objects within lists within objects ...
DIGITS = 1000  # of one number; float64 ends at 309 before the point
KEY_PARTS = 32  # of a dotted key in TOML

Document = dict[str, Any]


def read_bytes(path: str | Path, most: int = TEXT_BYTES) -> bytes:
    """All bytes of a regular file (links are followed) of at most `most` bytes, never waiting for
    a pipe or a device. Raises LectureError."""
    path = Path(path)
    try:
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        opened = os.open(path, flags)
        try:
            status = os.fstat(opened)
            _check_kind(status.st_mode, path)
            with os.fdopen(opened, "rb", closefd=False) as file:
                data = b"" if status.st_size > most else file.read(most + 1)
        finally:
            os.close(opened)
    except (OSError, ValueError) as error:
        raise from_file_error(error, path) from None
    size = max(status.st_size, len(data))
    if size > most:
        refuse(path, "file", f"at most {_size(most)}", f"{size} bytes")
    return data


def read_text(path: str | Path, most: int = TEXT_BYTES) -> str:
    """A text file in UTF-8, with or without a byte order mark. Raises LectureError."""
    return decode(read_bytes(path, most), Path(path))


def read_json(path: str | Path) -> Any:
    """A JSON file; see `parse_json`. Raises LectureError."""
    return parse_json(read_bytes(path), Path(path))


def read_toml(path: str | Path) -> Document:
    """A TOML file; see `parse_toml`. Raises LectureError."""
    return parse_toml(read_bytes(path, TOML_BYTES), Path(path))


def decode(data: bytes, path: Path, field: str = "file") -> str:
    """UTF-8 to text; a byte order mark at the start is no mistake. Raises LectureError."""
    try:
        return data.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        refuse(path, field, "UTF-8 text", f"byte {data[error.start]:#04x} at {error.start}")


def parse_json(data: bytes, path: Path, field: str = "JSON") -> Any:
    """Strict JSON in UTF-8: no name twice in an object, no NaN or Infinity, bounded in depth and
    digits. Raises LectureError with line and column where there is one."""

    def unique(pairs: list[tuple[str, Any]]) -> Document:
        result: Document = {}
        for name, value in pairs:
            if name in result:
                refuse(path, field, "every name once", f"{quoted(name)} twice in one object")
            result[name] = value
        return result

    def constant(word: str) -> NoReturn:
        refuse(path, field, "finite numbers", word)

    def whole(digits: str) -> int:
        if len(digits) > DIGITS:
            refuse(path, field, f"numbers of at most {DIGITS} digits", f"one of {len(digits)}")
        return int(digits)

    text = decode(data, path, field)
    integers = whole if _LONG_NUMBER.search(text) else None  # None is faster
    try:
        document = json.loads(
            text, object_pairs_hook=unique, parse_constant=constant, parse_int=integers
        )
    except json.JSONDecodeError as error:
        refuse(path, f"line {error.lineno} column {error.colno}", "valid JSON", error.msg)
    except RecursionError:
        _refuse_depth(path, field)
    _check_depth(document, path, field)
    return document


def parse_toml(data: bytes, path: Path) -> Document:
    """TOML in UTF-8, bounded in depth, digits and the parts of a dotted key. Raises LectureError
    with line and column where there is one."""
    text = decode(data, path, "TOML")
    # What is left without texts and comments: keys, numbers and brackets.
    bare = _TOML_TEXT.sub("t", text)
    if _TOML_KEY.search(bare):
        refuse(path, "TOML", f"keys of at most {KEY_PARTS} parts", "a longer one")
    if _LONG_NUMBER.search(bare):
        refuse(path, "TOML", f"numbers of at most {DIGITS} digits", "a longer one")
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said, _, place = str(error).removesuffix(")").partition(" (at ")
        refuse(path, place.replace(",", "") or "TOML", "valid TOML", said)
    except RecursionError:
        _refuse_depth(path, "TOML")
    except Exception as error:  # such as a date in month 13
        refuse(path, "TOML", "valid TOML", str(error) or type(error).__name__)
    _check_depth(document, path, "TOML")
    return document


# Each pattern also takes a text that never ends, so that none is looked at twice.
_TOML_TEXT = re.compile(
    r'"""(?:[^\\"]|\\.|"(?!""))*+(?:""")?'
    r"|'''(?:[^']|'(?!''))*+(?:''')?"
    r'|"(?:[^"\\\n]|\\.)*+"?'
    r"|'[^'\n]*+'?"
    r"|#[^\n]*+",
    re.DOTALL,
)
_TOML_KEY = re.compile(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{KEY_PARTS}}}")
_LONG_NUMBER = re.compile(rf"(?<!\w)\d\w{{{DIGITS}}}")


@contextmanager
def guarded(path: Path, field: str, expected: str) -> Iterator[None]:
    """Around a parser that is not ours: any exception it lets out becomes one LectureError."""
    try:
        yield
    except LectureError:
        raise
    except MemoryError:
        raise LectureError(
            where=path, field=field, expected=expected, found="more than memory holds"
        ) from None
    except Exception as error:
        words = str(error)
        found = words if " " in words else f"{type(error).__name__} {words}".strip()
        raise LectureError(where=path, field=field, expected=expected, found=found) from None


def from_file_error(error: OSError | ValueError, path: Path) -> LectureError:
    """A failed file operation as a LectureError; a ValueError is a name such as one with a NUL."""
    if isinstance(error, OSError):
        return from_os_error(error, path)
    return LectureError(where=path, field="file name", found=str(error))


def refuse(path: str | Path | None, field: str | None, expected: str, found: str) -> NoReturn:
    """Raise the LectureError of these four."""
    raise LectureError(where=path, field=field, expected=expected, found=found)


def _check_kind(mode: int, path: Path) -> None:
    if not stat.S_ISREG(mode):
        found = "a directory" if stat.S_ISDIR(mode) else "something else"
        refuse(path, "file", "a regular file", found)


def _check_depth(document: Any, path: Path, field: str) -> None:
    """Refuse what is nested deeper than DEPTH, level by level, without recursion."""
    level = [document]
    for _ in range(DEPTH):
        level = [
            item
            for value in level
            if isinstance(value, dict | list)
            for item in (value.values() if isinstance(value, dict) else value)
            if isinstance(item, dict | list)
        ]
        if not level:
            return
    _refuse_depth(path, field)


def _refuse_depth(path: Path, field: str) -> NoReturn:
    refuse(path, field, f"lists and objects at most {DEPTH} deep", "some nested deeper")


def _size(count: int) -> str:
    return f"{count // 2**20} MiB" if count >= 2**20 else f"{count} bytes"
