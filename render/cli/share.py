"""The commands whose results are for others: the course page, and what platforms take."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.errors import LectureError, from_os_error
from render.base.files import staging_folder
from render.base.process import stoppable, usable_cores
from render.build.job import BuildOptions, How, Job, jobs_of
from render.build.run import Run
from render.build.storage.choice import DEFAULT_SIZE, choose
from render.cli.options import Jobs, Render, Store, Videos, takes

if TYPE_CHECKING:
    from render.documents.page import Page
    from render.media.sidecars import Description
    from render.platforms.folder import Publication
    from render.platforms.rules import Platform

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


def _how(jobs: int | None, store: str | None) -> How:
    return How(jobs or usable_cores(), cache=choose(store, DEFAULT_SIZE))


def _render(
    options: BuildOptions, jobs: Sequence[Job], how: How, render: bool, otherwise: str
) -> Iterator[str]:
    """Bring videos up to date, or report what is not. Raises typer.Exit where a scene
    failed, LectureError where a film is missing that is not to be made."""
    run = Run(jobs, how)
    if not render:
        yield from run.as_they_are(options.command)
    elif code := run.make():
        print(
            f"render: {otherwise}, for the reasons above; the same command with --no-render takes "
            "the videos as they are",
            file=sys.stderr,
        )
        raise typer.Exit(code)


@takes("track", "quality", "lang", "weights", "lesson", "voice", "burn_captions")
def page(
    options: BuildOptions,
    videos: Videos = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The page's folder; an older page in it is replaced. Default: page beside the "
            "videos, page_training and page_inference for those tracks.",
            show_default=False,
        ),
    ] = None,
    jobs: Jobs = None,
    store: Store = None,
    render: Render = True,
) -> None:
    """Make a folder with the lecture as a page: videos, captions, transcript and the full text.

    Open its index.html by a double click, from a memory stick or without a network; or put the
    folder on any web server.
    """
    from dataclasses import replace

    from render.documents.page import check_target

    options = replace(options, out=videos)
    wanted = jobs_of(options)
    if out is not None and len(wanted) > 1:
        raise LectureError(field="--out", expected="one page", found=f"{len(wanted)} of them")
    targets = [(out or _page_folder(job)).absolute() for job in wanted]
    for target in targets:
        check_target(target)
    if render:
        for line in _render(options, wanted, _how(jobs, store), render, "no page written"):
            print(f"note: {line}")
    for job, target in zip(wanted, targets, strict=True):
        path = page_of(job, options).write(target) / "index.html"
        print(f"{path}: open it in a browser")


def _page_folder(job: Job) -> Path:
    track = job.settings.track
    return job.out / ("page" if track == "full" else f"page_{track}")


def page_of(job: Job, options: BuildOptions) -> Page:
    """The page of a job whose videos are there. Raises LectureError, with the command that
    renders them, where one is not."""
    from render.documents.handout.write import of_settings
    from render.documents.page import Page, Source

    sources = []
    for scene in job.film:
        video = job.video(scene)
        if scene.number == 0:
            continue  # the title card: the page has a title
        if not video.is_file():
            expected = f"a video (type: {options.command})"
            raise LectureError(where=video, expected=expected, found="none")
        told = scene.number, scene.slug, job.title(scene), scene.steps
        sources.append(Source.beside(*told, video))
    name = f"{job.out.name} {job.settings.track}"
    return Page(of_settings(job.settings), sources, name)


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
    typer.Option(
        metavar="DIR",
        help="The published folder. Default: publish/PLATFORM_TRACK beside the videos.",
        show_default=False,
    ),
]
PartsOption = Annotated[
    str | None,
    typer.Option(
        metavar="PARTS",
        help="film, scenes or both. Default: what the platform asks for.",
        show_default=False,
    ),
]
TitleOption = Annotated[
    str, typer.Option(metavar="TEXT", help="Title for the film.", show_default=False)
]
DescriptionOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Text file with a description for the film.",
        show_default=False,
    ),
]
TagsOption = Annotated[
    str,
    typer.Option(
        metavar="A,B,C", help="Tags for the film, separated by commas.", show_default=False
    ),
]


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
    render: Render = True,
) -> None:
    """Make a folder that is ready to upload: video, captions, cover, texts, and a checklist of
    what is left to do by hand.

    Renders first what is missing or out of date, then checks every file against what the platform
    takes. Where something is not taken, it says what, and writes nothing (exit code 2).
    """
    from dataclasses import replace

    from render.documents import scorm
    from render.platforms import rules
    from render.platforms.folder import refuse_foreign

    rule = None if platform == SCORM else rules.named(platform)
    asked = _asked(title, description, tags)
    _check_choices(rule, parts, asked)
    options = replace(options, out=videos)
    wanted = jobs_of(options)
    targets = _targets(wanted, platform, out)
    for target in targets:
        (scorm.refuse_foreign if rule is None else refuse_foreign)(target)
    for line in _render(options, wanted, _how(jobs, store), render, "nothing published"):
        print(f"note: {line}")
    with stoppable():
        codes = [
            _publish(_publication(options, job, rule, target, parts, asked))
            if rule
            else _pack(options, job, target, title.strip())
            for job, target in zip(wanted, targets, strict=True)
        ]
    raise typer.Exit(max(codes))


def _check_choices(platform: Platform | None, parts: str | None, asked: Description) -> None:
    """Raise LectureError for choices that do not go together."""
    from render.platforms.rules import PUBLISHED

    if platform is None and (parts or asked["description"] or asked["tags"]):
        raise LectureError(
            field="--parts, --description, --tags",
            expected="none of them for scorm, which takes a --title only",
            found="one",
        )
    if parts is not None and parts not in PUBLISHED:
        raise LectureError(field="--parts", expected=", ".join(PUBLISHED), found=repr(parts))
    if platform and (parts or platform.publish) == "scenes" and any(asked.values()):
        raise LectureError(
            field="--title, --description, --tags",
            expected="a film that they apply to (--parts film or both)",
            found="only scenes, each with its own texts",
        )


def _pack(options: BuildOptions, job: Job, target: Path, title: str) -> int:
    """Make a SCORM package of the job's page; the exit code."""
    from render.documents import scorm
    from render.media.sidecars import SideFiles
    from render.platforms.folder import item_name

    film = SideFiles(job.out / job.film_name)
    named = title or film.read_about()[job.language]["title"]
    with staging_folder(job.out / "publish" / "page") as folder:  # where videos take no room
        made = scorm.write(
            page_of(job, options).write(folder / "page"),
            target,
            item=item_name(job.settings.track, job.language, options.own(job)),
            title=named,
            scenes=sum(scene.number > 0 for scene in job.film),
        )
    size = made.stat().st_size / 1e6
    print(f"{target}: SCORM 1.2 package, {size:.1f} MB; import it on your platform")
    return 0


