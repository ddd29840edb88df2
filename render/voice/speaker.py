"""What is asked during a play: how long each beat is spoken, and by which sound."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from engine.errors import from_os_error
from render.base.reads import Json
from render.media.quality import Quality
from render.media.sound import Sound, write_track
from render.voice import audio, provider, spoken


class Speaker:
    """A synthetic voice that speaks one scene; ``said``: see :meth:`render.voice.choice.Voice`.

    Sounds are made from the sentences, except for those that were said before; they are in
    ``sounds``, by beat.
    """

    def __init__(self, said: Mapping[str, Json], slug: str, language: str) -> None:
        self.sounds: dict[str, Path] = {}
        self._said, self._slug, self._language = said, slug, language
        self._provider: provider.Provider | None = None

    @property
    def table(self) -> Path:
        """The table of how things are said."""
        return spoken.table_of(self._language)

    @property
    def sentences(self) -> list[str]:
        """The names of all sounds."""
        return sorted({path.stem for path in self.sounds.values()})

    def seconds(self, key: str, template: str, facts: Mapping[str, Any]) -> float:
        """How long the beat must last for its speech, breath and all. Raises LectureError where it
        cannot be said."""
        text = spoken.sentence(self._language, self._slug, key, template, facts)
        self.sounds[key] = self._spoken(text)
        return audio.seconds_of(self.sounds[key])

    def track(self, target: Path, beats: Sequence[Any], frames: int, quality: Quality) -> Path:
        """Write all that is said in the scene, whose ``beats`` have ``start`` and ``key``, as a
        WAV file of ``frames`` frames."""
        voiced = [beat for beat in beats if beat.key in self.sounds]
        sounds = [Sound(round(b.start * quality.fps), self.sounds[b.key]) for b in voiced]
        return write_track(target, sounds, frames, quality.samples_per_frame)

    def _spoken(self, text: str) -> Path:
        """The sound of a text, made if need be. Raises LectureError if nothing is spoken."""
        kept = Path(self._said["kept"])
        name = digest_of(str(self._said["who"]), _how_made(), self._language, text)
        target, raw = kept / f"{name}.wav", kept / f"{name}.raw.wav"
        if target.is_file():
            return target
        try:
            kept.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise from_os_error(error, kept) from error
        if self._provider is None:
            self._provider = provider.find(str(self._said["name"]), str(self._said["folder"]))
        try:
            self._provider.say(text, self._language, raw)
            audio.prepare(raw, target)
        finally:
            raw.unlink(missing_ok=True)
        return target


def digest_of(*parts: str) -> str:
    """24 hexadecimal digits for these texts."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]


@cache
def _how_made() -> str:
    """Stands for the code that makes a sound of a sentence, so that none is kept beyond it."""
    files = (Path(str(module.__file__)) for module in (audio, provider))
    return digest_of(*(file.read_text(encoding="utf-8") for file in files))
