"""``./render.sh upload``: its options, and the order of its work. Imports late."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.errors import LectureError, one_line
from render.base.process import stoppable
from render.base.project import ROOT
from render.build.job import BuildOptions, option
from render.cli.options import takes

if TYPE_CHECKING:
    from render.platforms.upload import Published

UPLOADS = ("canvas", "youtube")
UPLOAD_EPILOG = """[bold]Examples[/]
./render.sh upload canvas --dry-run
./render.sh upload youtube out/en_standard/publish/youtube_full

Credentials come from the environment; docs/publish.md says where to get them.
Canvas: CANVAS_URL, CANVAS_TOKEN, CANVAS_COURSE.
YouTube: YOUTUBE_CLIENT_ID, YOUTUBE_CLIENT_SECRET, YOUTUBE_REFRESH_TOKEN."""


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
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be sent; send nothing.")
    ] = False,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="YouTube: a video whose file has changed is uploaded as a new one, and the old "
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
    from render.platforms.upload import Retry, UploadState, alone, find, read

    if platform not in UPLOADS:
        raise LectureError(field="platform", expected=" or ".join(UPLOADS), found=repr(platform))
    folder = (folder or find(ROOT / "out", platform)).resolve()
    found = read(folder, platform)
    if dry_run:
        _plan(found, privacy, course)
        return
    state, retry = UploadState(folder), Retry(say=_say)
    with stoppable(), alone(folder):
        if platform == "canvas":
            canvas.connect(course, retry, _say).upload(found, state)
        else:
            youtube.connect(privacy, replace, retry, _say).upload(found, state)


def _plan(found: Published, privacy: str, course: str | None) -> None:
    from render.platforms import canvas, youtube
    from render.platforms.upload import are_set

    _say(f"dry run: this is what would be sent from {found.folder}; nothing is sent")
    if found.platform == "canvas":
        lines = canvas.plan(found, course)
        names: tuple[str, ...] = canvas.NAMES if course else (*canvas.NAMES, canvas.COURSE)
    else:
        lines, names = youtube.plan(found, privacy or "private"), youtube.NAMES
    for line in lines:
        _say(f"  {line}")
    _say(f"credentials: {are_set(names)}")


def _say(line: str) -> None:
    print(one_line(line), flush=True)
