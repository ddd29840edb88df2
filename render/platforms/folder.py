"""The folder of a publication: what is in it, checked first, then written whole or not at all."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import copyfile
from typing import Any

from engine.errors import LectureError
from engine.reader import refuse
from render.base.files import bring
from render.base.reads import Needs, Output, Reads, Spec, Tell, sha256
from render.media import timedtext
from render.media.sidecars import LANGUAGES, Description, SideFiles
from render.platforms import checklist as checklists
from render.platforms import facts, rules
from render.platforms.checklist import checklist
from render.platforms.facts import Fact
from render.platforms.rules import ENGLISH, Finding, Platform, overlong

MANIFEST = "publish.json"
FORM = 1  # of the manifest
_PREFIX = "transformer_lecture"
_DIGITS = 8  # of the digest in an item's name


class Refused(LectureError):
    """A publication that its platform does not take; ``details``: each rule broken, in a line."""

    details: Sequence[str] = ()


@dataclass(frozen=True)
class PublishedVideo:
    """A video and what goes with it; ``stem`` is its new name without the ending, letters,
    digits and _ only."""

    stem: str
    video: Path
    texts: Description
    language: str

    @property
    def side(self) -> SideFiles:
        return SideFiles(self.video)

    @property
    def video_name(self) -> str:
        return f"{self.stem}.mp4"

    @property
    def cover_name(self) -> str:
        return f"{self.stem}.png"

    @property
    def caption_languages(self) -> tuple[str, ...]:
        """The video's own language first."""
        return (self.language, *(one for one in LANGUAGES if one != self.language))

    def captions_name(self, language: str, form: str) -> str:
        return f"{self.stem}.{language}.{form}"

    def captions_source(self, language: str, form: str) -> Path:
        """The captions that the published ones are made from."""
        return self.side.captions(language, "srt" if form == "bcc" else form)

    def chapters_files(self) -> dict[str, Path]:
        """The chapters of a film, by the name of the published file; a scene has none."""
        files = {
            f"{self.stem}.chapters.{language}.vtt": self.side.chapters(language)
            for language in self.caption_languages
        }
        return {name: path for name, path in files.items() if path.is_file()}

    def fitted(self, platform: Platform) -> PublishedVideo:
        """The same with as many of its tags as the platform takes."""
        tags = platform.tags(self.texts["tags"])
        return replace(self, texts=Description(**{**self.texts, "tags": tags}))

    def facts(self, platform: Platform) -> list[Fact]:
        """Everything that the platform's rules can be about. Raises LectureError where a file is
        missing or is not what it should be."""
        for path in (self.video, self.side.cover):
            if not path.is_file():
                refuse(path, None, "a file", "nothing")
        about, texts = f"the texts of {self.video_name}", self.texts
        found = facts.of_video(self.video, self.video_name)
        seconds = _length(found)
        found += facts.of_cover(self.side.cover, self.cover_name)
        for form in platform.captions:
            for language in self.caption_languages:
                source = self.captions_source(language, form)
                found += facts.of_captions(source, self.captions_name(language, form), language)
        found += facts.of_texts(about, texts["title"], texts["description"], texts["tags"])
        if "description" in platform.chapters:
            found += facts.of_chapters(about, texts["description"], seconds)
        return found


def published_film(
    film: Path, language: str, track: str, asked: Description | None = None
) -> PublishedVideo:
    """The film of a track. Texts that were ``asked`` for take the place of its own. Raises
    LectureError where it has none."""
    words = (_PREFIX, track if track != "full" else "", language)
    own = SideFiles(film).read_about()[language]
    texts = Description(
        title=(asked and asked["title"]) or own["title"],
        description=(asked and asked["description"]) or own["description"],
        tags=(asked and asked["tags"]) or own["tags"],
    )
    return PublishedVideo("_".join(filter(None, words)), film, texts, language)


def published_scene(video: Path, language: str) -> PublishedVideo:
    """The video of a scene, under its own name. Raises LectureError where it has no texts."""
    return PublishedVideo(video.stem, video, SideFiles(video).read_about()[language], language)


def item_name(track: str, language: str, own: Sequence[str] = ()) -> str:
    """The name by which what is published, whatever its quality and folder, is found again on a
    platform when it is uploaded a second time: small ASCII letters, digits and -. ``own``: the
    names of a lesson or weights of one's own. Where one of them does not survive in that
    alphabet, or there are several, a digest tells them apart from all others."""
    own = [unicodedata.normalize("NFC", word) for word in own]  # macOS takes characters apart
    name = "-".join(["transformer-lecture", track, language, *own])
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    if plain == name and len(own) <= 1:
        return plain
    said = json.dumps([track, language, *own])
    return f"{plain}-{hashlib.sha256(said.encode()).hexdigest()[:_DIGITS]}"


