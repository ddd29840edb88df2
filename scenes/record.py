"""The record of a scene: which text and which numbers were on screen, and when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from manim import Mobject

from . import onscreen
from .onscreen import TextItem
from .parts.phrase import Say
from .settings import Settings, file_digest


@dataclass
class Beat:
    """A beat that was played: its first and last step, seconds of the scene's clock, and its
    sentence in plain letters.

    ``facts`` are what the sentence's template was filled with, as shown; ``variant`` is which of
    several sentences the weights called for. ``busy`` is how many seconds its animations took,
    ``quiet`` how long it then waits where nobody speaks.
    """

    name: str
    step: int
    last_step: int
    start: float
    end: float
    text: str
    facts: Mapping[str, str | Say]
    variant: str
    busy: float
    quiet: float

    @property
    def key(self) -> str:
        """Its sentence's key in the text files."""
        return f"{self.name}_{self.variant}" if self.variant else self.name


@dataclass
class Showing:
    """A text item that was on screen, from first to last second."""

    item: TextItem
    first: float
    last: float

    @property
    def seconds(self) -> float:
        return self.last - self.first


class Record:
    """Everything that was shown; kept by the scene after each animation."""

    def __init__(self) -> None:
        self._showings: dict[int, Showing] = {}

    def see(self, mobjects: list[Mobject], start: float, now: float) -> None:
        """Note what is visible after an animation that ran from ``start`` to ``now``."""
        for item in onscreen.items(mobjects):
            if isinstance(item, TextItem):
                key = id(item.mobject)
                showing = self._showings.setdefault(key, Showing(item, start, now))
                showing.last = now

    def showings(self) -> list[Showing]:
        """In order of appearance."""
        return sorted(self._showings.values(), key=lambda showing: showing.first)

    def numbers(self) -> list[dict[str, Any]]:
        """Plain data for ``numbers.json``: for each number shown its source, exact value,
        decimals, string, and first and last second on screen."""
        found = []
        for showing in self.showings():
            for number in onscreen.numbers_of(showing.item):
                found.append(
                    {
                        "shown": number.text,
                        "exact": number.scalar.exact,
                        "decimals": number.decimals,
                        "source": number.scalar.recipe(),
                        "first": round(showing.first, 3),
                        "last": round(showing.last, 3),
                    }
                )
        return found

    def document(self, slug: str, settings: Settings) -> dict[str, Any]:
        """The whole of ``numbers.json``: what was rendered, and every number in it."""
        files = {
            "weights": settings.weights,
            "inference_weights": settings.weights_for_inference,
        }
        return {
            "scene": slug,
            "language": settings.language,
            "source": settings.source,
            "target": settings.target,
            **{
                key: {"file": str(path.absolute()), "sha256": file_digest(path)}
                for key, path in files.items()
            },
            "numbers": self.numbers(),
        }
