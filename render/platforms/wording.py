"""Findings in words, in the language of the command line or of a lecturer's checklist."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engine.errors import one_line
from render.platforms.facts import WHAT
from render.platforms.rules import Rule

if TYPE_CHECKING:
    from render.platforms.checks import Finding

_TAKES = 60  # characters of a text that a message shows


@dataclass(frozen=True)
class Wording:
    """A language: its phrases, and its names for facts and units where they are not the English
    ones of ``facts.WHAT``."""

    line: str = "{files}: {what}: expected {expected}, found {found} ({source})"
    files: str = "{first} and {more} more"
    at_most: str = "at most {value}"
    at_least: str = "at least {value}"
    either: str = " or "
    named: str = "a name like {value}"
    without: str = "none of the characters {value}"
    yes: str = "yes"
    no: str = "no"
    hours: str = "{hours} h {minutes:02d} min"
    minutes: str = "{minutes} min {seconds:02d} s"
    second: str = "{seconds:.3g} s"
    bytes: str = "{count} bytes"
    size: str = "{large} ({count} bytes)"
    names: Mapping[str, str] = field(default_factory=dict)

    def lines(self, found: Iterable[Finding]) -> list[str]:
        """A line for each thing that is wrong, however many files it is wrong with."""
        alike: dict[tuple[Rule, str], list[Finding]] = {}
        for finding in found:
            value = self.shown(finding.fact.what, finding.fact.value)
            alike.setdefault((finding.rule, value), []).append(finding)
        return [self.told(same[0], [one.fact.where for one in same]) for same in alike.values()]

    def told(self, finding: Finding, files: Sequence[str]) -> str:
        """File, what is wrong, what is expected and found, and who says so; one line."""
        rule, fact = finding.rule, finding.fact
        more = len(files) - 1
        return one_line(
            self.line.format(
                files=self.files.format(first=files[0], more=more, all=len(files))
                if more
                else files[0],
                what=self.names.get(fact.what, fact.what),
                expected=self.expected(rule),
                found=self.shown(fact.what, fact.value),
                source=", ".join(filter(None, (rule.source.title, rule.source.date))),
            )
        )

    def expected(self, rule: Rule) -> str:
        """What a rule asks for: ``at most 8.6 GB``."""
        value = rule.value
        match rule.test:
            case "at_most":
                return self.at_most.format(value=self.shown(rule.what, value))
            case "at_least":
                return self.at_least.format(value=self.shown(rule.what, value))
            case "one_of":
                return self.either.join(self.shown(rule.what, one) for one in value)
            case "matches":
                return self.named.format(value=value) if "name" in rule.what else f"{value}"
            case "without":
                return self.without.format(value=" ".join(value))
            case _:
                return self.shown(rule.what, value)

    def shown(self, what: str, value: Any) -> str:
        """A value with its unit, as people write it."""
        unit = WHAT[what]
        if isinstance(value, bool):
            return self.yes if value else self.no
        if isinstance(value, str):
            return value if len(value) <= _TAKES else f"{value[: _TAKES - 1]}…"
        if unit == "bytes":
            return self._bytes(value)
        if unit == "seconds":
            return self._seconds(value)
        number = f"{value:.3g}" if isinstance(value, float) else f"{value}"
        name = self.names.get(unit) or (unit.removesuffix("s") if value == 1 else unit)
        return f"{number} {name}".strip()

    def _bytes(self, count: int) -> str:
        for size, name in ((1_000_000_000, "GB"), (1_000_000, "MB")):
            if count >= size:
                return self.size.format(large=f"{count / size:.4g} {name}", count=count)
        return self.bytes.format(count=count)

    def _seconds(self, seconds: float) -> str:
        if seconds < 60:
            return self.second.format(seconds=seconds)
        minutes, rest = divmod(round(seconds), 60)
        if minutes < 60:
            return self.minutes.format(minutes=minutes, seconds=rest)
        return self.hours.format(hours=minutes // 60, minutes=minutes % 60)


ENGLISH = Wording()
