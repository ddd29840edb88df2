"""What was asked for: options as they were typed, and the jobs that they stand for.

Options with several values stand for every combination; each has a folder of its own.
"""

from __future__ import annotations

import glob
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engine.errors import LectureError, quoted
from render.build.folders import DEFAULT_LESSON, Kind, folders_of
from render.build.storage.places import NO_CACHE, CacheChoice
from render.media.quality import QUALITIES, Quality
from scenes import registry, texts
from scenes.registry import SceneInfo
from scenes.settings import Settings

if TYPE_CHECKING:
    from render.voice.choice import Choice

WEIGHT_FILES = (".json", ".npz", ".safetensors")
LANGUAGES = ("zh", "en")
TRACKS = ("full", "training", "inference")


def option(metavar: str | None, help: str, **more: Any) -> Any:
    """An option whose default says nothing."""
    return typer.Option(metavar=metavar, help=help, show_default=False, **more)


class Renderer(StrEnum):
    fast = "fast"
    plain = "plain"


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """The options that say what is built, as they were typed: with commas between several values;
    ``weights`` are files and patterns such as ``checkpoints/*.json``, none for the lesson's."""

    quality: Annotated[
        str,
        typer.Option(
            metavar="NAME,...", help="draft 480p15, standard 1080p30, high 1080p60, 4k 2160p60."
        ),
    ] = "standard"
    lang: Annotated[
        str, typer.Option(metavar="zh|en,...", help="Language of everything on screen.")
    ] = "zh"
    track: Annotated[
        str,
        typer.Option(
            metavar="NAME,...",
            help="full: all scenes. training: scenes 1 and 3-14. inference: scenes 15-19.",
        ),
    ] = "full"
    lesson: Annotated[
        str,
        typer.Option(
            metavar="NAME,...",
            help="tutorial: the figures as the tutorial prints them, its inference pages with "
            "its own weights. consistent: one set of weights. trained: a model that has learned "
            "the sentence. Or your own .toml file.",
        ),
    ] = DEFAULT_LESSON
    out: Annotated[
        Path | None,
        option(
            "DIR",
            "Folder for the videos, created if needed. Default: out/LANG_QUALITY, "
            "with _NAME for your own lesson or weights; with DIR, that in DIR where several "
            "kinds of video are made.",
        ),
    ] = None
    voice: Annotated[
        str,
        typer.Option(
            metavar="WHO",
            help="none. recordings:DIR, your own: DIR/08_attention_scores/scale.wav and so on. "
            "draft, a synthetic voice, to check the timing. Or module:Class (docs/voice.md).",
        ),
    ] = "none"
    burn_captions: Annotated[
        str,
        option(
            "zh|en", "Draw captions in this language into the pictures as well (docs/captions.md)."
        ),
    ] = ""
    renderer: Annotated[
        Renderer,
        typer.Option(help="fast draws only what changes; plain is Manim's own, for comparison."),
    ] = Renderer.fast
    weights: Annotated[
        list[str] | None,
        option(
            "FILE",
            "A weight file, .json, .npz or .safetensors (docs/weights.md), or many: "
            "'checkpoints/*.json'. Default: the lesson's.",
        ),
    ] = None

    def typed(self) -> list[str]:
        """The options that are not as they are by default, as they are typed."""
        words = []
        for each in fields(self):
            value = getattr(self, each.name)
            if value != each.default:
                for one in value if isinstance(value, list) else [value]:
                    words += [f"--{each.name.replace('_', '-')}", str(one)]
        return words

    @property
    def command(self) -> str:
        """The command that renders them."""
        return shlex.join(["./render.sh", *self.typed()])


