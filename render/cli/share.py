"""The commands whose results are for others: the handout, the course page, what platforms take,
and uploads. All but the last put products into a plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from engine.errors import one_line
from engine.reader import read_text, refuse
from render.base.files import alone
from render.base.process import usable_cores
from render.base.project import ROOT
from render.build import materials
from render.build.job import BuildOptions, How, Job, jobs_of, option
from render.build.lecture import Lecture
from render.build.materials import Material
from render.build.run import Run
from render.build.storage.places import DEFAULT_SIZE, choose
from render.cli.options import Explain, Jobs, Render, Store, Videos, flag, takes

SCORM = "scorm"
UPLOADS = ("canvas", "youtube")
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
UPLOAD_EPILOG = """[bold]Examples[/]
./render.sh upload canvas --dry-run
./render.sh upload youtube out/en_standard/publish/youtube_full

Credentials come from the environment; docs/publish.md says where to get them.
Canvas: CANVAS_URL, CANVAS_TOKEN, CANVAS_COURSE.
YouTube: YOUTUBE_CLIENT_ID, YOUTUBE_CLIENT_SECRET, YOUTUBE_REFRESH_TOKEN."""


def carry_out(
    wanted: Sequence[Job],
    material: Callable[[Lecture], Material],
    jobs: int | None,
    store: str | None,
    explain: bool,
    render: bool = False,
    command: str = "",
) -> None:
    """Make materials, and with ``render`` the videos that they are made of; else these are taken as
    they are, and ``command`` is what would render them."""
    how = How(jobs or usable_cores(), cache=choose(store, DEFAULT_SIZE))
    run = Run(wanted, how, material, render=render)
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

    def handout_of(lecture: Lecture) -> Material:
        name = "_".join(("handout", lecture.job.language, *lecture.job.own))
        return materials.handout(lecture, folder / name)

    wanted = [replace(job, out=folder) for job in jobs_of(options)]
    carry_out(wanted, handout_of, jobs, store, explain)


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

    carry_out(wanted, page_of, jobs, store, explain, render, options.command)


@takes("track", "quality", "lang", "weights", "lesson", "voice", "burn_captions")
def publish(
    options: BuildOptions,
    platform: Annotated[
        str,
        typer.Option(
            "--for",
            metavar="PLATFORM",
            help="bilibili, youtube, canvas, moodle, edx, generic for any other; scorm, the course "
            "page as a package that every course platform imports.",
        ),
    ],
    videos: Videos = None,
    out: Annotated[
        Path | None,
        option("DIR", "The published folder. Default: publish/PLATFORM_TRACK beside the videos."),
    ] = None,
    parts: Annotated[
        str | None, option("PARTS", "film, scenes or both. Default: what the platform asks for.")
    ] = None,
    title: Annotated[str, option("TEXT", "Title for the film.")] = "",
    description: Annotated[
        Path | None, option("FILE", "Text file with a description for the film.")
    ] = None,
    tags: Annotated[str, option("A,B,C", "Tags for the film, separated by commas.")] = "",
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
    chosen = _parts(platform, parts, bool(asked["description"] or asked["tags"]), bool(title))
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
        return materials.publication(lecture, place, platform, item, chosen, asked)

    carry_out(wanted, published, jobs, store, explain, render, options.command)


def _one_target(out: Path | None, jobs: Sequence[Job], what: str) -> Path | None:
    """Where the only one is put; None: each in its own place."""
    if out is not None and len(jobs) > 1:
        refuse(None, "--out", f"one {what}", f"{len(jobs)} of them")
    return out and out.absolute()


def _parts(platform: str, parts: str | None, has_texts: bool, has_title: bool) -> str:
    """Which videos are published. Raises LectureError for choices that do not go together."""
    from render.platforms import rules

    if platform == SCORM:
        if parts or has_texts:
            expected = "none of them for scorm, which takes a --title only"
            refuse(None, "--parts, --description, --tags", expected, "one")
        return "scenes"
    chosen = parts or rules.named(platform).publish
    if chosen not in rules.PUBLISHED:
        refuse(None, "--parts", ", ".join(rules.PUBLISHED), repr(chosen))
    if chosen == "scenes" and (has_texts or has_title):
        expected = "a film that they apply to (--parts film or both)"
        found = "only scenes, each with its own texts"
        refuse(None, "--title, --description, --tags", expected, found)
    return chosen


@takes()
def upload(
    options: BuildOptions,
    platform: Annotated[str, typer.Argument(metavar="PLATFORM", help="canvas or youtube.")],
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FOLDER]",
            help="A folder made by publish. Default: the one in out/, if there is only one.",
            show_default=False,
        ),
    ] = None,
    dry_run: Annotated[bool, flag("--dry-run", "Show what would be sent; send nothing.")] = False,
    replace: Annotated[
        bool,
        flag(
            "--replace",
            "YouTube: a video whose file has changed is uploaded as a new one, and the old "
            "one is deleted.",
        ),
    ] = False,
    privacy: Annotated[
        str,
        option(
            "WHO",
            "YouTube, of a new video: private, unlisted or public. Default: private, or "
            "that of the video it replaces.",
        ),
    ] = "",
    course: Annotated[str | None, option("NUMBER", "Canvas: instead of CANVAS_COURSE.")] = None,
) -> None:
    """Send a published folder to Canvas or YouTube.

    Sending it again replaces what was sent before. An interrupted upload resumes where it
    was interrupted when the command is run again.
    """
    from render.platforms import canvas, youtube
    from render.platforms.upload import Retry, UploadState, are_set, find, read

    if platform not in UPLOADS:
        refuse(None, "platform", " or ".join(UPLOADS), repr(platform))
    folder = (folder or find(ROOT / "out", platform)).resolve()
    found, to_canvas = read(folder, platform), platform == "canvas"
    if dry_run:
        lines = canvas.plan(found, course) if to_canvas else youtube.plan(found, privacy)
        names = canvas.names(course) if to_canvas else youtube.NAMES
        _say(f"dry run: this is what would be sent from {folder}; nothing is sent")
        for line in lines:
            _say(f"  {line}")
        _say(f"credentials: {are_set(names)}")
        return
    retry = Retry(say=_say)
    with alone(folder, "one upload at a time", "another one in progress"):
        if to_canvas:
            canvas.connect(course, retry).upload(found, UploadState(folder))
        else:
            youtube.connect(privacy, replace, retry).upload(found, UploadState(folder))


def _say(line: str) -> None:
    print(one_line(line), flush=True)
