"""The comparison in a terminal, or as plain text in a pipe."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from render.review.compare.scene import Compared
from render.review.compare.weights import Both

_MOST = 12  # matrices and values named
_WIDTHS = {"scene": 22}  # however narrow the terminal


def report(both: Both, scenes: Sequence[Compared], console: Console) -> None:
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
        by = "has another shape" if value.largest is None else f"by up to {value.largest:.4g}"
        console.print(f"    {value.name} {by}", markup=False, highlight=False)


def _scenes(scenes: Sequence[Compared], console: Console) -> None:
    table = Table(box=None, pad_edge=False)
    for head in ("scene", "beats", "numbers", "sentences", "because"):
        table.add_column(head, no_wrap=True, min_width=_WIDTHS.get(head))
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
