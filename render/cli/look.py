"""The commands that look at scenes without rendering them, and the one that tests the project."""

from __future__ import annotations

import glob
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engine.errors import one_line
from engine.reader import refuse
from render.base.failure import Failure
from render.base.files import make_folder
from render.base.process import share_out, usable_cores
from render.base.project import ROOT
from render.build.job import (
    LANGUAGES,
    BuildOptions,
    jobs_of,
    option,
    scenes_named,
    several,
    weight_files,
)
from render.build.screen import duration
from render.cli.options import Jobs, Scenes, flag, flowing, takes

if TYPE_CHECKING:
    from scenes.registry import SceneInfo
    from scenes.settings import Settings

OUT = ROOT / "out"
Height = Annotated[int, typer.Option(min=120, max=2160, help="Height of a picture in pixels.")]


def _folder(help: str) -> Any:
    return typer.Option(metavar="DIR", help=help)


def list_scenes() -> None:
    """List the scenes: number, name, the tutorial's steps, titles in both languages."""
    from scenes import texts
    from scenes.registry import SCENES, available

    there = available()
    width = max((len(scene.slug) for scene in there), default=0) - 2
    titles = [texts.load(language) for language in LANGUAGES]
    print(f"{'no.':>3}  {'name':<{width}} steps  title")
    for scene in there:
        name, (first, last) = scene.slug.split("_", 1)[1], scene.steps
        steps = str(first) if first == last else f"{first}-{last}"
        both = " / ".join(str(each.get(scene.slug, {}).get("title", "-")) for each in titles)
        print(f"{scene.number:>3}  {name:<{width}} {steps:<5}  {both}")
    if missing := [str(scene.number) for scene in SCENES if scene not in there]:
        print(f"still to come: {', '.join(missing)}")


def shown(
    options: BuildOptions, scenes: Sequence[SceneInfo], extra: Sequence[Path] = ()
) -> list[tuple[SceneInfo, Settings, str]]:
    """What to look at: scenes with lessons, or with the weight files in their place and the extra
    ones, in every language and track, and the label of each. Raises LectureError where a weight
    file is invalid."""
    jobs = jobs_of(options)
    if extra:
        jobs += jobs_of(replace(options, weights=[glob.escape(str(path)) for path in extra]))
    return [(scene, job.settings, job.label) for job in jobs for scene in scenes]


def chosen(words: Sequence[str] | None) -> list[SceneInfo]:
    """The scenes named, or all there are."""
    from scenes.registry import available

    return scenes_named(words) if words else [*available()]


def end(failures: Sequence[Failure]) -> None:
    """Exit with 2 where all failures are mistakes in the input, else with 1, if there are any."""
    if failures:
        raise typer.Exit(2 if all(failure.mistake for failure in failures) else 1)


@takes("weights", "lesson")
def check(options: BuildOptions) -> None:
    """Say in a line whether a lesson, or each of your weight files in its place, can be told and
    shown; nothing is drawn.

    Exit codes: 0 it will be filmed; 2 it is refused; 3 it could be told, but today's layouts are
    too small for it.
    """
    from scenes import lessons

    names = several("--lesson", options.lesson)
    files: list[Path | None] = [*weight_files(options.weights or ())] or [None]
    found = [lessons.check(name, file) for name in names for file in files]
    for verdict in found:
        print(verdict.line, file=sys.stderr if verdict.code else sys.stdout)
    codes = {verdict.code for verdict in found}
    raise typer.Exit(2 if 2 in codes else max(codes))


@takes("weights", "lesson", lang="zh,en")
def audit(
    options: BuildOptions,
    scenes: Scenes = None,
    layout: Annotated[bool, flag("--layout", "Only the layout, not the numbers.")] = False,
    numbers: Annotated[bool, flag("--numbers", "Only the numbers, not the layout.")] = False,
    everything: Annotated[
        bool,
        flag("--all", "Also 20 random weight files, and the quarter points of every animation."),
    ] = False,
    random: Annotated[
        int, typer.Option(min=0, max=1000, help="Number of additional random weight files.")
    ] = 0,
    out: Annotated[Path, _folder("Folder of the renders, with their numbers.")] = OUT,
    pictures: Annotated[Path, _folder("Folder for pictures of faults, each boxed.")] = OUT
    / "audit",
    jobs: Jobs = None,
) -> None:
    """Check that every number on screen is the engine's and every picture can be read.

    Plays the scenes without drawing them: recomputes each number shown from the weights, works
    out each equation from its shown digits, looks for digits without a source, checks matrices,
    labels, margins, overlaps, sizes, contrast, glyphs and reading times. Then does the same for
    the numbers of finished renders (the .numbers.json beside each video).
    Exit code 1 where there is a fault.
    """
    from render.review import audit as audits

    selected = chosen(scenes)
    jobs_of(options)  # so that a mistake is reported before anything is made
    both = layout == numbers
    look = audits.Look(numbers or both, layout or both, everything, pictures)
    if look.pictures:
        make_folder(pictures)
    with tempfile.TemporaryDirectory(prefix="lecture-audit-") as folder:
        extra = audits.random_weight_files(20 if everything else random, Path(folder))
        faults = audits.run(shown(options, selected, extra), look, jobs or usable_cores())
    if look.numbers:
        faults += audits.run_number_files(out, [scene.slug for scene in selected])
    raise typer.Exit(1 if faults else 0)


