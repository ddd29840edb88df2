"""``./render.sh`` without a command: make videos."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

import typer

from engine.errors import one_line
from render.base.process import end_with, usable_cores
from render.build.job import BuildOptions, How, Job, Renderer, jobs_of, option
from render.build.storage.places import DEFAULT_SIZE, choose
from render.cli.options import Explain, Jobs, Scenes, Store, flag, takes
from render.media.sidecars import SideFiles

EVERYTHING = (
    *("quality", "lang", "weights", "track", "lesson", "out"),
    *("voice", "burn_captions", "renderer"),
)

StoreSize = Annotated[
    str,
    typer.Option(metavar="SIZE", help="Size limit; what was used longest ago is removed first."),
]
Cluster = Annotated[
    str | None,
    option(
        "ADDRESS",
        "Render on a Dask cluster: tcp://HOST:PORT, with a --store that its workers "
        "reach, or local:N for N workers here (docs/cluster.md).",
    ),
]


@takes(*EVERYTHING)
def make(
    options: BuildOptions,
    scenes: Scenes = None,
    jobs: Jobs = None,
    force: Annotated[bool, flag("--force", "Also render what is up to date.")] = False,
    explain: Explain = False,
    store: Store = None,
    store_size: StoreSize = DEFAULT_SIZE,
    watch: Annotated[
        bool, flag("--watch", "After rendering, wait and render again whenever something is saved.")
    ] = False,
    cluster: Cluster = None,
) -> None:
    """Render the Transformer lecture: an MP4 per scene, and all of them as lecture.mp4
    (lecture_training.mp4 and lecture_inference.mp4 for those tracks).

    Options that end in ,... take several values, --weights also patterns and several times: every
    combination is rendered, as one list of jobs, each into a folder of its own. Nothing begins
    before all weight files have been checked.

    Only what is missing or has changed is rendered: a scene whose numbers, sentences and code are
    as they were keeps its video.

    Videos are H.264 1080p and the like, with keyframes, colour tags and sound as course platforms
    want them. Each is checked before it replaces an older one, so stopping at any time is safe.
    """
    from render.build.run import WATCHED, Run

    cache = choose(store, store_size)
    if cluster:
        from render.build.workers.cluster import check

        check(cluster, cache)
    asked = jobs_of(options, scenes or ())
    how = How(jobs or usable_cores(), force, cache, cluster)
    if watch:
        from render.build.watch import Watch

        arguments = [argument for argument in sys.argv[1:] if argument != "--watch"]
        raise typer.Exit(Watch(options, asked, how, arguments).run())
    run = Run(asked, how)
    if explain:
        print(*run.explain(), sep="\n")
        return
    watched = bool(os.environ.get(WATCHED))
    if watched:
        end_with(sys.stdin.fileno())
        print(one_line(run.announcement() or "nothing needs rendering"), flush=True)
    code = run.make()
    if code == 0 and run.made_one_film and not watched:
        print(*map(one_line, closing_lines(options, asked[0])), sep="\n")
    raise typer.Exit(code)


def closing_lines(options: BuildOptions, job: Job) -> Iterator[str]:
    """Two lines for people; the film's own line, with its path, is above them."""
    from render.cli.share import SCORM
    from render.platforms.rules import platforms

    files = SideFiles(job.out / job.film_name)
    captions = " and ".join(files.captions(language).name for language in ("zh", "en"))
    yield (
        f"to upload: {job.film_name}, captions {captions}, cover {files.cover.name}, title and "
        f"description {files.description(job.language).name}, all in {job.out}"
    )
    first = {"zh": "bilibili", "en": "youtube"}[job.language]  # the likeliest
    others = [name for name in (*platforms(), SCORM) if name != first]
    draft = job.quality.name == "draft"
    quality = "standard" if draft else options.quality
    published = replace(options, quality=quality, out=None, renderer=Renderer.fast)
    words = ["./render.sh", "publish", "--for", first, *published.typed()]
    if options.out and not draft:
        words += ["--videos", str(options.out)]
    told = "renders it in 1080p and makes" if draft else "checks it and makes"
    yield (
        f"next: {'this is a draft; ' if draft else ''}{shlex.join(words)} {told} a folder ready to "
        f"upload (--for also takes {', '.join(others)})"
    )
