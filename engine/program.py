"""How a command line ends: a mistake is one line on standard error, and the exit code says so."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

import typer
from typer.exceptions import TyperException

from engine.errors import LectureError, from_os_error, one_line

MISTAKE = 2
INTERRUPTED = 130  # what a shell reports for a program ended by Ctrl-C
_BROKEN_PIPE = 141  # and for one ended by SIGPIPE: the reader, such as `head`, has had enough


def run(
    app: typer.Typer,
    arguments: Sequence[str],
    program: str,
    name: str,
    encoding: str | None = None,
    where: str = "",
) -> int:
    """Run a command of ``program``. Exit code: what the command returned (none: 0), or 2 for a
    mistake, told on a line that begins with ``name``. ``encoding``: of the output, if not that of
    the locale; ``where``: what is written to where a failure does not say."""
    try:
        _open_output(encoding)
        code = int(app(arguments, prog_name=program, standalone_mode=False) or 0)
        if code != INTERRUPTED:  # else Typer has caught Ctrl-C
            sys.stdout.flush()
        return code
    except LectureError as error:
        message = str(error)
    except TyperException as error:
        told = getattr(error, "format_message", None)
        message = " ".join(f"{told() if told else error} (see {program} --help)".split())
    except (BrokenPipeError, SystemExit):  # the latter is Typer's answer to the former
        give_up_output()
        return _BROKEN_PIPE
    except OSError as error:
        at = "standard output" if give_up_output() else error.filename or where or program
        message = str(from_os_error(error, at))
    except MemoryError:
        message = str(LectureError(where=program, field="memory", found="not enough of it"))
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    complain(name, message)
    return MISTAKE


def complain(name: str, message: str) -> None:
    """One line on standard error."""
    if sys.stderr is not None:  # else `print` would use standard output
        print(f"{name}: {one_line(message)}", file=sys.stderr)


def _open_output(encoding: str | None) -> None:
    """No character of ours stops the program, whatever the locale."""
    if sys.stdout is None:
        raise LectureError(where="standard output", expected="open", found="closed")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def give_up_output() -> bool:
    """After an OSError: whether standard output cannot be written to.

    If so, what it still holds goes nowhere: the interpreter flushes it again at exit, and a second
    failure there would print words of its own and change the exit code to 120.
    """
    try:
        sys.stdout.flush()
    except (OSError, ValueError):  # ValueError: it is closed
        with suppress(OSError, ValueError):  # it may be no file
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)
        return True
    return False
