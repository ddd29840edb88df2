"""The waiting of ``--watch``: starts a render, and another whenever something is saved."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from engine.errors import LectureError, from_os_error, one_line
from render.base.signals import stoppable
from render.build.combinations import Wish
from render.build.order import Order
from render.build.watch.child import VARIABLE
from render.build.watch.sources import Sources

_QUIET_MS = 150  # nothing was saved for that long
_LATEST_MS = 2000  # after the first of many
_PATIENCE = 15.0  # seconds that a render may take to stop
_WAITING = "waiting until weights, texts, a lesson or code are saved; Ctrl-C ends"
_NAMED = 3

Saved = list[Path]


class Loop:
    """``arguments``: the options of each render. Something saved while it runs stops it, since
    what it would still make is out of date; what it has finished stays."""

    def __init__(self, wish: Wish, orders: Sequence[Order], arguments: Sequence[str]) -> None:
        self._sources = Sources(wish, orders)
        self._arguments = list(arguments)
        self._events: queue.Queue[Saved | subprocess.Popen[bytes] | LectureError] = queue.Queue()
        self._render: subprocess.Popen[bytes] | None = None

    def run(self) -> int:
        """Until Ctrl-C (130) or a signal, which comes through as an exception."""
        with stoppable(), self._watched(), self._stopped_at_the_end():
            self._start()
            try:
                while True:
                    self._heed(self._events.get())
            except KeyboardInterrupt:
                return 128 + signal.SIGINT

    def _heed(self, event: Saved | subprocess.Popen[bytes] | LectureError) -> None:
        if isinstance(event, LectureError):
            raise event
        if isinstance(event, list):
            self._saved(event)
        elif event is self._render:
            self._render = None
            _say(_WAITING)

    def _saved(self, paths: Saved) -> None:
        again = self._render is not None
        self._stop()
        names = [path.name for path in paths[:_NAMED]]
        more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
        _say(f"saved: {', '.join(names)}{more}{'; starting again' if again else ''}")
        self._start()

    def _start(self) -> None:
        command = [sys.executable, "-P", "-m", "render.build.watch.child", *self._arguments]
        self._render = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,  # its end tells the render that we are gone
            env={**os.environ, VARIABLE: "1"},
            process_group=0,  # Ctrl-C is for us, who stop it
        )
        threading.Thread(target=self._tell_its_end, args=(self._render,), daemon=True).start()
        if "--force" in self._arguments:
            self._arguments.remove("--force")

    def _tell_its_end(self, render: subprocess.Popen[bytes]) -> None:
        render.wait()
        self._events.put(render)

    def _stop(self) -> None:
        """Stop the render, if one is running; its own workers end with it."""
        render, self._render = self._render, None
        if render is None:
            return
        with contextlib.suppress(ProcessLookupError):
            render.send_signal(signal.SIGTERM)
        try:
            render.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            render.kill()
            render.wait()

    @contextlib.contextmanager
    def _stopped_at_the_end(self) -> Iterator[None]:
        try:
            yield
        finally:
            self._stop()

    @contextlib.contextmanager
    def _watched(self) -> Iterator[None]:
        stop = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(stop,), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            stop.set()

    def _watch(self, stop: threading.Event) -> None:
        import watchfiles

        folders = self._sources.folders()
        try:
            for changes in watchfiles.watch(
                *folders,
                watch_filter=None,
                debounce=_LATEST_MS,
                step=_QUIET_MS,
                stop_event=stop,
                recursive=False,
            ):
                saved = self._sources.changed(path for _, path in changes)
                if saved:
                    self._events.put(saved)
        except OSError as error:
            self._events.put(from_os_error(error, "--watch"))


def _say(line: str) -> None:
    print(one_line(line), flush=True)
