"""``./render.sh handout``: the static full text as PDF and HTML."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from render.base.project import ROOT
from render.cli.commands import Languages, Lesson


def handout(
    lang: Languages = "zh,en",
    weights: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A weight file. Default: the lesson's.", show_default=False
        ),
    ] = None,
    lesson: Lesson = "tutorial",
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for the files, made if need be.")
    ] = ROOT / "out" / "handout",
) -> None:
    """Write the whole text: steps 0-95 with every computation, key numbers, errata.

    One PDF to print and one HTML file per language, handout_zh.pdf and so on; with _NAME for a
    lesson or weights of your own. No video is needed for it; it takes a few seconds.
    """
    from render.cli.commands import languages_named

    languages = languages_named(lang)
    from engine.files import write_aside
    from render.base.workspace import make_folder
    from render.documents.handout import html, pdf
    from render.documents.handout.write import handout as written
    from render.documents.handout.write import made_from
    from scenes import lessons

    orders = [lessons.settings(lesson, language, weights) for language in languages]
    make_folder(out)
    for settings in orders:
        made, origin = written(settings), made_from(settings)
        name = f"handout_{settings.language}{own_name(lesson, weights)}"
        for ending, data in (
            ("pdf", pdf.write(made, origin)),
            ("html", html.document(made, origin).encode("utf-8")),
        ):
            path = (out / f"{name}.{ending}").absolute()
            write_aside(path, data)
            print(path, flush=True)


def own_name(lesson: str, weights: Path | None) -> str:
    """What tells the files of a lesson or weights of one's own from the tutorial's."""
    name = f"_{Path(lesson).stem}" if lesson != "tutorial" else ""
    return name + (f"_{weights.stem}" if weights else "")