@takes("lang", "weights", "lesson")
def sheet(
    options: BuildOptions,
    scenes: Scenes = None,
    out: Annotated[Path, _folder("Folder for the pictures.")] = OUT / "sheets",
    height: Height = 480,
    jobs: Jobs = None,
) -> None:
    """Draw a contact sheet per scene: the last frame of each beat, with its step and time.

    No video is rendered for it: a scene takes a few seconds.
    """
    from render.review import sheet as sheets

    failures = []
    wanted = shown(options, chosen(scenes))
    for done in sheets.write_all(wanted, out, height, jobs or usable_cores()):
        if isinstance(done, Path):
            print(done, flush=True)
        else:
            failures.append(done)
            print(done.line, file=sys.stderr, flush=True)
    end(failures)


@takes("lang", "lesson")
def compare(
    options: BuildOptions,
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A weight file.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The changed file, or another one.")],
    scenes: Scenes = None,
    out: Annotated[Path, _folder("Folder for the report.")] = OUT / "compare",
    height: Height = 540,
    jobs: Jobs = None,
) -> None:
    """Show what a change of weights does to the lecture.

    Which matrices and values of the passes change, which scenes would be rendered again and why,
    which numbers and sentences on screen change; in the terminal, and as one HTML file with
    old and new pictures side by side, which needs no network.
    No video is rendered: a scene that changes takes some seconds, one that does not a second.
    """
    from rich.console import Console

    from render.base.failure import attempts
    from render.review import compare as scene_by_scene
    from render.review import report, weights
    from scenes import lessons

    selected = sorted(chosen(scenes), key=lambda scene: scene.number)
    languages = several("--lang", options.lang, LANGUAGES)
    make_folder(out)
    console = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
    failures: list[Failure] = []
    for lesson, language in product(several("--lesson", options.lesson), languages):
        before, after = (lessons.settings(lesson, language, file) for file in (old, new))
        both = weights.compare(weights.passes_of(before), weights.passes_of(after))
        work = [scene_by_scene.Job(scene, before, after, height) for scene in selected]
        compared = []
        for job, done in attempts(scene_by_scene.compare, work, jobs or usable_cores()):
            if isinstance(done, Failure):
                failures.append(done)
                line = f"{job.scene.slug}: not compared: {done.line}"
                print(line, file=sys.stderr, flush=True)
            else:
                compared.append(done)
        if language == languages[0]:
            report.tell(both, compared, console)
        own = f"_{Path(lesson).stem}" if "," in options.lesson else ""
        path = out / f"{old.stem}_to_{new.stem}_{language}{own}.html"
        report.write(path, report.Names(old, new, lesson, language), both, compared)
        print(path.absolute(), flush=True)
    end(failures)


@takes("lang", "weights", "lesson", "track")
def script(
    options: BuildOptions,
    scenes: Scenes = None,
    out: Annotated[
        Path | None, option("FILE", "Write to this file; as JSON if the name ends in .json.")
    ] = None,
    missing: Annotated[
        Path | None, option("DIR", "Only sentences without a recording in this folder.")
    ] = None,
    record_draft: Annotated[
        Path | None,
        option(
            "DIR",
            "Speak it into a folder of recordings, to be replaced one by one by your "
            "own. Existing recordings are kept.",
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
    from render.voice import script as texts
    from scenes import registry

    settings = [job.settings for job in jobs_of(options)]
    if len(settings) > 1 and (missing or record_draft):
        field, expected = "--missing, --record-draft", "one language, lesson, track and weight file"
        refuse(None, field, expected, f"{len(settings)} of them")
    if scenes and options.track != "full":
        refuse(None, "--track", "no scenes beside it", " ".join(scenes))
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
    elif out is None:
        for line in texts.as_text(parts):
            print(line)


def test(context: typer.Context) -> None:
    """Run the checks of the project: ruff, mypy, and pytest on all cores; with --all everything
    that is slow, too.

    With other arguments, only pytest runs, and gets them: ./render.sh test -k chapters. The slow
    tests (real renders) run with -m slow.
    """
    arguments, cores = context.args, usable_cores()
    everything = arguments == ["--all"]
    with tempfile.TemporaryDirectory(prefix="t-") as folder:  # short: messages are cut at 200
        workers = ("-n", str(cores), "--dist", "worksteal")  # long tests come last
        pytest: tuple[str, ...] = ("pytest", "-q", *workers, "--basetemp", f"{folder}/t")
        if arguments and not everything:
            raise typer.Exit(_run((*pytest, *arguments)))
        if everything:
            os.environ["MUTATIONS"] = "all"
            pytest = (*pytest, "-m", "slow or not slow")
        began, code = time.monotonic(), 0
        minutes = math.ceil(_CORE_MINUTES[everything] / cores)
        print(
            f"test: about {minutes} min on {cores} core{'s' * (cores > 1)}; the longest step, "
            "pytest, shows a dot per test and how much of it is done in %",
            flush=True,
        )
        commands = (*_BEFORE, pytest)
        for number, command in enumerate(commands, start=1):
            code = _run(command, f"{number} of {len(commands)}: ") or code
    print(f"test: {'failed' if code else 'passed'} in {duration(time.monotonic() - began)}")
    raise typer.Exit(code)


test.__doc__ = flowing(test.__doc__ or "")
_BEFORE = (("ruff", "check", "."), ("ruff", "format", "--check", "."), ("mypy",))
#: minutes on one core of all checks, without and with the slow tests, as measured on a server
_CORE_MINUTES = {False: 14, True: 24}


def _run(command: Sequence[str], step: str = "+ ") -> int:
    print(f"{step}{' '.join(command)}", flush=True)
    return subprocess.run([sys.executable, "-m", *command], cwd=ROOT, check=False).returncode
