"""``./render.sh`` without a command: make videos."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from engine.errors import one_line
from render.base.process import usable_cores
from render.build.job import BuildOptions, How, jobs_of
from render.build.storage.choice import DEFAULT_SIZE, choose
from render.cli.options import Explain, Jobs, Scenes, Store, takes

EVERYTHING = (
    *("quality", "lang", "weights", "track", "lesson", "out"),
    *("voice", "burn_captions", "renderer"),
)


ForceOption = Annotated[bool, typer.Option("--force", help="Also render what is up to date.")]
StoreSizeOption = Annotated[
    str,
    typer.Option(metavar="SIZE", help="Size limit; what was used longest ago is removed first."),
]
WatchOption = Annotated[
    bool,
    typer.Option(
        "--watch", help="After rendering, wait and render again whenever something is saved."
    ),
]
ClusterOption = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Render on a Dask cluster: tcp://HOST:PORT, with a --store that its workers "
        "reach, or local:N for N workers here (docs/cluster.md).",
        show_default=False,
    ),
]


@takes(*EVERYTHING)
def make(
    options: BuildOptions,
    scenes: Scenes = None,
    jobs: Jobs = None,
    force: ForceOption = False,
    explain: Explain = False,
    store: Store = None,
    store_size: StoreSizeOption = DEFAULT_SIZE,
    watch: WatchOption = False,
    cluster: ClusterOption = None,
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
        for line in run.explain():
            print(line)
        return
    watched = bool(os.environ.get(WATCHED))
    if watched:
        print(one_line(run.announcement() or "nothing needs rendering"), flush=True)
    code = run.make()
    if code == 0 and run.made_one_film and not watched:
        from render.cli.closing import closing_lines

        print(*map(one_line, closing_lines(options, asked[0])), sep="\n")
    raise typer.Exit(code)
