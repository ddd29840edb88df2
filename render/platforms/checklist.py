"""What a lecturer has to do by hand, in order, in the language of the lecture: CHECKLIST.md."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from engine.errors import LectureError
from render.base.project import ASSETS
from render.platforms.checks import Finding
from render.platforms.facts import chapters_in
from render.platforms.pieces import Piece
from render.platforms.rules import Platform
from render.platforms.wording import Wording

FOLDER = ASSETS / "publish"
_MOST_NAMED = 3  # files named in a sentence; of more, the first and how many
#: what else there is to paste for platforms whose forms do not ask for all of it
_ASKED = {"canvas": (), "edx": ("cover",), "moodle": ("description", "cover")}
_ALL = ("description", "tags", "cover")
_JOINERS = {"zh": "、", "en": ", "}


@cache
def texts(language: str) -> dict[str, Any]:
    """The table of a language. Raises LectureError where it cannot be read."""
    path = FOLDER / f"{language}.toml"
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LectureError(where=path, expected="valid TOML", found=str(error)) from error


def checklist(
    platform: Platform,
    pieces: Sequence[Piece],
    advice: Sequence[Finding],
    folder: Path,
    language: str,
) -> str:
    """The text of CHECKLIST.md for what is published in ``folder``."""
    return "\n".join(_lines(platform, pieces, advice, folder, language)) + "\n"


def _lines(
    platform: Platform,
    pieces: Sequence[Piece],
    advice: Sequence[Finding],
    folder: Path,
    language: str,
) -> Iterator[str]:
    table = texts(language)
    words = table["words"]
    name = table["names"].get(platform.key, platform.name)
    yield f"# {words['heading'].format(platform=name)}"
    yield ""
    yield words["made"].format(platform=name)
    yield ""
    form = platform.captions[0]
    named = {
        "folder": f'"{folder}"' if set(str(folder)) & set(" '&()$;") else str(folder),
        "videos": _files([piece.video_name for piece in pieces], language),
        "covers": _files([piece.cover_name for piece in pieces], language),
        "chapters": _files([name for p in pieces for name in p.chapters_files()], language) or "–",
        "captions": _files(
            [p.captions_name(one, form) for p in pieces for one in p.caption_languages], language
        ),
    }
    for number, step in enumerate(table["steps"][platform.key], 1):
        yield f"- [ ] {number}. {step.format(**named)}"
    yield ""
    yield f"## {words['texts']}"
    for piece in pieces:
        yield ""
        yield from _paste(piece, words, _ASKED.get(platform.key, _ALL))
    if "by hand" in platform.chapters:
        yield from _chapters(pieces[0], words)
    if advice:
        yield ""
        yield f"## {words['advice']}"
        yield ""
        yield from (f"- {line}" for line in Wording(**table["findings"]).lines(advice))


def _paste(piece: Piece, words: dict[str, str], asked: Sequence[str]) -> Iterator[str]:
    said = piece.texts
    yield f"### {piece.video_name}"
    yield ""
    colon = words["colon"]
    yield f"- {words['title']}{colon}`{said['title']}`"
    rest = {
        "description": f"[{piece.stem}.txt]({piece.stem}.txt)",
        "tags": ", ".join(said["tags"]),
        "cover": piece.cover_name,
    }
    yield from (f"- {words[name]}{colon}{rest[name]}" for name in asked)


def _chapters(piece: Piece, words: dict[str, str]) -> Iterator[str]:
    chapters = chapters_in(piece.texts["description"])
    if not chapters:
        return
    yield ""
    yield f"## {words['chapters']}"
    yield ""
    for seconds, title in chapters:
        yield f"- {clock(seconds)} {title}"


def clock(seconds: int) -> str:
    """``1:05``, or ``1:01:05`` from an hour on, as descriptions have it."""
    hours, minutes = seconds // 3600, seconds % 3600 // 60
    return (f"{hours}:{minutes:02d}" if hours else f"{minutes}") + f":{seconds % 60:02d}"


def _files(names: Sequence[str], language: str) -> str:
    joiner = _JOINERS[language]
    quoted = [f"`{name}`" for name in names]
    if len(quoted) <= _MOST_NAMED:
        return joiner.join(quoted)
    more = len(quoted) - 1
    return f"{quoted[0]} … ({more} more)" if language == "en" else f"{quoted[0]} 等 {more + 1} 个"
