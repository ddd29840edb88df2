"""What in the output folder of an order is up to date, and why the rest is not."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.passes import Passes
from render.base.stamps import holds, write_json
from render.base.workspace import STATE
from render.build.incremental.changes import UNREADABLE, Now, changes
from render.build.order import Order
from render.build.records import path_of, read_record
from render.media.captions.sentences import sentences
from render.media.captions.timing import cues
from render.media.captions.tracks import Track
from render.media.metadata import LECTURE_TITLES, Origin
from render.voice.timing import digests, sounds_of
from render.voice.voice import Voice, changes_of_voice
from scenes.registry import SceneInfo


@dataclass(frozen=True)
class Part:
    """A scene's video that is up to date: name, title, what its comment says, the SHA-256 of it
    without captions; first frame and digest of each sound in it."""

    name: str
    title: str
    origin: Origin
    digest: str
    sounds: tuple[tuple[int, str], ...] = ()


class State:
    """Looks at the output folder whenever it is asked; how things stand is looked at once.

    ``like``: the state of another order of the same run, so that what both depend on is looked at
    once. Raises LectureError for weight files that are none.
    """

    def __init__(self, order: Order, like: State | None = None) -> None:
        self.order = order
        settings = order.settings
        words = settings.source, settings.target
        files = settings.weights, settings.weights_for_inference
        self._passes: dict[Any, Passes] = like._passes if like else {}
        if (files, words) not in self._passes:
            passes = Passes(*files, *words)
            passes.check()
            self._passes[files, words] = passes
        passes = self._passes[files, words]
        self.voice: Voice | None = None
        if order.voice:
            self.voice = Voice(order.voice, order.language, order.out / STATE)
        self.now: Now = Now(passes, order.language, order.code_kept, like.now if like else None)

    def reasons(self, scene: SceneInfo) -> list[str]:
        """Why a scene is to be rendered, line by line; none if its video is up to date."""
        return self._look(scene)[0]

    def parts(self) -> list[Part] | str:
        """What the film is to be joined of, all of it up to date; or why that cannot be."""
        parts = []
        for scene in self.order.everything:
            name = self.order.video_name(scene)
            reasons, record = self._look(scene)
            if reasons:
                there = (self.order.out / name).exists()
                return (
                    f"{name} is out of date: {reasons[0]}" if there else f"{name} is not there yet"
                )
            origin = Origin(self.order.language, self.order.quality.name, record["key"])
            digest = record.get("pictures") or record["files"]["video"]["sha256"]
            sounds = sounds_of(record.get("beats", ()), digests(record), self.order.quality.fps)
            parts.append(Part(name, self.order.title(scene), origin, digest, sounds))
        return parts

    def _look(self, scene: SceneInfo) -> tuple[list[str], dict[str, Any]]:
        """Reasons to render a scene, and the record that they were found with."""
        order = self.order
        video = order.out / order.video_name(scene)
        if not video.is_file():
            return ["there is no video"], {}
        record = read_record(order.out, video.name)
        files = {"video": video, "numbers": order.out / order.numbers_name(scene)}
        missing = _misfit(files, record)
        if missing:
            return [missing], record
        made, key = record.get("made"), record.get("key")
        found = changes(made, key, scene.module, order.picture(scene), self.now)
        if made and found != [UNREADABLE]:
            found += changes_of_voice(self.voice, made.get("voice"), scene.slug)
            found += self._changes_of_burned(made.get("burned"), scene, record)
        return found, record

    def _changes_of_burned(self, said: Any, scene: SceneInfo, record: Any) -> list[str]:
        """Whether other captions are to be in the pictures than are."""
        wanted, there = self.order.burn, (said or {}).get("language", "")
        if wanted != there:
            return [f"captions in the picture: {there or 'none'}, now {wanted or 'none'}"]
        if not wanted:
            return []
        said_there = sentences(scene.slug, record["beats"], wanted)
        track = Track(wanted, tuple(cues(said_there, wanted, record["fps"])), record["fps"])
        return [] if track.digest == said["digest"] else ["captions in the picture"]

    def only_sound(self, scene: SceneInfo) -> bool:
        """Whether a video that is out of date needs no other pictures, only other sounds."""
        reasons, record = self._look(scene)
        made = record.get("made")
        if not self.voice or not made or not reasons:
            return False
        of_voice = changes_of_voice(self.voice, made.get("voice"), scene.slug)
        fps = self.order.quality.fps
        return reasons == of_voice and self.voice.keeps_pictures(made.get("voice"), scene.slug, fps)

    def film_key(self, parts: Sequence[Part]) -> str:
        """Stands for the parts of the film, byte by byte, and for their titles."""
        said = [[part.origin.key, part.digest, part.title] for part in parts]
        text = json.dumps([LECTURE_TITLES[self.order.language], said])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def film_is_up_to_date(self, parts: Sequence[Part]) -> bool:
        """Whether the film is the one of these parts."""
        film = self.order.out / self.order.film_name
        record = read_record(self.order.out, film.name)
        return not _misfit({"film": film}, record) and record.get("key") == self.film_key(parts)

    def note_film(self, key: str, stamp: Mapping[str, Any], captions: str = "") -> None:
        """Remember the film that is in place now, and a digest of the captions in it."""
        path = path_of(self.order.out, self.order.film_name)
        write_json(path, {"key": key, "captions": captions, "files": {"film": stamp}})

    def keep(self) -> None:
        """Leave for the next run what made this one slow."""
        self.now.code.keep()


def _misfit(files: Mapping[str, Path], record: Mapping[str, Any]) -> str:
    """Which of the files is not the one that its record is about; empty if all are."""
    said = record.get("files")
    for kind, path in files.items():
        if not path.is_file():
            return f"there is no {path.name}"
        if not isinstance(said, dict):
            return "there is no record of what it was made from"
        try:
            if not holds(path, said[kind]):
                return f"{path.name} is not as it was left"
        except (LookupError, TypeError):
            return "the record of what it was made from cannot be used"
    return ""
