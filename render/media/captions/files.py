"""Cues as WebVTT and SRT."""

from __future__ import annotations

from collections.abc import Sequence

from render.media.captions.cues import Cue

_VTT = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
#: SRT has no escapes: players drop what looks like a tag, readers stumble over an arrow
_SRT = {"-->": "→", "<": "＜", ">": "＞"}
#: line breaks and blanks to pysubs2
_BREAKS = {"\\n": "＼n", "\\N": "＼N", "\\h": "＼h"}
#: what stands for something in the format that ffmpeg makes tracks from
_TRACK = {"\\": "＼", "{": "｛", "}": "｝"}


def vtt(cues: Sequence[Cue], fps: int) -> str:
    """The text of a WebVTT file."""
    return _written(cues, fps, "vtt", {**_BREAKS, **_VTT})


def srt(cues: Sequence[Cue], fps: int) -> str:
    """The text of an SRT file."""
    return _written(cues, fps, "srt", {**_BREAKS, **_SRT})


def vtt_for_track(cues: Sequence[Cue], fps: int) -> str:
    """WebVTT from which ffmpeg makes a track with :func:`shown_in_track`."""
    return _written(cues, fps, "vtt", {**_TRACK, **_VTT})


def shown_in_track(cue: Cue) -> str:
    """The text of a cue in the track inside an MP4."""
    return _replaced("\n".join(cue.lines), _TRACK)


def _written(cues: Sequence[Cue], fps: int, form: str, replaced: dict[str, str]) -> str:
    import pysubs2

    file = pysubs2.SSAFile()
    for cue in cues:
        start, end = cue.milliseconds(fps)
        text = "\\N".join(_replaced(line, replaced) for line in cue.lines)
        file.append(pysubs2.SSAEvent(start=start, end=end, text=text))
    return file.to_string(form, keep_ssa_tags=True)


def _replaced(text: str, replaced: dict[str, str]) -> str:
    for old, new in replaced.items():
        text = text.replace(old, new)
    return text
