"""What has changed since a video was made: one line for each thing, none if it is up to date."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import LectureError
from engine.passes import Passes
from engine.reads import NAMES, digest_of, elements_of, look_up, packed, seen_of
from render.build.incremental.code import Code
from render.build.incremental.made import FORM, key_of
from render.build.incremental.surroundings import Surroundings
from scenes import texts

UNREADABLE = "the record of what it was made from cannot be used"
_MOST = 8  # values and files named; of more only how many


class Now:
    """How things stand now: values, texts, code, versions, for one pair of weight files."""

    def __init__(
        self,
        passes: Passes,
        language: str,
        code_kept: Path | None = None,
        like: Now | None = None,
    ) -> None:
        """``like``: another one of the same run; code and versions are not looked at again."""
        self.passes = passes
        self.texts: Mapping[str, Any] = texts.load(language)
        self.code: Code = like.code if like else Code(code_kept)
        self._files: dict[str, dict[str, str]] = like._files if like else {}
        self._looked: list[Surroundings] = like._looked if like else []

    @property
    def surroundings(self) -> Surroundings:
        if not self._looked:
            self._looked.append(Surroundings())
        return self._looked[0]

    def files(self, module: str) -> dict[str, str]:
        if module not in self._files:
            self._files[module] = self.code.files(module)
        return self._files[module]


def changes(made: Any, key: Any, module: str, ordered: Mapping[str, Any], now: Now) -> list[str]:
    """What of ``made``, noted by the worker under ``key``, is otherwise now.

    Raises LectureError where no ffmpeg can be used.
    """
    if not made:
        return ["there is no record of what it was made from"]
    try:
        if made["form"] != FORM or key_of(made) != key:
            return [UNREADABLE]
        return [
            *_ordered(made["picture"], ordered),
            *_few(values_moved(made["values"], now.passes), "more values"),
            *_texts(made["texts"], now.texts),
            *_few(_code(made["code"], now.files(module)), "more files"),
            *_versions(made, now.surroundings),
        ]
    except (LookupError, TypeError, ValueError, AttributeError):
        return [UNREADABLE]


def _ordered(said: Mapping[str, Any], ordered: Mapping[str, Any]) -> Iterator[str]:
    for field, value in ordered.items():
        if said.get(field) != value:
            yield field if field == "quality" else f"{field}: {said.get(field)!r}, now {value!r}"


def values_moved(entries: list[Mapping[str, Any]], passes: Passes) -> list[str]:
    """Of the values that a scene has read, those that are others in ``passes``: a line each, those
    first that come first in the model."""
    moved = []
    for entry in entries:
        run, name = str(entry["run"]), str(entry["name"])
        try:
            now = passes.value(run, name)
        except (LectureError, LookupError, ValueError, AttributeError):
            moved.append(((2, 0), f"{run} {name}: is no longer there"))
            continue
        told = _plain(entry["plain"], now) if "plain" in entry else _array(entry, now)
        if told:
            moved.append((_place(run, name, passes), f"{run} {name}: {told}"))
    return [line for _, line in sorted(moved)]


def _place(run: str, name: str, passes: Passes) -> tuple[int, int]:
    names = list(passes.trace(run))
    return (1, names.index(name)) if name in names else (0, 0)


def _plain(said: Any, now: Any) -> str:
    if said == now:
        return ""
    return f"was {_short(said)}, is {_short(now)}"


def _short(value: Any) -> str:
    text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _array(entry: Mapping[str, Any], now: Any) -> str:
    now = np.asarray(now)
    if list(now.shape) != entry["shape"] or now.dtype.str != entry["type"]:
        return f"was {_size(entry['shape'])}, is {_size(now.shape)}"
    seen = seen_of(entry)
    fresh = packed(now, seen)
    kind = "data" if "data" in entry else "digest"
    if fresh.get(kind) == entry[kind]:
        return ""
    old = elements_of(entry)
    if old is None:
        return "changed"
    apart = np.abs(now[seen].astype(float) - old.astype(float))
    return (
        f"changed by at most {np.nanmax(apart):.6g} (in {np.count_nonzero(apart)} of {apart.size})"
    )


def _size(shape: Any) -> str:
    return " x ".join(map(str, shape)) or "a single number"


def _texts(said: list[Any], table: Mapping[str, Any]) -> Iterator[str]:
    for path, digest in said:
        if digest_of(look_up(table, path)) != digest:
            yield f"text {'.'.join(path).removesuffix(f'.{NAMES}')}"


def _code(said: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    names = dict.fromkeys([*said, *now])
    return [f"file {name}" for name in names if said.get(name) != now.get(name)]


def _versions(made: Mapping[str, Any], now: Surroundings) -> Iterator[str]:
    said = made["versions"]
    for name, version in now.versions.items():
        if said.get(name) != version:
            yield f"{name} {said.get(name, 'none')}, now {version}"
    if not now.font_is(made["font"]):
        yield "the font"
    version = now.ffmpeg_version(made["ffmpeg"])
    if version != made["ffmpeg"]["version"]:
        yield f"{made['ffmpeg']['version']}, now {version}"


def _few(lines: list[str], rest: str) -> list[str]:
    if len(lines) <= _MOST:
        return lines
    return [*lines[:_MOST], f"and {len(lines) - _MOST} {rest}"]


def digest(parts: list[Any]) -> str:
    """A short key of plain data."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
