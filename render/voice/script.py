"""The text to read aloud: beat by beat, with the name of its recording and its length."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import LectureError, from_os_error
from render.base import files
from render.base.reader import Reader
from render.voice import provider, spoken
from render.voice.audio import ENDINGS

if TYPE_CHECKING:
    from scenes.registry import SceneInfo
    from scenes.settings import Settings

#: beside recordings: what they say
SCRIPT = "script.json"


@dataclass(frozen=True)
class Line:
    """What is said in a beat; ``key`` is also its recording's name: 08_attention_scores/scale.
    ``seconds``: how long the beat lasts where nobody speaks."""

    key: str
    text: str
    seconds: float


@dataclass(frozen=True)
class Part:
    """The script of a scene."""

    slug: str
    title: str
    lines: tuple[Line, ...]


def part(job: tuple[SceneInfo, Settings]) -> Part:
    """The script of a scene: it is played without being drawn, since words follow the numbers."""
    from scenes import playthrough, texts

    info, settings = job
    language = settings.language
    scene = playthrough.play(info, settings, words_only=True)
    lines = []
    for beat in scene.timeline:
        template = texts.entry(language, info.slug, "beats", beat.key)
        facts = texts.with_unit(beat.facts, partial(texts.entry, language))
        said = spoken.sentence(language, info.slug, beat.key, template, facts)
        lines.append(Line(f"{info.slug}/{beat.key}", said, beat.busy + beat.quiet))
    return Part(info.slug, texts.entry(language, info.slug, "title"), tuple(lines))


def as_text(parts: Sequence[Part]) -> Iterator[str]:
    """For people, line by line."""
    for each in parts:
        seconds = sum(line.seconds for line in each.lines)
        yield from (f"# {each.slug}: {each.title} ({seconds:.0f} s)", "")
        for line in each.lines:
            yield from (f"{line.key} ({line.seconds:.1f} s)", line.text, "")


def without_recorded(parts: Sequence[Part], folder: Path) -> list[Part]:
    """Only what ``folder`` has no recording of yet."""
    silent = (
        replace(each, lines=tuple(line for line in each.lines if not _recorded(folder, line)))
        for each in parts
    )
    return [each for each in silent if each.lines]


def _recorded(folder: Path, line: Line) -> bool:
    return any((folder / f"{line.key}{ending}").exists() for ending in ENDINGS)


def write(target: Path, parts: Sequence[Part]) -> None:
    """Write the script, as text or, where ``target`` ends in .json, as sentences by key. Raises
    LectureError where that cannot be."""
    if target.suffix == ".json":
        _write_json(target, {line.key: line.text for each in parts for line in each.lines})
    else:
        files.write(target, "\n".join(as_text(parts)))


def _write_json(target: Path, by_key: Mapping[str, str]) -> None:
    files.write(target, json.dumps(by_key, ensure_ascii=False, indent=1) + "\n")


def record(folder: Path, parts: Sequence[Part], voice: str, language: str) -> Iterator[str]:
    """Have everything said into ``folder`` as if by a lecturer, a WAV file per beat; recordings
    that are there stay. ``script.json`` in it gets their sentences. Returns what to say of it,
    scene by scene. Raises LectureError where the voice or the folder will not do."""
    speaker = provider.find(voice, str(Path.cwd()))
    by_key = _known(folder)
    for each in parts:
        silent = [line for line in each.lines if not _recorded(folder, line)]
        for line in silent:
            target = folder / f"{line.key}.wav"
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise from_os_error(error, target.parent) from error
            with files.replacing(target) as fresh:
                speaker.say(line.text, language, fresh)
            by_key[line.key] = line.text
        _write_json(folder / SCRIPT, by_key)
        kept = len(each.lines) - len(silent)
        said = f"{folder / each.slug}: {len(silent)} recorded"
        yield said + (f", {kept} kept unchanged" if kept else "")


def changed(said: Mapping[str, str], folder: Path) -> Iterator[str]:
    """Recordings whose sentence is no longer the one in ``folder``/script.json, if there is such
    a file; ``said``: the sentences now, by key. A line for each."""
    try:
        recorded = _known(folder)
    except LectureError as error:
        yield str(error)
        return
    for key, text in said.items():
        old = recorded.get(key)
        if old is not None and _plain(old) != _plain(text):
            expected, found = f"the current sentence: {text}", f"{old} (by {SCRIPT})"
            where = folder / key
            yield str(LectureError(where=where, field="recording", expected=expected, found=found))


def _known(folder: Path) -> dict[str, str]:
    """The sentences that recordings were made of, by key. Raises LectureError for another file."""
    path = folder / SCRIPT
    if not path.exists():
        return {}
    try:
        return Reader().json(path, dict[str, str])
    except LectureError as error:
        found = f"{error.field}: {error.found}" if error.field else error.found
        raise LectureError(where=path, expected="sentences by key", found=found) from error


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text))
