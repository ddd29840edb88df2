"""The command line. Nothing slow is imported before it is known to be needed."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.exceptions import TyperException

from engine.errors import LectureError, from_os_error, one_line
from render import commands
from render.cores import usable_cores
from render.quality import QUALITIES

if TYPE_CHECKING:
    from scenes.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = "./render.sh"
_INTERRUPTED = 130  # exit code after Ctrl-C
_STOPPED = "stopped; finished videos are as they were"

_OPTIONS = {"add_completion": False, "rich_markup_mode": "rich"}
_EPILOG = """[bold]./render.sh list[/] shows the scenes, [bold]sheet[/] draws contact sheets,
[bold]audit[/] checks every number and every picture, [bold]test[/] runs the tests,
[bold]install[/] adds packages that only some need.

[bold]Examples[/]
./render.sh --quality draft            a quick look at everything
./render.sh 8 13 --lang en             two scenes in English
./render.sh --weights my.json          the lecture of your own numbers
./render.sh --quality high --out ~/week3
./render.sh --track training           scenes 1 and 3-14 as one film
./render.sh --explain                  what would be rendered, and why

Exit codes: 0 all well; 1 a scene failed (its log is named); 2 something asked for cannot be.
LECTURE_FFMPEG names another ffmpeg."""

default_app = typer.Typer(**_OPTIONS)  # type: ignore[arg-type]
list_app = typer.Typer(**_OPTIONS)  # type: ignore[arg-type]
audit_app = typer.Typer(**_OPTIONS)  # type: ignore[arg-type]
sheet_app = typer.Typer(**_OPTIONS)  # type: ignore[arg-type]
test_app = typer.Typer(**_OPTIONS)  # type: ignore[arg-type]


class QualityName(StrEnum):
    draft = "draft"
    standard = "standard"
    high = "high"
    uhd = "4k"


class Language(StrEnum):
    zh = "zh"
    en = "en"


class RendererName(StrEnum):
    fast = "fast"
    plain = "plain"


class Track(StrEnum):
    full = "full"
    training = "training"
    inference = "inference"


@default_app.command(epilog=_EPILOG, no_args_is_help=False)
def render(
    scenes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SCENE]...",
            help="Numbers or names (8, attention_scores, cross). None: all scenes there are.",
            show_default=False,
        ),
    ] = None,
    quality: Annotated[
        QualityName,
        typer.Option(help="draft 480p15, standard 1080p30, high 1080p60, 4k 2160p60."),
    ] = QualityName.standard,
    lang: Annotated[Language, typer.Option(help="Language of everything on screen.")] = Language.zh,
    weights: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A weight file, .json, .npz or .safetensors (docs/weights.md). "
            "Default: the lesson's.",
            show_default=False,
        ),
    ] = None,
    track: Annotated[
        Track,
        typer.Option(
            help="full: all scenes. training: scenes 1 and 3-14. inference: scenes 15-19."
        ),
    ] = Track.full,
    lesson: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="tutorial: the figures as the tutorial prints them, its inference pages with "
            "weights of their own. consistent: one set of weights. Or a .toml file of yours.",
        ),
    ] = "tutorial",
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder for the videos, made if need be. Default: out/LANG_QUALITY, "
            "with _NAME for a lesson or weights of your own.",
            show_default=False,
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=64,
            help="Scenes rendered at the same time. Default: as many as there are cores.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Also what is up to date.")] = False,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Render nothing; say what would be rendered, and why."),
    ] = False,
    renderer: Annotated[
        RendererName,
        typer.Option(help="fast draws only what changes; plain is Manim's own, for comparison."),
    ] = RendererName.fast,
) -> None:
    """Render the Transformer lecture: an MP4 per scene, and all of them as lecture.mp4
    (lecture_training.mp4 and lecture_inference.mp4 for those tracks).

    Only what is missing or has changed is rendered: a scene whose numbers, sentences and code are
    as they were keeps its video.

    Videos are H.264 1080p and the like, with keyframes, colour tags and sound as course platforms
    want them. Each is checked before it replaces an older one, so stopping at any time is safe.
    """
    from render.order import Order
    from scenes import lessons, registry

    settings = lessons.settings(lesson, lang.value, weights, track.value)
    chosen = {scene.number: scene for scene in map(registry.find, scenes or ())}
    film = registry.film(track.value)
    order = Order(
        scenes=tuple(chosen[number] for number in sorted(chosen)) or film,
        everything=film,
        quality=QUALITIES[quality.value],
        settings=settings,
        out=(out or default_folder(settings, quality.value, lesson, weights)).absolute(),
        jobs=jobs or usable_cores(),
        force=force,
        renderer=renderer.value,
    )
    if explain:
        from render.incremental.explain import lines

        for line in lines(order):
            print(line)
        return
    from render.session import Session

    raise typer.Exit(Session(order).run())


def default_folder(settings: Settings, quality: str, lesson: str, weights: Path | None) -> Path:
    """A folder per kind of video, so that no two kinds mix: ``out/zh_standard``."""
    own = f"_{Path(lesson).stem}" if lesson != "tutorial" else ""
    own += f"_{weights.stem}" if weights else ""
    return ROOT / "out" / f"{settings.language}_{quality}{own}"


@list_app.command()
def list_scenes() -> None:
    """Show the scenes: number, name, the tutorial's steps it tells, titles in both languages."""
    from render.listing import lines

    for line in lines():
        print(line)


@test_app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def test(context: typer.Context) -> None:
    """Run the checks of the project: ruff, mypy, and pytest on all cores.

    With arguments, only pytest runs, and gets them: ./render.sh test -k chapters. The slow tests
    (real renders) run with -m slow, and always where CI=true.
    """
    from render.testing import run_checks

    raise typer.Exit(run_checks(list(context.args)))


audit_app.command()(commands.audit)
sheet_app.command()(commands.sheet)

COMMANDS = {"list": list_app, "audit": audit_app, "sheet": sheet_app, "test": test_app}


def main() -> None:
    """Run the command line and exit: 0, or 1, 2, 130 (Ctrl-C), 143 (terminated)."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    arguments = sys.argv[1:]
    app, program = default_app, PROGRAM
    if arguments and arguments[0] in COMMANDS:
        app, program = COMMANDS[arguments[0]], f"{PROGRAM} {arguments.pop(0)}"
    sys.exit(_run(app, arguments, program))


def _run(app: typer.Typer, arguments: list[str], program: str) -> int:
    try:
        code = app(arguments, prog_name=program, standalone_mode=False) or 0
        if code == _INTERRUPTED:  # Typer has caught Ctrl-C itself
            raise KeyboardInterrupt
        return code
    except LectureError as error:
        return _complain(str(error))
    except TyperException as error:
        told = getattr(error, "format_message", None)
        message = told() if told else str(error)
        return _complain(f"{message} (see {program} --help)")
    except OSError as error:
        return _complain(str(from_os_error(error, error.filename or program)))
    except (KeyboardInterrupt, typer.Abort):
        return _complain(_STOPPED, _INTERRUPTED)
    except BaseException as error:
        code = getattr(error, "code", None)  # signals.Stopped, not imported for this alone
        if not isinstance(code, int):
            raise
        return _complain(_STOPPED, code)


def _complain(message: str, code: int = 2) -> int:
    print(f"render: {one_line(message)}", file=sys.stderr)
    return code


# Manim and NumPy read this when they are imported: the parent computes next to nothing.
os.environ.setdefault("OMP_NUM_THREADS", "1")
