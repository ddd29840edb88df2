"""docs/platforms.md, from ``assets/platforms.toml``: ``python -m render.platforms.document``."""

from __future__ import annotations

from collections.abc import Iterator

from render.base.project import ROOT
from render.platforms import rules
from render.platforms.rules import Platform, Source
from render.platforms.wording import ENGLISH

FILE = ROOT / "docs" / "platforms.md"

_HEAD = """# What platforms take

Made from [assets/platforms.toml](../assets/platforms.toml), which `./render.sh publish` checks
against; change that file, then run `python -m render.platforms.document`. A **must** stops a
publication that breaks it; *advice* is only told. Sources marked (secondary) are not the
platform's own words. Limits change: the date says when a source was read, or which copy of it.

The videos of this project satisfy all of it at once, in the qualities `standard` and above:
1080p, H.264 High, yuv420p, BT.709, closed groups of pictures of 2 s at most, AAC-LC 48 kHz stereo,
index in front, no edit lists, names of ASCII letters, digits and `_` (docs/videos.md).
"""

_PUBLISH = {
    "film": "the film of the track",
    "scenes": "each scene as a video of its own",
    "both": "the film of the track and each scene as a video of its own",
}
_CHAPTERS = {
    "description": "read from the lines `0:00 Title` of the description",
    "by hand": "entered by hand (the checklist has them)",
    "file": "as a WebVTT file",
}

_TAIL = """## Others

What is known of platforms without a rule set of their own; `--for generic` makes what they take.

| platform | what is known | source |
|---|---|---|
| Blackboard Video Studio | 10 GB at most; the apps 250 MB | Blackboard help, 2026-11 |
| 超星 | mp4, mov, mkv, flv, avi, wmv | vendor page, 2026-11 |
| 国家智慧教育, international | 1920x1080 or more, 16:9, H.264, AAC 48 kHz | 教科信司〔2025〕24号 |
| course norms of provinces | H.264 MP4 without burned captions; separate SRT | secondary, 2026-11 |
| icourse163, 学堂在线, Coursera | no primary document found | |

Packages: SCORM 1.2 is what every course platform imports (`--for scorm`). H5P Interactive Video,
cmi5 and xAPI are not made.

Uploading: YouTube keeps uploads of API projects that it has not audited private, and tokens of
projects in testing end after 7 days (docs/publish.md). Bilibili has no public interface for
uploads; its folder is uploaded by hand. YouTube's interface takes covers up to 50 MB (discovery
document of 2026-11-04); its help says 2 MB, which is what is checked.
"""


def document() -> str:
    """The whole page."""
    lines = [_HEAD]
    for platform in rules.platforms().values():
        lines += [*_section(platform), ""]
    lines += [*_sources(), ""]
    return "\n".join([*lines, _TAIL])


def _section(platform: Platform) -> Iterator[str]:
    name = platform.name[0].upper() + platform.name[1:]
    yield f"## {name} (`--for {platform.key}`)"
    yield ""
    yield f"Published: {_PUBLISH[platform.publish]}. Captions: {', '.join(platform.captions)}."
    ways = " or ".join(_CHAPTERS[way] for way in platform.chapters)
    yield f"Chapters: {ways or 'none, as far as is known'}."
    yield ""
    yield "| what | expected | | source |"
    yield "|---|---|---|---|"
    for rule in platform.rules:
        kind = "*advice*" if rule.advice else "**must**"
        cells = (rule.what, ENGLISH.expected(rule), kind, _source(rule.source))
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _source(source: Source) -> str:
    return f"[{source.key}](#sources), {source.date}"


def _sources() -> Iterator[str]:
    rules_of_all = (rule for p in rules.platforms().values() for rule in p.rules)
    known = {rule.source.key: rule.source for rule in rules_of_all}
    yield "## Sources"
    yield ""
    for source in known.values():
        address = source.address.removeprefix("docs/")
        yield f"- **{source.key}**: [{source.title}]({address}), {source.date}"


if __name__ == "__main__":
    FILE.write_text(document(), encoding="utf-8")
