"""What a video was made from, as the worker notes it: plain data, and the key made of it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from render.base.stamps import stamp
from render.build.incremental.code import Code
from render.build.incremental.surroundings import ffmpeg_of, font_file, versions
from render.media.quality import AUDIO_RATE, Quality

#: on every record, so that a record of another form is none
FORM = 1
#: files that this process had imported before it knew its scene, as ``Code.whole`` has them
IMPORTED: dict[str, str] = {}


def picture(
    slug: str, title: str, language: str, track: str, quality: Quality, renderer: str
) -> dict[str, Any]:
    """What was ordered; the track only counts for its title card."""
    return {
        "slug": slug,
        "title": title,
        "language": language,
        "track": track if slug.startswith("00") else "",
        "renderer": renderer,
        "quality": {**asdict(quality), "gop": quality.keyframe_interval, "audio": AUDIO_RATE},
    }


class Notes:
    """Made before a scene's module is imported, finished when the scene is."""

    def __init__(self, module: str, code_kept: Path | None) -> None:
        self._module = module
        self._kept = code_kept
        code = Code(code_kept)
        whole = code.whole(module)
        old = {name for name, digest in whole.items() if IMPORTED.get(name, digest) != digest}
        self._code = {n: "" if n in old else d for n, d in code.files(module).items()}

    def finish(self, reads: Any, ordered: dict[str, Any], ffmpeg: str) -> dict[str, Any]:
        """Everything that the video depends on. Files that were edited while it was drawn count
        as changed: nobody knows which of their versions drew what."""
        now = Code(self._kept).files(self._module)
        code = {
            name: digest if now.get(name) == digest else ""
            for name, digest in {**now, **self._code}.items()
        }
        return {
            "form": FORM,
            "picture": ordered,
            "code": code,
            "versions": versions(),
            "ffmpeg": ffmpeg_of(ffmpeg),
            "font": stamp(font_file()),
            **reads.document(),
        }


def key_of(made: dict[str, Any]) -> str:
    """16 hexadecimal digits that stand for all of it; times of files do not count."""
    counted = {
        **made,
        "ffmpeg": made["ffmpeg"]["version"],
        "font": made["font"]["sha256"],
    }
    text = json.dumps(counted, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
