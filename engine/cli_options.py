"""What the command-line modules share: a parser that reports mistakes as everything else does."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NoReturn, TypeAlias

from engine.errors import LectureError

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
