"""Audit a scene by playing it through without drawing it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from render.review.audit import captions, layout, morphs, provenance, reading, sums, tables
from render.review.audit.fault import Box, Fault
from scenes import onscreen, playthrough
from scenes.base import LectureScene
from scenes.registry import SceneInfo
from scenes.settings import Settings


def audit(
    info: SceneInfo,
    settings: Settings,
    *,
    numbers: bool = True,
    pictures: bool = True,
    quarters: bool = False,
    folder: Path | None = None,
) -> list[Fault]:
    """The faults of one scene with one language and one weight file.

    ``numbers`` turns provenance on, ``pictures`` the layout; ``quarters`` also looks at the
    quarter points of each animation. With ``folder``, each faulty picture is saved there with the
    fault boxed.
    """
    return audit_class(
        playthrough.scene_class(info),
        settings,
        numbers=numbers,
        pictures=pictures,
        quarters=quarters,
        folder=folder,
    )


def audit_class(
    scene_class: type[LectureScene],
    settings: Settings,
    *,
    numbers: bool = True,
    pictures: bool = True,
    quarters: bool = False,
    folder: Path | None = None,
) -> list[Fault]:
    """As :func:`audit`, for a scene class."""
    recompute = provenance.Recomputer(settings)
    faults: list[Fault] = []

    def look(scene: LectureScene) -> list[Fault]:
        items = onscreen.in_drawing_order(scene.mobjects)
        found: list[Fault] = []
        if numbers:
            found += provenance.check_screen(items)
            found += sums.check_equations(items) + tables.check_tables(items, recompute)
        if pictures:
            found += layout.check_layout(items)
        beat = scene.beat_now
        return [fault.at(beat, scene.clock) for fault in found]

    def at_beat(scene: LectureScene, _: np.ndarray | None) -> None:
        found = look(scene)
        if found and folder is not None:
            save_boxed(
                scene.renderer.draw(scene),
                found,
                folder / f"{scene.info.slug}_{scene.beat_now}.png",
            )
        faults.extend(found)

    def at_quarter(scene: LectureScene) -> None:
        animations = scene.animations or ()
        found = morphs.check_morphs(animations)
        if quarters:
            moving = [animation.mobject for animation in animations]
            found += layout.check_moving(list(onscreen.items(moving)))
        known = {(fault.kind, fault.what, fault.beat) for fault in faults}
        faults.extend(
            fault.at(scene.beat_now, scene.clock)
            for fault in found
            if (fault.kind, fault.what, scene.beat_now) not in known
        )

    scene = playthrough.play_class(
        scene_class,
        settings,
        at_beat=at_beat,
        at_quarter=at_quarter if pictures else None,
    )
    if numbers:
        faults += provenance.check_records(scene.record.numbers(), recompute)
    if pictures:
        faults += reading.check_times(scene.record.showings(), settings.language)
        faults += captions.check_captions(scene)
    return faults


def save_boxed(frame: np.ndarray, faults: list[Fault], path: Path) -> None:
    """The picture with a red box around each fault."""
    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.fromarray(frame[:, :, :3])
    draw = ImageDraw.Draw(image)
    for fault in faults:
        if fault.box is not None:
            draw.rectangle(
                to_pixels(fault.box, image.width, image.height), outline="#FF3B3B", width=3
            )
    image.save(path)


def to_pixels(box: Box, width: int, height: int) -> tuple[float, float, float, float]:
    """A box of the 14.22 x 8 frame in pixels, clipped to the picture: left, top, right, bottom."""
    scale = height / 8
    left, bottom, right, top = box
    xs = [min(max(width / 2 + x * scale, 1), width - 2) for x in (left - 0.05, right + 0.05)]
    ys = [min(max(height / 2 - y * scale, 1), height - 2) for y in (top + 0.05, bottom - 0.05)]
    return xs[0], ys[0], max(xs), max(ys)
