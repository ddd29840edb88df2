"""Captions as platforms want them: read from SRT or VTT, written as BCC, the form of Bilibili."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from engine.errors import LectureError

# What Bilibili's own editor writes beside the sentences: the look of the captions.
_BCC_LOOK = {
    "font_size": 0.4,
    "font_color": "#FFFFFF",
    "background_alpha": 0.5,
    "background_color": "#9C27B0",
    "Stroke": "none",
}
_BOTTOM = 2  # of the picture, in BCC


@dataclass(frozen=True)
class Cue:
    """A caption: from ``start`` to ``end``, in seconds."""

    start: float
    end: float
    text: str


def cues(path: Path) -> list[Cue]:
    """The captions of an SRT, VTT or BCC file. Raises LectureError where there are none."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        found = (
            _from_bcc(text)
            if path.suffix == ".bcc"
            else _from_text(text, "vtt" if text.startswith("WEBVTT") else "srt")
        )
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise LectureError(where=path, expected="captions", found=str(error)) from error
    if not found:
        raise LectureError(where=path, expected="captions", found="none")
    return found


def _from_bcc(text: str) -> list[Cue]:
    return [Cue(c["from"], c["to"], c["content"]) for c in json.loads(text)["body"]]


def _from_text(text: str, form: str) -> list[Cue]:
    import pysubs2

    return [
        Cue(line.start / 1000, line.end / 1000, line.plaintext)
        for line in pysubs2.SSAFile.from_string(text, form)
    ]


def write_bcc(source: Path, target: Path) -> None:
    """The captions of ``source`` as a BCC file."""
    body = [
        {"from": cue.start, "to": cue.end, "location": _BOTTOM, "content": cue.text}
        for cue in cues(source)
    ]
    document = json.dumps({**_BCC_LOOK, "body": body}, ensure_ascii=False, indent=1)
    target.write_text(document + "\n", encoding="utf-8")
