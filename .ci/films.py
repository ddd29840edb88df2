"""Looks with PyAV at the videos of ``./render.sh``: ``python .ci/films.py out/zh_draft``.

Every scene is there, with pictures, sound of the same length and captions in both languages whose
words are those of the WebVTT files; the film has a chapter per scene, end to end, and all captions.
Exit code 1 and one line for the first thing that is wrong.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from html import unescape
from pathlib import Path
from typing import Any

import av
import pysubs2

sys.path.append(str(Path(__file__).resolve().parents[1]))

from scenes import registry

LANGUAGES = {"zh": "zho", "en": "eng"}


def expect(path: Path, what: str, expected: object, found: object) -> None:
    if expected != found:
        sys.exit(f"{path.name}: {what}: expected {expected}, found {found}")


def texts(container: Any, stream: Any) -> list[str]:
    """The texts of a caption track that are not empty."""
    packets = [bytes(packet) for packet in container.demux(stream) if packet.pts is not None]
    container.seek(0)
    found = [data[2 : 2 + int.from_bytes(data[:2], "big")].decode() for data in packets]
    return [text for text in found if text]


def written(video: Path, language: str) -> list[str]:
    """The texts of the WebVTT file beside a video."""
    file = video.with_suffix(f".{language}.vtt")
    return [unescape(event.plaintext) for event in pysubs2.load(str(file))]


def look(video: Path) -> tuple[str, int, Fraction, list[Any]]:
    """Title, number of frames, seconds and chapters of a video that is as it should be."""
    with av.open(str(video)) as container:
        kinds = [stream.type for stream in container.streams if stream.type != "data"]
        expect(video, "streams", ["video", "audio", "subtitle", "subtitle"], kinds)
        pictures, sound = container.streams.video[0], container.streams.audio[0]
        seconds = Fraction(pictures.frames) / pictures.average_rate
        heard = float(sound.duration * sound.time_base)
        expect(video, "sound as long as the pictures", True, abs(heard - float(seconds)) < 0.05)
        packets = sum(packet.size > 0 for packet in container.demux(pictures))
        expect(video, "frames", pictures.frames, packets)
        container.seek(0)
        order = sorted(LANGUAGES, key=lambda language: not video.stem.endswith(f"_{language}"))
        found = {stream.metadata["language"]: stream for stream in container.streams.subtitles}
        expect(video, "languages of captions", set(LANGUAGES.values()), set(found))
        for language in order:
            track = texts(container, found[LANGUAGES[language]])
            expect(video, f"captions in {language}", written(video, language), track)
        return container.metadata["title"], pictures.frames, seconds, container.chapters()


def look_at_all(folder: Path) -> str:
    """What was looked at, for people."""
    scenes = sorted(folder.glob("[0-9][0-9]_*.mp4"))
    expect(folder, "scenes", len(registry.film("full")), len(scenes))
    seen = [look(video) for video in scenes]
    film = folder / "lecture.mp4"
    expect(film, "file", "there", "there" if film.is_file() else "missing")
    _, frames, seconds, chapters = look(film)
    expect(film, "frames", sum(each[1] for each in seen), frames)
    expect(
        film,
        "titles of chapters",
        [each[0] for each in seen],
        [c["metadata"]["title"] for c in chapters],
    )
    ends = [Fraction(0)]
    for each in seen:
        ends.append(ends[-1] + each[2])
    for index, chapter in enumerate(chapters):
        edges = [chapter[key] * Fraction(chapter["time_base"]) for key in ("start", "end")]
        for edge, wanted in zip(edges, ends[index : index + 2], strict=True):
            near = abs(edge - wanted) < Fraction(1, 100)
            expect(film, f"edges of chapter {index + 1}", True, near)
    minutes = float(seconds) / 60
    return f"{len(scenes)} scenes, a film of {minutes:.1f} min with {len(chapters)} chapters"


if __name__ == "__main__":
    print(f"videos of {sys.argv[1]}: {look_at_all(Path(sys.argv[1]))}")
