"""Output folders: one for each kind of video, so that no two kinds mix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from render.base.project import ROOT

if TYPE_CHECKING:
    from render.voice.choice import Choice

DEFAULT_LESSON = "tutorial"


class Kind(NamedTuple):
    """What a folder is for."""

    weights: Path | None
    lesson: str
    language: str
    quality: str


def folders_of(
    kinds: Sequence[Kind], out: Path | None, voice: Choice | None = None, burn: str = ""
) -> dict[Kind, Path]:
    """A folder for each kind of video, no two the same; ``out`` itself where there is only one."""
    if len(kinds) == 1 and out is not None:
        return {kinds[0]: out}
    files = labels(kind.weights for kind in kinds if kind.weights is not None)
    lessons = labels(Path(kind.lesson) for kind in kinds if kind.lesson != DEFAULT_LESSON)
    folders: dict[Kind, Path] = {}
    taken: set[str] = set()
    for kind in kinds:
        name = f"{kind.language}_{kind.quality}"
        name += f"_{lessons[Path(kind.lesson)]}" if kind.lesson != DEFAULT_LESSON else ""
        name += f"_{files[kind.weights]}" if kind.weights is not None else ""
        name += f"_{voice.label}" if voice else ""
        name += f"_captions_{burn}" if burn else ""
        free, number = name, 2
        while free.casefold() in taken:
            free, number = f"{name}_{number}", number + 1
        taken.add(free.casefold())
        folders[kind] = (out or ROOT / "out") / free
    return folders


def labels(paths: Iterable[Path]) -> dict[Path, str]:
    """A short name for each file: its own, with as many folders before it as tell it apart, or its
    ending where that is all that does. Small letters and capitals do not tell apart."""
    left = list(dict.fromkeys(paths))
    whole = {path: path.absolute() for path in left}
    found: dict[Path, str] = {}
    deepest = max((len(path.parts) for path in whole.values()), default=0)
    for depth in range(1, deepest):
        names = {path: "_".join([*whole[path].parts[-depth:-1], path.stem]) for path in left}
        times = Counter(name.casefold() for name in names.values())
        found |= {path: name for path, name in names.items() if times[name.casefold()] == 1}
        left = [path for path in left if path not in found]
    return found | {path: f"{path.stem}_{path.suffix.lstrip('.')}" for path in left}
