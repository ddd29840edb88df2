"""What platforms take (``assets/platforms.toml``), whether files fit, and findings in words."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from engine.errors import one_line, quoted
from engine.reader import refuse
from render.base.project import ASSETS
from render.base.reader import Reader, shaped
from render.platforms.facts import WHAT, Fact, together

FILE, FOLDER = ASSETS / "platforms.toml", ASSETS / "publish"
PUBLISHED = ("film", "scenes", "both")
CAPTIONS = ("srt", "vtt", "bcc")
CHAPTERS = ("description", "by hand", "file")
#: how a rule judges what was found by its value
TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "at_most": operator.le,
    "at_least": operator.ge,
    "one_of": lambda found, value: found in value,
    "is": operator.eq,
    "matches": lambda found, value: re.fullmatch(value, str(found)) is not None,
    "without": lambda found, value: not set(value) & set(str(found)),
}
_TOLERANCE = 0.5  # seconds
_TAKES = 60  # characters of a text that a message shows


@dataclass(frozen=True)
class Source:
    """Where a rule comes from, and when that was read."""

    title: str
    address: str
    date: str
    key: str = ""


_VIDEO = Source("the video they belong to", "", "")


@dataclass(frozen=True, eq=False)
class Rule:
    """``what`` names a fact, ``test`` one of :data:`TESTS`; ``advice`` stops no publication."""

    what: str
    test: str
    value: Any
    source: Source
    advice: bool = False

    def allows(self, found: Any) -> bool:
        return TESTS[self.test](found, self.value)


@dataclass(frozen=True)
class Platform:
    """A platform and its rules, in the order of the file."""

    name: str
    publish: str
    captions: tuple[str, ...] = ()
    chapters: tuple[str, ...] = ()
    key: str = ""
    rules: tuple[Rule, ...] = ()

    def tags(self, tags: Sequence[str], *more: str) -> list[str]:
        """As many tags as it takes beside some ``more`` that must be among them."""

        def most(what: str) -> float:
            limits = [r.value for r in self.rules if (r.what, r.test) == (what, "at_most")]
            return min(limits, default=math.inf)

        kept = [tag for n, tag in enumerate(tags) if n < most("number of tags")]
        while kept and together([*kept, *more]) > most("tags together"):
            kept.pop()
        return [*kept, *more]

    def findings(self, facts: Iterable[Fact]) -> list[Finding]:
        """Every fact that it does not take or advises against, in the order of its rules; and
        captions that go on after the video: those of another one."""
        listed = list(facts)
        lengths = [fact.value + _TOLERANCE for fact in listed if fact.what == "video length"]
        own = [Rule("end of the captions", "at_most", length, _VIDEO) for length in lengths]
        return [
            Finding(fact, rule)
            for rule in (*self.rules, *own)
            for fact in listed
            if fact.what == rule.what and not rule.allows(fact.value)
        ]


@dataclass(frozen=True)
class Finding:
    """A fact that a rule does not allow."""

    fact: Fact
    rule: Rule

    def __str__(self) -> str:
        return wording("en").told(self, [self.fact.where])


def faults(found: Sequence[Finding]) -> list[Finding]:
    """Those that stop a publication."""
    return [finding for finding in found if not finding.rule.advice]


@cache
def platforms(file: Path = FILE) -> dict[str, Platform]:
    """Every platform by its key. Raises LectureError where the file is not as it must be."""
    table = Reader().toml(file, dict[str, dict[str, Any]])
    sources = {
        key: replace(shaped(said, Source, file, f"sources.{key}"), key=key)
        for key, said in table.pop("sources", {}).items()
    }
    return {key: _platform(file, key, said, sources) for key, said in table.items()}


def named(key: str) -> Platform:
    """The platform ``key``. Raises LectureError where there is none."""
    known = platforms()
    if key not in known:
        refuse(None, "--for", f"one of {', '.join(known)}, scorm", repr(key))
    return known[key]


def _platform(
    file: Path, key: str, said: Mapping[str, Any], sources: Mapping[str, Source]
) -> Platform:
    rules = shaped(said.get("rules", []), list[dict[str, Any]], file, f"{key}.rules")
    listed = shaped({**said, "rules": []}, Platform, file, key)
    _one_of(file, f"{key}.publish", listed.publish, PUBLISHED)
    for value in listed.captions:
        _one_of(file, f"{key}.captions", value, CAPTIONS)
    for value in listed.chapters:
        _one_of(file, f"{key}.chapters", value, CHAPTERS)
    checked = (_rule(file, f"{key}.rules[{n}]", one, sources) for n, one in enumerate(rules))
    return replace(listed, key=key, rules=tuple(checked))


def _rule(file: Path, where: str, said: dict[str, Any], sources: Mapping[str, Source]) -> Rule:
    tests = [test for test in TESTS if test in said]
    if len(tests) != 1:
        refuse(file, where, f"one of {', '.join(TESTS)}", quoted(said))
    what = _one_of(file, f"{where}.what", said.get("what"), WHAT)
    source = _one_of(file, f"{where}.source", said.get("source"), sources)
    return Rule(what, tests[0], said[tests[0]], sources[source], bool(said.get("advice")))


def _one_of(file: Path, where: str, value: Any, allowed: Iterable[str]) -> str:
    """Raises LectureError for any other value."""
    if value not in tuple(allowed):
        refuse(file, where, f"one of {', '.join(allowed)}", quoted(value))
    return str(value)


@cache
def texts(language: str) -> dict[str, Any]:
    """The sentences of a language. Raises LectureError where they cannot be read."""
    return Reader().toml(FOLDER / f"{language}.toml", dict[str, Any])


class Wording:
    """How findings are worded in a language, by ``[findings]`` of ``assets/publish/LANGUAGE.toml``:
    phrases, and names for facts and units where they are not those of ``facts.WHAT``."""

    def __init__(self, language: str) -> None:
        self.said: dict[str, Any] = texts(language)["findings"]
        self.names: dict[str, str] = self.said.get("names", {})

    def say(self, phrase: str, **facts: Any) -> str:
        return str(self.said[phrase].format(**facts))

    def lines(self, found: Iterable[Finding]) -> list[str]:
        """A line for each thing that is wrong, however many files it is wrong with."""
        alike: dict[tuple[Rule, str], list[Finding]] = {}
        for finding in found:
            value = self.shown(finding.fact.what, finding.fact.value)
            alike.setdefault((finding.rule, value), []).append(finding)
        return [self.told(same[0], [one.fact.where for one in same]) for same in alike.values()]

    def told(self, finding: Finding, files: Sequence[str]) -> str:
        """File, what is wrong, what is expected and found, and who says so; one line."""
        rule, fact, (first, *others) = finding.rule, finding.fact, files
        listed = self.say("files", first=first, more=len(others), all=len(files))
        return one_line(
            self.say(
                "line",
                files=listed if others else first,
                what=self.names.get(fact.what, fact.what),
                expected=self.expected(rule),
                found=self.shown(fact.what, fact.value),
                source=", ".join(filter(None, (rule.source.title, rule.source.date))),
            )
        )

    def expected(self, rule: Rule) -> str:
        """What a rule asks for: ``at most 8.6 GB``."""
        value, what = rule.value, rule.what
        match rule.test:
            case "one_of":
                return self.say("either").join(self.shown(what, one) for one in value)
            case "matches":
                return self.say("named", value=value) if "name" in what else f"{value}"
            case "without":
                return self.say("without", value=" ".join(value))
            case "at_most" | "at_least":
                return self.say(rule.test, value=self.shown(what, value))
        return self.shown(what, value)

    def shown(self, what: str, value: Any) -> str:
        """A value with its unit, as people write it."""
        unit = WHAT[what]
        if isinstance(value, bool):
            return self.say("yes" if value else "no")
        if isinstance(value, str):
            return value if len(value) <= _TAKES else f"{value[: _TAKES - 1]}…"
        if unit == "seconds":
            return self._seconds(value)
        if unit == "bytes":
            for size, name in ((1_000_000_000, "GB"), (1_000_000, "MB")):
                if value >= size:
                    return self.say("size", large=f"{value / size:.4g} {name}", count=value)
            return self.say("bytes", count=value)
        number = f"{value:.3g}" if isinstance(value, float) else f"{value}"
        name = self.names.get(unit) or (unit.removesuffix("s") if value == 1 else unit)
        return f"{number} {name}".strip()

    def _seconds(self, seconds: float) -> str:
        if seconds < 60:
            return self.say("second", seconds=seconds)
        minutes, rest = divmod(round(seconds), 60)
        if minutes < 60:
            return self.say("minutes", minutes=minutes, seconds=rest)
        return self.say("hours", hours=minutes // 60, minutes=minutes % 60)


@cache
def wording(language: str) -> Wording:
    return Wording(language)
