"""What lies beside a video: captions, chapters, and title, description and tags for platforms, in
the words of ``assets/about/{zh,en}.toml``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import LectureError
from render.base.project import ASSETS
from render.base.reader import Reader
from render.base.reads import Needs, Output, Reads, Spec, Tell
from render.media import timedtext
from render.media.captions.write import sentences
from render.media.mp4 import LECTURE_TITLES, Chapter
from render.media.sidecars import Description
from render.media.timedtext import Track, chapter_lines, clock

FOLDER = ASSETS / "about"
#: what the strictest platform takes
TITLE, DESCRIPTION, TAGS = 80, 2000, 10
_FORBIDDEN = str.maketrans("<>", "＜＞")


@dataclass(frozen=True)
class Scene:
    """A scene as it was rendered: ``steps`` of the tutorial, its first frame in the film and the
    first of the next, ``beats`` as in its record."""

    slug: str
    number: int
    steps: Sequence[int]
    start: int
    end: int
    beats: Sequence[Mapping[str, Any]]


def make(spec: Spec, needs: Needs, reads: Reads, into: Path, tell: Tell) -> Output:
    """A file by each ending: ``zh.vtt``, ``zh.srt``, ``about.zh.txt``, ``about.json``, and of a
    film ``chapters.zh.vtt``. Raises LectureError where a text is missing."""
    fps, texts, described = spec["fps"], dict[str, str](), {}
    for language in spec["languages"]:
        about = About(spec, needs, reads, language)
        cues = about.track(needs).cues
        texts[f"{language}.vtt"] = timedtext.vtt(cues, fps)
        texts[f"{language}.srt"] = timedtext.srt(cues, fps)
        if spec["film"]:
            texts[f"chapters.{language}.vtt"] = timedtext.chapters_vtt(about.chapters(), fps)
        said = described[language] = about.description()
        tags = ("、" if language == "zh" else ", ").join(said["tags"])
        texts[f"about.{language}.txt"] = f"{said['title']}\n\n{said['description']}\n\n{tags}\n"
    texts["about.json"] = json.dumps(described, ensure_ascii=False, indent=1) + "\n"
    for ending, text in texts.items():
        (into / ending).write_text(text, encoding="utf-8", newline="\n")
    return {ending: into / ending for ending in texts}


def copy_cover(spec: Spec, needs: Needs, reads: Reads, into: Path, tell: Tell) -> Output:
    """``cover``: the film's, which is its first scene's."""
    target = into / "cover.png"
    target.write_bytes(needs["cover"].path("cover").read_bytes())
    return {"cover": target}


class About:
    """What is said in a language of a scene's video, or of the film of a track. ``spec`` as for
    :func:`make`; texts and sizes come from ``reads``. Raises LectureError without the texts."""

    def __init__(self, spec: Spec, needs: Needs, reads: Reads, language: str) -> None:
        self.spec, self.reads, self.language = spec, reads, language
        self.path = reads.uses(FOLDER / f"{language}.toml")
        self.table = Reader().toml(self.path, dict[str, Any])
        self.scenes, end = list[Scene](), 0
        for slug, number, steps in spec["scenes"]:
            shown, start = needs[f"pictures {slug}"].facts, end
            end += shown["frames"]
            self.scenes.append(Scene(slug, number, steps, start, end, shown["beats"]))
        self.length = clock(round(end / spec["fps"]))

    def title(self, scene: Scene) -> str:
        """Raises LectureError where there is none."""
        return str(self.reads.entry(self.language, scene.slug, "title"))

    def chapters(self) -> list[Chapter]:
        """A chapter per scene, end to end."""
        return [Chapter(self.title(scene), scene.start, scene.end) for scene in self.scenes]

    def track(self, needs: Needs) -> Track:
        """The captions of all scenes."""
        said = (f"cues {scene.slug} {self.language}" for scene in self.scenes)
        cues = [needs[name].facts["cues"] for name in said]
        parts = zip((scene.start for scene in self.scenes), cues, strict=True)
        return timedtext.joined(parts, self.language, self.spec["fps"])

    def sizes(self) -> dict[str, str]:
        """What is known of the model."""
        counted = {"words": "tokens:vocabulary", "encoder": "config:encoder"}
        counted |= {"decoder": "config:decoder"}
        named = {"size": "config:d_model", "heads": "config:heads", "hidden": "config:d_ff"}
        return {
            **{key: str(len(self.reads.value("training", n))) for key, n in counted.items()},
            **{key: str(self.reads.value("training", name)) for key, name in named.items()},
            **{key: self.spec[key] for key in ("source", "target")},
        }

    def description(self) -> Description:
        """What to type into a form of a platform. Raises LectureError where a text is missing."""
        try:
            title, paragraphs, tags = self._of_film() if self.spec["film"] else self._of_scene()
            common = self.table["common"]
            paragraphs += [
                common["model"].format(**self.sizes()),
                f"{common['promise']}{'' if self.language == 'zh' else ' '}{common['captions']}",
            ]
            said = "\n\n".join(filter(None, paragraphs)).translate(_FORBIDDEN)
            return {
                "title": _cut(title.translate(_FORBIDDEN), TITLE),
                "description": _cut(said, DESCRIPTION),
                "tags": list(dict.fromkeys([*tags, *common["tags"]]))[:TAGS],
            }
        except (LookupError, AttributeError, TypeError, ValueError) as error:
            raise LectureError(
                where=self.path,
                expected="texts that use only the given facts",
                found=f"{type(error).__name__} {error}",
            ) from error

    def _of_scene(self) -> tuple[str, list[str], list[str]]:
        scene, common, placing = self.scenes[0], self.table["common"], self.table["scene"]
        own, title = self.table["scenes"].get(scene.slug, {}), self.title(scene)
        learn, tags, (first, last) = own.get("learn", ""), own.get("tags", []), scene.steps
        asked = sentences(scene.slug, scene.beats[:1], self.language, self.reads.entry)
        if scene.number == 0:  # a title card asks nothing and is no part of its own
            return title, [learn], tags
        lecture = {"series": common["series"], "lecture": LECTURE_TITLES[self.language]}
        place = {"number": scene.number, "length": self.length, "first": first, "last": last}
        facts = {"title": title, **lecture, **place}
        asks = [common["asks"].format(question=said.text) for said in asked]
        placed = placing["place_one" if first == last else "place"].format(**facts)
        return placing["title"].format(**facts), [learn, *asks, placed], tags

    def _of_film(self) -> tuple[str, list[str], list[str]]:
        track, film = self.spec["track"], self.table["film"]
        own = self.table["tracks"][track]
        count = sum(scene.number > 0 for scene in self.scenes)
        length = film["length"].format(length=self.length, count=count)
        listed = chapter_lines(self.chapters(), self.spec["fps"])
        title = film[track].format(lecture=LECTURE_TITLES[self.language])
        learn = own["learn"].format(**self.sizes())
        chapters = "\n".join([film["chapters"], *listed]) if listed else ""
        return title, [learn, length, chapters], own["tags"]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
