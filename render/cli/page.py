"""``./render.sh page``: its options, and the order of its work. Imports late."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.errors import LectureError
from render.cli.options import SceneJobs, Voice, Weights

if TYPE_CHECKING:
    from render.build.combinations import Wish
    from render.build.order import Order
    from render.documents.page.build import Page

EPILOG = """[bold]Examples[/]
./render.sh page
./render.sh page --lang en --out /media/stick/transformer
./render.sh page --track training --quality high
./render.sh page --no-render --videos ~/week3

What the page can do: docs/page.md."""


def page(
    track: Annotated[
        str, typer.Option(metavar="TRACK", help="full, training, inference.")
    ] = "full",
    quality: Annotated[
        str, typer.Option(metavar="QUALITY", help="draft, standard, high or 4k.")
    ] = "standard",
    lang: Annotated[str, typer.Option(metavar="LANG,...", help="zh or en.")] = "zh",
    weights: Weights = None,
    lesson: Annotated[
        str, typer.Option(metavar="NAME", help="tutorial, consistent, or a .toml file of yours.")
    ] = "tutorial",
    voice: Voice = "none",
    videos: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Where the videos are, or go to. Default: as without page, out/LANG_QUALITY.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The page's folder; an older page in it is replaced. Default: page beside the "
            "videos, page_training and page_inference for those tracks.",
            show_default=False,
        ),
    ] = None,
    jobs: SceneJobs = None,
    render: Annotated[
        bool,
        typer.Option(
            "--render/--no-render",
            help="Render first what is missing or out of date, or take the videos as they are.",
        ),
    ] = True,
) -> None:
    """Make a folder with the lecture as a page: videos, captions, transcript and the full text.

    Open its index.html by a double click, from a memory stick or without a network; or put the
    folder on any web server.
    """
    from render.base.cores import usable_cores
    from render.build.combinations import Wish, orders

    wish = Wish(
        quality=quality,
        lang=lang,
        weights=weights,
        track=track,
        lesson=lesson,
        out=videos,
        jobs=jobs or usable_cores(),
        voice=voice,
    )
    wanted = orders(wish)
    if out is not None and len(wanted) > 1:
        raise LectureError(field="--out", expected="one page", found=f"{len(wanted)} of them")
    from render.documents.page.build import check_target

    targets = [(out or default_folder(order)).absolute() for order in wanted]
    for target in targets:
        check_target(target)
    if render:
        from render.build.session import Session
        from render.cli.publish import STOPPED

        if code := Session(*wanted).run():
            print(STOPPED.format(what="no page made"), file=sys.stderr)
            raise typer.Exit(code)
    for order, target in zip(wanted, targets, strict=True):
        print(f"{of_order(order, wish).write(target) / 'index.html'}: open it in a browser")


def default_folder(order: Order) -> Path:
    track = order.settings.track
    return order.out / ("page" if track == "full" else f"page_{track}")


def of_order(order: Order, wish: Wish) -> Page:
    """The page of an order whose videos are there. Raises LectureError, with the command that
    renders them, where one is not."""
    from render.build.wanted import Wanted
    from render.documents.handout.write import SCENES, handout, made_from
    from render.documents.page.build import Page
    from render.documents.page.lecture import Source

    sources = []
    for scene in order.everything:
        video = order.out / order.video_name(scene)
        if scene.number == 0:
            continue  # the title card: the page has a title
        if not video.is_file():
            command = Wanted(wish, [order]).command
            raise LectureError(where=video, expected=f"a video (type: {command})", found="none")
        part = SCENES[scene.number][0]
        title = order.title(scene)
        sources.append(Source(scene.number, scene.slug, title, part, scene.steps, video))
    settings = order.settings
    name = f"{order.out.name} {settings.track}"
    return Page(handout(settings), sources, made_from(settings), name)
