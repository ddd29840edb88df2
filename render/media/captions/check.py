"""The part of the check of a video that looks at the captions inside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av

from render.media.expected import Expected, Finding


def caption_findings(path: Path, expected: Expected) -> Iterator[Finding]:
    """Each track: its language, name, that it waits to be asked for, and every cue."""
    with av.open(str(path.absolute())) as container:
        for track, stream in zip(expected.captions, container.streams.subtitles, strict=True):
            named = f"captions in {track.name}"
            tags = stream.metadata
            yield Finding(f"{named}: codec", "mov_text", stream.codec_context.name)
            yield Finding(f"{named}: language", track.code, tags.get("language"))
            yield Finding(f"{named}: name", track.name, tags.get("handler_name"))
            yield Finding(f"{named}: shown unasked", 0, int(stream.disposition))
            wanted, found = track.shown(), _cues(container, stream)
            yield Finding(f"{named}: cues", len(wanted), len(found))
            for index, (cue, there) in enumerate(zip(wanted, found, strict=True), start=1):
                yield Finding(f"{named}: cue {index}", cue, there)
            container.seek(0)


def _cues(container: Any, stream: Any) -> list[tuple[int, int, str]]:
    """Start and end in milliseconds, and text. Between cues a track has empty texts."""
    found = []
    for packet in container.demux(stream):
        data = bytes(packet)
        size = int.from_bytes(data[:2], "big")
        if packet.pts is None or not size:
            continue
        start = packet.pts * packet.time_base * 1000
        end = start + packet.duration * packet.time_base * 1000
        found.append((round(start), round(end), data[2 : 2 + size].decode("utf-8", "replace")))
    return found
