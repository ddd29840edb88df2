"""The one error family of the project.

Whatever a user can get wrong (a file, a word, an option) ends in a `LectureError`, whose text is
a single line: where it happened, which field, what was expected there and what was found.
"""

from __future__ import annotations

import errno
from difflib import get_close_matches
from pathlib import Path
from typing import Any

_LONGEST = 160  # characters of a quoted value; beyond that it is cut
LINE = 200  # characters of a whole message
_WORDS = 130  # what is longer is a value or a list rather than words, and the first to be cut
FULL = (errno.ENOSPC, errno.EDQUOT)  # of a disk
_LEAST = 40  # of the path, the field and so on, however long the rest is


class LectureError(Exception):
    """A mistake in the input, told in one line.

    where: the file or command; field: the place inside it; expected, found: what should be there
    and what is. Each may be None and is then left out.
    """

    def __init__(
        self,
        *,
        where: str | Path | None = None,
        field: str | None = None,
        expected: str | None = None,
        found: str | None = None,
    ) -> None:
        self.where = None if where is None else str(where)
        self.field = field
        self.expected = expected
        self.found = found
        super().__init__(where, field, expected, found)

    def __str__(self) -> str:
        parts = [
            None if part is None else one_line(part)
            for part in (self.where, self.field, self.expected, self.found)
        ]
        lists = [place for place in (3, 2) if len(parts[place] or "") > _WORDS]
        for place in [*lists, 0, 3, 2, 1]:
            surplus = len(_joined(parts)) - LINE
            text = parts[place]
            if surplus > 0 and text is not None:
                parts[place] = shortened(text, max(_LEAST, len(text) - surplus))
        return _joined(parts) or "something went wrong"

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors cross process borders: rebuild from the keyword fields."""
        return _rebuild, (type(self), self.where, self.field, self.expected, self.found)


class UnknownNameError(LectureError, KeyError):
    """A trace or weights name that does not exist; also a KeyError, as a Mapping promises."""


def _rebuild(
    kind: type[LectureError],
    where: str | None,
    field: str | None,
    expected: str | None,
    found: str | None,
) -> LectureError:
    return kind(where=where, field=field, expected=expected, found=found)


def _joined(parts: list[str | None]) -> str:
    where, field, expected, found = parts
    said = [
        f"{word} {text}"
        for word, text in (("expected", expected), ("found", found))
        if text is not None
    ]
    return ": ".join(part for part in (where, field, ", ".join(said)) if part)


def shortened(text: str, most: int) -> str:
    """A text of at most `most` characters: what is too much is left out of its middle."""
    if len(text) <= most:
        return text
    head = (most - 1) // 2
    return f"{text[:head]}…{text[head + 1 - most :]}"


def one_line(text: str) -> str:
    """The text with every control character and line break spelled out, so it stays one line."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def quoted(value: object) -> str:
    """A value as an error message shows it: its Python spelling, cut when long."""
    text = repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def unknown_name(name: object, names: list[str], where: str) -> UnknownNameError:
    """The error for a name that is not among `names`, with the nearest ones that are."""
    near = get_close_matches(str(name), names, n=2, cutoff=0.6)
    hint = f"one such as {' or '.join(near)}" if near else f"one of {len(names)} names"
    return UnknownNameError(where=where, field="name", expected=hint, found=quoted(name))


def from_os_error(error: OSError, where: str | Path) -> LectureError:
    """A failed file operation in the system's own words, e.g. 'no such file or directory'."""
    reason = (error.strerror or str(error) or type(error).__name__).lower()
    field = "disk" if error.errno in FULL else "file"
    return LectureError(where=where, field=field, found=reason)
