"""The course page: a folder with the videos, their captions and the full text, that needs no
network and no server. ``assets/web/page`` goes into it as it is: style sheets and scripts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engine.errors import LectureError
from render.base import files
from render.base.files import STATE, bring, put_folder, staging_folder
from render.base.project import ASSETS
from render.base.reader import read_state
from render.base.reads import Needs, Output, Reads, Spec, Tell
from render.base.template import ReadFile
from render.documents.handout import html, pdf
from render.documents.handout.content import Handout
from render.documents.handout.write import SCENES, handout
from render.media.captions.write import sentences
from render.media.sidecars import LANGUAGES, SideFiles
from render.media.timedtext import READ_FPS, clock, read
from scenes import texts

FILES = ASSETS / "web" / "page"
#: How a folder is known to be a course page, and so may be replaced by a newer one.
MARK = "lecture.js"


@dataclass(frozen=True)
class Beat:
    """A sentence of a scene: when it is said, which steps it tells, its text by language."""

    start: float
    end: float
    step: int
    last: int
    text: Mapping[str, str]


@dataclass(frozen=True)
class Cue:
    start: float
    end: float
    text: str


@dataclass(frozen=True)
class Scene:
    """``part`` is the part of the model that it tells of; times are in seconds of its video."""

    number: int
    slug: str
    title: str
    part: str
    steps: tuple[int, int]
    video: str
    poster: str
    seconds: float
    beats: tuple[Beat, ...]
    captions: Mapping[str, tuple[Cue, ...]]


@dataclass(frozen=True)
class Source:
    """A scene of the plan, and what a page takes of it. ``name``: of its video in the page;
    ``facts`` of its pictures: ``frames``, ``fps``, ``beats``; ``cues`` by language, where its
    captions are not simply its sentences."""

    number: int
    slug: str
    title: str
    steps: tuple[int, int]
    name: str
    video: Path
    cover: Path | None
    facts: Mapping[str, Any]
    cues: Mapping[str, tuple[Cue, ...]]

    @classmethod
    def beside(
        cls, number: int, slug: str, title: str, steps: tuple[int, int], video: Path
    ) -> Source:
        """All that lies beside a video. Raises LectureError without a record of its pictures."""
        sides = SideFiles(video)
        found = {name: sides.captions(name) for name in LANGUAGES}
        cues = {name: _cues(read(file)) for name, file in found.items() if file.is_file()}
        cover = sides.cover if sides.cover.is_file() else None
        record = video.parent / STATE / f"{video.stem}.json"
        facts = read_state(record).get("facts")
        if not isinstance(facts, dict):
            expected = "the record of a rendered scene"
            raise LectureError(where=record, expected=expected, found="none")
        return cls(number, slug, title, steps, video.name, video, cover, facts, cues)

    @classmethod
    def of(cls, told: Spec, needs: Needs) -> Source:
        """From what a maker is given; see :func:`make`."""
        slug, (first, last) = told["slug"], told["steps"]
        facts, cues = needs[f"pictures {slug}"].facts, {}
        for language in LANGUAGES:
            if f"cues {slug} {language}" in needs:
                said = needs[f"cues {slug} {language}"].facts["cues"]
                cues[language] = tuple(
                    Cue(start / facts["fps"], end / facts["fps"], "\n".join(lines))
                    for start, end, lines in said
                )
        covered = needs.get(f"cover {slug}")
        cover = covered.path("cover") if covered else None
        video = needs[f"video {slug}"].path("video")
        names = told["number"], slug, told["title"], (first, last), told["video"]
        return cls(*names, video, cover, facts, cues)


@dataclass(frozen=True)
class Page:
    """What goes into the folder; ``name`` tells this lecture from others in what the browser
    remembers; ``read`` and ``entry`` read files and look texts up."""

    handout: Handout
    sources: Sequence[Source]
    name: str
    read: ReadFile = Path.read_bytes
    entry: Callable[..., Any] = texts.entry

    def write(self, target: Path) -> Path:
        """Make or renew the folder ``target``: whole, or as it was. Raises LectureError."""
        check_target(target)
        with staging_folder(target) as folder:
            self.fill(folder)
            put_folder(folder, target)
        return target

    def fill(self, folder: Path) -> None:
        """Write all files into an empty folder. Raises LectureError or OSError."""
        scenes = [scene(source, self.handout.language, self.entry) for source in self.sources]
        (folder / "videos").mkdir()
        for source, shown in zip(self.sources, scenes, strict=True):
            bring(source.video, folder / shown.video)
            if source.cover:
                bring(source.cover, folder / shown.poster)
        for file in FILES.iterdir():
            (folder / file.name).write_bytes(self.read(file))
        page = html.fill("templates/page.html", self.handout, self.read, scenes=scenes, clock=clock)
        for name, text in ((MARK, self._data(scenes)), ("index.html", page)):
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
        (folder / "handout.pdf").write_bytes(pdf.write(self.handout, self.read))

    def _data(self, scenes: Sequence[Scene]) -> str:
        """The lecture as a script: a page that is opened as a file may not fetch data."""
        data = {
            "name": self.name,
            "language": self.handout.language,
            "words": self.handout.words,
            "scenes": list(map(asdict, scenes)),
        }
        text = json.dumps(data, ensure_ascii=False, indent=1).replace("</", "<\\/")
        told = "// The scenes of this page: videos, sentences, captions. Times are in seconds."
        return f"{told}\nwindow.LECTURE = {text};\n"


def make(spec: Spec, needs: Needs, reads: Reads, into: Path, tell: Tell) -> Output:
    """Every file of the page; its role is its name within the page. Raises LectureError.

    ``spec``: ``name``; ``language``; ``weights``, the names of the two weight files; ``scenes``,
    each with ``number``, ``slug``, ``title``, ``steps`` and ``video``, its video's file name.
    ``needs``, for each scene: ``pictures SLUG``, ``video SLUG``, and if there are any ``cover
    SLUG`` and ``cues SLUG LANGUAGE``.
    """
    text = handout(reads, spec["language"], *spec["weights"])
    sources = [Source.of(told, needs) for told in spec["scenes"]]
    folder = into / "page"
    folder.mkdir()
    Page(text, sources, spec["name"], reads.file, reads.entry).fill(folder)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path for path in files}


def scene(source: Source, language: str, entry: Callable[..., Any] = texts.entry) -> Scene:
    """A scene as the page shows it. Raises LectureError where its facts are not complete."""
    try:
        beats = _beats(source, language, entry)
        seconds = source.facts["frames"] / source.facts["fps"]
    except (KeyError, TypeError, ZeroDivisionError, ValueError) as error:
        raise LectureError(
            where=source.video,
            expected="the record of a rendered scene",
            found=f"{type(error).__name__}: {error}",
        ) from error
    name = f"videos/{source.name}"
    said = {
        each: tuple(
            Cue(beat.start, beat.end, beat.text[each]) for beat in beats if each in beat.text
        )
        for each in LANGUAGES
    }
    return Scene(
        number=source.number,
        slug=source.slug,
        title=source.title,
        part=SCENES[source.number][0],
        steps=source.steps,
        video=name,
        poster=SideFiles(Path(name)).cover.as_posix() if source.cover else "",
        seconds=round(seconds, 3),
        beats=beats,
        captions={each: source.cues.get(each, said[each]) for each in LANGUAGES},
    )


def _beats(source: Source, language: str, entry: Callable[..., Any]) -> tuple[Beat, ...]:
    """The sentences in both languages; only as shown on screen where the record is too old to say
    what they were filled with."""
    beats = source.facts["beats"]
    said: dict[str, list[str]] = {}
    if all("variant" in beat and "facts" in beat for beat in beats):
        for name in LANGUAGES:
            said[name] = [each.text for each in sentences(source.slug, beats, name, entry)]
    else:
        space = "" if language == "zh" else " "
        said[language] = [re.sub(r"\s*\n\s*", space, beat["text"]) for beat in beats]
    return tuple(
        Beat(
            start=round(beat["start"], 3),
            end=round(beat["end"], 3),
            step=beat["step"],
            last=beat["last_step"],
            text={name: lines[n] for name, lines in said.items()},
        )
        for n, beat in enumerate(beats)
    )


def _cues(cues: Sequence[Any]) -> tuple[Cue, ...]:
    return tuple(
        Cue(cue.start / READ_FPS, cue.end / READ_FPS, "\n".join(cue.lines)) for cue in cues
    )


def check_target(target: Path) -> None:
    """Raise LectureError where ``target`` is something else than an older page or nothing."""
    files.refuse_foreign(target, MARK, "a new folder or an older course page")
