"""What lies beside a video: captions, chapters, and title, description and tags for platforms, in
the words of ``assets/about/{zh,en}.toml``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import LectureError
from render.base.project import ASSETS
from render.base.reader import Reader
from render.base.reads import Json, Made, Reads
from render.media import timedtext
from render.media.captions.write import sentences
from render.media.mp4 import LECTURE_TITLES, Chapter
from render.media.sidecars import Description
from render.media.timedtext import Cue, Track, chapter_lines, clock

FOLDER = ASSETS / "about"
#: what the strictest platform takes
TITLE, DESCRIPTION, TAGS, TAG = 80, 2000, 10, 20
_FORBIDDEN = str.maketrans("<>", "＜＞")


@dataclass(frozen=True)
class Told:
    """A scene as it was rendered. ``beats`` as in its record; ``steps`` of the tutorial."""

    slug: str
    number: int
    steps: tuple[int, int]
    frames: int
    beats: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Story:
    """A scene's video, or the film of a ``track``; texts and sizes come from ``reads``."""

    language: str
    fps: int
    told: tuple[Told, ...]
    track: str
    film: bool
    words: Mapping[str, str]
    reads: Reads

    @property
    def seconds(self) -> float:
        return sum(part.frames for part in self.told) / self.fps

    def title(self, scene: Told, language: str) -> str:
        """Raises LectureError where there is none."""
        return str(self.reads.entry(language, scene.slug, "title"))

    def chapters(self, language: str) -> tuple[Chapter, ...]:
        """A chapter per scene, end to end; none for the video of one scene."""
        found, start = [], 0
        for part in self.told if self.film else ():
            found.append(Chapter(self.title(part, language), start, start + part.frames))
            start += part.frames
        return tuple(found)

    def table(self, language: str) -> dict[str, Any]:
        """The texts about videos in a language. Raises LectureError where they cannot be read."""
        path = FOLDER / f"{language}.toml"
        self.reads.uses(path)
        return Reader().toml(path, dict[str, Any])

    def sizes(self) -> dict[str, str]:
        """What is known of the model."""

        def of(name: str) -> Any:
            return self.reads.value("training", name)

        return {
            "words": str(len(of("tokens:vocabulary"))),
            "size": str(of("config:d_model")),
            "heads": str(of("config:heads")),
            "hidden": str(of("config:d_ff")),
            "encoder": str(len(of("config:encoder"))),
            "decoder": str(len(of("config:decoder"))),
            **self.words,
        }


def make(
    spec: Mapping[str, Json],
    needs: Mapping[str, Made],
    reads: Reads,
    into: Path,
    tell: Callable[[int], None],
) -> dict[str, Path]:
    """A file by each ending: ``zh.vtt``, ``zh.srt``, ``about.zh.txt``, ``about.json``, and of a
    film ``chapters.zh.vtt``. Raises LectureError where a text is missing."""
    told = tuple(
        Told(slug, number, tuple(steps), shown.facts["frames"], shown.facts["beats"])
        for slug, number, steps in spec["scenes"]
        for shown in [needs[f"pictures {slug}"]]
    )
    words = {"source": spec["source"], "target": spec["target"]}
    story = Story(spec["language"], spec["fps"], told, spec["track"], spec["film"], words, reads)
    texts, described = dict[str, str](), {}
    for language in spec["languages"]:
        cues = _track(story, needs, language).cues
        texts[f"{language}.vtt"] = timedtext.vtt(cues, story.fps)
        texts[f"{language}.srt"] = timedtext.srt(cues, story.fps)
        if story.film:
            listed = story.chapters(language)
            texts[f"chapters.{language}.vtt"] = timedtext.chapters_vtt(listed, story.fps)
        described[language] = description(story, language)
        texts[f"about.{language}.txt"] = as_text(described[language], language)
    texts["about.json"] = json.dumps(described, ensure_ascii=False, indent=1) + "\n"
    for ending, text in texts.items():
        (into / ending).write_text(text, encoding="utf-8", newline="\n")
    return {ending: into / ending for ending in texts}


