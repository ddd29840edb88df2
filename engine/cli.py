"""The command line: `python -m engine trace|generate|gradients|weights|errata`.

Results go to standard output, as JSON or text. A mistake is one line on standard error and exit
code 2; nothing shows a traceback.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

import engine
from engine import cli_weights, errata
from engine.backward import TARGETS
from engine.cli_options import Parser, add_command
from engine.errors import LectureError, from_os_error
from engine.generation import START, STEPS
from engine.output import give_up_output
from engine.weights import OBJECTIVES

PROGRAM = "python -m engine"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code: 0, 1 if two weight files differ, 2 for a mistake."""
    try:
        _open_output()
        code = _run(arguments)
        sys.stdout.flush()
        return code
    except LectureError as error:
        return _fail(error)
    except BrokenPipeError:  # the reader, such as `head`, has had enough
        give_up_output()
        return 141  # what a shell reports for a program ended by SIGPIPE
    except OSError as error:
        give_up_output()
        return _fail(from_os_error(error, "standard output"))
    except MemoryError:
        return _fail(LectureError(where=PROGRAM, field="memory", found="not enough of it"))
    except KeyboardInterrupt:
        return 130


def _run(arguments: Sequence[str] | None) -> int:
    try:
        options = parser().parse_args(arguments)
    except SystemExit as done:  # --help has been printed
        return int(done.code or 0)
    return int(options.command(options))


def _open_output() -> None:
    """UTF-8 in any locale, for words like 我."""
    if sys.stdout is None:
        raise LectureError(where="standard output", expected="open", found="closed")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _fail(error: LectureError) -> int:
    if sys.stderr is not None:  # else `print` would use standard output
        print(f"error: {error}", file=sys.stderr)
    return 2


def parser() -> Parser:
    """All commands and their options."""
    top = Parser(prog=PROGRAM, description=engine.__doc__, allow_abbrev=False)
    top.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    command = add_command(commands, "trace", _trace, "print every value of a pass as JSON")
    _model_options(command)
    group = command.add_mutually_exclusive_group()
    group.add_argument("--target", default=engine.TARGET, help="the whole target (%(default)s)")
    group.add_argument("--decode", metavar="PREFIX", help="an inference pass over these words")
    command = add_command(commands, "generate", _generate, "decode greedily, a JSON line per step")
    _model_options(command)
    start = f"the first words of the target (the model's start token, or else {START})"
    command.add_argument("--start", help=start)
    steps = f"how many tokens ({STEPS}; with an end token, until the model writes it)"
    command.add_argument("--steps", type=int, help=steps)
    command.add_argument("--uncached", action="store_true", help="a whole pass for every token")
    command = add_command(commands, "gradients", _gradients, "print gradients of the mean loss")
    _model_options(command)
    command.add_argument("--target", default=engine.TARGET, help="the target (%(default)s)")
    meaning = "next: a row writes the following token; copy: the one it has read; also called "
    meaning += "shifted and as-printed; default: the model's own objective"
    command.add_argument("--targets", choices=[*OBJECTIVES, *TARGETS], help=meaning)
    command = add_command(commands, "weights", None, "check, convert, compare, create weight files")
    cli_weights.add_commands(command.add_subparsers(required=True, metavar="COMMAND"))
    add_command(commands, "errata", _errata, "compute docs/errata.md and print it")
    return top


def _model_options(command: Parser) -> None:
    command.add_argument(
        "--weights", metavar="FILE", default=engine.TUTORIAL, help="a weight file (%(default)s)"
    )
    command.add_argument(
        "--source", default=engine.SOURCE, help="the source sentence (%(default)s)"
    )


def _trace(options: argparse.Namespace) -> int:
    weights = engine.load_weights(options.weights)
    if options.decode is None:
        trace = engine.training_pass(weights, options.source, options.target)
    else:
        trace = engine.inference_pass(weights, options.decode, options.source)
    _print_arrays(trace)
    return 0


def _generate(options: argparse.Namespace) -> int:
    weights = engine.load_weights(options.weights)
    cached = not options.uncached
    for step in engine.generate(weights, options.source, options.start, options.steps, cached):
        document = {
            "input": step.input,
            "logits": step.logits.tolist(),
            "probabilities": step.probabilities.tolist(),
            "choice": step.choice,
        }
        print(json.dumps(document, ensure_ascii=False))
    return 0


def _gradients(options: argparse.Namespace) -> int:
    weights = engine.load_weights(options.weights)
    _print_arrays(engine.gradients(weights, options.source, options.target, options.targets))
    return 0


def _print_arrays(arrays: Mapping[str, NDArray[Any]]) -> None:
    """One JSON object, a name on each line, every float with all its digits."""
    lines = [f"{json.dumps(name)}: {json.dumps(array.tolist())}" for name, array in arrays.items()]
    print("{\n" + ",\n".join(lines) + "\n}")


def _errata(_: argparse.Namespace) -> int:
    print(errata.page(), end="")
    return 0
