"""The last lines of a run that made the film: what to upload, and the command that comes next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from render.build.combinations import DEFAULT_LESSON, Wish
from render.build.order import Order
from render.media.sidefiles import SideFiles

_DRAFT = "draft"


def closing_lines(wish: Wish, order: Order) -> Iterator[str]:
    """Two lines for people; the film's own line, with its path, is above them."""
    files = SideFiles(order.out / order.film_name)
    captions = " and ".join(files.captions(language).name for language in ("zh", "en"))
    yield (
        f"to upload: {order.film_name}, captions {captions}, cover {files.cover.name}, title and "
        f"description {files.description(order.language).name}, all in {order.out}"
    )
    platform, *others = _platforms(order.language)
    draft = order.quality.name == _DRAFT
    command = shlex.join(["./render.sh", "publish", "--for", platform, *_options(wish, draft)])
    told = "renders it in 1080p and makes" if draft else "checks it and makes"
    yield (
        f"next: {'this is a draft; ' if draft else ''}{command} {told} a folder ready to upload "
        f"(--for also takes {', '.join(others)})"
    )


def _platforms(language: str) -> list[str]:
    """All that publish can prepare for, the likeliest first."""
    from render.cli.publish import SCORM
    from render.platforms.rules import platforms

    first = {"zh": "bilibili", "en": "youtube"}[language]
    return [first, *(name for name in (*platforms(), SCORM) if name != first)]


def _options(wish: Wish, draft: bool) -> Iterator[str]:
    """The options of publish for what ``wish`` made; a draft is published in the default quality,
    in the folder of that."""
    given = {
        "--quality": ("standard" if draft else wish.quality, "standard"),
        "--lang": (wish.lang, "zh"),
        "--track": (wish.track, "full"),
        "--lesson": (wish.lesson, DEFAULT_LESSON),
        "--voice": (wish.voice, "none"),
        "--burn-captions": (wish.burn, ""),
    }
    for option, (value, default) in given.items():
        if value != default:
            yield from (option, value)
    for file in wish.weights or ():
        yield from ("--weights", file)
    if wish.out and not draft:
        yield from ("--videos", str(Path(wish.out)))
