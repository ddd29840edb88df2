"""The comparison of two weight files in a terminal, and as one HTML file that needs no network:
styles, script and pictures are inside."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markupsafe import Markup
from rich.console import Console
from rich.table import Table

from render.base import files, template
from render.base.project import ASSETS
from render.base.reader import Reader
from render.review.compare import Compared
from render.review.weights import Both

FOLDER = ASSETS / "web" / "compare"
_REASONS = 3  # that are shown at once
_CHIPS = 40  # numbers named under a beat or a scene; of more only how many
_MOST = 12  # matrices and values named in a terminal
_SCENE = 22  # columns of a scene's name, however narrow the terminal


@cache
def words(language: str) -> dict[str, str]:
    """What the page says in a language. Raises LectureError where that cannot be read."""
    return Reader().toml(FOLDER / f"{language}.toml", dict[str, str])


@dataclass(frozen=True)
class Names:
    """What was compared, for the head of the page."""

    old: Path
    new: Path
    lesson: str
    language: str

    def say(self, key: str, **facts: object) -> str:
        """A text of the page, filled in."""
        return words(self.language)[key].format(**facts)

    def count(self, key: str, number: int) -> str:
        """What stands under a number, in the singular where there is one."""
        single = f"{key}_1"
        return self.say(single if number == 1 and single in words(self.language) else key)


def data_url(data: bytes, kind: str) -> str:
    """A file inside the page."""
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"


def write(path: Path, names: Names, both: Both, scenes: Sequence[Compared]) -> None:
    """Put the page in place, whole or not at all. Raises LectureError."""
    page = template.render(
        "web/compare/page.html.jinja",
        names=names,
        say=names.say,
        count=names.count,
        both=both,
        scenes=scenes,
        anew=[scene for scene in scenes if scene.reasons],
        data_url=data_url,
        file=lambda name: Markup((FOLDER / name).read_text("utf-8")),
        most_reasons=_REASONS,
        most_chips=_CHIPS,
    )
    files.write(path, page.lstrip())


def tell(both: Both, scenes: Sequence[Compared], console: Console) -> None:
    """Print matrices, values that moved, and a line per scene."""
    for line in both.others:
        console.print(line, markup=False, highlight=False)
    _matrices(both, console)
    _values(both, console)
    loss = " → ".join(f"{value:.4f}" for value in dict.fromkeys(both.loss))
    console.print(f"loss: {loss}; the model writes: {' → '.join(dict.fromkeys(both.writes))}")
    _scenes(scenes, console)


def _matrices(both: Both, console: Console) -> None:
    if not both.matrices:
        console.print("no matrix differs")
        return
    table = Table("matrix", "shape", "numbers changed", "the most by", box=None, pad_edge=False)
    for matrix in both.matrices[:_MOST]:
        size = matrix.differences.size
        by = f"{matrix.largest:+.6g}" if size else "another shape"
        table.add_row(matrix.name, matrix.shape, f"{matrix.changed} of {size}", by)
    console.print(table)
    if len(both.matrices) > _MOST:
        console.print(f"and {len(both.matrices) - _MOST} more matrices")


def _values(both: Both, console: Console) -> None:
    console.print(f"{len(both.values)} of {both.all_values} values of the training pass moved")
    largest = sorted(both.values, key=lambda value: -(value.largest or float("inf")))
    for value in largest[:3]:
        by = "has a different shape" if value.largest is None else f"by up to {value.largest:.4g}"
        console.print(f"    {value.name} {by}", markup=False, highlight=False)


def _scenes(scenes: Sequence[Compared], console: Console) -> None:
    table = Table(box=None, pad_edge=False)
    for head in ("scene", "beats", "numbers", "sentences", "because"):
        table.add_column(head, no_wrap=True, min_width=_SCENE if head == "scene" else None)
    for scene in scenes:
        if not scene.reasons:
            table.add_row(scene.scene.slug, "as it was", style="dim")
            continue
        other = f" ({scene.variants} reworded)" if scene.variants else ""
        table.add_row(
            scene.scene.slug,
            f"{len(scene.beats)} of {scene.all_beats}",
            str(len(scene.numbers)),
            f"{scene.sentences}{other}",
            scene.because,
        )
    console.print(table)
