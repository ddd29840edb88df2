"""Options that commands share: each has one name, one default, one help text and one check."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from render.build.job import BuildOptions, option

Command = TypeVar("Command", bound=Callable[..., Any])

Scenes = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SCENE]...",
        help="Numbers, ranges or names (8, 13-15, attention_scores, cross). None: all scenes.",
        show_default=False,
    ),
]
Jobs = Annotated[
    int | None,
    option(None, "Scenes rendered at once. Default: the number of cores.", min=1, max=64),
]
Store = Annotated[
    str | None,
    option(
        "DIR|URL|none",
        "Where finished scenes are kept for reuse with other weights, folders or machines "
        "(docs/incremental.md). Default: LECTURE_STORE, or a cache folder.",
    ),
]
Explain = Annotated[
    bool, typer.Option("--explain", help="Render nothing; list what would be rendered, and why.")
]
Render = Annotated[
    bool,
    typer.Option(
        "--render/--no-render",
        help="First render what is missing or out of date, or take the videos as they are.",
    ),
]
Videos = Annotated[
    Path | None,
    option("DIR", "Where the videos are, or go to. Default: as for rendering, out/LANG_QUALITY."),
]


def takes(*names: str, **defaults: Any) -> Callable[[Command], Command]:
    """Give a command the options ``names`` of :class:`BuildOptions`, those with other ``defaults``
    too; it gets all of them as its argument ``options``."""

    def wrap(command: Command) -> Command:
        hints = get_type_hints(command, include_extras=True)
        shared = get_type_hints(BuildOptions, include_extras=True)
        own = inspect.signature(command).parameters
        plain = BuildOptions()
        parameters = [
            each.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
            for name, each in own.items()
            if name != "options"
        ]
        parameters += [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=defaults.get(name, getattr(plain, name)),
                annotation=shared[name],
            )
            for name in (*names, *defaults)
        ]

        def run(**given: Any) -> Any:
            options = {
                name: given.pop(name, defaults.get(name, getattr(plain, name)))
                for name in (*names, *defaults)
            }
            return command(options=BuildOptions(**options), **given)

        run.__name__ = command.__name__
        run.__doc__ = flowing(command.__doc__ or "")
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run  # type: ignore[return-value]

    return wrap


def flowing(text: str) -> str:
    """Paragraphs without ends of lines, which help would keep."""
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
