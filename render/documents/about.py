"""Title, description and tags of a video, in the words of ``assets/about/{zh,en}.toml``."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Any

from engine.errors import LectureError
from render.base.project import ASSETS
from render.documents.story import Story, Told
from render.media.captions import chapters
from render.media.captions.sentences import sentences
from render.media.metadata import LECTURE_TITLES
from render.media.sidefiles import Description

FOLDER = ASSETS / "about"
#: what the strictest platform takes
TITLE, DESCRIPTION, TAGS, TAG = 80, 2000, 10, 20
_FORBIDDEN = str.maketrans("<>", "＜＞")


@cache
def load(language: str) -> dict[str, Any]:
    """The table of a language. Raises LectureError where it cannot be read."""
    path = FOLDER / f"{language}.toml"
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LectureError(where=path, expected="a table of texts", found=str(error)) from error


def description(story: Story, language: str) -> Description:
    """What to type into a form of a platform. Raises LectureError where a text is missing."""
    try:
        title, paragraphs, tags = (
            _of_film(story, language) if story.film else _of_scene(story, story.told[0], language)
        )
        common = load(language)["common"]
        paragraphs += [
            common["model"].format(**story.sizes),
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
            expected="texts with the facts they are given",
            found=f"{type(error).__name__} {error}",
        ) from error


def as_text(described: Description, language: str) -> str:
    """Ready to be pasted: title, description, tags, each under the other."""
    tags = "、".join(described["tags"]) if language == "zh" else ", ".join(described["tags"])
    return f"{described['title']}\n\n{described['description']}\n\n{tags}\n"


def _of_scene(story: Story, scene: Told, language: str) -> tuple[str, list[str], list[str]]:
    table = load(language)
    own, common = table["scenes"].get(scene.slug, {}), table["common"]
    facts = {
        "title": scene.title(language),
        "series": common["series"],
        "lecture": LECTURE_TITLES[language],
        "number": scene.number,
        "length": chapters.clock(round(story.seconds)),
        "first": scene.steps[0],
        "last": scene.steps[1],
    }
    one = scene.steps[0] == scene.steps[1]
    place = table["scene"]["place_one" if one else "place"].format(**facts)
    asked = [said.text for said in sentences(scene.slug, scene.beats[:1], language)]
    if scene.number == 0:  # a title card asks nothing and is no part of its own
        return facts["title"], [own.get("learn", "")], own.get("tags", [])
    asks = [common["asks"].format(question=asked[0])] if asked else []
    title = table["scene"]["title"].format(**facts)
    return title, [own.get("learn", ""), *asks, place], own.get("tags", [])


def _of_film(story: Story, language: str) -> tuple[str, list[str], list[str]]:
    table = load(language)
    own, film = table["tracks"][story.track], table["film"]
    scenes = sum(part.number > 0 for part in story.told)
    length = film["length"].format(length=chapters.clock(round(story.seconds)), count=scenes)
    listed = chapters.lines(story.chapters(language), story.fps)
    title = film[story.track].format(lecture=LECTURE_TITLES[language])
    learn = own["learn"].format(**story.sizes)
    chapter_list = "\n".join([film["chapters"], *listed]) if listed else ""
    return title, [learn, length, chapter_list], own["tags"]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
