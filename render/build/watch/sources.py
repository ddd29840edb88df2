"""The files whose saving is of interest: weights, lessons, recordings, texts, scenes, code."""

from __future__ import annotations

import glob
import hashlib
import importlib.util
import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from render.base.project import ROOT
from render.build.combinations import Wish
from render.build.order import Order

_PACKAGES = ("scenes", "engine", "render")
_CODE = (".py", ".c", ".h", ".typ")
_ASSETS = (".toml", ".json", ".npz", ".safetensors")
_SCENE = re.compile(r"s(\d\d)_\w+\.py")


class Sources:
    """Of the orders of a run; ``wish`` has them as they were typed."""

    def __init__(self, wish: Wish, orders: Sequence[Order]) -> None:
        self._patterns = [_absolute(pattern) for pattern in wish.weights or ()]
        lessons = (Path(name) for name in wish.lesson.split(","))
        weights = (
            file
            for order in orders
            for file in (order.settings.weights, order.settings.weights_for_inference)
        )
        named = [path for path in (*weights, *lessons) if path.is_file()]
        self._files = {form for path in named for form in (path.absolute(), path.resolve())}
        self._numbers = {scene.number for order in orders for scene in order.scenes}
        self._code = [folder for package in _PACKAGES for folder in _below(_root(package))]
        self._assets = list(_below(ROOT / "assets"))
        recordings = wish.voice.partition(":")[2] if wish.voice.startswith("recordings:") else ""
        self._recordings = list(_below(Path(recordings).expanduser())) if recordings else []
        self._seen = {path: _digest(path) for path in self._all()}

    def folders(self) -> list[Path]:
        """What to watch, each without what is below: an editor may put a new file in the place of
        the old one, which only its folder tells."""
        matching = (path for each in self._patterns for path in glob.glob(each))  # noqa: PTH207
        patterns = [Path(path).parent for path in matching]
        folders = [path.parent for path in self._files]
        everything = [*self._code, *self._assets, *self._recordings, *folders, *patterns]
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
        if path.name.startswith("."):
            return False
        if path.parent in self._code:
            scene = _SCENE.fullmatch(path.name)
            number = int(scene[1]) if scene else None
            return path.suffix in _CODE and (number is None or number in self._numbers)
        if path.parent in self._assets:
            return path.suffix in _ASSETS
        return path.parent in self._recordings

    def _all(self) -> Iterator[Path]:
        for folder in self.folders():
            yield from filter(self._matters, (path for path in folder.iterdir() if path.is_file()))


def _absolute(pattern: str) -> str:
    return str(Path(pattern).expanduser().absolute())


def _root(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent


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
