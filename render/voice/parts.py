"""What an order's voice means for its videos and its film."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from render.records import path_of, read_record
from render.voice.timing import digests, placed

if TYPE_CHECKING:
    from render.finish import Part
    from render.incremental import state
    from render.voice.track import Sound
    from scenes.registry import SceneInfo


def kept(now: state.State, scene: SceneInfo) -> dict[str, str] | None:
    """The files of a video whose pictures are as they should be; None if there are none."""
    order = now.order
    if order.force or not now.only_sound(scene):
        return None
    name = order.video_name(scene)
    paths = {
        "video": order.out / name,
        "record": path_of(order.out, name),
        "numbers": order.out / order.numbers_name(scene),
    }
    return {kind: str(path.absolute()) for kind, path in paths.items()}


def film_sounds(
    now: state.State, parts: Sequence[Part], checked: Sequence[state.Part]
) -> list[Sound] | None:
    """The sounds of all scenes by the frames of the film; None where nobody speaks."""
    if not now.voice:
        return None
    found, start = [], 0
    for part, scene in zip(parts, checked, strict=True):
        found += placed(scene.sounds, now.voice.store, start)
        start += part.frames
    return found


def complaints(now: state.State) -> list[str]:
    """A line for each recording that is missing or cannot be used."""
    order = now.order
    if not now.voice:
        return []
    silent = {}
    for scene in order.scenes:
        by_key = digests(read_record(order.out, order.video_name(scene)))
        keys = [key for key, digest in by_key.items() if not digest]
        silent[scene.slug] = keys, len(by_key) - len(keys)
    return now.voice.complaints(silent)
