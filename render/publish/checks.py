"""Whether a publication is what its platform takes, told in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from engine.errors import one_line
from render.publish.facts import WHAT, Fact
from render.publish.rules import Platform, Rule, Source

_TOLERANCE = 0.5  # seconds
_TAKES = 60  # characters of a text that a message shows


@dataclass(frozen=True)
class Finding:
    """A fact that a rule does not allow."""

    fact: Fact
    rule: Rule

    def __str__(self) -> str:
        """File, what is wrong, what is expected and found, and who says so; one line."""
        return self.told([self.fact.where])

    def told(self, files: Sequence[str]) -> str:
        """The same of several files."""
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        source = ", ".join(filter(None, (self.rule.source.title, self.rule.source.date)))
        return one_line(
            f"{files[0]}{more}: {self.fact.what}: expected {expected(self.rule)}, "
            f"found {shown(self.fact.what, self.fact.value)} ({source})"
        )


def lines(found: Iterable[Finding]) -> list[str]:
    """A line for each thing that is wrong, however many files it is wrong with."""
    alike: dict[tuple[Rule, str], list[Finding]] = {}
    for finding in found:
        value = shown(finding.fact.what, finding.fact.value)
        alike.setdefault((finding.rule, value), []).append(finding)
    return [same[0].told([one.fact.where for one in same]) for same in alike.values()]


def findings(platform: Platform, facts: Iterable[Fact]) -> list[Finding]:
    """Every fact that the platform does not take or advises against, in the order of the rules."""
    by_what: dict[str, list[Fact]] = {}
    for fact in facts:
        by_what.setdefault(fact.what, []).append(fact)
    return [
        Finding(fact, rule)
        for rule in platform.rules
        for fact in by_what.get(rule.what, ())
        if not rule.allows(fact.value)
    ]


def overlong(facts: Iterable[Fact], seconds: float) -> list[Finding]:
    """Captions that go on after a video of ``seconds``: those of another one."""
    source = Source("video", "the video they belong to", "", "")
    rule = Rule("end of the captions", "at_most", seconds + _TOLERANCE, source)
    return [Finding(f, rule) for f in facts if f.what == rule.what and not rule.allows(f.value)]


def faults(found: Sequence[Finding]) -> list[Finding]:
    """Those that stop a publication."""
    return [finding for finding in found if not finding.rule.advice]


def expected(rule: Rule) -> str:
    """What a rule asks for: ``at most 8.6 GB``."""
    value = rule.value
    match rule.test:
        case "at_most":
            return f"at most {shown(rule.what, value)}"
        case "at_least":
            return f"at least {shown(rule.what, value)}"
        case "one_of":
            return " or ".join(shown(rule.what, one) for one in value)
        case "matches":
            return f"a name like {value}" if "name" in rule.what else f"{value}"
        case "without":
            return f"none of the characters {' '.join(value)}"
        case _:
            return shown(rule.what, value)


def shown(what: str, value: Any) -> str:
    """A value with its unit, as people write it."""
    unit = WHAT[what]
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value if len(value) <= _TAKES else f"{value[: _TAKES - 1]}…"
    if unit == "bytes":
        return _bytes(value)
    if unit == "seconds":
        return _seconds(value)
    number = f"{value:.3g}" if isinstance(value, float) else f"{value}"
    return f"{number} {unit.removesuffix('s') if value == 1 else unit}".strip()


def _bytes(count: int) -> str:
    for size, name in ((1_000_000_000, "GB"), (1_000_000, "MB")):
        if count >= size:
            return f"{count / size:.4g} {name} ({count} bytes)"
    return f"{count} bytes"


def _seconds(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.3g} s"
    whole = round(seconds)
    hours, minutes = whole // 3600, whole % 3600 // 60
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {whole % 60:02d} s"
