"""What a lecture is given away as: handout, course page, SCORM package, publication."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import LectureError
from render.base import files
from render.base.files import STATE
from render.base.reads import Json, Made
from render.build.lecture import Lecture
from render.build.product import Product, digest

_PAGE = ("lecture.js", "a new folder or an older course page")  # how an older one is known
_PUBLICATION = ("publish.json", "a new folder or one that was published")


@dataclass(frozen=True, eq=False, kw_only=True)
class Material(Product):
    """``target``: where it is put, for people; ``lines``: told when it is there; ``missed``: when
    it could not be made. ``refuse``: raises LectureError where something is in the way that is not
    an older one."""

    target: Path | None
    lines: Callable[[Made], Sequence[str]]
    missed: str = "nothing published"
    refuse: Callable[[], None] = lambda: None


def _material(kind: str, lecture: Lecture, target: Path | None, **more: Any) -> Material:
    job = lecture.job
    name = f"{kind}_{job.settings.track}_{job.language}.{digest(str(target))[:8]}.json"
    return Material(
        kind=kind,
        record=job.out / STATE / name,
        job=job,
        settings=job.values(),
        target=target,
        **more,
    )


def _written_from(lecture: Lecture) -> dict[str, Json]:
    own = lecture.job.settings
    names = [own.weights.name, own.weights_for_inference.name]
    return {"language": lecture.job.language, "weights": names}


def handout(lecture: Lecture, target: Path) -> Material:
    """The whole text as a PDF to print and an HTML file; ``target`` without their endings."""
    targets = {form: target.with_name(f"{target.name}.{form}") for form in ("pdf", "html")}
    return _material(
        "handout",
        lecture,
        target,
        maker="render.documents.handout.write:make",
        spec=_written_from(lecture),
        targets=targets,
        lines=lambda made: [str(path) for path in targets.values()],
    )


def page(lecture: Lecture, target: Path | None) -> Material:
    """The lecture as a page: videos, captions, transcript and the full text. Without a target it is
    only for a package."""
    job, needs, scenes = lecture.job, dict[str, Product](), list[Json]()
    for scene in lecture.numbered:
        slug = scene.slug
        needs[f"pictures {slug}"] = lecture.pictures(scene)
        needs[f"video {slug}"] = lecture.video(scene)
        needs[f"cover {slug}"] = lecture.cover(scene)
        for language in lecture.languages:
            needs[f"cues {slug} {language}"] = lecture.cues(scene, language)
        told = {"number": scene.number, "slug": slug, "steps": list(scene.steps)}
        scenes.append({**told, "title": job.title(scene), "video": job.video_name(scene)})
    name = f"{job.out.name} {job.settings.track}"
    return _material(
        "page",
        lecture,
        target,
        maker="render.documents.page:make",
        spec={**_written_from(lecture), "name": name, "scenes": scenes},
        needs=needs,
        optional=("cover ", "cues "),
        opens=frozenset({"video", "cover"}),
        folder=target,
        lines=lambda made: [f"{target}/index.html: open it in a browser"],
        missed="no page written",
        refuse=lambda: files.refuse_foreign(target, *_PAGE) if target else None,
    )


def package(lecture: Lecture, target: Path, item: str, title: str) -> Material:
    """The course page as a SCORM package. ``item`` names it within a platform; ``title``: that of
    the film where it is empty."""
    spec = {"item": item, "title": title, "language": lecture.job.language}
    return _material(
        "scorm",
        lecture,
        target,
        maker="render.documents.scorm:make",
        spec={**spec, "scenes": len(lecture.numbered)},
        needs={"page": page(lecture, None), "sides": lecture.sides(None)},
        opens=None,
        targets={"zip": target},
        cached=False,  # it has the videos a second time
        lines=lambda made: [
            *_advice_on_size(lecture.job.quality.height),
            f"{target}: SCORM 1.2 package, {made.files['zip'].size / 1e6:.1f} MB; "
            "import it on your platform",
        ],
        refuse=lambda: _refuse_no_package(target),
    )


def _advice_on_size(height: int) -> list[str]:
    """What is also said of a publication, by its rules."""
    least = 1080
    advised = f"expected at least {least} pixels, found {height} pixels"
    return [f"advice: all videos: video height: {advised}"] if height < least else []


def _refuse_no_package(target: Path) -> None:
    if target.suffix != ".zip":
        raise LectureError(field="--out", expected="a name that ends in .zip", found=str(target))
    try:
        with zipfile.ZipFile(target) as archive:
            archive.getinfo("imsmanifest.xml")
    except FileNotFoundError:
        return
    except (OSError, zipfile.BadZipFile, KeyError) as error:
        expected = "a new file or a SCORM package"
        raise LectureError(
            where=target, field="--out", expected=expected, found="another"
        ) from error


def publication(
    lecture: Lecture, target: Path, platform: str, item: str, parts: str, asked: Mapping[str, Json]
) -> Material:
    """A folder that is ready to upload. ``platform``: as ``assets/platforms.toml`` calls it;
    ``item``: the name for uploads; ``parts``: ``film``, ``scenes`` or ``both``; ``asked``: texts of
    the film that take the place of its own."""
    job, needs, videos = lecture.job, dict[str, Product](), list[Json]()
    film = (None,) if parts != "scenes" else ()
    for scene in (*film, *(lecture.numbered if parts != "film" else ())):
        name = lecture.path(scene).name
        videos.append([name, scene is None])
        for each in (lecture.video(scene), lecture.sides(scene), lecture.cover(scene)):
            needs[f"{each.kind} {name}"] = each

    def lines(made: Made) -> list[str]:
        count = f"{len(videos)} video{'s' * (len(videos) > 1)}"
        return [
            *(f"advice: {line}" for line in made.facts["advice"]),
            f"{target}: ready for {made.facts['platform']}, {count}",
            f"what is left to do: {target}/CHECKLIST.md",
        ]

    return _material(
        "publication",
        lecture,
        target,
        maker="render.platforms.folder:make",
        spec={
            "platform": platform,
            "item": item,
            "language": job.language,
            "track": job.settings.track,
            "folder": str(target),
            "videos": videos,
            "asked": dict(asked),
        },
        needs=needs,
        opens=None,
        folder=target,
        cached=False,  # its checklist names this folder
        lines=lines,
        refuse=lambda: files.refuse_foreign(target, *_PUBLICATION),
    )
