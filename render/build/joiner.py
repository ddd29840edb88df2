"""When the films of a run are joined."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from render.build.combination import Combination


class Joiner:
    """Joins films: ``beside`` the drawing so many at a time, so that no worker has to wait for one;
    with 0, one after the other at the end, so that a run that is stopped stops at once."""

    def __init__(self, join: Callable[[Combination], None], beside: int) -> None:
        self._join = join
        self._thread = ThreadPoolExecutor(beside) if beside else None
        self._films: list[Callable[[], None]] = []

    def join(self, combination: Combination) -> None:
        if self._thread:
            self._films.append(self._thread.submit(self._join, combination).result)
        else:
            self._films.append(partial(self._join, combination))

    def __enter__(self) -> Joiner:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Wait for the films; if the run is given up, for none."""
        try:
            for film in self._films if kind is None else ():
                film()
        finally:
            if self._thread:
                self._thread.shutdown(wait=False, cancel_futures=True)
