"""The command line. Nothing slow is imported before it is known to be needed."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, ParamSpec, TypeVar

import typer
from typer.exceptions import TyperException

from engine.errors import LectureError, from_os_error, one_line
from engine.output import give_up_output
from render.base.cores import usable_cores
from render.build.store.choice import DEFAULT_SIZE, choose
from render.cli import commands
from render.cli import compare as comparing
from render.cli import page as paging
from render.cli import publish as publishing
from render.cli import upload as uploading
from render.cli.handout import handout
from render.cli.voice import script

PROGRAM = "./render.sh"
_INTERRUPTED = 130  # exit code after Ctrl-C
_BROKEN_PIPE = 141  # exit code of what SIGPIPE ends: the reader, such as `head`, has had enough
_STOPPED = "stopped; finished videos are as they were"
WATCHED = bool(os.environ.get("LECTURE_WATCHED"))  # see render/build/watch/child.py

_P = ParamSpec("_P")
_R = TypeVar("_R")
_OPTIONS = {"add_completion": False, "rich_markup_mode": "rich"}
# No line longer than 78: help keeps these ends of lines, and terminals may have 80 columns.
_EPILOG = """[bold]./render.sh list[/] shows the scenes, [bold]sheet[/] draws contact sheets,
[bold]audit[/] checks every number and every picture,
[bold]script[/] prints what to read aloud, [bold]compare[/] shows what other weights change,
[bold]test[/] runs the tests, [bold]install[/] adds packages that only some need,
[bold]page[/] makes a folder for a memory stick or a web server,
[bold]handout[/] the text to print, [bold]publish[/] and [bold]upload[/] are for platforms.
[bold]./render.sh COMMAND --help[/] has the options of each.

[bold]Examples[/]
./render.sh --quality draft            a quick look at everything
./render.sh 8 13 --lang en             two scenes in English
./render.sh --weights my.json          the lecture of your own numbers
./render.sh --weights 'runs/*.json' --lang zh,en    one of each, in both
./render.sh --quality high --out ~/week3
./render.sh --track training           scenes 1 and 3-14 as one film
./render.sh --explain                  what would be rendered, and why
./render.sh --watch 8                  again whenever something is saved

Exit codes: 0 all well; 1 a scene failed (its log is named), or a recording
is missing or cannot be used (each is named); 2 something asked for cannot be.
LECTURE_FFMPEG names another ffmpeg."""

default_app = typer.Typer(**_OPTIONS)  # type: ignore[arg-type]
list_app = typer.Typer(**_OPTIONS)  # type: ignore[arg-type]
audit_app = typer.Typer(**_OPTIONS)  # type: ignore[arg-type]
script_app = typer.Typer(**_OPTIONS)  # type: ignore[arg-type]
compare_app = typer.Typer(**_OPTIONS)  # type: ignore[arg-type]
sheet_app = typer.Typer(**_OPTIONS)  # type: ignore[arg-type]
publish_app = typer.Typer(**_OPTIONS)  # type: ignore[arg-type]
upload_app = typer.Typer(**_OPTIONS)  # type: ignore[arg-type]
test_app = typer.Typer(**_OPTIONS)  # type: ignore[arg-type]
handout_app = typer.Typer(**_OPTIONS)  # type: ignore[arg-type]
page_app = typer.Typer(**_OPTIONS)  # type: ignore[arg-type]


def _flowing(command: Callable[_P, _R]) -> Callable[_P, _R]:
    """With a docstring whose paragraphs have no ends of lines, which help would keep."""
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    command.__doc__ = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    return command


class Language(StrEnum):
    zh = "zh"
    en = "en"


class RendererName(StrEnum):
    fast = "fast"
    plain = "plain"


@default_app.command(epilog=_EPILOG, no_args_is_help=False)
@_flowing
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
        str,
        typer.Option(
            metavar="NAME,...",
            help="draft 480p15, standard 1080p30, high 1080p60, 4k 2160p60.",
        ),
    ] = "standard",
    lang: Annotated[
        str,
        typer.Option(
            metavar="zh|en,...",
            help="Language of everything on screen.",
        ),
    ] = "zh",
    weights: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="A weight file, .json, .npz or .safetensors (docs/weights.md), or many: "
            "'checkpoints/*.json'. Default: the lesson's.",
            show_default=False,
        ),
    ] = None,
    track: Annotated[
        str,
        typer.Option(
            metavar="NAME,...",
            help="full: all scenes. training: scenes 1 and 3-14. inference: scenes 15-19.",
        ),
    ] = "full",
    lesson: Annotated[
        str,
        typer.Option(
            metavar="NAME,...",
            help="tutorial: the figures as the tutorial prints them, its inference pages with "
            "weights of their own. consistent: one set of weights. Or a .toml file of yours.",
        ),
    ] = "tutorial",
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder for the videos, made if need be. Default: out/LANG_QUALITY, "
            "with _NAME for a lesson or weights of your own; with DIR, that in DIR where several "
            "kinds of video are made.",
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
    store: Annotated[
        str | None,
        typer.Option(
            metavar="DIR|URL|none",
            help="Where finished scenes are kept, so that other weights, folders or machines can "
            "have them back (docs/incremental.md). Default: LECTURE_STORE, or a cache folder.",
            show_default=False,
        ),
    ] = None,
    store_size: Annotated[
        str,
        typer.Option(metavar="SIZE", help="What was not used for longest leaves the store first."),
    ] = DEFAULT_SIZE,
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Then wait, and render again whenever something is saved."),
    ] = False,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Render on a Dask cluster: tcp://HOST:PORT, with a --store that its workers "
            "reach, or local:N for N workers here (docs/cluster.md).",
            show_default=False,
        ),
    ] = None,
    renderer: Annotated[
        RendererName,
        typer.Option(help="fast draws only what changes; plain is Manim's own, for comparison."),
    ] = RendererName.fast,
    voice: Annotated[
        str,
        typer.Option(
            metavar="WHO",
            help="none. recordings:DIR, your own: DIR/08_attention_scores/scale.wav and so on. "
            "draft, a synthetic voice, to hear the timing. Or module:Class (docs/voice.md).",
        ),
    ] = "none",
    burn_captions: Annotated[
        Language | None,
        typer.Option(
            help="Draw captions in this language into the pictures as well (docs/captions.md).",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Render the Transformer lecture: an MP4 per scene, and all of them as lecture.mp4
    (lecture_training.mp4 and lecture_inference.mp4 for those tracks).

    Options that end in ,... take several values, --weights also patterns and several times: every
    combination is rendered, as one list of jobs, each into a folder of its own. Nothing begins
    before all weight files have been looked at.

    Only what is missing or has changed is rendered: a scene whose numbers, sentences and code are
    as they were keeps its video.

    Videos are H.264 1080p and the like, with keyframes, colour tags and sound as course platforms
    want them. Each is checked before it replaces an older one, so stopping at any time is safe.
    """
    from render.build.combinations import Wish, orders

    wish = Wish(
        scenes=scenes,
        quality=quality,
        lang=lang,
        weights=weights,
        track=track,
        lesson=lesson,
        out=out,
        jobs=jobs or usable_cores(),
        force=force,
        renderer=renderer.value,
        voice=voice,
        cluster=cluster,
        store=choose(store, store_size),
        burn=burn_captions.value if burn_captions else "",
    )
    ordered = orders(wish)
    if explain:
        from render.build.incremental.explain import lines

        for line in lines(ordered):
            print(line)
        return
    if watch:
        from render.build.watch.loop import Loop

        raise typer.Exit(Loop(wish, ordered, [a for a in sys.argv[1:] if a != "--watch"]).run())
    from render.build.session import Session
    from render.cli.closing import closing_lines

    if WATCHED:
        from render.build.watch.child import reasons

        print(one_line(reasons(ordered) or "nothing is to be rendered"), flush=True)
    session = Session(*ordered)
    code = session.run()
    if code == 0 and session.made_one_film and not WATCHED:
        print(*map(one_line, closing_lines(wish, ordered[0])), sep="\n")
    raise typer.Exit(code)


