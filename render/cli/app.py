"""The command line: one app with a command for each purpose. Nothing slow is imported before it is
known to be needed."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from engine.errors import LectureError, from_os_error, one_line
from engine.output import give_up_output
from render.base.process import Stopped
from render.cli import look, share, text, upload
from render.cli.make import make

PROGRAM = "./render.sh"
_INTERRUPTED = 130  # exit code after Ctrl-C
_BROKEN_PIPE = 141  # exit code of what SIGPIPE ends: the reader, such as `head`, has had enough
_STOPPED = "stopped; finished videos are unchanged"
_WATCHED = bool(os.environ.get("LECTURE_WATCHED"))  # see render/build/watch.py
# No line longer than 78: help keeps these ends of lines, and terminals may have 80 columns.
_EPILOG = """[bold]Examples[/]
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


class Front(TyperGroup):
    """Takes anything but a command as arguments of ``make``: ``8 13`` is ``make 8 13``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        first = args[0] if args else ""
        if first not in (*self.commands, "--help", "--version"):
            if not first or first.startswith("-") or is_scene(first):
                args = ["make", *args]
            else:
                raise LectureError(
                    field="command or scene",
                    expected=f"an existing one ({PROGRAM} --help, {PROGRAM} list)",
                    found=f"{first!r}{_nearest(first, self.commands)}",
                )
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The commands, then the options of ``make``."""
        super().format_help(ctx, formatter)
        command = self.commands["make"]
        with command.make_context(PROGRAM, [], resilient_parsing=True) as own:
            command.format_help(own, formatter)


def is_scene(word: str) -> bool:
    """Whether a word is meant as a scene: a number, or part of a name."""
    from scenes.registry import available

    word = word.strip().lower()
    names = [scene.slug for scene in available()]
    classes = [scene.class_name.lower() for scene in available()]
    return word[:1].isdigit() or any(word in name for name in (*names, *classes))


def _nearest(word: str, commands: Any) -> str:
    import difflib

    from scenes.registry import available

    names = [*commands, "install", *(scene.slug[3:] for scene in available())]
    close = difflib.get_close_matches(word, names, n=2)
    return f" (did you mean {' or '.join(close)}?)" if close else ""


def _version(wanted: bool) -> None:
    if wanted:
        import importlib.metadata

        print(f"transformer-lecture {importlib.metadata.version('transformer-lecture')}")
        raise typer.Exit


app = typer.Typer(cls=Front, add_completion=False, rich_markup_mode="rich", no_args_is_help=False)


@app.callback()
def front(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_version, is_eager=True),
    ] = False,
) -> None:
    """The Transformer lecture as videos. Without a command: make them; the options are below.
    ./render.sh COMMAND --help has the options of each command; ./render.sh install adds packages
    that only some need."""


front.__doc__ = " ".join((front.__doc__ or "").split())
app.command(epilog=_EPILOG)(make)
app.command("list")(look.list_scenes)
for _command in (look.check, look.audit, look.sheet, look.compare, text.script, share.handout):
    app.command()(_command)
app.command(epilog=share.PAGE_EPILOG)(share.page)
app.command(epilog=share.PUBLISH_EPILOG)(share.publish)
app.command(epilog=upload.UPLOAD_EPILOG)(upload.upload)
app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(look.test)


def main() -> None:
    """Run the command line and exit: 0, or 1, 2, 130 (Ctrl-C), 143 (terminated)."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """The exit code of a command; every failure is one line."""
    try:
        code = app(arguments, prog_name=PROGRAM, standalone_mode=False) or 0
        if code == _INTERRUPTED:  # Typer has caught Ctrl-C itself
            raise KeyboardInterrupt
        sys.stdout.flush()
        return int(code)
    except LectureError as error:
        return _complain(str(error))
    except TyperException as error:
        told = getattr(error, "format_message", None)
        message = told() if told else str(error)
        return _complain(f"{message} (see {PROGRAM} --help)")
    except (BrokenPipeError, SystemExit):  # the latter is Typer's answer to the former
        give_up_output()
        return _BROKEN_PIPE
    except OSError as error:
        where = "standard output" if give_up_output() else error.filename or PROGRAM
        return _complain(str(from_os_error(error, where)))
    except (KeyboardInterrupt, typer.Abort):
        return _complain(_STOPPED, _INTERRUPTED)
    except Stopped as error:
        return _complain(_STOPPED, error.code)


def _complain(message: str, code: int = 2) -> int:
    if message == _STOPPED and (_WATCHED or "--watch" in sys.argv):
        return code
    print(f"render: {one_line(message)}", file=sys.stderr)
    return code


# Manim and NumPy read this when they are imported: the parent computes next to nothing.
os.environ.setdefault("OMP_NUM_THREADS", "1")
