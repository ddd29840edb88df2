"""What the command-line modules share: options of several commands, and how an app is run."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from engine import program
from engine.errors import LectureError
from engine.files import save_weights
from engine.weights import Weights

PROGRAM = "python -m engine"

WeightsFile = Annotated[Path, typer.Option("--weights", metavar="FILE", help="A weight file.")]
Source = Annotated[str, typer.Option(help="The source sentence.")]
Target = Annotated[str, typer.Option(help="The target sentence.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that exists.")]
Result = Annotated[Path, typer.Argument(help="A name ending in .json, .npz or .safetensors.")]


def one_of(allowed: Collection[Any], help: str | None = None) -> Any:
    """An option whose value is one of some words."""

    def parse(value: str) -> str:
        if value not in allowed:
            raise typer.BadParameter(f"expected {', '.join(allowed)}; found {value!r}")
        return value

    return typer.Option(parser=parse, metavar="|".join(allowed), help=help)


def word(part: str) -> Any:
    """An option for a word of the vocabulary that has a part of its own."""
    return typer.Option(metavar="WORD", help=f"The word that {part}.")


Bos = Annotated[str | None, word("begins a target")]
Eos = Annotated[str | None, word("ends a target")]
Pad = Annotated[str | None, word("fills up sentences")]
Unk = Annotated[str | None, word("stands for unknown words")]
SourceBos = Annotated[bool, typer.Option("--source-bos", help="It begins the source, too.")]
SourceEos = Annotated[bool, typer.Option("--source-eos", help="It ends the source, too.")]


def new_app() -> typer.Typer:
    """An app whose help is plain text and whose mistakes are left to :func:`run`."""
    return typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def run(app: typer.Typer, arguments: Sequence[str] | None = None) -> int:
    """Run one command; see :func:`engine.program.run`. UTF-8 in any locale, for words like 我."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    return program.run(app, given, PROGRAM, "error", "utf-8", "standard output")


def exclude(command: str, first: str, second: str, *given: bool) -> None:
    """Raise LectureError where two options are given that exclude each other."""
    if all(given):
        expected = f"only one of {first} and {second}"
        raise LectureError(where=command, field=second, expected=expected, found="both")


def save(weights: Weights, result: Path, force: bool) -> None:
    """Write a file that must be new unless ``force``. Raises LectureError."""
    check_new(result, force)
    save_weights(weights, result)


def check_new(result: Path, force: bool) -> None:
    """Raise LectureError where a file exists that is not to be replaced."""
    if not force and result.exists():
        raise LectureError(
            where=result,
            field="file",
            expected="a new name, or --force to replace it",
            found="a file that exists",
        )


def described(weights: Weights) -> str:
    """The sizes of a model, for a line."""
    config = weights.config
    return (
        f"d_model {config.d_model}, {config.heads} heads, {len(config.encoder)} encoder and "
        f"{len(config.decoder)} decoder layers"
    )
