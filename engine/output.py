"""What is left in standard output when a program ends."""

from __future__ import annotations

import os
import sys
from contextlib import suppress


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
