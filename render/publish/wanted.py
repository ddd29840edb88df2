"""Which videos are to be published, and that they are up to date."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import LectureError

if TYPE_CHECKING:
    from render.order import Order


@dataclass(frozen=True)
class Wanted:
    """What to render, as the front door's options say it; ``videos`` is its ``--out``."""

    track: str
    quality: str
    lang: str
    weights: Path | None
    lesson: str
    videos: Path | None
    jobs: int | None = None

    def command(self) -> str:
        """The command that renders them."""
        options = {
            "--track": (self.track, "full"),
            "--quality": (self.quality, "standard"),
            "--lang": (self.lang, "zh"),
            "--weights": (self.weights, None),
            "--lesson": (self.lesson, "tutorial"),
            "--out": (self.videos, None),
        }
        words = ["./render.sh"]
        for option, (value, default) in options.items():
            if value != default:
                words += [option, str(value)]
        return shlex.join(words)

    @property
    def own(self) -> str:
        """The name of a lesson or weights of one's own; empty for the tutorial's."""
        lesson = Path(self.lesson).stem if self.lesson != "tutorial" else ""
        return "-".join(filter(None, (lesson, self.weights.stem if self.weights else "")))

    @cached_property
    def order(self) -> Order:
        """Raises LectureError for a choice that there is not."""
        from render.cli import default_folder
        from render.cores import usable_cores
        from render.order import Order
        from render.quality import QUALITIES
        from scenes import lessons, registry
        from scenes.settings import LANGUAGES

        for option, value, known in (
            ("--track", self.track, tuple(registry.TRACKS)),
            ("--quality", self.quality, tuple(QUALITIES)),
            ("--lang", self.lang, LANGUAGES),
        ):
            if value not in known:
                raise LectureError(field=option, expected=", ".join(known), found=repr(value))
        settings = lessons.settings(self.lesson, self.lang, self.weights, self.track)
        film = registry.film(self.track)
        folder = self.videos or default_folder(settings, self.quality, self.lesson, self.weights)
        return Order(
            scenes=film,
            everything=film,
            quality=QUALITIES[self.quality],
            settings=settings,
            out=folder.absolute(),
            jobs=self.jobs or usable_cores(),
        )

    def bring_up_to_date(self, render: bool) -> int:
        """Render what is missing or out of date; the exit code. Without ``render``: raises
        LectureError with the command that renders it."""
        from render.session import Session

        why = "" if render else self._what_is_missing()
        if why:
            raise LectureError(
                where=self.order.out,
                field="videos",
                expected=f"all of them up to date (type: {self.command()})",
                found=why,
            )
        return Session(self.order).run() if render else 0

    def _what_is_missing(self) -> str:
        from render.incremental.state import State

        state = State(self.order)
        parts = state.parts()
        if isinstance(parts, str):
            return parts
        if state.film_is_up_to_date(parts):
            return ""
        return f"{self.order.film_name} is not made of the scenes as they are"
