"""What an order's voice means for its videos and its film."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from render.base.workspace import STATE
from render.build.records import path_of, read_record
from render.voice import spoken
from render.voice.timing import digests, key_of, placed
from scenes import texts

if TYPE_CHECKING:
    from render.build.incremental import state
    from render.build.order import Order
    from render.media.finish import Part
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


def settle(now: state.State) -> list[str]:
    """At the end of a run: remove sounds that no video has any more. Returns a line for each
    recording that is missing, cannot be used, or says something else."""
    order = now.order
    if not now.voice:
        return []
    now.voice.tidy(order.out / STATE)
    silent, said = {}, {}
    for scene in order.scenes:
        record = read_record(order.out, order.video_name(scene))
        by_key = digests(record)
        keys = [key for key, digest in by_key.items() if not digest]
        silent[scene.slug] = keys, len(by_key) - len(keys)
        for beat in record.get("beats", ()) if now.voice.has_script else ():
            if by_key.get(key_of(beat)):
                said[f"{scene.slug}/{key_of(beat)}"] = _sentence(order, scene, beat)
    return now.voice.complaints(silent, said)


def _sentence(order: Order, scene: SceneInfo, beat: Mapping[str, Any]) -> str:
    """What is to be said in a beat of a record."""
    key = key_of(beat)
    template = texts.entry(order.language, scene.slug, "beats", key)
    facts = {name: _Shown(fact) for name, fact in beat["facts"].items()}
    return spoken.sentence(order.language, scene.slug, key, template, facts)


@dataclass(frozen=True)
class _Shown:
    """A fact as it was shown; whether it was a word or a number is not remembered."""

    text: str

    def __str__(self) -> str:
        return self.text
