"""What a lecture is given away as: handout, course page, SCORM package, publication."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from engine.errors import LectureError
from render.base import files
from render.base.files import STATE
from render.base.reads import Json, Made
from render.build.job import LANGUAGES, Job
from render.build.product import Product, digest
from render.build.products import Cover, FilmCover, Sides, Video

if TYPE_CHECKING:
    from render.build.lecture import Lecture


@dataclass(frozen=True, eq=False)
class Material(Product):
    """``target``: a folder, or a file without its ending; None for what only others need."""

    lecture: Lecture = field(repr=False)
    target: Path | None

    missed: ClassVar[str] = "nothing published"

    @property
    def job(self) -> Job:
        return self.lecture.job

    @property
    def name(self) -> str:
        return f"{self.kind}_{self.job.settings.track}"

    @cached_property
    def record(self) -> Path:
        place = digest(str(self.target))[:8]
        return self.job.out / STATE / f"{self.name}_{self.job.language}.{place}.json"

    def settings(self) -> Mapping[str, str]:
        return self.lecture.values

    def lines(self, made: Made) -> Iterator[str]:
        """For people, when it is there."""
        yield from (str(path) for path in self.places(made).values())

    def refuse_foreign(self) -> None:
        """Raise LectureError where something is in the way that is not an older one."""

    def _written_from(self) -> dict[str, Json]:
        own = self.job.settings
        names = [own.weights.name, own.weights_for_inference.name]
        return {"language": self.job.language, "weights": names}


class Handout(Material):
    """The whole text as a PDF to print and an HTML file."""

    kind: ClassVar[str] = "handout"
    maker: ClassVar[str] = "render.documents.handout.write:make"

    def spec(self) -> dict[str, Json]:
        return self._written_from()

    def targets(self) -> Mapping[str, Path]:
        assert self.target
        return {
            form: self.target.with_name(f"{self.target.name}.{form}") for form in ("pdf", "html")
        }


class Folder(Material):
    """``mark``: the file by which an older one is known, so that it may be replaced."""

    mark: ClassVar[str]
    older: ClassVar[str]

    def as_folder(self) -> Path | None:
        return self.target

    def refuse_foreign(self) -> None:
        if self.target is not None:
            files.refuse_foreign(self.target, self.mark, f"a new folder or {self.older}")


class Page(Folder):
    """The lecture as a page: videos, captions, transcript and the full text."""

    kind: ClassVar[str] = "page"
    maker: ClassVar[str] = "render.documents.page:make"
    opens: ClassVar[frozenset[str] | None] = frozenset({"video", "cover"})
    mark: ClassVar[str] = "lecture.js"
    older: ClassVar[str] = "an older course page"
    missed: ClassVar[str] = "no page written"

    def spec(self) -> dict[str, Json]:
        job = self.job
        scenes = [
            {
                "number": scene.number,
                "slug": scene.slug,
                "title": job.title(scene),
                "steps": list(scene.steps),
                "video": job.video_name(scene),
            }
            for scene in self.lecture.numbered
        ]
        name = f"{job.out.name} {job.settings.track}"
        return {**self._written_from(), "name": name, "scenes": scenes}

    def needs(self) -> Mapping[str, Product]:
        found: dict[str, Product] = {}
        for scene in self.lecture.numbered:
            found[f"pictures {scene.slug}"] = self.lecture.pictures(scene)
            found[f"video {scene.slug}"] = self.lecture.video(scene)
            found[f"cover {scene.slug}"] = self.lecture.cover(scene)
            for language in LANGUAGES:
                found[f"cues {scene.slug} {language}"] = self.lecture.cues(scene, language)
        return found

    def optional(self, role: str) -> bool:
        return role.startswith(("cover ", "cues "))

    def lines(self, made: Made) -> Iterator[str]:
        yield f"{self.target}/index.html: open it in a browser"


@dataclass(frozen=True, eq=False)
class Package(Material):
    """The course page as a SCORM package. ``item`` names it within a platform; ``title``: that of
    the film where it is empty."""

    item: str
    title: str

    kind: ClassVar[str] = "scorm"
    maker: ClassVar[str] = "render.documents.scorm:make"
    cached: ClassVar[bool] = False  # it has the videos a second time
    opens: ClassVar[frozenset[str] | None] = None

    def spec(self) -> dict[str, Json]:
        told = {"item": self.item, "title": self.title, "language": self.job.language}
        return {**told, "scenes": len(self.lecture.numbered)}

    def needs(self) -> Mapping[str, Product]:
        return {"page": Page(self.lecture, None), "sides": self.lecture.film_sides}

    def targets(self) -> Mapping[str, Path]:
        assert self.target
        return {"zip": self.target}

    def lines(self, made: Made) -> Iterator[str]:
        size = made.files["zip"].size / 1e6
        yield f"{self.target}: SCORM 1.2 package, {size:.1f} MB; import it on your platform"

    def refuse_foreign(self) -> None:
        target, field = self.target, "--out"
        if target is None or target.suffix != ".zip":
            expected = "a name that ends in .zip"
            raise LectureError(field=field, expected=expected, found=str(target))
        try:
            with zipfile.ZipFile(target) as archive:
                archive.getinfo("imsmanifest.xml")
        except FileNotFoundError:
            return
        except (OSError, zipfile.BadZipFile, KeyError) as error:
            expected = "a new file or a SCORM package"
            raise LectureError(
                where=target, field=field, expected=expected, found="another"
            ) from error


@dataclass(frozen=True, eq=False)
class Publication(Folder):
    """A folder that is ready to upload. ``platform``: as ``assets/platforms.toml`` calls it;
    ``item``: the name for uploads; ``videos``: the film, scenes, or both; ``asked``: texts of the
    film that take the place of its own."""

    platform: str
    item: str
    videos: tuple[Video, ...]
    asked: Mapping[str, Json]

    kind: ClassVar[str] = "publication"
    maker: ClassVar[str] = "render.platforms.folder:make"
    cached: ClassVar[bool] = False  # its checklist names this folder
    opens: ClassVar[frozenset[str] | None] = None
    mark: ClassVar[str] = "publish.json"
    older: ClassVar[str] = "one that was published"

    def spec(self) -> dict[str, Json]:
        return {
            "platform": self.platform,
            "item": self.item,
            "language": self.job.language,
            "track": self.job.settings.track,
            "folder": str(self.target),
            "videos": [[video.path.name, video.of_film] for video in self.videos],
            "asked": dict(self.asked),
        }

    def needs(self) -> Mapping[str, Product]:
        found: dict[str, Product] = {}
        for video in self.videos:
            of = self.lecture.of_film() if video.of_film else self.lecture.of_scene(video.scene)
            for need in of:
                if isinstance(need, Video | Sides | Cover | FilmCover):
                    found[f"{need.kind} {video.path.name}"] = need
        return found

    def lines(self, made: Made) -> Iterator[str]:
        yield from (f"advice: {line}" for line in made.facts["advice"])
        count = f"{len(self.videos)} video{'s' * (len(self.videos) > 1)}"
        yield f"{self.target}: ready for {made.facts['platform']}, {count}"
        yield f"what is left to do: {self.target}/CHECKLIST.md"
