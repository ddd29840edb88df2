"""What platforms take, read from ``assets/platforms.toml``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from engine.errors import LectureError, quoted
from render.base.project import ASSETS

FILE = ASSETS / "platforms.toml"
PUBLISHED = ("film", "scenes", "both")
CAPTIONS = ("srt", "vtt", "bcc")
CHAPTERS = ("description", "by hand", "file")

#: How a rule judges a value.
TESTS = ("at_most", "at_least", "one_of", "is", "matches", "without")


@dataclass(frozen=True)
class Source:
    """Where a rule comes from, and when that was read."""

    key: str
    title: str
    address: str
    date: str


@dataclass(frozen=True, eq=False)
class Rule:
    """``what`` names a fact, ``test`` one of :data:`TESTS`; ``advice`` stops no publication."""

    what: str
    test: str
    value: Any
    source: Source
    advice: bool = False

    def allows(self, found: Any) -> bool:
        match self.test:
            case "at_most":
                return bool(found <= self.value)
            case "at_least":
                return bool(found >= self.value)
            case "one_of":
                return found in self.value
            case "matches":
                return re.fullmatch(self.value, str(found)) is not None
            case "without":
                return not set(self.value) & set(str(found))
            case _:
                return bool(found == self.value)


@dataclass(frozen=True)
class Platform:
    """A platform and its rules, in the order of the file."""

    key: str
    name: str
    publish: str
    captions: tuple[str, ...]
    chapters: tuple[str, ...]
    rules: tuple[Rule, ...]

    def limit(self, what: str) -> float | None:
        """The most that a must of this platform allows of ``what``; None where it says nothing."""
        most = [r.value for r in self.rules if (r.what, r.test) == (what, "at_most")]
        return min(most, default=None)


@cache
def platforms(file: Path = FILE) -> dict[str, Platform]:
    """Every platform by its key. Raises LectureError where the file is not as it must be."""
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LectureError(where=file, expected="valid TOML", found=str(error)) from error
    try:
        sources = {key: Source(key=key, **said) for key, said in table.pop("sources").items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise LectureError(
            where=file, field="sources", expected="title, address and date", found=str(error)
        ) from error
    return {key: _platform(file, key, said, sources) for key, said in table.items()}


def named(key: str) -> Platform:
    """The platform ``key``. Raises LectureError where there is none."""
    known = platforms()
    if key not in known:
        expected = f"one of {', '.join(known)}, scorm"
        raise LectureError(field="--for", expected=expected, found=repr(key))
    return known[key]


def _platform(
    file: Path, key: str, said: Mapping[str, Any], sources: Mapping[str, Source]
) -> Platform:
    def entry(field: str, kind: type, allowed: tuple[str, ...]) -> Any:
        value = said.get(field)
        values = value if isinstance(value, list) else [value]
        if not isinstance(value, kind) or (allowed and not set(values) <= set(allowed)):
            expected = ", ".join(allowed) or kind.__name__
            raise LectureError(
                where=file, field=f"{key}.{field}", expected=expected, found=quoted(value)
            )
        return value

    rules = entry("rules", list, ())
    return Platform(
        key=key,
        name=entry("name", str, ()),
        publish=entry("publish", str, PUBLISHED),
        captions=tuple(entry("captions", list, CAPTIONS)),
        chapters=tuple(entry("chapters", list, CHAPTERS)),
        rules=tuple(
            _rule(file, f"{key}.rules[{index}]", rule, sources) for index, rule in enumerate(rules)
        ),
    )


def _rule(file: Path, field: str, said: Any, sources: Mapping[str, Source]) -> Rule:
    from render.platforms.facts import WHAT

    tests = [test for test in TESTS if isinstance(said, dict) and test in said]
    if len(tests) != 1:
        raise LectureError(
            where=file, field=field, expected=f"one of {', '.join(TESTS)}", found=quoted(said)
        )
    if said.get("what") not in WHAT:
        raise LectureError(
            where=file,
            field=f"{field}.what",
            expected=f"one of {', '.join(WHAT)}",
            found=quoted(said.get("what")),
        )
    if said.get("source") not in sources:
        raise LectureError(
            where=file,
            field=f"{field}.source",
            expected=f"one of {', '.join(sources)}",
            found=quoted(said.get("source")),
        )
    test = tests[0]
    return Rule(said["what"], test, said[test], sources[said["source"]], bool(said.get("advice")))
