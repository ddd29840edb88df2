"""Small lectures for the tests: pages of videos that ffmpeg makes up."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from render.base.reads import Made, Reads
from render.documents import page
from render.documents.handout.content import Handout
from render.documents.handout.write import handout
from render.media import ffmpeg
from scenes import lessons, registry, texts
from scenes.settings import Settings

SECONDS, FPS = 6, 10
#: Steps with one of everything: formulas, equations, matrices, maps, a mask, tables.
FULL = (8, 26, 35, 54, 88)
#: Of each scene: the sentences' names, and when they begin and end.
BEATS = (("question", 0.0, 2.0), ("middle", 2.0, 4.0), ("takeaway", 4.0, 6.0))
CUES = {
    "zh": ["第一句 <b> & 甲", "第二句\n两行", "第三句"],
    "en": ["First <b> & one", "Second\non two lines", "Third"],
}


@dataclass(frozen=True)
class Lecture:
    """A page on the disk, and its text."""

    folder: Path
    text: Handout
    language: str

    @property
    def index(self) -> Path:
        return self.folder / "index.html"


def make(
    folder: Path,
    language: str,
    *,
    clip: Path | None = None,
    whole: bool = False,
    count: int | None = None,
) -> Lecture:
    """The page of a lecture: nineteen copies of one small video, or ``count``; of the real text all
    headings, and all of it only where asked, since it takes a browser a while."""
    target = folder / "课程 页 (1)"
    (target / "videos").mkdir(parents=True)
    clip = clip or make_clip(folder / "clip.mp4")
    scenes = [shown(scene, language) for scene in registry.SCENES[:count]]
    for scene in scenes:
        (target / scene["video"]).hardlink_to(clip)
    text = text_of(lessons.settings("tutorial", language))
    for step in () if whole else (step for part in text.sections for step in part.steps):
        step.blocks = step.blocks if step.number in FULL else step.blocks[:1]
    page.write(target, text, scenes, f"test {folder.name}")
    return Lecture(target, text, language)


def text_of(settings: Settings) -> Handout:
    files = settings.weights, settings.weights_for_inference
    paths = (str(file.absolute()) for file in files)
    values = dict(zip(("weights", "inference_weights"), paths, strict=True))
    reads = Reads({**values, "source": settings.source, "target": settings.target})
    return handout(reads, settings.language, *(file.name for file in files))


def make_clip(path: Path) -> Path:
    """A few seconds in H.264 with sound, as browsers play it."""
    command = [ffmpeg.find(), "-v", "error", "-y"]
    command += ["-f", "lavfi", "-i", f"testsrc2=size=320x180:rate={FPS}:duration={SECONDS}"]
    command += ["-f", "lavfi", "-i", f"anullsrc=duration={SECONDS}"]
    command += ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-g", str(FPS)]
    command += ["-c:a", "aac", "-shortest", "-movflags", "+faststart", str(path)]
    subprocess.run(command, check=True, timeout=60)
    return path


def shown(scene: registry.SceneInfo, language: str) -> dict[str, Any]:
    """A scene as a page shows it, of a video that was never drawn."""
    first, last = scene.steps
    shares = [(first, first), (first, (first + last) // 2), ((first + last) // 2, last)]
    beats = [
        {
            "name": name,
            "variant": "",
            "facts": {},
            "step": steps[0],
            "last_step": steps[1],
            "start": start,
            "end": end,
        }
        for (name, start, end), steps in zip(BEATS, shares, strict=True)
    ]
    needs = {f"pictures {scene.slug}": made(fps=FPS, frames=SECONDS * FPS, beats=beats)}
    for name, texts_of_cues in CUES.items():
        cues = [
            [start * FPS, end * FPS, text.split("\n")]
            for (_, start, end), text in zip(BEATS, texts_of_cues, strict=True)
        ]
        needs[f"cues {scene.slug} {name}"] = made(cues=cues)
    told = {
        "number": scene.number,
        "slug": scene.slug,
        "title": texts.load(language)[scene.slug]["title"],
        "steps": list(scene.steps),
        "video": f"{scene.slug}_{language}.mp4",
    }
    return page.scene(told, needs, lambda _, slug, *path: f"{slug} {path[-1]}")


def made(**facts: Any) -> Made:
    return Made("", (), {}, "", facts, {})
