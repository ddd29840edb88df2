"""CHECKLIST.md, what a lecturer has to do by hand, in order, in the language of the lecture; and
docs/platforms.md, which ``python -m render.platforms.checklist`` writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from render.base import template
from render.base.project import ROOT
from render.media.timedtext import clock
from render.platforms import rules
from render.platforms.facts import chapters_in
from render.platforms.rules import Finding, Platform, wording

if TYPE_CHECKING:
    from render.platforms.folder import PublishedVideo

PAGE = ROOT / "docs" / "platforms.md"
_MOST_NAMED = 3  # files named in a sentence; of more, the first and how many
#: what else there is to paste for platforms whose forms do not ask for all of it
_ASKED = {"canvas": (), "edx": ("cover",), "moodle": ("description", "cover")}
_ALL = ("description", "tags", "cover")


def files(language: str) -> tuple[Path, ...]:
    """What a checklist is made of."""
    sentences = (rules.FOLDER / f"{each}.toml" for each in ("en", language))
    return *sentences, rules.FOLDER / "checklist.md.jinja"


def checklist(
    platform: Platform,
    videos: Sequence[PublishedVideo],
    advice: Sequence[Finding],
    folder: Path,
    language: str,
) -> str:
    """The text of CHECKLIST.md for what is published in ``folder``."""
    table, form = rules.texts(language), platform.captions[0]
    words = table["words"]
    captions = [name for v in videos for name, _ in v.captions(form).values()]
    files = {
        "folder": f'"{folder}"' if set(str(folder)) & set(" '&()$;") else str(folder),
        "videos": _files([video.video_name for video in videos], words),
        "covers": _files([video.cover_name for video in videos], words),
        "chapters": _files([name for v in videos for name in v.chapters()], words) or "–",
        "captions": _files(captions, words),
    }
    by_hand = chapters_in(videos[0].texts["description"]) if "by hand" in platform.chapters else []
    return template.render(
        "publish/checklist.md.jinja",
        name=table["names"].get(platform.key, platform.name),
        words=words,
        steps=[step.format(**files) for step in table["steps"][platform.key]],
        videos=videos,
        asked=_ASKED.get(platform.key, _ALL),
        chapters=[f"{clock(seconds)} {title}" for seconds, title in by_hand],
        advice=wording(language).lines(advice),
    )


def _files(names: Sequence[str], words: Mapping[str, str]) -> str:
    quoted = [f"`{name}`" for name in names]
    if len(quoted) <= _MOST_NAMED:
        return words["joiner"].join(quoted)
    return words["many"].format(first=quoted[0], more=len(quoted) - 1, all=len(quoted))


def platforms_page() -> str:
    """docs/platforms.md: every rule of every platform with its source."""
    known = rules.platforms().values()
    return template.render(
        "publish/platforms.md.jinja",
        platforms=known,
        expected=wording("en").expected,
        sources={rule.source.key: rule.source for p in known for rule in p.rules}.values(),
    )


if __name__ == "__main__":
    PAGE.write_text(platforms_page(), encoding="utf-8")
