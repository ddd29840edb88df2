"""The last lines of a run that made the film: what to upload, and the command that comes next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from render.build.folders import DEFAULT_LESSON
from render.build.job import BuildOptions, Job
from render.media.sidecars import SideFiles

_DRAFT = "draft"


def closing_lines(options: BuildOptions, job: Job) -> Iterator[str]:
    """Two lines for people; the film's own line, with its path, is above them."""
    files = SideFiles(job.out / job.film_name)
    captions = " and ".join(files.captions(language).name for language in ("zh", "en"))
    yield (
        f"to upload: {job.film_name}, captions {captions}, cover {files.cover.name}, title and "
        f"description {files.description(job.language).name}, all in {job.out}"
    )
    platform, *others = _platforms(job.language)
    draft = job.quality.name == _DRAFT
    command = shlex.join(["./render.sh", "publish", "--for", platform, *_options(options, draft)])
    told = "renders it in 1080p and makes" if draft else "checks it and makes"
    yield (
        f"next: {'this is a draft; ' if draft else ''}{command} {told} a folder ready to upload "
        f"(--for also takes {', '.join(others)})"
    )


def _platforms(language: str) -> list[str]:
    """All that publish can prepare for, the likeliest first."""
    from render.cli.share import SCORM
    from render.platforms.rules import platforms

    first = {"zh": "bilibili", "en": "youtube"}[language]
    return [first, *(name for name in (*platforms(), SCORM) if name != first)]


def _options(options: BuildOptions, draft: bool) -> Iterator[str]:
    """The options of publish for what ``options`` made; a draft is published in the
    default quality, in the folder of that."""
    given = {
        "--quality": ("standard" if draft else options.quality, "standard"),
        "--lang": (options.lang, "zh"),
        "--track": (options.track, "full"),
        "--lesson": (options.lesson, DEFAULT_LESSON),
        "--voice": (options.voice, "none"),
        "--burn-captions": (options.burn_captions, ""),
    }
    for option, (value, default) in given.items():
        if value != default:
            yield from (option, value)
    for file in options.weights or ():
        yield from ("--weights", file)
    if options.out and not draft:
        yield from ("--videos", str(Path(options.out)))
