"""Being asked to stop, as an exception, so that everything is cleaned up on the way out."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Stopped(BaseException):
    """SIGTERM or SIGHUP came; ``code`` is the exit code that tells so."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = 128 + number


@contextmanager
def stoppable() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into an exception, so that everything is cleaned up."""

    def stop(number: int, _: FrameType | None) -> None:
        signal.signal(number, signal.SIG_IGN)
        raise Stopped(number)

    wanted = (signal.SIGTERM, signal.SIGHUP)
    heeded = [number for number in wanted if signal.getsignal(number) != signal.SIG_IGN]  # nohup
    before = {number: signal.signal(number, stop) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
