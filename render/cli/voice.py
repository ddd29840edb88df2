"""``./render.sh script``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from engine.errors import LectureError, one_line
from render.base.cores import usable_cores
from render.cli.commands import Jobs, Lesson, Scenes


def script(
    scenes: Scenes = None,
    lang: Annotated[str, typer.Option(help="zh or en.", metavar="LANG")] = "zh",
    weights: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A weight file. Default: the lesson's.", show_default=False
        ),
    ] = None,
    lesson: Lesson = "tutorial",
    track: Annotated[
        str, typer.Option(metavar="TRACK", help="full, training or inference.")
    ] = "full",
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write it there; as JSON where the name ends in .json.",
            show_default=False,
        ),
    ] = None,
    missing: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Only what this folder has no recording of yet.",
            show_default=False,
        ),
    ] = None,
    record_draft: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Have it spoken into a folder of recordings, to be replaced one by one by your "
            "own. Recordings that are there stay.",
            show_default=False,
        ),
    ] = None,
    voice: Annotated[
        str,
        typer.Option(metavar="WHO", help="Who speaks for --record-draft: draft, or module:Class."),
    ] = "draft",
    jobs: Jobs = None,
) -> None:
    """Print the text to read aloud: each beat's sentence with its numbers and symbols in words,
    under the name that its recording must have (docs/voice.md), and how long the beat lasts.
    """
    from render.base.helpers import share_out
    from render.cli.commands import languages_named
    from render.review.audit import campaign
    from render.voice import script as texts
    from scenes import lessons, registry

    languages = languages_named(lang)
    if len(languages) > 1:
        raise LectureError(field="--lang", expected="zh or en", found=repr(lang))
    if track not in registry.TRACKS:
        raise LectureError(field="--track", expected=", ".join(registry.TRACKS), found=repr(track))
    if scenes and track != "full":
        raise LectureError(field="--track", expected="no scenes beside it", found=" ".join(scenes))
    settings = lessons.settings(lesson, languages[0], weights, track)
    chosen = campaign.scenes_named(scenes) if scenes else registry.film(track)
    processes = jobs or usable_cores()
    parts = list(share_out(texts.part, [(scene, settings) for scene in chosen], processes))
    if missing is not None:
        parts = texts.without_recorded(parts, missing)
        if not parts:
            print(one_line(f"{missing}: a recording for every beat is there"))
    if out is not None:
        texts.write(out, parts)
        print(one_line(str(out)))
    if record_draft is not None:
        for line in texts.record(record_draft, parts, voice, languages[0]):
            print(one_line(line), flush=True)
    if parts and out is None and record_draft is None:
        print("\n".join(texts.as_text(parts)))
