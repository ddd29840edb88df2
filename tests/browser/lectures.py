"""Small lectures for the tests: videos that ffmpeg makes up, with records as rendering leaves."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from render.documents.handout.write import of_settings
from render.documents.page import Page, Source
from render.media import ffmpeg
from render.media.sidecars import SideFiles
from scenes import lessons, registry, texts

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
class Made:
    """A page on the disk, and what it was made of."""

    folder: Path
    page: Page
    language: str

    @property
    def index(self) -> Path:
        return self.folder / "index.html"


def make(
    folder: Path,
    language: str,
    *,
    clip: Path | None = None,
    captions: bool = True,
    whole: bool = False,
) -> Made:
    """The page of a lecture: nineteen copies of one small video; of the real text all headings, and
    all of it only where asked, since it takes a browser a while."""
    videos = folder / "videos"
    videos.mkdir(parents=True)
    clip = clip or make_clip(folder / "clip.mp4")
    settings = lessons.settings("tutorial", language)
    sources = [
        source(videos, scene, language, clip, captions=captions) for scene in registry.SCENES
    ]
    text = of_settings(settings)
    for step in () if whole else (step for part in text.sections for step in part.steps):
        step.blocks = step.blocks if step.number in FULL else step.blocks[:1]
    page = Page(text, sources, f"test {folder.name}")
    target = folder / "课程 页 (1)"
    page.write(target)
    return Made(target, page, language)


def make_clip(path: Path) -> Path:
    """A few seconds in H.264 with sound, as browsers play it."""
    command = [ffmpeg.find(), "-v", "error", "-y"]
    command += ["-f", "lavfi", "-i", f"testsrc2=size=320x180:rate={FPS}:duration={SECONDS}"]
    command += ["-f", "lavfi", "-i", f"anullsrc=duration={SECONDS}"]
    command += ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-g", str(FPS)]
    command += ["-c:a", "aac", "-shortest", "-movflags", "+faststart", str(path)]
    subprocess.run(command, check=True, timeout=60)
    return path


def source(
    videos: Path, scene: registry.SceneInfo, language: str, clip: Path, *, captions: bool
) -> Source:
    video = videos / f"{scene.slug}_{language}.mp4"
    video.hardlink_to(clip)
    first, last = scene.steps
    shares = [(first, first), (first, (first + last) // 2), ((first + last) // 2, last)]
    beats = [
        {
            "name": name,
            "step": steps[0],
            "last_step": steps[1],
            "start": start,
            "end": end,
            "text": f"{scene.slug} {name}",
        }
        for (name, start, end), steps in zip(BEATS, shares, strict=True)
    ]
    facts = {"fps": FPS, "frames": SECONDS * FPS, "beats": beats}
    record = videos / ".render" / f"{video.stem}.json"
    record.parent.mkdir(exist_ok=True)
    record.write_text(json.dumps({"facts": facts}), encoding="utf-8")
    if captions:
        for name, cues in CUES.items():
            SideFiles(video).captions(name).write_text(vtt(cues), encoding="utf-8")
    title = texts.load(language)[scene.slug]["title"]
    return Source.beside(scene.number, scene.slug, title, scene.steps, video)


def vtt(cues: list[str]) -> str:
    lines = ["WEBVTT", ""]
    for (_, start, end), text in zip(BEATS, cues, strict=True):
        escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        lines += [f"00:00:0{start:.3f} --> 00:00:0{end:.3f}", escaped, ""]
    return "\n".join(lines)
