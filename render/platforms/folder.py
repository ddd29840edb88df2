"""The folder of a publication: what is in it, checked first, then written whole or not at all."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile
from typing import Any

from engine.errors import LectureError
from render.base.files import bring
from render.base.reads import Needs, Output, Reads, Spec, Tell, sha256
from render.media import timedtext
from render.media.sidecars import LANGUAGES, Description, SideFiles
from render.platforms import checklist as checklists
from render.platforms import facts, rules
from render.platforms.checklist import checklist
from render.platforms.facts import Fact
from render.platforms.rules import Finding, Platform, wording

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
    def languages(self) -> tuple[str, ...]:
        """The video's own first."""
        return (self.language, *(one for one in LANGUAGES if one != self.language))

    def captions(self, form: str) -> dict[str, tuple[str, Path]]:
        """By language: the name of the published file, and what it is made from."""
        source = "srt" if form == "bcc" else form
        return {
            language: (f"{self.stem}.{language}.{form}", self.side.captions(language, source))
            for language in self.languages
        }

    def chapters(self) -> dict[str, Path]:
        """The chapters of a film, by the name of the published file; a scene has none."""
        files = {
            f"{self.stem}.chapters.{language}.vtt": self.side.chapters(language)
            for language in self.languages
        }
        return {name: path for name, path in files.items() if path.is_file()}

    def facts(self, platform: Platform) -> list[Fact]:
        """Everything that the platform's rules can be about. Raises LectureError where a file is
        missing or is not what it should be."""
        about, texts = f"the texts of {self.video_name}", self.texts
        found = facts.of_video(self.video, self.video_name)
        seconds = next(fact.value for fact in found if fact.what == "video length")
        found += facts.of_cover(self.side.cover, self.cover_name)
        for form in platform.captions:
            for language, (name, source) in self.captions(form).items():
                found += facts.of_captions(source, name, language)
        found += facts.of_texts(about, texts["title"], texts["description"], texts["tags"])
        if "description" in platform.chapters:
            found += facts.of_chapters(about, texts["description"], seconds)
        return found


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
        looked_at = (video.facts(self.platform) for video in self.videos)
        return [found for known in looked_at for found in self.platform.findings(known)]

    def make(self, folder: Path) -> list[str]:
        """Check everything, then write it into an empty folder; what is advised, in lines. Raises
        Refused where the platform does not take it, or another LectureError."""
        found = self.look()
        if faults := rules.faults(found):
            many = f"{len(faults)} of its rules broken"
            refused = Refused(where=f"nothing published for {self.platform.name}", field=many)
            refused.details = wording("en").lines(faults)
            raise refused
        self.fill(folder, found)
        return wording("en").lines(found)

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
            for name, source in video.captions(form).values():
                if form == "bcc":
                    document = timedtext.bcc(timedtext.read(source), timedtext.READ_FPS)
                    (folder / name).write_text(document, encoding="utf-8")
                else:
                    copyfile(source, folder / name)
        if "file" in self.platform.chapters:
            for name, source in video.chapters().items():
                copyfile(source, folder / name)
        description = texts["description"].rstrip("\n") + "\n"
        (folder / f"{video.stem}.txt").write_text(description, encoding="utf-8")
        captions = video.captions(self.platform.captions[0])
        return {
            "video": video.video_name,
            "size": target.stat().st_size,
            "sha256": sha256(target),
            **texts,
            "cover": video.cover_name,
            "captions": {language: name for language, (name, _) in captions.items()},
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
    videos = []
    for name, of_film in spec["videos"]:
        video = beside / name
        stem, texts = video.stem, SideFiles(video).read_about()[language]
        if of_film:
            track = spec["track"] if spec["track"] != "full" else ""
            stem = "_".join(filter(None, (_PREFIX, track, language)))
            asked = {key: text for key, text in spec["asked"].items() if text}
            texts = Description(**{**texts, **asked})
        texts["tags"] = platform.tags(texts["tags"])
        videos.append(PublishedVideo(stem, video, texts, language))
    target = Path(spec["folder"])
    publication = Publication(platform, spec["item"], language, tuple(videos), target)
    facts = {"platform": platform.name, "advice": publication.make(folder)}
    return {**{path.name: path for path in folder.iterdir()}, "facts": facts}