@dataclass(frozen=True)
class Publication:
    """What is published where: ``item`` is its name for uploads (see :func:`item_name`)."""

    platform: Platform
    item: str
    language: str
    videos: tuple[PublishedVideo, ...]
    target: Path

    def look(self) -> list[Finding]:
        """Everything that the platform does not take or advises against."""
        found = []
        for video in self.videos:
            known = video.facts(self.platform)
            found += self.platform.findings(known) + overlong(known, _length(known))
        return found

    def make(self, folder: Path) -> list[str]:
        """Check everything, then write it into an empty folder; what is advised, in lines. Raises
        Refused where the platform does not take it, or another LectureError."""
        found = self.look()
        faults, advice = rules.faults(found), rules.advice(found)
        if faults:
            many = f"{len(faults)} of its rules broken"
            refused = Refused(where=f"nothing published for {self.platform.name}", field=many)
            refused.details = ENGLISH.lines(faults)
            raise refused
        self.fill(folder, advice)
        return ENGLISH.lines(advice)

    def fill(self, folder: Path, advice: Sequence[Finding]) -> None:
        """Write all files into an empty folder. Raises LectureError or OSError."""
        manifest = {
            "form": FORM,
            "platform": self.platform.key,
            "item": self.item,
            "language": self.language,
            "pieces": [self._write_video(video, folder) for video in self.videos],
        }
        document = json.dumps(manifest, ensure_ascii=False, indent=1)
        (folder / MANIFEST).write_text(document + "\n", encoding="utf-8")
        told = checklist(self.platform, self.videos, advice, self.target, self.language)
        (folder / "CHECKLIST.md").write_text(told, encoding="utf-8")

    def _write_video(self, video: PublishedVideo, folder: Path) -> dict[str, Any]:
        """Put a video and what goes with it into ``folder``; its entry of the manifest."""
        target, texts = folder / video.video_name, video.texts
        bring(video.video, target)
        copyfile(video.side.cover, folder / video.cover_name)
        for form in self.platform.captions:
            for language in video.caption_languages:
                source = video.captions_source(language, form)
                captions = folder / video.captions_name(language, form)
                if form == "bcc":
                    document = timedtext.bcc(timedtext.read(source), timedtext.READ_FPS)
                    captions.write_text(document, encoding="utf-8")
                else:
                    copyfile(source, captions)
        if "file" in self.platform.chapters:
            for name, source in video.chapters_files().items():
                copyfile(source, folder / name)
        description = texts["description"].rstrip("\n") + "\n"
        (folder / f"{video.stem}.txt").write_text(description, encoding="utf-8")
        form = self.platform.captions[0]
        return {
            "video": video.video_name,
            "size": target.stat().st_size,
            "sha256": sha256(target),
            **texts,
            "cover": video.cover_name,
            "captions": {
                language: video.captions_name(language, form)
                for language in video.caption_languages
            },
        }


def make(spec: Spec, needs: Needs, reads: Reads, into: Path, tell: Tell) -> Output:
    """Every file of the folder; its role is its name. Raises Refused, or another LectureError.

    ``spec``: ``platform``, ``item``, ``language``, ``track``; ``folder``, where it will lie;
    ``videos``, each with its file's name and whether it is the film; ``asked``, texts of the film
    in the place of its own. ``needs``: the videos, with everything that lies beside them.
    """
    beside, folder, language = into / "beside", into / "folder", spec["language"]
    for each in (beside, folder):
        each.mkdir()
    for made in needs.values():
        for path in map(Path, made.paths.values()):
            bring(path, beside / path.name)
    for path in (rules.FILE, *checklists.files(language)):
        reads.uses(path)
    platform = rules.named(spec["platform"])
    videos = [
        published_film(beside / name, language, spec["track"], spec["asked"])
        if of_film
        else published_scene(beside / name, language)
        for name, of_film in spec["videos"]
    ]
    fitted = tuple(video.fitted(platform) for video in videos)
    publication = Publication(platform, spec["item"], language, fitted, Path(spec["folder"]))
    facts = {"platform": platform.name, "advice": publication.make(folder)}
    return {**{path.name: path for path in folder.iterdir()}, "facts": facts}


def _length(known: Sequence[Fact]) -> float:
    """The length of a video in seconds, among the facts about it."""
    return next(float(fact.value) for fact in known if fact.what == "video length")
