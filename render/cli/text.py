"""The command that prints what to read aloud."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from engine.errors import LectureError, one_line
from render.base.process import share_out, usable_cores
from render.build.job import BuildOptions, option
from render.cli.look import chosen, settings_of
from render.cli.options import Jobs, Scenes, takes

OutOption = Annotated[
    Path | None, option("FILE", "Write to this file; as JSON if the name ends in .json.")
]
MissingOption = Annotated[
    Path | None, option("DIR", "Only sentences without a recording in this folder.")
]
RecordDraftOption = Annotated[
    Path | None,
    option(
        "DIR",
        "Speak it into a folder of recordings, to be replaced one by one by your "
        "own. Existing recordings are kept.",
    ),
]
VoiceOption = Annotated[
    str, typer.Option(metavar="WHO", help="Who speaks for --record-draft: draft, or module:Class.")
]


@takes("lang", "weights", "lesson", "track")
def script(
    options: BuildOptions,
    scenes: Scenes = None,
    out: OutOption = None,
    missing: MissingOption = None,
    record_draft: RecordDraftOption = None,
    voice: VoiceOption = "draft",
    jobs: Jobs = None,
) -> None:
    """Print the text to read aloud: each beat's sentence with its numbers and symbols in words,
    under the name that its recording must have (docs/voice.md), and how long the beat lasts.
    """
    from render.voice import script as texts
    from scenes import registry

    settings = [each for _, each in settings_of(options)]
    if len(settings) > 1 and (missing or record_draft):
        field, expected = "--missing, --record-draft", "one language, lesson, track and weight file"
        raise LectureError(field=field, expected=expected, found=f"{len(settings)} of them")
    if scenes and options.track != "full":
        raise LectureError(field="--track", expected="no scenes beside it", found=" ".join(scenes))
    work = [
        (scene, each)
        for each in settings
        for scene in (chosen(scenes) if scenes else registry.film(each.track))
    ]
    parts = list(share_out(texts.part, work, jobs or usable_cores()))
    if missing is not None:
        parts = texts.without_recorded(parts, missing)
        if not parts:
            print(one_line(f"{missing}: every beat has a recording"))
    if out is not None:
        texts.write(out, parts)
        print(one_line(str(out)))
    if record_draft is not None:
        for line in texts.record(record_draft, parts, voice, settings[0].language):
            print(one_line(line), flush=True)
    if parts and out is None and record_draft is None:
        print("\n".join(texts.as_text(parts)))
