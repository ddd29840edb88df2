"""Whether a publication is what its platform takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from render.platforms.facts import Fact
from render.platforms.rules import Platform, Rule, Source
from render.platforms.wording import ENGLISH

_TOLERANCE = 0.5  # seconds


@dataclass(frozen=True)
class Finding:
    """A fact that a rule does not allow."""

    fact: Fact
    rule: Rule

    def __str__(self) -> str:
        return ENGLISH.told(self, [self.fact.where])


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
