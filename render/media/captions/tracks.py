"""Captions inside an MP4: a soft track for each language, which players offer to switch on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from render.media import boxes
from render.media.captions.cues import Cue
from render.media.captions.files import shown_in_track, vtt_for_track
from render.media.metadata import LANGUAGE_CODES

NAMES = {"zh": "中文", "en": "English"}


@dataclass(frozen=True)
class Track:
    """The captions of a video in one language."""

    language: str
    cues: tuple[Cue, ...]
    fps: int

    @property
    def code(self) -> str:
        return LANGUAGE_CODES[self.language]

    @property
    def name(self) -> str:
        return NAMES[self.language]

    def shown(self) -> list[tuple[int, int, str]]:
        """Start and end in milliseconds and text of each cue, as they stand in the MP4."""
        return [(*cue.milliseconds(self.fps), shown_in_track(cue)) for cue in self.cues]

    @property
    def digest(self) -> str:
        """Stands for what is shown, and when."""
        said = json.dumps([self.language, self.fps, self.shown()])
        return hashlib.sha256(said.encode()).hexdigest()[:16]


def joined(parts: Sequence[tuple[int, Track]], language: str, fps: int) -> Track:
    """The track of a film from its parts' tracks, each with the frame at which the part begins."""
    cues = [cue.moved(start) for start, track in parts for cue in track.cues]
    return Track(language, tuple(cues), fps)


def embed(binary: str, video: Path, target: Path, tracks: Sequence[Track]) -> None:
    """Write ``target``: pictures, sound, names and chapters of ``video`` as they are, and
    ``tracks`` in the place of whatever captions it had. Both files are in one private folder."""
    from render.media import ffmpeg

    files = []
    for track in tracks:
        file = target.with_name(f"{target.stem}.{track.language}.vtt")
        file.write_text(vtt_for_track(track.cues, track.fps), encoding="utf-8", newline="\n")
        files.append(file)
    labels = [(track.code, track.name) for track in tracks]
    ffmpeg.add_captions(binary, video, files, labels, target)
    boxes.hide_subtitles(target)
