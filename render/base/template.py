"""HTML, XML and Markdown from templates of ``assets/``: what is filled in is text, not markup."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from render.base.project import ASSETS

#: reads a file: ``Path.read_bytes``, or the ``file`` of a maker's reads, which records it
ReadFile = Callable[[Path], bytes]


def render(name: str, read: ReadFile = Path.read_bytes, /, **values: Any) -> str:
    """The template ``assets/NAME`` with ``values``, each escaped unless it is markup by its type;
    in Markdown (``.md.jinja``) as it is. Raises OSError, or TemplateError where the template asks
    for what is not given."""

    def load(name: str) -> str:
        return read(ASSETS / name).decode("utf-8")

    environment = Environment(
        autoescape=not name.endswith(".md.jinja"),
        undefined=StrictUndefined,
        loader=FunctionLoader(load),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(name).render(values)
