"""Options with several values: every combination of them is an order with a folder of its own."""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from engine.errors import LectureError, quoted
from render.base.project import ROOT
from render.build.store.choice import NO_STORE, StoreChoice
from render.media.quality import QUALITIES

if TYPE_CHECKING:
    from render.build.order import Order
    from render.voice.voice import Choice
    from scenes.registry import SceneInfo
    from scenes.settings import Settings

WEIGHT_FILES = (".json", ".npz", ".safetensors")
LANGUAGES = ("zh", "en")
TRACKS = ("full", "training", "inference")
DEFAULT_LESSON = "tutorial"


@dataclass(frozen=True)
class Wish:
    """The options as they were typed: with commas between several values; ``weights`` are files
    and patterns such as ``checkpoints/*.json``, none for those of the lesson."""

    scenes: Sequence[str] | None = None
    quality: str = "standard"
    lang: str = "zh"
    weights: Sequence[str] | None = None
    track: str = "full"
    lesson: str = DEFAULT_LESSON
    out: Path | None = None
    jobs: int = 1
    force: bool = False
    renderer: str = "fast"
    voice: str = "none"
    cluster: str | None = None
    store: StoreChoice = NO_STORE
    burn: str = ""


class Kind(NamedTuple):
    """What a folder is for."""

    weights: Path | None
    lesson: str
    language: str
    quality: str


def orders(wish: Wish) -> list[Order]:
    """An order per combination. Everything is checked before: raises LectureError for a value that
    an option cannot have, a pattern that no file matches, and weight files that cannot be shown."""
    from render.build.order import Order
    from render.voice.voice import choose
    from scenes import registry

    if wish.cluster:
        from render.build.cluster import connect

        connect.check(wish.cluster, wish.store, wish.voice, wish.burn or "none")
    qualities = several("--quality", wish.quality, tuple(QUALITIES))
    languages = several("--lang", wish.lang, LANGUAGES)
    tracks = several("--track", wish.track, TRACKS)
    lessons = several("--lesson", wish.lesson)
    scenes, patterns = _apart(wish.scenes or (), wish.weights or ())
    weights: list[Path | None] = [*weight_files(patterns)] or [None]
    chosen = {scene.number: scene for scene in map(registry.find, scenes)}
    films = {track: registry.film(track) for track in tracks}
    _check_tracks(chosen.values(), films)
    settings = _checked(lessons, weights, languages[0], tracks[0])
    kinds = [Kind(*each) for each in product(weights, lessons, languages, qualities)]
    voice = choose(wish.voice, languages)
    burn = several("--burn-captions", wish.burn, LANGUAGES)[0] if wish.burn else ""
    folders = _folders(kinds, wish.out, voice, burn)
    return [
        Order(
            scenes=tuple(chosen[number] for number in sorted(chosen)) or films[track],
            everything=films[track],
            quality=QUALITIES[kind.quality],
            settings=replace(
                settings[kind.lesson, kind.weights], language=kind.language, track=track
            ),
            out=folders[kind].absolute(),
            jobs=wish.jobs,
            force=wish.force,
            renderer=wish.renderer,
            voice=voice,
            cluster=wish.cluster,
            store=wish.store,
            burn=burn,
        )
        for kind, track in product(kinds, tracks)
    ]


def several(option: str, said: str, choices: Sequence[str] = ()) -> list[str]:
    """The values of an option, each once. Raises LectureError for one that is no choice."""
    whole = not choices and Path(said).is_file()  # a lesson's file may have a comma in its name
    values = [said] if whole else [value.strip() for value in said.split(",")]
    for value in values:
        if (choices and value not in choices) or not value:
            named = [repr(choice) for choice in choices]
            expected = f"{', '.join(named[:-1])} or {named[-1]}" if named else "a name"
            raise LectureError(where=option, expected=expected, found=quoted(value))
    return list(dict.fromkeys(values))


def weight_files(patterns: Iterable[str]) -> list[Path]:
    """The files that are named or match, each once, those of a pattern by name. Raises LectureError
    for a pattern that no file matches."""
    found: dict[Path, Path] = {}
    for pattern in patterns:
        home = pattern.startswith("~/")  # in quotes, so that the shell has left it
        paths = [Path(pattern).expanduser() if home else Path(pattern)]
        if glob.has_magic(pattern) and not paths[0].exists():
            matching = glob.glob(str(paths[0]), recursive=True)  # noqa: PTH207
            paths = [path for path in map(Path, sorted(matching)) if path.is_file()]
        if not paths:
            expected = f"files that match {quoted(pattern)}"
            raise LectureError(where="--weights", expected=expected, found="none")
        for path in paths:
            found.setdefault(path.resolve(), path)
    return [*found.values()]


def _apart(words: Sequence[str], patterns: Sequence[str]) -> tuple[list[str], list[str]]:
    """Scenes and weights: of ``--weights checkpoints/*.json`` without quotes, the shell makes an
    option with the first file, and further words with the others."""
    files = [word for word in words if patterns and word.lower().endswith(WEIGHT_FILES)]
    return [word for word in words if word not in files], [*patterns, *files]


def _checked(
    lessons: Sequence[str], weights: Sequence[Path | None], language: str, track: str
) -> Mapping[tuple[str, Path | None], Settings]:
    """Settings by lesson and weights. All are looked at before the first mistake is raised, which
    then names the other files that have one, so that they can be mended at once."""
    from scenes import lessons as known

    settings: dict[tuple[str, Path | None], Settings] = {}
    mistakes: dict[Path | None, LectureError] = {}
    for lesson, file in product(lessons, weights):
        try:
            settings[lesson, file] = known.settings(lesson, language, file, track)
        except LectureError as error:
            mistakes.setdefault(file, error)
    if not mistakes:
        return settings
    (_, first), *others = mistakes.items()
    if others:
        more = ", ".join(str(file) for file, _ in others[:5])
        rest = f" and {len(others) - 5} more" if len(others) > 5 else ""
        first.found = f"{first.found} (mistakes are also in {more}{rest})"
    raise first


def _check_tracks(scenes: Iterable[SceneInfo], films: Mapping[str, Sequence[SceneInfo]]) -> None:
    """Scenes named must be in the tracks named: whoever asks for both means something else."""
    from scenes import registry

    everything = registry.film("full")
    for scene in scenes:
        for track, film in films.items():
            if scene not in film and scene in everything:
                numbers = ", ".join(str(each.number) for each in film[1:])
                raise LectureError(
                    field="scene",
                    expected=f"one of track {track} ({numbers})",
                    found=f"{scene.number} {scene.name}",
                )


def _folders(
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


def default_folder(settings: Settings, quality: str, lesson: str, weights: Path | None) -> Path:
    """A folder per kind of video, so that no two kinds mix: ``out/zh_standard``."""
    kind = Kind(weights, lesson, settings.language, quality)
    return _folders([kind], None)[kind]
