"""The command line: one app with a command for each purpose. Nothing slow is imported before it is
known to be needed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from engine import program
from engine.reader import refuse
from render.base.process import Stopped, stoppable
from render.cli import look, share
from render.cli.make import make

PROGRAM = "./render.sh"
_WATCHED = bool(os.environ.get("LECTURE_WATCHED"))  # see render/build/watch.py
# No line longer than 78: help keeps these ends of lines, and terminals may have 80 columns.
_HELP = (
    "The Transformer lecture as videos. Without a command: make them; the options are below. "
    "./render.sh COMMAND --help has the options of each command; ./render.sh install adds packages "
    "that only some need."
)
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
            args = ["make", *args]
            if first and not first.startswith("-"):
                _check_is_scene(first, self.commands)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The commands, then the options of ``make``."""
        super().format_help(ctx, formatter)
        command = self.commands["make"]
        with command.make_context(PROGRAM, [], resilient_parsing=True) as own:
            command.format_help(own, formatter)


def _check_is_scene(word: str, commands: Iterable[str]) -> None:
    """Raises LectureError for a word that is neither a number nor part of a scene's name, with the
    scenes and commands that are spelled like it."""
    import difflib

    from scenes.registry import available

    scenes, said = available(), word.strip().lower()
    names = [name for scene in scenes for name in (scene.slug, scene.class_name.lower())]
    if not said[:1].isdigit() and not any(said in name for name in names):
        known = [*commands, "install", *(scene.slug[3:] for scene in scenes)]
        close = difflib.get_close_matches(word, known, n=2)
        near = f" (did you mean {' or '.join(close)}?)" if close else ""
        expected = f"an existing one ({PROGRAM} --help, {PROGRAM} list)"
        refuse(None, "command or scene", expected, f"{word!r}{near}")


def _version(wanted: bool) -> None:
    if wanted:
        import importlib.metadata

        print(f"transformer-lecture {importlib.metadata.version('transformer-lecture')}")
        raise typer.Exit


app = typer.Typer(cls=Front, add_completion=False, rich_markup_mode="rich", no_args_is_help=False)
Version = Annotated[
    bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
]


@app.callback(help=_HELP)
def front(version: Version = False) -> None:
    """The options before any command."""


app.command(epilog=_EPILOG)(make)
app.command("list")(look.list_scenes)
for _command in (look.check, look.audit, look.sheet, look.compare, look.script, share.handout):
    app.command()(_command)
app.command(epilog=share.PAGE_EPILOG)(share.page)
app.command(epilog=share.PUBLISH_EPILOG)(share.publish)
app.command(epilog=share.UPLOAD_EPILOG)(share.upload)
app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(look.test)


def main() -> None:
    """Run the command line and exit: 0, or 1, 2, 130 (Ctrl-C), 143 (terminated)."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """The exit code of a command; every failure is one line."""
    try:
        with stoppable():
            code = program.run(app, arguments, PROGRAM, "render")
        stopped = code == program.INTERRUPTED
    except Stopped as error:
        code, stopped = error.code, True
    if stopped and not (_WATCHED or "--watch" in sys.argv):
        program.complain("render", "stopped; finished videos are unchanged")
    return code


# Manim and NumPy read this when they are imported: the parent computes next to nothing.
os.environ.setdefault("OMP_NUM_THREADS", "1")
try:
    Path.home()
except RuntimeError:  # Manim wants one when it is imported, but needs nothing from it
    os.environ["HOME"] = os.devnull