@list_app.command()
def list_scenes() -> None:
    """Show the scenes: number, name, the tutorial's steps it tells, titles in both languages."""
    from render.cli.listing import lines

    for line in lines():
        print(line)


@test_app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
@_flowing
def test(context: typer.Context) -> None:
    """Run the checks of the project: ruff, mypy, and pytest on all cores.

    With arguments, only pytest runs, and gets them: ./render.sh test -k chapters. The slow tests
    (real renders) run with -m slow, and always where CI=true.
    """
    from render.cli.testing import run_checks

    raise typer.Exit(run_checks(list(context.args)))


audit_app.command()(_flowing(commands.audit))
sheet_app.command()(_flowing(commands.sheet))
compare_app.command()(_flowing(comparing.compare))
handout_app.command()(_flowing(handout))
script_app.command()(_flowing(script))
page_app.command(epilog=paging.EPILOG)(_flowing(paging.page))
publish_app.command(epilog=publishing.EPILOG)(_flowing(publishing.publish))
upload_app.command(epilog=uploading.EPILOG)(_flowing(uploading.upload))

COMMANDS = {"list": list_app, "audit": audit_app, "sheet": sheet_app, "test": test_app}
COMMANDS |= {"publish": publish_app, "upload": upload_app}
COMMANDS |= {"compare": compare_app}
COMMANDS |= {"handout": handout_app, "page": page_app}
COMMANDS |= {"script": script_app}


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
        sys.stdout.flush()
        return code
    except LectureError as error:
        return _complain(str(error))
    except TyperException as error:
        told = getattr(error, "format_message", None)
        message = told() if told else str(error)
        return _complain(f"{message} (see {program} --help)")
    except (BrokenPipeError, SystemExit):  # the latter is Typer's answer to the former
        give_up_output()
        return _BROKEN_PIPE
    except OSError as error:
        where = "standard output" if give_up_output() else error.filename or program
        return _complain(str(from_os_error(error, where)))
    except (KeyboardInterrupt, typer.Abort):
        return _complain(_STOPPED, _INTERRUPTED)
    except BaseException as error:
        code = getattr(error, "code", None)  # signals.Stopped, not imported for this alone
        if not isinstance(code, int):
            raise
        return _complain(_STOPPED, code)


def _complain(message: str, code: int = 2) -> int:
    if message == _STOPPED and (WATCHED or "--watch" in sys.argv):
        return code
    print(f"render: {one_line(message)}", file=sys.stderr)
    return code


# Manim and NumPy read this when they are imported: the parent computes next to nothing.
os.environ.setdefault("OMP_NUM_THREADS", "1")
