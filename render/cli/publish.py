"""``./render.sh publish``: its options, and the order of its work. Imports late."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.errors import LectureError, from_os_error
from render.cli.options import SceneJobs, Voice, Weights

if TYPE_CHECKING:
    from render.build.order import Order
    from render.build.wanted import Wanted
    from render.media.sidecars import Description
    from render.platforms.folder import Publication
    from render.platforms.rules import Platform

SCORM = "scorm"
#: said where the lines above tell of a failed scene or of recordings
STOPPED = (
    "render: {what}, for the reasons above; the same command with --no-render takes the videos "
    "as they are"
)

EPILOG = """[bold]Examples[/]
./render.sh publish --for bilibili
./render.sh publish --for youtube --lang en --track training
./render.sh publish --for moodle --parts scenes --out ~/week3

What each platform takes: docs/platforms.md. How to publish, step by step: docs/publish.md."""


def publish(
    platform: Annotated[
        str,
        typer.Option(
            "--for",
            metavar="PLATFORM",
            help="bilibili, youtube, canvas, moodle, edx, generic for any other; scorm, the course "
            "page as a package that every course platform imports.",
        ),
    ],
    track: Annotated[
        str, typer.Option(metavar="TRACK,...", help="full, training or inference.")
    ] = "full",
    quality: Annotated[
        str, typer.Option(metavar="QUALITY,...", help="draft, standard, high or 4k.")
    ] = "standard",
    lang: Annotated[str, typer.Option(metavar="LANG,...", help="zh or en.")] = "zh",
    weights: Weights = None,
    lesson: Annotated[
        str,
        typer.Option(metavar="NAME,...", help="tutorial, consistent, or a .toml file of yours."),
    ] = "tutorial",
    voice: Voice = "none",
    burn_captions: Annotated[
        str,
        typer.Option(
            metavar="LANG",
            help="Captions drawn into the pictures, zh or en; most platforms want none.",
            show_default=False,
        ),
    ] = "",
    videos: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Where the videos are, or go to. Default: as without publish, out/LANG_QUALITY.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The published folder. Default: publish/PLATFORM_TRACK beside the videos.",
            show_default=False,
        ),
    ] = None,
    parts: Annotated[
        str | None,
        typer.Option(
            metavar="PARTS",
            help="film, scenes or both. Default: what the platform wants.",
            show_default=False,
        ),
    ] = None,
    title: Annotated[
        str, typer.Option(metavar="TEXT", help="Another title for the film.", show_default=False)
    ] = "",
    description: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A text file with another description for the film.",
            show_default=False,
        ),
    ] = None,
    tags: Annotated[
        str,
        typer.Option(
            metavar="A,B,C", help="Other tags for the film, with commas.", show_default=False
        ),
    ] = "",
    jobs: SceneJobs = None,
    render: Annotated[
        bool,
        typer.Option(
            "--render/--no-render",
            help="Render first what is missing or out of date, or publish what is there.",
        ),
    ] = True,
) -> None:
    """Make a folder that is ready to upload: video, captions, cover, texts, and a checklist of
    what is left to do by hand.

    Renders first what is missing or out of date, then checks every file against what the platform
    takes. Where something is not taken, it says what, and writes nothing (exit code 2).
    """
    from render.base.process import stoppable, usable_cores
    from render.build.combinations import Wish, orders
    from render.build.store.choice import DEFAULT_SIZE, choose
    from render.build.wanted import Wanted
    from render.documents.scorm import package
    from render.platforms import rules
    from render.platforms.folder import refuse_foreign

    chosen = None if platform == SCORM else rules.named(platform)
    asked = _asked(title, description, tags)
    _check_choices(chosen, parts, asked)
    wish = Wish(
        quality=quality,
        lang=lang,
        weights=weights,
        track=track,
        lesson=lesson,
        out=videos,
        jobs=jobs or usable_cores(),
        voice=voice,
        burn=burn_captions,
        store=choose(None, DEFAULT_SIZE),
    )
    wanted = Wanted(wish, orders(wish))
    targets = _targets(wanted, platform, out)
    for target in targets:
        if chosen is None:
            package.refuse_foreign(target)
        else:
            refuse_foreign(target)
    if not render:
        for line in wanted.as_they_are():
            print(f"note: {line}")
    elif code := wanted.bring_up_to_date():
        print(STOPPED.format(what="nothing published"), file=sys.stderr)
        raise typer.Exit(code)
    with stoppable():
        codes = [
            _publish(_publication(wanted, order, chosen, target, parts, asked))
            if chosen
            else _pack(wanted, order, target, title)
            for order, target in zip(wanted.orders, targets, strict=True)
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
            expected="a film to say it of (--parts film or both)",
            found="scenes alone, each with texts of its own",
        )


def _pack(wanted: Wanted, order: Order, target: Path, title: str) -> int:
    """Make a SCORM package; the exit code."""
    from render.documents.scorm.make import make

    size = make(wanted, order, target, title.strip()).stat().st_size
    print(f"{target}: SCORM 1.2 package, {size / 1e6:.1f} MB; import it on your platform")
    return 0


def _targets(wanted: Wanted, platform: str, out: Path | None) -> list[Path]:
    """Where each order is published."""
    ending = ".zip" if platform == SCORM else ""
    if out is None:
        return [
            order.out / "publish" / f"{platform}_{order.settings.track}{ending}"
            for order in wanted.orders
        ]
    if len(wanted.orders) > 1:
        raise LectureError(
            field="--out", expected="one publication", found=f"{len(wanted.orders)} of them"
        )
    return [out.absolute()]


def _publication(
    wanted: Wanted,
    order: Order,
    platform: Platform,
    target: Path,
    parts: str | None,
    asked: Description,
) -> Publication:
    from render.platforms.folder import Publication, item_name, published_film, published_scene

    parts, language, track = parts or platform.publish, order.language, order.settings.track
    videos = []
    if parts in ("film", "both"):
        videos.append(published_film(order.out / order.film_name, language, track, asked))
    if parts in ("scenes", "both"):
        names = (order.video_name(scene) for scene in order.everything if scene.number)
        videos += [published_scene(order.out / name, language) for name in names]
    return Publication(
        platform=platform,
        item=item_name(track, language, [*filter(None, [wanted.own(order)])]),
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
            print(f"not taken: {line}", file=sys.stderr)
        print(
            f"render: nothing published for {publication.platform.name}: "
            f"{len(faults)} of its rules are broken",
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
