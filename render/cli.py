"""The command line. Nothing slow is imported before it is known to be needed."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import TyperException

from engine.errors import LectureError, from_os_error, one_line
from render.cores import usable_cores
from render.quality import QUALITIES

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = "./render.sh"
_INTERRUPTED = 130  # exit code after Ctrl-C
_STOPPED = "stopped; finished videos are as they were"

_OPTIONS = {"add_completion": False, "rich_markup_mode": "rich"}
_EPILOG = """[bold]./render.sh list[/] shows the scenes, [bold]./render.sh test[/] runs the tests.

[bold]Examples[/]
./render.sh --quality draft            a quick look at everything
./render.sh 8 13 --lang en             two scenes in English
./render.sh --weights my.json          the lecture of your own numbers
./render.sh --quality high --out ~/week3

Exit codes: 0 all well; 1 a scene failed (its log is named); 2 something asked for cannot be.
LECTURE_FFMPEG names another ffmpeg."""

default_app = typer.Typer(**_OPTIONS)  # type: ignore[arg-type]
list_app = typer.Typer(**_OPTIONS)  # type: ignore[arg-type]
test_app = typer.Typer(**_OPTIONS)  # type: ignore[arg-type]


class QualityName(StrEnum):
    draft = "draft"
    standard = "standard"
    high = "high"
    uhd = "4k"


class Language(StrEnum):
    zh = "zh"
    en = "en"


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
            "Default: the tutorial's.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder for the videos, made if need be. Default: out/LANG_QUALITY, "
            "with _NAME for weights of your own.",
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
) -> None:
    """Render the Transformer lecture: an MP4 per scene, and all of them as lecture.mp4.

    Videos are H.264 1080p and the like, with keyframes, colour tags and sound as course platforms
    want them. Each is checked before it replaces an older one, so stopping at any time is safe.
    """
    import engine
    from render.session import Order, Session
    from scenes import registry

    everything = registry.available()
    chosen = {scene.number: scene for scene in map(registry.find, scenes or ())}
    chosen_scenes = tuple(chosen[number] for number in sorted(chosen)) or everything
    if not chosen_scenes:
        raise LectureError(field="scenes", expected="at least one in scenes/", found="none")
    file = Path(weights or engine.TUTORIAL).absolute()
    order = Order(
        scenes=chosen_scenes,
        everything=everything,
        quality=QUALITIES[quality.value],
        language=lang.value,
        weights=file,
        out=(out or default_folder(lang.value, quality.value, weights and file)).absolute(),
        jobs=jobs or usable_cores(),
    )
    raise typer.Exit(Session(order).run())


def default_folder(language: str, quality: str, weights: Path | None) -> Path:
    """A folder per kind of video, so that no two kinds mix: ``out/zh_standard``."""
    own = f"_{weights.stem}" if weights else ""
    return ROOT / "out" / f"{language}_{quality}{own}"


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


COMMANDS = {"list": list_app, "test": test_app}


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
