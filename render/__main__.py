"""``python -m render``: what ``render.sh`` runs once the environment stands."""

import os
import signal
import sys


def _stop(*_: object) -> None:
    """Answer Ctrl-C where nothing has begun: imports are cut short, which may raise anything."""
    if not (os.environ.get("LECTURE_WATCHED") or "--watch" in sys.argv):
        os.write(2, b"render: stopped; finished videos are unchanged\n")
    os._exit(130)


if __name__ == "__main__":
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not in the background
        signal.signal(signal.SIGINT, _stop)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # see render.sh
    try:
        from render.cli.app import main

        if signal.getsignal(signal.SIGINT) is _stop:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        main()
    except KeyboardInterrupt:
        _stop()
    except Exception as error:
        if not os.environ.get("LECTURE_WATCHED"):
            raise
        from render.base.failure import Failure

        print(f"render: {Failure.of(error).line}", file=sys.stderr)
        sys.exit(1)
