"""A video in one ffmpeg command: pictures copied, sound, names, chapters and captions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import ffmpeg

from render.base.reads import Needs, Output, Reads, Spec, Tell
from render.media.ffmpeg import find, link, named, write
from render.media.mp4 import LANGUAGE_CODES, Chapter, Origin, hide_subtitles
from render.media.quality import AUDIO_RATE, Quality
from render.media.sound import Sound, write_track
from render.media.timedtext import Track, joined

VIDEO = "video.mp4"
_SPECIAL = re.compile(r"([=;#\\\n])")
_PRIMING = 1024  # samples of delay that AAC encoders put in front
#: ticks a second of the film's own clock. ffmpeg 9 would take the least common multiple of all
#: tracks' scales, 48,000,000 with captions, in which a chapter of 45 s no longer fits into 31 bits.
_MOVIE_TIMESCALE = AUDIO_RATE


@dataclass(frozen=True)
class Video:
    """What a video is to be; ``frames`` is its whole length.

    ``pictures``: the digest of what the encoder put out, where it is known; the check then compares
    packets with it rather than decoding all of them.
    """

    quality: Quality
    frames: int
    title: str
    origin: Origin
    chapters: tuple[Chapter, ...] = ()
    tracks: tuple[Track, ...] = ()
    pictures: str | None = None


@dataclass(frozen=True)
class Part:
    """A video whose pictures go into another: the file, its length in frames, its title."""

    video: Path
    frames: int
    title: str = ""


def make(spec: Spec, needs: Needs, reads: Reads, into: Path, tell: Tell) -> Output:
    """``video``: the MP4 of the scenes ``parts``, with chapters where they have ``titles``.

    Needs ``pictures SLUG``, and where they could be made ``cues SLUG LANGUAGE`` and for recordings
    ``sound SLUG BEAT``. What a synthetic voice says in a scene is the file ``sound`` of its
    pictures, or of ``voice SLUG`` where the pictures are burned ones. Facts: ``frames``, and
    ``key``, which stands in the comment.
    """
    video, parts = planned(spec, needs, reads.key)
    sound = None
    if spec["spoken"]:
        rate = video.quality.samples_per_frame
        sound = write_track(into / "sound.wav", _sounds(spec, needs), video.frames, rate)
    target = mux(find(), video, parts, into / VIDEO, sound)
    return {"video": target, "facts": {"frames": video.frames, "key": reads.key}}


def planned(spec: Spec, needs: Needs, key: str) -> tuple[Video, list[Part]]:
    """The video that :func:`make` makes, and what its pictures come from."""
    quality, slugs, parts = Quality(**spec["quality"]), spec["parts"], []
    for slug, title in zip(slugs, spec["titles"] or [""] * len(slugs), strict=True):
        drawn = needs[f"pictures {slug}"]
        parts.append(Part(drawn.path("pictures"), int(drawn.facts["frames"]), title))
    chapters, tracks = chapters_of(parts), []
    for language in spec["languages"]:
        made = [needs.get(f"cues {slug} {language}") for slug in slugs]
        cues = [
            (c.start, each.facts["cues"]) for c, each in zip(chapters, made, strict=True) if each
        ]
        if len(cues) == len(parts):
            tracks.append(joined(cues, language, quality.fps))
    video = Video(
        quality,
        chapters[-1].end,
        spec["title"],
        Origin(spec["language"], quality.name, key),
        chapters if spec["titles"] else (),
        tuple(tracks),
    )
    return video, parts


def _sounds(spec: Spec, needs: Needs) -> list[Sound]:
    """Everything that is heard, by the frames of the video."""
    found, start = [], 0
    for slug in spec["parts"]:
        drawn = needs[f"pictures {slug}"]
        spoken = needs.get(f"voice {slug}", drawn)
        if "sound" in spoken.paths:
            found.append(Sound(start, spoken.path("sound")))
        for beat in drawn.facts["beats"]:
            made = needs.get(f"sound {slug} {beat['key']}")
            if made and "sound" in made.paths:  # one that cannot be used is left out
                frame = start + round(beat["start"] * drawn.facts["fps"])
                found.append(Sound(frame, made.path("sound")))
        start += int(drawn.facts["frames"])
    return found


def chapters_of(parts: Sequence[Part]) -> tuple[Chapter, ...]:
    """A chapter per part, end to end from the first frame."""
    ends = [*accumulate(part.frames for part in parts)]
    return tuple(map(Chapter, (part.title for part in parts), [0, *ends], ends))


def mux(
    binary: str, video: Video, parts: Sequence[Part], target: Path, sound: Path | None = None
) -> Path:
    """Write ``video`` to ``target`` with the pictures of ``parts``. Raises LectureError.

    ``sound``: a WAV file of one channel and exactly the pictures' length, in the folder of
    ``target``, which must be private; without it there is silence. It is encoded over the whole
    length, so it cannot drift from the pictures where parts meet; the encoder's delay is taken off
    the front, so that no edit list is needed.
    """

    def beside(ending: str, text: str) -> str:
        file = target.with_suffix(ending)
        file.write_text(text, encoding="utf-8", newline="\n")
        return named(file)

    listing = beside(".ffconcat", _listing(target, parts, video.quality.fps))
    pictures = ffmpeg.input(listing, format="concat", safe=0)["v"]
    notes = ffmpeg.input(beside(".ffmetadata", metadata_of(video)), format="ffmetadata")
    texts = [
        ffmpeg.input(beside(f".{track.language}.vtt", track.vtt()), format="webvtt")["s"]
        for track in video.tracks
    ]
    audio = _audio(sound, video.frames * video.quality.samples_per_frame)
    streams = pictures, audio, notes["v?"], *texts  # of the notes nothing: they are an input only
    write(binary, ffmpeg.output(*streams, named(target), **_settings(video)), target)
    hide_subtitles(target)
    return target


def _settings(video: Video) -> dict[str, Any]:
    language = LANGUAGE_CODES[video.origin.language]
    settings: dict[str, Any] = {
        "format": "mp4",
        "c:v": "copy",
        "c:a": "aac",
        "b:a": "128k",
        "ac": 2,
        "c:s": "mov_text",
        "map_metadata": 2,
        "map_chapters": 2,
        "metadata:s:v:0": f"language={language}",
        "metadata:s:a:0": f"language={language}",
        "use_editlist": 0,
        "movie_timescale": _MOVIE_TIMESCALE,
        "movflags": "+faststart+negative_cts_offsets",
    }
    for index, track in enumerate(video.tracks):
        settings[f"metadata:s:s:{index}"] = f"language={track.code}"
        settings[f"metadata:s:{2 + index}"] = f"handler_name={track.name}"  # after picture, sound
        settings[f"disposition:s:{index}"] = "0"
    return settings


def _audio(sound: Path | None, samples: int) -> Any:
    """The sound as a stream of ``samples`` samples at 48 kHz, without the encoder's delay."""
    if sound is None:
        silence = f"anullsrc=r={AUDIO_RATE}:cl=stereo,atrim=end_sample={max(samples - _PRIMING, 1)}"
        return ffmpeg.input(f"{silence},asetpts=PTS+{_PRIMING}", format="lavfi")["a"]
    ears = ffmpeg.input(named(sound))["a"].asplit()
    both = ffmpeg.filter([ears[0], ears[1]], "join", inputs=2, channel_layout="stereo")
    return both.filter("atrim", start_sample=min(_PRIMING, samples - 1), end_sample=samples)


def metadata_of(video: Video) -> str:
    """The FFMETADATA file that gives a video its title, comment and chapters."""
    lines = [";FFMETADATA1", f"title={escape(video.title)}", f"comment={escape(str(video.origin))}"]
    for chapter in video.chapters:
        lines += ["[CHAPTER]", f"TIMEBASE=1/{video.quality.fps}"]
        lines += [f"START={chapter.start}", f"END={chapter.end}", f"title={escape(chapter.title)}"]
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """``text`` as an FFMETADATA value: ``=``, ``;``, ``#``, backslash and newline escaped.

    ffmpeg takes a backslash at the very end of a line for an escape of the line break even where
    it is itself escaped, so such a text gets a blank behind it.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return _SPECIAL.sub(r"\\\1", text) + (" " if text.endswith("\\") else "")


def _listing(target: Path, parts: Sequence[Part], fps: int) -> str:
    """The concat script. Parts get a second, plain name, so that no name needs quoting."""
    lines = ["ffconcat version 1.0"]
    for index, part in enumerate(parts):
        file = link(part.video, target.with_name(f"{target.stem}_part{index:03d}.mp4"))
        lines += [f"file {file.name}", f"duration {part.frames / fps:.6f}"]
    return "\n".join(lines) + "\n"
