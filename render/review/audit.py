"""Audits: scenes played through without being drawn, with many weight files, on all cores; then the
numbers of finished renders. Is every number the engine's, can every picture be read?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

import engine
from engine.errors import LectureError
from engine.reader import WEIGHT_BYTES, refuse
from render.base.failure import Failure, attempts
from render.base.reader import Reader
from render.media.captions.lint import faults as caption_faults
from render.media.captions.write import cues, sentences
from render.media.quality import QUALITIES
from render.media.sidecars import LANGUAGES
from render.review import fault, layout, numbers
from render.review.fault import Fault
from render.review.relations import check_relations
from scenes import onscreen, playthrough
from scenes.base import LectureScene
from scenes.record import Beat
from scenes.registry import SceneInfo
from scenes.settings import Settings, file_digest

_EDGE, _ROOM = "#FF3B3B", 0.05  # of the box around a fault: colour, and room in frame units
_FRAME_HEIGHT = 8.0  # in frame units


@dataclass(frozen=True)
class Look:
    """What to look for: ``numbers`` against the engine, ``pictures`` for their layout, also at the
    ``quarters`` of each animation. Into ``folder``, each faulty picture with the fault boxed."""

    numbers: bool = True
    pictures: bool = True
    quarters: bool = False
    folder: Path | None = None


def run(checks: Sequence[tuple[SceneInfo, Settings, str]], look: Look, jobs: int) -> int:
    """Play scenes, each with its settings and the label of its weights, ``jobs`` at a time, and
    print what is found; returns the number of faults."""
    total = 0
    for (scene, settings, label), outcome in attempts(partial(_audit, look), checks, jobs):
        name = f"{scene.slug} {settings.language} {label}"
        if isinstance(outcome, Failure):
            print(f"{name}: cannot be played: {outcome.line}", flush=True)
            total += 1
            continue
        said = "good" if not outcome else f"{len(outcome)} fault{'s'[: len(outcome) > 1]}"
        print(f"{name}: {said}", flush=True)
        for found in outcome:
            print(f"  {found}")
        total += len(outcome)
    print(f"{len(checks)} checks, {f'{total} faults' if total else 'no fault'}")
    return total


def _audit(look: Look, check: tuple[SceneInfo, Settings, str]) -> list[Fault]:
    scene, settings, label = check
    own = look.folder and look.folder / f"{settings.language}_{label}"
    return audit(playthrough.scene_class(scene), settings, replace(look, folder=own))


def random_weight_files(count: int, folder: Path) -> list[Path]:
    """``count`` weight files with values from -9.99 to 9.99, the same ones each time."""
    tutorial = engine.load_weights(engine.TUTORIAL)
    paths = [folder / f"random_{seed}.json" for seed in range(count)]
    for seed, path in enumerate(paths):
        engine.save_weights(engine.random_weights(tutorial, seed), path)
    return paths


def audit(
    scene_class: type[LectureScene], settings: Settings, look: Look | None = None
) -> list[Fault]:
    """The faults of one scene with one language and one weight file: looks at it while it is
    played."""
    look, recompute, faults = look or Look(), numbers.Recomputer(settings), list[Fault]()

    def at_beat(scene: LectureScene, _: np.ndarray | None) -> None:
        items = onscreen.in_drawing_order(scene.mobjects)
        found = list[Fault]()
        if look.numbers:
            found += numbers.check_screen(items, recompute)
            found += check_relations(items, recompute)
        if look.pictures:
            found += layout.check_layout(items)
        if found and look.folder is not None:
            path = look.folder / f"{scene.info.slug}_{scene.beat_now}.png"
            save_boxed(scene.renderer.draw(scene), found, path)
        faults.extend(one.at(scene.beat_now, scene.clock) for one in found)

    def at_quarter(scene: LectureScene) -> None:
        animations = scene.animations or ()
        found = [*layout.check_morphs(animations)]
        if look.quarters:
            moving = [animation.mobject for animation in animations]
            found += layout.check_margins(list(onscreen.items(moving)))
        known = {(one.kind, one.what, one.beat) for one in faults}
        new = [one.at(scene.beat_now, scene.clock) for one in found]
        faults.extend(one for one in new if (one.kind, one.what, one.beat) not in known)

    quarters = at_quarter if look.pictures else None
    scene = playthrough.play_class(scene_class, settings, at_beat=at_beat, at_quarter=quarters)
    if look.numbers:
        faults += numbers.check_records(scene.record.numbers(), recompute)
    if look.pictures:
        faults += fault.check_times(scene.record.showings(), settings.language)
        faults += check_captions(scene)
    return faults


def save_boxed(frame: np.ndarray, faults: Iterable[Fault], path: Path) -> None:
    """The picture, shape (height, width, 3 or 4), with a red box around each fault."""
    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.fromarray(frame[:, :, :3])
    draw, scale = ImageDraw.Draw(image), image.height / _FRAME_HEIGHT
    for left, bottom, right, top in (one.box for one in faults if one.box is not None):
        xs, ys = (left - _ROOM, right + _ROOM), (top + _ROOM, bottom - _ROOM)
        across = np.clip([image.width / 2 + x * scale for x in xs], 1, image.width - 2)
        down = np.clip([image.height / 2 - y * scale for y in ys], 1, image.height - 2)
        draw.rectangle([*zip(across, down, strict=True)], outline=_EDGE, width=3)
    image.save(path)


def check_captions(scene: LectureScene) -> list[Fault]:
    """Can the captions of a scene that has been played through be read, in both languages and at
    every frame rate?"""
    rates = sorted({quality.fps for quality in QUALITIES.values()})
    return check_captions_of(scene.info.slug, beats_of(scene.timeline), rates)


def beats_of(timeline: Sequence[Beat]) -> list[dict[str, Any]]:
    """Beats as the record of a scene has them."""
    return [
        {**vars(beat), "facts": {name: str(fact) for name, fact in beat.facts.items()}}
        for beat in timeline
    ]


def check_captions_of(
    slug: str, beats: Sequence[dict[str, Any]], rates: Sequence[int]
) -> list[Fault]:
    """The same for the beats of a record."""
    found: dict[str, Fault] = {}
    for language in LANGUAGES:
        said = sentences(slug, beats, language)
        for fps in rates:
            for what in caption_faults(said, cues(said, language, fps), language, fps):
                found.setdefault(what, Fault("captions", f"{language} captions: {what}"))
    return list(found.values())


@dataclass(frozen=True)
class _WeightFile:
    file: str
    sha256: str


@dataclass(frozen=True)
class _Record:
    """The numbers that a render left beside its video."""

    language: str
    weights: _WeightFile
    inference_weights: _WeightFile
    source: str
    target: str
    numbers: list[dict[str, Any]]


def run_number_files(out: Path, slugs: Sequence[str]) -> int:
    """Recompute the numbers of finished renders anywhere below ``out``, and print what is found;
    returns the number of faults."""
    total = 0
    for path in sorted(out.rglob("*.numbers.json")) if out.is_dir() else []:
        if not path.name.startswith(tuple(slugs)):
            continue
        try:
            count, found = check_number_file(path)
        except LectureError as error:
            print(error)
            total += 1
            continue
        said = f"{len(found)} are not the engine's" if found else "all the engine's"
        print(f"{path}: {count} numbers, {said}")
        for one in found:
            print(f"  {one}")
        total += len(found)
    return total


def check_number_file(path: Path) -> tuple[int, list[Fault]]:
    """How many numbers a render has, and the faults, recomputed from the weights that it names.
    Raises LectureError where the file or the weights cannot be read, or the weights have changed
    since in a number of the video. (Other changes leave it up to date: docs/incremental.md.)"""
    record = Reader(most=WEIGHT_BYTES).json(path, _Record)
    files = record.weights, record.inference_weights
    try:
        own = Settings(
            record.language,
            weights=Path(record.weights.file),
            inference_weights=Path(record.inference_weights.file),
            source=record.source,
            target=record.target,
        )
        found = [*numbers.check_records(record.numbers, numbers.Recomputer(own))]
    except LectureError as error:
        raise LectureError(where=path, found=str(error)) from error
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError) as error:
        refuse(path, None, "the numbers of a render", f"something else ({error!r})")
    for one in files if found else ():
        if file_digest(Path(one.file)) != one.sha256:
            expected = f"{one.file} as at rendering (SHA-256 {one.sha256[:12]}…)"
            refuse(path, "weights", expected, "other contents: render again, then audit")
    return len(record.numbers), found
