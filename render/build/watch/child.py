"""``python -m render.build.watch.child OPTION...``: one render of a ``--watch``.

Whatever goes wrong, also in a module that was just edited, is one line. It ends when its parent
does, and says nothing when it is stopped.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from render.build.incremental.state import State
    from render.build.order import Order

#: set in a child: it tells why it renders, and up-to-date scenes in one line
VARIABLE = "LECTURE_WATCHED"
_MOST = 4  # scenes named


def main() -> None:
    """As the front door, but for the above."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        from render.cli import app as cli

        cli.main()
    except Exception as error:
        print(f"render: {_told(error)}", file=sys.stderr)
        sys.exit(1)


def reasons(orders: Sequence[Order]) -> str:
    """What is about to be rendered and why, in a line; empty if nothing is."""
    from render.build.incremental.state import State

    state: State | None = None
    told = []
    for order in orders:
        state = State(order, state)
        for scene in order.scenes:
            why = state.reasons(scene)
            if why or order.force:
                name = order.video_name(scene)
                shown = f"{order.out.name}/{name}" if len(orders) > 1 else name
                told.append(f"{shown} ({why[0] if why else '--force'})")
    more = f" and {len(told) - _MOST} more" if len(told) > _MOST else ""
    return f"rendering {', '.join(told[:_MOST])}{more}" if told else ""


def _told(error: Exception) -> str:
    from engine.errors import one_line

    if isinstance(error, SyntaxError):
        return one_line(f"{error.filename}:{error.lineno}: {error.msg}")
    where = traceback.extract_tb(error.__traceback__)[-1]
    return one_line(f"{where.filename}:{where.lineno}: {type(error).__name__}: {error}")


def _end_with_parent() -> None:
    """The parent never writes: an end of stdin means that it is gone."""
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
