"""Options that several commands have, with the same meaning and the same words."""

from __future__ import annotations

from typing import Annotated

import typer

Weights = Annotated[
    list[str] | None,
    typer.Option(metavar="FILE", help="A weight file of your own.", show_default=False),
]
Voice = Annotated[
    str, typer.Option(metavar="WHO", help="none, recordings:DIR, draft (docs/voice.md).")
]
SceneJobs = Annotated[
    int | None,
    typer.Option(min=1, max=64, help="Scenes rendered at once.", show_default=False),
]
