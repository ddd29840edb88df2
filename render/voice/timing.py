"""When in a video which sound is heard, and what is remembered of that in its record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from render.media.sound import Sound
from render.voice.store import Store

Placed = tuple[tuple[int, str], ...]  # first frame and digest of each sound of a scene


def pause(busy: float, quiet: float, spoken: float, fps: int) -> int:
    """Frames that a beat waits when its animations are over: as ``scenes.base`` and Manim do."""
    return int(max(quiet, spoken - busy) / (1 / fps))


def noted(
    who: str, beats: Iterable[Any], sounds: Mapping[str, str], store: Store, fps: int
) -> dict[str, Any]:
    """What is remembered of a scene's voice, under ``made``: for each beat its sound, how long
    its animations took, how long it would wait in silence, and how many frames it waits."""
    said = {}
    for beat in beats:
        digest = sounds.get(beat.key, "")
        frames = pause(beat.busy, beat.quiet, store.seconds(digest), fps)
        said[beat.key] = [digest, beat.busy, beat.quiet, frames]
    return {"who": who, "beats": said}


def digests(record: Mapping[str, Any]) -> dict[str, str]:
    """The sounds of a video's beats by key, from its record; empty for a silent one."""
    said = (record.get("made") or {}).get("voice") or {}
    return {key: digest for key, (digest, *_) in said.get("beats", {}).items()}


def key_of(beat: Mapping[str, Any]) -> str:
    """A recorded beat's key: its name, with its variant where it has one."""
    return f"{beat['name']}_{beat['variant']}" if beat.get("variant") else str(beat["name"])


def sounds_of(beats: Iterable[Mapping[str, Any]], by_key: Mapping[str, str], fps: int) -> Placed:
    """First frame and digest of each sound of a scene, from the beats of its record."""
    found = []
    for beat in beats:
        key = key_of(beat)
        if by_key.get(key):
            found.append((round(beat["start"] * fps), by_key[key]))
    return tuple(found)


def placed(sounds: Iterable[tuple[int, str]], store: Store, offset: int = 0) -> list[Sound]:
    """Sounds by frame and digest as files, ``offset`` frames later."""
    return [Sound(offset + frame, store.path(digest)) for frame, digest in sounds]