def _targets(jobs: Sequence[Job], platform: str, out: Path | None) -> list[Path]:
    """Where each job is published."""
    ending = ".zip" if platform == SCORM else ""
    if out is None:
        return [job.out / "publish" / f"{platform}_{job.settings.track}{ending}" for job in jobs]
    if len(jobs) > 1:
        found = f"{len(jobs)} of them"
        raise LectureError(field="--out", expected="one publication", found=found)
    return [out.absolute()]


def _publication(
    options: BuildOptions,
    job: Job,
    platform: Platform,
    target: Path,
    parts: str | None,
    asked: Description,
) -> Publication:
    from render.platforms.folder import Publication, item_name, published_film, published_scene

    parts, language, track = parts or platform.publish, job.language, job.settings.track
    videos = []
    if parts in ("film", "both"):
        videos.append(published_film(job.out / job.film_name, language, track, asked))
    if parts in ("scenes", "both"):
        videos += [
            published_scene(job.video(scene), language) for scene in job.film if scene.number
        ]
    return Publication(
        platform=platform,
        item=item_name(track, language, options.own(job)),
        language=language,
        videos=tuple(video.fitted(platform) for video in videos),
        target=target,
    )


def _publish(publication: Publication) -> int:
    """Check, tell, write; the exit code."""
    from render.platforms import rules
    from render.platforms.rules import ENGLISH

    found = publication.look()
    faults = rules.faults(found)
    if faults:
        for line in ENGLISH.lines(faults):
            print(f"not accepted: {line}", file=sys.stderr)
        print(
            f"render: nothing published for {publication.platform.name}: "
            f"{len(faults)} of its rules broken",
            file=sys.stderr,
        )
        return 2
    advice = rules.advice(found)
    for line in ENGLISH.lines(advice):
        print(f"advice: {line}")
    target = publication.write(advice)
    count = len(publication.videos)
    print(f"{target}: ready for {publication.platform.name}, {count} video{'s' * (count > 1)}")
    print(f"what is left to do: {target / 'CHECKLIST.md'}")
    return 0


def _asked(title: str, description: Path | None, tags: str) -> Description:
    text = ""
    if description is not None:
        try:
            text = description.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise from_os_error(error, description) from error
        except UnicodeDecodeError as error:
            raise LectureError(where=description, expected="UTF-8", found=str(error)) from error
    named = [tag.strip() for tag in tags.replace("，", ",").split(",")]
    return {"title": title.strip(), "description": text, "tags": [t for t in named if t]}