@dataclass(frozen=True, slots=True)
class Job:
    """One output folder and one track: ``scenes`` are asked for, ``film`` is what the track's film
    consists of, both in film order. ``voice``: who speaks. ``burn``: the language of captions drawn
    into the pictures, empty for none. ``own``: what distinguishes a lesson, weights or burned
    captions of the user's from the plain lecture."""

    scenes: tuple[SceneInfo, ...]
    film: tuple[SceneInfo, ...]
    quality: Quality
    settings: Settings
    out: Path
    voice: Choice | None = None
    burn: str = ""
    renderer: Renderer = Renderer.fast
    own: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The same for the names of files."""
        return "_".join(self.own) or DEFAULT_LESSON

    @property
    def language(self) -> str:
        return str(self.settings.language)

    def video_name(self, scene: SceneInfo) -> str:
        """Letters, digits and _ only, as some platforms demand: ``08_attention_scores_zh.mp4``.
        The title card (number 0) differs from track to track."""
        track = f"_{self.settings.track}" if scene.number == 0 else ""
        return f"{scene.slug}{track}_{self.language}.mp4"

    def video(self, scene: SceneInfo) -> Path:
        return self.out / self.video_name(scene)

    @property
    def film_name(self) -> str:
        track = self.settings.track
        return "lecture.mp4" if track == "full" else f"lecture_{track}.mp4"

    @property
    def of_track(self) -> str:
        """For people, behind the folder: which track is meant, where it is not the whole."""
        track = self.settings.track
        return "" if track == "full" else f" ({track})"

    def title(self, scene: SceneInfo) -> str:
        try:
            return str(texts.load(self.language)[scene.slug]["title"])
        except KeyError:
            return str(scene.slug).replace("_", " ")

    def values(self) -> dict[str, str]:
        """What values are computed from, as ``render.base.reads`` has it."""
        own = self.settings
        return {
            "weights": str(own.weights.absolute()),
            "inference_weights": str(own.weights_for_inference.absolute()),
            "source": own.source,
            "target": own.target,
        }


@dataclass(frozen=True, slots=True)
class How:
    """How, not what: in no key. ``cluster``: its address; None: on this machine."""

    processes: int = 1
    force: bool = False
    cache: CacheChoice = field(default=NO_CACHE)
    cluster: str | None = None


def jobs_of(options: BuildOptions, scenes: Sequence[str] = ()) -> list[Job]:
    """A job per combination. Everything is checked before: raises LectureError for a value that an
    option cannot have, a pattern that no file matches, and weight files that cannot be shown."""
    qualities = several("--quality", options.quality, tuple(QUALITIES))
    languages = several("--lang", options.lang, LANGUAGES)
    tracks = several("--track", options.track, TRACKS)
    lessons = several("--lesson", options.lesson)
    burned = options.burn_captions
    burn = several("--burn-captions", burned, LANGUAGES)[0] if burned else ""
    scenes, patterns = _apart(scenes, options.weights or ())
    weights: list[Path | None] = [*weight_files(patterns)] or [None]
    chosen = {scene.number: scene for scene in scenes_named(scenes)}
    films = {track: registry.film(track) for track in tracks}
    _check_tracks(chosen.values(), films)
    settings = _checked(lessons, weights, languages[0], tracks[0])
    kinds = [Kind(*each) for each in product(weights, lessons, languages, qualities)]
    voice = None
    if options.voice != "none":
        from render.voice.choice import choose  # late: voices import much

        voice = choose(options.voice, languages)
    folders = folders_of(kinds, options.out, voice, burn)
    return [
        Job(
            scenes=tuple(chosen[number] for number in sorted(chosen)) or films[track],
            film=films[track],
            quality=QUALITIES[kind.quality],
            settings=replace(
                settings[kind.lesson, kind.weights], language=kind.language, track=track
            ),
            out=folders[kind].absolute(),
            voice=voice,
            burn=burn,
            renderer=options.renderer,
            own=_own(kind, burn),
        )
        for kind, track in product(kinds, tracks)
    ]


def _own(kind: Kind, burn: str) -> tuple[str, ...]:
    lesson = Path(kind.lesson).stem if kind.lesson != DEFAULT_LESSON else ""
    weights = kind.weights.stem if kind.weights else ""
    return tuple(filter(None, (lesson, weights, burn and f"captions-{burn}")))


def scenes_named(words: Sequence[str]) -> list[SceneInfo]:
    """The scenes that are meant by numbers, names and ranges such as ``8-13``, also with commas
    between. Raises LectureError for an unknown scene."""
    found = []
    for word in (part.strip() for each in words for part in each.split(",")):
        first, dash, last = word.partition("-")
        if dash and first.isdigit() and last.isdigit():
            if int(first) > int(last):
                expected = "a range from a smaller number to a larger one"
                raise LectureError(field="scene", expected=expected, found=quoted(word))
            found += [registry.find(str(number)) for number in range(int(first), int(last) + 1)]
        else:
            found.append(registry.find(word))
    return found


def several(option: str, said: str, choices: Sequence[str] = ()) -> list[str]:
    """The values of an option, each once. Raises LectureError for an invalid choice."""
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
    """Settings by lesson and weights. All are checked before the first mistake is raised, which
    then names the other files that have one, so that they can be corrected at once."""
    from scenes import lessons as known

    settings: dict[tuple[str, Path | None], Settings] = {}
    mistakes: dict[Path | None, LectureError] = {}
    for lesson, file in product(lessons, weights):
        try:
            settings[lesson, file] = known.settings(lesson, language, file, track)
        except LectureError as error:
            mistakes.setdefault(file, error)
    for first in list(mistakes.values())[:1]:
        others = [str(file) for file in mistakes][1:]
        if others:
            rest = f" and {len(others) - 5} more" if len(others) > 5 else ""
            first.found = f"{first.found} (also invalid: {', '.join(others[:5])}{rest})"
        raise first
    return settings


def _check_tracks(scenes: Iterable[SceneInfo], films: Mapping[str, Sequence[SceneInfo]]) -> None:
    """Scenes named must be in the tracks named: asking for both is a mistake."""
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
