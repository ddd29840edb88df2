"""The commands whose results are for others: the handout, the course page, and what platforms
take. Each puts products into a plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from engine.errors import LectureError
from engine.reader import read_text
from render.base.process import usable_cores
from render.base.project import ROOT
from render.build import materials
from render.build.job import BuildOptions, How, Job, jobs_of, option
from render.build.lecture import Lecture
from render.build.materials import Material
from render.build.run import Run
from render.build.storage.places import DEFAULT_SIZE, choose
from render.cli.options import Explain, Jobs, Render, Store, Videos, takes

SCORM = "scorm"
PAGE_EPILOG = """[bold]Examples[/]
./render.sh page
./render.sh page --lang en --out /media/stick/transformer
./render.sh page --track training --quality high
./render.sh page --no-render --videos ~/week3

What the page can do: docs/page.md."""
PUBLISH_EPILOG = """[bold]Examples[/]
./render.sh publish --for bilibili
./render.sh publish --for youtube --lang en --track training
./render.sh publish --for moodle --parts scenes --out ~/week3

What each platform takes: docs/platforms.md. How to publish, step by step: docs/publish.md."""


def carry_out(
    jobs: Sequence[Job],
    how: How,
    material: Callable[[Lecture], Material],
    *,
    render: bool,
    explain: bool,
    command: str = "",
) -> None:
    """Make materials, and with ``render`` the videos that they are made of; else these are taken as
    they are, and ``command`` is what would render them."""
    run = Run(jobs, how, material, render=render)
    notes = [] if render else list(run.as_they_are(command))
    if explain:
        print(*run.explain(), sep="\n")
        return
    for note in notes:
        print(f"note: {note}")
    raise typer.Exit(run.make())


@takes("weights", "lesson", lang="zh,en")
def handout(
    options: BuildOptions,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for the files, created if needed.")
    ] = ROOT / "out" / "handout",
    jobs: Jobs = None,
    store: Store = None,
    explain: Explain = False,
) -> None:
    """Write the whole text: steps 0-95 with every computation, key numbers, errata.

    One PDF to print and one HTML file per language, handout_zh.pdf and so on; with _NAME for a
    lesson or weights of your own. No video is needed for it; it takes a few seconds.
    """
    folder = out.absolute()
    wanted = [replace(job, out=folder) for job in jobs_of(options)]

    def handout_of(lecture: Lecture) -> Material:
        name = "_".join(("handout", lecture.job.language, *lecture.job.own))
        return materials.handout(lecture, folder / name)

    carry_out(wanted, _how(jobs, store), handout_of, render=False, explain=explain)


@takes("track", "quality", "lang", "weights", "lesson", "voice", "burn_captions")
def page(
    options: BuildOptions,
    videos: Videos = None,
    out: Annotated[
        Path | None,
        option(
            "DIR",
            "The page's folder; an older page in it is replaced. Default: page beside the "
            "videos, page_training and page_inference for those tracks.",
        ),
    ] = None,
    jobs: Jobs = None,
    store: Store = None,
    explain: Explain = False,
    render: Render = True,
) -> None:
    """Make a folder with the lecture as a page: videos, captions, transcript and the full text.

    Open its index.html by a double click, from a memory stick or without a network; or put the
    folder on any web server.
    """
    options = replace(options, out=videos)
    wanted = jobs_of(options)
    target = _one_target(out, wanted, "page")

    def page_of(lecture: Lecture) -> Material:
        track = lecture.job.settings.track
        beside = lecture.job.out / ("page" if track == "full" else f"page_{track}")
        return materials.page(lecture, target or beside)

    how, command = _how(jobs, store), options.command
    carry_out(wanted, how, page_of, render=render, explain=explain, command=command)


PlatformOption = Annotated[
    str,
    typer.Option(
        "--for",
        metavar="PLATFORM",
        help="bilibili, youtube, canvas, moodle, edx, generic for any other; scorm, the course "
        "page as a package that every course platform imports.",
    ),
]
OutOption = Annotated[
    Path | None,
    option("DIR", "The published folder. Default: publish/PLATFORM_TRACK beside the videos."),
]
PartsOption = Annotated[
    str | None, option("PARTS", "film, scenes or both. Default: what the platform asks for.")
]
TitleOption = Annotated[str, option("TEXT", "Title for the film.")]
DescriptionOption = Annotated[
    Path | None, option("FILE", "Text file with a description for the film.")
]
TagsOption = Annotated[str, option("A,B,C", "Tags for the film, separated by commas.")]


@takes("track", "quality", "lang", "weights", "lesson", "voice", "burn_captions")
def publish(
    options: BuildOptions,
    platform: PlatformOption,
    videos: Videos = None,
    out: OutOption = None,
    parts: PartsOption = None,
    title: TitleOption = "",
    description: DescriptionOption = None,
    tags: TagsOption = "",
    jobs: Jobs = None,
    store: Store = None,
    explain: Explain = False,
    render: Render = True,
) -> None:
    """Make a folder that is ready to upload: video, captions, cover, texts, and a checklist of
    what is left to do by hand.

    Renders first what is missing or out of date, then checks every file against what the platform
    takes. Where something is not taken, it says what, and writes nothing (exit code 2).
    """
    from render.platforms.folder import item_name

    asked = {
        "title": title.strip(),
        "description": read_text(description) if description else "",
        "tags": [tag.strip() for tag in tags.replace("，", ",").split(",") if tag.strip()],
    }
    parts = _parts(platform, parts, bool(asked["description"] or asked["tags"]), bool(title))
    options = replace(options, out=videos)
    wanted = jobs_of(options)
    target = _one_target(out, wanted, "publication")

    def published(lecture: Lecture) -> Material:
        job, track = lecture.job, lecture.job.settings.track
        item = item_name(track, job.language, job.own)
        place = target or job.out / "publish" / f"{platform}_{track}"
        if platform == SCORM:
            package = target or place.with_suffix(".zip")
            return materials.package(lecture, package, item, title.strip())
        return materials.publication(lecture, place, platform, item, parts, asked)

    how, command = _how(jobs, store), options.command
    carry_out(wanted, how, published, render=render, explain=explain, command=command)


def _how(jobs: int | None, store: str | None) -> How:
    return How(jobs or usable_cores(), cache=choose(store, DEFAULT_SIZE))


def _one_target(out: Path | None, jobs: Sequence[Job], what: str) -> Path | None:
    """Where the only one is put; None: each in its own place."""
    if out is not None and len(jobs) > 1:
        found = f"{len(jobs)} of them"
        raise LectureError(field="--out", expected=f"one {what}", found=found)
    return out and out.absolute()


def _parts(platform: str, parts: str | None, has_texts: bool, has_title: bool) -> str:
    """Which videos are published. Raises LectureError for choices that do not go together."""
    from render.platforms import rules

    if platform == SCORM:
        if parts or has_texts:
            raise LectureError(
                field="--parts, --description, --tags",
                expected="none of them for scorm, which takes a --title only",
                found="one",
            )
        return "scenes"
    chosen = parts or rules.named(platform).publish
    if chosen not in rules.PUBLISHED:
        expected = ", ".join(rules.PUBLISHED)
        raise LectureError(field="--parts", expected=expected, found=repr(chosen))
    if chosen == "scenes" and (has_texts or has_title):
        raise LectureError(
            field="--title, --description, --tags",
            expected="a film that they apply to (--parts film or both)",
            found="only scenes, each with its own texts",
        )
    return chosen
