"""``--watch``: render, wait until a file is saved that something depends on, render again.

Each render is a process of its own, so that edited code is imported again and a broken file breaks
that render only.
"""

from __future__ import annotations

import contextlib
import glob
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Sequence
from fnmatch import fnmatch
from pathlib import Path

from engine.errors import LectureError, from_os_error, one_line
from render.base.project import ROOT
from render.base.reads import sha256
from render.build.job import BuildOptions, How, Job
from render.build.run import WATCHED, Run

_QUIET_MS = 150  # nothing was saved for that long
_LATEST_MS = 2000  # after the first of many
_LOOK_EVERY = 0.1  # seconds, whether the render has ended
_PATIENCE = 15.0  # seconds that a render may take to stop
_WAITING = "waiting until weights, texts, a lesson or code are saved; Ctrl-C ends"
_NAMED = 3


class Sources:
    """The files whose saving is of interest: ``files``, those of the options' patterns, and
    recordings."""

    def __init__(self, options: BuildOptions, files: Iterable[Path]) -> None:
        self._patterns = [str(Path(each).expanduser().absolute()) for each in options.weights or ()]
        lessons = options.lesson.split(",")
        kept = (ROOT / "assets" / "lessons" / f"{name}.toml" for name in lessons)
        named = [path for path in (*files, *map(Path, lessons), *kept) if path.is_file()]
        self._files = {form for path in named for form in (path.absolute(), path.resolve())}
        kind, _, recordings = options.voice.partition(":")
        self._recordings: list[Path] = []
        if kind == "recordings" and recordings:
            folder = Path(recordings).expanduser().absolute()
            below = sorted(folder.rglob("*/"))
            below = [path for path in below if not path.name.startswith((".", "__"))]
            self._recordings = [path for path in (folder, *below) if path.is_dir()]
        there = (path for folder in self.folders() for path in folder.iterdir())
        self._seen = {path: _digest(path) for path in there if self._matters(path)}

    def folders(self) -> list[Path]:
        """What to watch, each without what is below: an editor may put a new file in the place of
        the old one, which only its folder tells."""
        matching = (path for each in self._patterns for path in glob.glob(each))  # noqa: PTH207
        patterns = [Path(path).parent for path in matching]
        folders = [path.parent for path in sorted(self._files)]
        everything = [*folders, *self._recordings, *patterns]
        return [folder for folder in dict.fromkeys(everything) if folder.is_dir()]

    def changed(self, paths: Iterable[str | Path]) -> list[Path]:
        """Those of the paths that matter and have other contents than when last looked at."""
        found = []
        for path in sorted({Path(path) for path in paths}):
            if self._matters(path) and _digest(path) != self._seen.get(path):
                self._seen[path] = _digest(path)
                found.append(path)
        return found

    def _matters(self, path: Path) -> bool:
        if path in self._files or any(fnmatch(str(path), each) for each in self._patterns):
            return True
        return path.parent in self._recordings and not path.name.startswith(".")


class Watch:
    """``arguments``: the options of each render. Something saved while it runs stops it, since
    what it would still make is out of date; what it has finished stays."""

    def __init__(
        self, options: BuildOptions, jobs: Sequence[Job], how: How, arguments: Sequence[str]
    ) -> None:
        self._sources = Sources(options, Run(jobs, how).plan.files())
        self._arguments = list(arguments)
        self._saved: queue.SimpleQueue[list[Path] | LectureError] = queue.SimpleQueue()
        self._render: subprocess.Popen[bytes] | None = None

    def run(self) -> int:
        """Until Ctrl-C (130) or a signal, which comes through as an exception."""
        stop = threading.Event()
        threading.Thread(target=self._look, args=(stop,), daemon=True).start()
        try:
            self._start()
            while True:
                self._wait()
        except KeyboardInterrupt:
            return 128 + signal.SIGINT
        finally:
            stop.set()
            self._stop()

    def _look(self, stop: threading.Event) -> None:
        import watchfiles

        try:
            for changes in watchfiles.watch(
                *self._sources.folders(),
                watch_filter=None,
                debounce=_LATEST_MS,
                step=_QUIET_MS,
                stop_event=stop,
                recursive=False,
            ):
                self._saved.put(self._sources.changed(path for _, path in changes))
        except OSError as error:
            self._saved.put(from_os_error(error, "--watch"))

    def _wait(self) -> None:
        if self._render and self._render.poll() is not None:
            self._render = None
            print(_WAITING, flush=True)
        with contextlib.suppress(queue.Empty):
            saved = self._saved.get(timeout=_LOOK_EVERY if self._render else None)
            if isinstance(saved, LectureError):
                raise saved
            if saved:
                again = "; starting again" if self._render else ""
                self._stop()
                names = ", ".join(path.name for path in saved[:_NAMED])
                more = f" and {len(saved) - _NAMED} more" if len(saved) > _NAMED else ""
                print(one_line(f"saved: {names}{more}{again}"), flush=True)
                self._start()

    def _start(self) -> None:
        self._render = subprocess.Popen(
            [sys.executable, "-P", "-m", "render", *self._arguments],
            stdin=subprocess.PIPE,  # its end tells the render that we are gone
            env={**os.environ, WATCHED: "1"},
            process_group=0,  # Ctrl-C is for us, who stop it
        )
        if "--force" in self._arguments:
            self._arguments.remove("--force")

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


def _digest(path: Path) -> str:
    try:
        return sha256(path)
    except OSError:
        return ""
