"""`python -m engine`: see `engine.cli`."""

import signal
import sys

from engine.cli import main
from engine.program import INTERRUPTED

if __name__ == "__main__":
    try:
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # see `engine`
            signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
