"""The command ``compare``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from engine.errors import from_os_error
from render.base.cores import usable_cores
from render.base.project import ROOT
from render.cli.commands import Jobs, Languages, Lesson, languages_named


def compare(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A weight file.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="What it has become, or another.")],
    scenes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SCENE]...", help="Numbers or names. None: all.", show_default=False
        ),
    ] = None,
    lang: Languages = "zh",
    lesson: Lesson = "tutorial",
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the report.")] = ROOT
    / "out"
    / "compare",
    height: Annotated[
        int, typer.Option(min=180, max=2160, help="Height of one picture in pixels.")
    ] = 540,
    jobs: Jobs = None,
) -> None:
    """Show what a change of weights does to the lecture.

    Which matrices and values of the passes change, which scenes would be rendered anew and why,
    which numbers and sentences on screen are others; in the terminal, and as one HTML file with
    old and new pictures side by side, which needs no network.
    No video is rendered: a scene that changes takes some seconds, one that does not a second.
    """
    from rich.console import Console

    from render.base.helpers import share_out
    from render.base.workspace import make_folder
    from render.review.audit import campaign
    from render.review.compare import page, terminal, weights
    from render.review.compare.scene import Compared, Job, attempt
    from scenes import lessons

    chosen = sorted(campaign.scenes_named(scenes or ()), key=lambda scene: scene.number)
    languages = languages_named(lang)
    make_folder(out)
    console = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
    failures = []
    for language in languages:
        before, after = (lessons.settings(lesson, language, file) for file in (old, new))
        both = weights.compare(weights.passes_of(before), weights.passes_of(after))
        work = [Job(scene, before, after, height) for scene in chosen]
        compared: list[Compared] = []
        for done in share_out(attempt, work, jobs or usable_cores()):
            if isinstance(done, Compared):
                compared.append(done)
            else:
                failures.append(done[1])
                print(f"{done[0].slug}: not compared: {done[1].line}", file=sys.stderr, flush=True)
        if language == languages[0]:
            terminal.report(both, compared, console)
        path = out / f"{old.stem}_to_{new.stem}_{language}.html"
        try:
            page.write(path, page.Names(old, new, lesson, language), both, compared)
        except OSError as error:
            raise from_os_error(error, path) from error
        print(path.absolute(), flush=True)
    if failures:
        raise typer.Exit(2 if all(failure.mistake for failure in failures) else 1)