def _track(story: Story, needs: Mapping[str, Made], language: str) -> Track:
    parts, start = [], 0
    for part in story.told:
        said = needs[f"cues {part.slug} {language}"].facts["cues"]
        cues = tuple(Cue(first, last, tuple(lines)) for first, last, lines in said)
        parts.append((start, Track(language, cues, story.fps)))
        start += part.frames
    return timedtext.joined(parts, language, story.fps)


def copy_cover(
    spec: Mapping[str, Json],
    needs: Mapping[str, Made],
    reads: Reads,
    into: Path,
    tell: Callable[[int], None],
) -> dict[str, Path]:
    """``cover``: the film's, which is its first scene's."""
    target = into / "cover.png"
    target.write_bytes(needs["cover"].path("cover").read_bytes())
    return {"cover": target}


def description(story: Story, language: str) -> Description:
    """What to type into a form of a platform. Raises LectureError where a text is missing."""
    try:
        title, paragraphs, tags = (
            _of_film(story, language) if story.film else _of_scene(story, story.told[0], language)
        )
        common = story.table(language)["common"]
        paragraphs += [
            common["model"].format(**story.sizes()),
            f"{common['promise']}{'' if language == 'zh' else ' '}{common['captions']}",
        ]
        said = "\n\n".join(filter(None, paragraphs)).translate(_FORBIDDEN)
        return {
            "title": _cut(title.translate(_FORBIDDEN), TITLE),
            "description": _cut(said, DESCRIPTION),
            "tags": list(dict.fromkeys([*tags, *common["tags"]]))[:TAGS],
        }
    except (KeyError, IndexError, AttributeError, TypeError, ValueError) as error:
        raise LectureError(
            where=FOLDER / f"{language}.toml",
            expected="texts that use only the given facts",
            found=f"{type(error).__name__} {error}",
        ) from error


def as_text(described: Description, language: str) -> str:
    """Ready to be pasted: title, description, tags, each under the other."""
    tags = "、".join(described["tags"]) if language == "zh" else ", ".join(described["tags"])
    return f"{described['title']}\n\n{described['description']}\n\n{tags}\n"


def _of_scene(story: Story, scene: Told, language: str) -> tuple[str, list[str], list[str]]:
    table = story.table(language)
    own, common = table["scenes"].get(scene.slug, {}), table["common"]
    facts = {
        "title": story.title(scene, language),
        "series": common["series"],
        "lecture": LECTURE_TITLES[language],
        "number": scene.number,
        "length": clock(round(story.seconds)),
        "first": scene.steps[0],
        "last": scene.steps[1],
    }
    one = scene.steps[0] == scene.steps[1]
    place = table["scene"]["place_one" if one else "place"].format(**facts)
    asked = [
        said.text for said in sentences(scene.slug, scene.beats[:1], language, story.reads.entry)
    ]
    if scene.number == 0:  # a title card asks nothing and is no part of its own
        return facts["title"], [own.get("learn", "")], own.get("tags", [])
    asks = [common["asks"].format(question=asked[0])] if asked else []
    title = table["scene"]["title"].format(**facts)
    return title, [own.get("learn", ""), *asks, place], own.get("tags", [])


def _of_film(story: Story, language: str) -> tuple[str, list[str], list[str]]:
    table = story.table(language)
    own, film = table["tracks"][story.track], table["film"]
    scenes = sum(part.number > 0 for part in story.told)
    length = film["length"].format(length=clock(round(story.seconds)), count=scenes)
    listed = chapter_lines(story.chapters(language), story.fps)
    title = film[story.track].format(lecture=LECTURE_TITLES[language])
    learn = own["learn"].format(**story.sizes())
    chapter_list = "\n".join([film["chapters"], *listed]) if listed else ""
    return title, [learn, length, chapter_list], own["tags"]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
