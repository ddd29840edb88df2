"""Which videos are to be published, and that they are up to date."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import LectureError

if TYPE_CHECKING:
    from render.build.combination import Combination
    from render.build.combinations import Wish
    from render.build.order import Order


@dataclass(frozen=True)
class Wanted:
    """What to render, as the front door's options say it; ``orders`` are what that comes to."""

    wish: Wish
    orders: Sequence[Order]

    @property
    def command(self) -> str:
        """The command that renders them."""
        wish = self.wish
        options = {
            "--track": (wish.track, "full"),
            "--quality": (wish.quality, "standard"),
            "--lang": (wish.lang, "zh"),
            "--lesson": (wish.lesson, "tutorial"),
            "--voice": (wish.voice, "none"),
            "--burn-captions": (wish.burn, ""),
            "--out": (wish.out, None),
        }
        words = ["./render.sh"]
        for option, (value, default) in options.items():
            if value != default:
                words += [option, str(value)]
        for file in wish.weights or ():
            words += ["--weights", file]
        return shlex.join(words)

    def own(self, order: Order) -> str:
        """What tells a lesson, weights, or burned captions of one's own apart from the plain
        lecture when they are uploaded; empty for that."""
        lesson = Path(self.wish.lesson).stem if self.wish.lesson != "tutorial" else ""
        weights = Path(order.settings.weights).stem if self.wish.weights else ""
        burned = f"captions-{order.burn}" if order.burn else ""
        return "-".join(filter(None, (lesson, weights, burned)))

    def bring_up_to_date(self) -> int:
        """Render what is missing or out of date; the exit code."""
        from render.build.session import Session

        return Session(*self.orders).run()

    def as_they_are(self) -> list[str]:
        """What is out of date, and what is wrong with recordings, a line each. Raises
        LectureError, with the command that renders it, where a film is missing."""
        from render.build.combination import Combination

        told = []
        for order in self.orders:
            looked = Combination(order, None, True)
            why = _what_is_missing(looked)
            if why and not (order.out / order.film_name).is_file():
                raise LectureError(
                    where=order.out / order.film_name,
                    expected=f"a film (type: {self.command})",
                    found=f"none, {why}",
                )
            if why:
                told.append(f"{order.out}: {why}; published as it is (to render: {self.command})")
            told += looked.settle()
        return told


def _what_is_missing(looked: Combination) -> str:
    order = looked.order
    if looked.scenes:
        video = order.out / order.video_name(looked.scenes[0])
        return f"{video.name} is {'out of date' if video.is_file() else 'not there'}"
    if looked.idle_lines() is None:
        return f"{order.film_name} or its captions are out of date"
    return ""
