"""What the command-line modules share: a parser that reports mistakes as everything else does."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, TypeAlias

from engine.errors import LectureError
from engine.files import save_weights
from engine.weights import Weights

Command = Callable[[argparse.Namespace], int]


class Parser(argparse.ArgumentParser):
    """argparse, but a wrong call is one line like every other mistake."""

    def error(self, message: str) -> NoReturn:
        """Raise LectureError instead of printing the usage."""
        raise LectureError(where=self.prog, field=f"{message} (see --help)")


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


def add_command(commands: Commands, name: str, run: Command | None, summary: str) -> Parser:
    """A sub-command that calls `run` with the options; its exit code is what `run` returns."""
    command = commands.add_parser(name, help=summary, description=summary, allow_abbrev=False)
    if run is not None:
        command.set_defaults(command=run)
    return command


def force_option(command: Parser) -> None:
    """The option that `save` asks for where the file exists."""
    command.add_argument("--force", action="store_true", help="replace a file that exists")


def save(weights: Weights, options: argparse.Namespace) -> None:
    """Write `options.result`, which must be new unless there is --force. Raises LectureError."""
    if not options.force and Path(options.result).exists():
        raise LectureError(
            where=options.result,
            field="file",
            expected="a new name, or --force to replace it",
            found="a file that exists",
        )
    save_weights(weights, options.result)
