"""``--watch``: render, wait until a file is saved that something depends on, render again.

Each render is a process of its own, so that edited code is imported again and a broken file breaks
that render only.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

from engine.errors import LectureError, from_os_error, one_line
from render.base.process import stoppable
from render.base.project import ROOT
from render.build.job import BuildOptions, How, Job
from render.build.run import WATCHED, Run

_QUIET_MS = 150  # nothing was saved for that long
_LATEST_MS = 2000  # after the first of many
_PATIENCE = 15.0  # seconds that a render may take to stop
_WAITING = "waiting until weights, texts, a lesson or code are saved; Ctrl-C ends"
_NAMED = 3


class Sources:
    """The files whose saving is of interest: ``files``, those of the options' patterns, and
    recordings."""

    def __init__(self, options: BuildOptions, files: Iterable[Path]) -> None:
        self._patterns = [_absolute(pattern) for pattern in options.weights or ()]
        lessons = [Path(name) for name in options.lesson.split(",")]
        kept = [ROOT / "assets" / "lessons" / f"{name}.toml" for name in options.lesson.split(",")]
        named = [path for path in (*files, *lessons, *kept) if path.is_file()]
        self._files = {form for path in named for form in (path.absolute(), path.resolve())}
        voice = options.voice
        recordings = voice.partition(":")[2] if voice.startswith("recordings:") else ""
        self._recordings = list(_below(Path(recordings).expanduser())) if recordings else []
        self._seen = {path: _digest(path) for path in self._all()}

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

    def _all(self) -> Iterator[Path]:
        for folder in self.folders():
            yield from filter(self._matters, (path for path in folder.iterdir() if path.is_file()))


class Watch:
    """``arguments``: the options of each render. Something saved while it runs stops it, since
    what it would still make is out of date; what it has finished stays."""

    def __init__(
        self, options: BuildOptions, jobs: Sequence[Job], how: How, arguments: Sequence[str]
    ) -> None:
        self._sources = Sources(options, Run(jobs, how).plan.files())
        self._arguments = list(arguments)
        #: what threads want done
        self._events: queue.Queue[Callable[[], None]] = queue.Queue()
        self._render: subprocess.Popen[bytes] | None = None

    def run(self) -> int:
        """Until Ctrl-C (130) or a signal, which comes through as an exception."""
        stop = threading.Event()
        with stoppable():
            threading.Thread(target=self._watch, args=(stop,), daemon=True).start()
            try:
                self._start()
                while True:
                    self._events.get()()
            except KeyboardInterrupt:
                return 128 + signal.SIGINT
            finally:
                stop.set()
                self._stop()

    def _watch(self, stop: threading.Event) -> None:
        """In a thread: look at what is saved."""
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
                saved = self._sources.changed(path for _, path in changes)
                if saved:
                    self._events.put(partial(self._saved, saved))
        except OSError as error:
            self._events.put(partial(_fail, from_os_error(error, "--watch")))

    def _saved(self, paths: Sequence[Path]) -> None:
        again = self._render is not None
        self._stop()
        names = [path.name for path in paths[:_NAMED]]
        more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
        _say(f"saved: {', '.join(names)}{more}{'; starting again' if again else ''}")
        self._start()

    def _start(self) -> None:
        render = self._render = subprocess.Popen(
            [sys.executable, "-P", "-m", "render", *self._arguments],
            stdin=subprocess.PIPE,  # its end tells the render that we are gone
            env={**os.environ, WATCHED: "1"},
            process_group=0,  # Ctrl-C is for us, who stop it
        )

        def wait() -> None:
            render.wait()
            self._events.put(partial(self._ended, render))

        threading.Thread(target=wait, daemon=True).start()
        if "--force" in self._arguments:
            self._arguments.remove("--force")

    def _ended(self, render: subprocess.Popen[bytes]) -> None:
        if render is self._render:
            self._render = None
            _say(_WAITING)

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


def _fail(error: LectureError) -> None:
    raise error


def _say(line: str) -> None:
    print(one_line(line), flush=True)


def _absolute(pattern: str) -> str:
    return str(Path(pattern).expanduser().absolute())


def _below(folder: Path) -> Iterator[Path]:
    """A folder and those in it, but for Python's own."""
    if folder.is_dir():
        yield folder.absolute()
        for path in sorted(folder.absolute().rglob("*/")):
            if path.is_dir() and not path.name.startswith((".", "__")):
                yield path


def _digest(path: Path) -> str:
    """Of a file's contents; empty where it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
