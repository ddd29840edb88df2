"""Published folders for tests, made of a small film by the code that makes real ones."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from PIL import Image

from render.base import files
from render.base.reads import Made, Stamp
from render.build.making import put_whole
from render.media.mux import Part, Video, chapters_of, mux
from render.media.sidecars import SideFiles
from render.platforms.folder import MANIFEST, Publication, PublishedVideo
from render.platforms.rules import named

from .conftest import DRAFT, ORIGIN, encode

SRT = "1\n00:00:00,000 --> 00:00:01,000\n{}\n\n2\n00:00:01,000 --> 00:00:02,000\n…\n"
VTT = "WEBVTT\n\n00:00.000 --> 00:01.000\n{}\n\n00:01.000 --> 00:02.000\n…\n"
WORDS = {"zh": "我爱水课", "en": "I love easy courses"}


def film(binary: str, folder: Path, frames: int = 30) -> Path:
    """A film of two chapters with everything that lies beside it."""
    work = folder / "work"
    work.mkdir(parents=True)
    half = frames // 2
    parts = [Part(encode(binary, work / f"{n}.mp4", half), half, f"第 {n} 章") for n in (1, 2)]
    made, video = work / "lecture.mp4", folder / "lecture.mp4"
    mux(binary, Video(DRAFT, 2 * half, "讲座", ORIGIN, chapters_of(parts)), parts, made)
    made.rename(video)
    shutil.rmtree(work)
    beside(video)
    return video


def beside(video: Path) -> None:
    """Write captions, cover and texts beside a video."""
    side = SideFiles(video)
    about = {}
    for language, words in WORDS.items():
        side.captions(language, "srt").write_text(SRT.format(words), encoding="utf-8")
        side.captions(language, "vtt").write_text(VTT.format(words), encoding="utf-8")
        chapters = VTT.format(f"1. {words}")
        side.chapters(language).write_text(chapters, encoding="utf-8")
        about[language] = {
            "title": f"Transformer: {words}",
            "description": f"{words}。\n\n每一个数字都算给你看。",
            "tags": ["Transformer", "deep learning", "水课"],
        }
    side.about.write_text(json.dumps(about, ensure_ascii=False), encoding="utf-8")
    Image.linear_gradient("L").resize((1280, 720)).save(side.cover)


def publication(video: Path, platform: str, target: Path) -> Publication:
    """The film in Chinese, for a platform."""
    texts = SideFiles(video).read_about()["zh"]
    one = PublishedVideo("transformer_lecture_zh", video, texts, "zh")
    return Publication(named(platform), "transformer-lecture-full-zh", "zh", (one,), target)


def published(video: Path, platform: str, target: Path) -> Path:
    """The folder, written."""
    return written(publication(video, platform, target), lambda one, folder: one.fill(folder, []))


def written(
    one: Publication, write: Callable[[Publication, Path], object] = Publication.make
) -> Path:
    """The folder of a publication, made and put in place as a build does it."""
    folder = Path(tempfile.mkdtemp(dir=one.videos[0].video.parent))
    try:
        files.refuse_foreign(one.target, MANIFEST, "one that was published")
        write(one, folder)
        paths = {path.name: path for path in folder.iterdir()}
        stamps = {name: Stamp.of(path) for name, path in paths.items()}
        named = {name: str(path) for name, path in paths.items()}
        put_whole(Made("", (), stamps, "", {}, named), one.target)
    finally:
        shutil.rmtree(folder)
    return one.target
