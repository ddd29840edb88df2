"""Options that commands share: each has one name, one default, one help text and one check."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from render.build.job import BuildOptions, option

Command = TypeVar("Command", bound=Callable[..., Any])


def flag(name: str, help: str) -> Any:
    """An option that is given or not."""
    return typer.Option(name, help=help)


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
    bool, flag("--explain", "Render nothing; list what would be rendered, and why.")
]
Render = Annotated[
    bool,
    flag(
        "--render/--no-render",
        "First render what is missing or out of date, or take the videos as they are.",
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
        every = inspect.signature(BuildOptions, eval_str=True).parameters
        own = dict(inspect.signature(command, eval_str=True).parameters)
        del own["options"]
        for name in (*names, *defaults):
            own[name] = every[name].replace(default=defaults.get(name, every[name].default))

        def run(**given: Any) -> Any:
            shared = {n: given.pop(n, own[n].default) for n in (*names, *defaults)}
            return command(options=BuildOptions(**shared), **given)

        run.__name__ = command.__name__
        run.__doc__ = flowing(command.__doc__ or "")
        parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own.values()]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {name: each.annotation for name, each in own.items()}
        return run  # type: ignore[return-value]

    return wrap


def flowing(text: str) -> str:
    """Paragraphs without ends of lines, which help would keep."""
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
