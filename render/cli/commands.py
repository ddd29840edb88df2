"""The commands that look at scenes without rendering them: ``audit`` and ``sheet``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.errors import LectureError
from render.base.cores import usable_cores
from render.base.project import ROOT

if TYPE_CHECKING:
    from scenes.settings import Settings


Scenes = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SCENE]...",
        help="Numbers or names (8, attention_scores). None: all scenes there are.",
        show_default=False,
    ),
]
Languages = Annotated[str, typer.Option(help="zh, en, or both: zh,en.", metavar="LANG")]
Weights = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help="A weight file; may be given several times. Default: the lesson's.",
        show_default=False,
    ),
]
Lesson = Annotated[
    str, typer.Option(metavar="NAME", help="tutorial, consistent, or a .toml file of yours.")
]
Jobs = Annotated[int | None, typer.Option(min=1, max=64, help="Processes. Default: the cores.")]


def languages_named(text: str) -> list[str]:
    """``zh,en`` as a list. Raises LectureError for anything but zh and en."""
    from scenes.settings import LANGUAGES

    named = [part.strip() for part in text.split(",")]
    for name in named:
        if name not in LANGUAGES:
            raise LectureError(field="--lang", expected="zh, en or zh,en", found=repr(text))
    return list(dict.fromkeys(named))


def settings_named(
    lesson: str, weights: Sequence[Path], extra: Sequence[Path], languages: Sequence[str]
) -> list[tuple[str, list[Settings]]]:
    """What to look at: the lesson, or the weight files in its place, and the extra files; each
    with its label and in every language. Raises LectureError where a weight file is bad."""
    import engine
    from scenes import lessons

    for file in weights:
        engine.load_weights(file)
    own: list[tuple[str, Path | None]] = [(file.stem, file) for file in (*weights, *extra)]
    labelled = own if weights else [(Path(lesson).stem, None), *own]
    return [
        (label, [lessons.settings(lesson, language, file) for language in languages])
        for label, file in labelled
    ]


def audit(
    scenes: Scenes = None,
    lang: Languages = "zh,en",
    weights: Weights = None,
    lesson: Lesson = "tutorial",
    layout: Annotated[
        bool, typer.Option("--layout", help="Only the layout; numbers are not recomputed.")
    ] = False,
    numbers: Annotated[
        bool, typer.Option("--numbers", help="Only the numbers; layout is not looked at.")
    ] = False,
    everything: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Also 20 random weight files, and the quarters of every animation.",
        ),
    ] = False,
    random: Annotated[
        int, typer.Option(min=0, max=1000, help="As many random weight files as well.")
    ] = 0,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where renders, and so their numbers, are.")
    ] = ROOT / "out",
    pictures: Annotated[
        Path, typer.Option(metavar="DIR", help="Where pictures of faults go, each boxed.")
    ] = ROOT / "out" / "audit",
    jobs: Jobs = None,
) -> None:
    """Check that every number on screen is the engine's and every picture can be read.

    Plays the scenes without drawing them: recomputes each number shown from the weights, works
    out each equation from its shown digits, looks for digits without a source, checks matrices,
    labels, margins, overlaps, sizes, contrast, glyphs and reading times. Then does the same for
    the numbers of finished renders (the .numbers.json beside each video).
    Exit code 1 where there is a fault.
    """
    from render.base.workspace import make_folder
    from render.review.audit import campaign, report

    chosen, named = campaign.scenes_named(scenes or ()), languages_named(lang)
    if layout or not numbers:
        make_folder(pictures)
    with campaign.temporary_folder() as folder:
        extra = campaign.random_weight_files(20 if everything else random, Path(folder))
        checks = [
            campaign.Check(
                scene,
                settings,
                label,
                numbers=numbers or not layout,
                pictures=layout or not numbers,
                quarters=everything,
                folder=pictures,
            )
            for label, by_language in settings_named(lesson, weights or [], extra, named)
            for scene in chosen
            for settings in by_language
        ]
        faults = report.run(checks, jobs or usable_cores())
    if numbers or not layout:
        faults += report.run_number_files(out, [scene.slug for scene in chosen])
    raise typer.Exit(1 if faults else 0)


def sheet(
    scenes: Scenes = None,
    lang: Languages = "zh",
    weights: Weights = None,
    lesson: Lesson = "tutorial",
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the pictures.")] = ROOT
    / "out"
    / "sheets",
    height: Annotated[
        int, typer.Option(min=120, max=2160, help="Height of one frame in pixels.")
    ] = 480,
    jobs: Jobs = None,
) -> None:
    """Draw a contact sheet per scene: the last frame of each beat, with its step and time.

    No video is rendered for it: a scene takes a few seconds.
    """
    from render.review import sheet as sheets
    from render.review.audit import campaign

    orders = [
        sheets.SheetOrder(scene, settings, label, out, height)
        for label, by_language in settings_named(lesson, weights or [], [], languages_named(lang))
        for scene in campaign.scenes_named(scenes or ())
        for settings in by_language
    ]
    failures = []
    for done in sheets.write_all(orders, jobs or usable_cores()):
        if isinstance(done, Path):
            print(done, flush=True)
        else:
            failures.append(done)
            print(done.line, file=sys.stderr, flush=True)
    if failures:
        raise typer.Exit(2 if all(failure.mistake for failure in failures) else 1)
