"""What the worker asks during a scene: how long each beat is spoken, and by which sound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from render.build.task import Task
from render.voice import provider, spoken
from render.voice.files import prepare
from render.voice.store import Store, digest_of
from render.voice.timing import noted
from render.voice.track import Sound, write_track


class Speaker:
    """Speaks one scene; ``sounds`` has the digest of each beat's sound, by key.

    ``said`` is what ``Voice.for_task`` gives: with ``sounds`` these are the recordings there are;
    else a synthetic voice makes them from the sentences.
    """

    def __init__(self, said: Mapping[str, Any], slug: str, language: str) -> None:
        self.who = str(said["who"])
        self.sounds: dict[str, str] = {}
        self.store = Store(Path(said["store"]))
        self._slug, self._language = slug, language
        self._recorded: Mapping[str, str] | None = said["sounds"]
        self._provider: provider.Provider | None = None
        self._named = str(said["name"]), str(said["folder"])

    def seconds(self, key: str, template: str, facts: Mapping[str, Any]) -> float:
        """How long the beat must last for its speech, breath and all; 0 for a silent one."""
        if self._recorded is not None:
            digest = self._recorded.get(key, "")
        else:
            digest = self._speak(key, template, facts)
        self.sounds[key] = digest
        return self.store.seconds(digest)

    def noted(self, beats: Sequence[Any], fps: int) -> dict[str, Any]:
        """What is remembered of the scene's voice: see ``timing.noted``."""
        return noted(self.who, beats, self.sounds, self.store, fps)

    def track(self, task: Task, beats: Sequence[Any], frames: int) -> Path:
        """Write the scene's sound track beside its video."""
        fps = task.quality.fps
        sounds = [
            Sound(round(beat.start * fps), self.store.path(digest))
            for beat in beats
            if (digest := self.sounds.get(beat.key))
        ]
        return write_track(
            task.video.with_suffix(".wav"), sounds, frames, task.quality.samples_per_frame
        )

    def _speak(self, key: str, template: str, facts: Mapping[str, Any]) -> str:
        text = spoken.sentence(self._language, self._slug, key, template, facts)
        digest = digest_of(self.who, self._language, text)
        if not self.store.has(digest):
            self.store.make_folder()
            say(self._provider_found(), text, self._language, self.store.path(digest))
        return digest

    def _provider_found(self) -> provider.Provider:
        if self._provider is None:
            self._provider = provider.find(*self._named)
        return self._provider


def say(voice: provider.Provider, text: str, language: str, target: Path) -> None:
    """Have ``text`` said and made ready. Raises LectureError where nothing is said."""
    raw = target.with_name(f"{target.stem}.raw.wav")
    try:
        voice.say(text, language, raw)
        prepare(raw, target)
    finally:
        raw.unlink(missing_ok=True)
