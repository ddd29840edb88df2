"""Sounds made ready, by a digest of what they were made of; kept beside the videos."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Collection
from pathlib import Path

from engine.errors import from_os_error
from render.media.quality import AUDIO_RATE
from render.voice.files import samples_of

#: of how sounds are made ready: another one makes all of them anew
FORM = 1
#: what follows a beat's speech before the next beat begins, in seconds
BREATH = 0.35
_UNUSED = 24 * 3600  # seconds after which a sound that no video has is removed


class Store:
    """``OUT/.render/voice``: a WAV file per sound."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def make_folder(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise from_os_error(error, self.folder) from error

    def path(self, digest: str) -> Path:
        return self.folder / f"{digest}.wav"

    def has(self, digest: str) -> bool:
        return self.path(digest).is_file()

    def seconds(self, digest: str) -> float:
        """How long a beat must last for this sound; 0 for none."""
        if not digest or not self.has(digest):
            return 0.0
        return samples_of(self.path(digest)) / AUDIO_RATE + BREATH

    def tidy(self, used: Collection[str]) -> None:
        """Remove what no video has and nobody has just made."""
        for path in self.folder.glob("*.wav"):
            if path.stem not in used and time.time() - path.stat().st_mtime > _UNUSED:
                path.unlink(missing_ok=True)


def digest_of(*parts: str | bytes) -> str:
    """The name of the sound that is made of these."""
    found = hashlib.sha256(str(FORM).encode())
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        found.update(len(data).to_bytes(8, "big") + data)
    return found.hexdigest()[:24]
