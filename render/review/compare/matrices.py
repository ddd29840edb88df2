"""A matrix that changed, cell by cell: blue where it became less, orange where it became more."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterator
from html import escape

import numpy as np

from render.review.compare.weights import Matrix

_PANEL, _LESS, _MORE = (23, 28, 36), (91, 168, 245), (242, 140, 74)
_LARGEST_TABLE = 256  # cells; a larger matrix is a picture without digits


def matrix_panel(say: Callable[..., str], matrix: Matrix) -> Iterator[str]:
    """Name, how much of it changed, and its cells."""
    yield f'<div class="panel matrix"><span class="name">{escape(matrix.name)}</span>'
    if matrix.new is None or matrix.old is None:
        yield f"<p>{say('shape_other', shape=matrix.shape)}</p></div>"
        return
    facts = {"count": matrix.changed, "size": matrix.differences.size}
    yield f"<p>{say('cells', **facts, largest=_signed(matrix.largest))}</p>"
    if matrix.differences.size <= _LARGEST_TABLE:
        yield from _table(matrix.old, matrix.new, abs(matrix.largest))
    else:
        yield _picture(matrix)
    yield "</div>"


def _table(old: list[list[float]], new: list[list[float]], scale: float) -> Iterator[str]:
    yield f'<div class="cells" style="grid-template-columns:repeat({len(new[0])},1fr)">'
    for row, (before, after) in enumerate(zip(old, new, strict=True), 1):
        for column, (was, now) in enumerate(zip(before, after, strict=True), 1):
            if was == now:
                yield f"<i>{_short(now)}</i>"
                continue
            color = "rgb({:.0f} {:.0f} {:.0f})".format(*_fill((now - was) / scale))
            title = f"[{row}, {column}]: {_plain(was)} → {_plain(now)}"
            yield f'<i class="moved" style="background:{color}" title="{title}">{_short(now)}</i>'
    yield "</div>"


def _picture(matrix: Matrix) -> str:
    from PIL import Image

    shares = matrix.differences / abs(matrix.largest)
    pixels = np.array([[_fill(float(share)) for share in row] for row in shares])
    target = io.BytesIO()
    Image.fromarray(pixels.round().astype(np.uint8)).save(target, "png")
    source = base64.b64encode(target.getvalue()).decode("ascii")
    return (
        f'<img alt="" style="width:100%;image-rendering:pixelated" '
        f'src="data:image/png;base64,{source}">'
    )


def _fill(share: float) -> tuple[float, float, float]:
    """From the panel's colour at 0 to blue at -1 and orange at 1."""
    end, part = (_MORE if share > 0 else _LESS), 0.25 * bool(share) + 0.5 * abs(share)
    red, green, blue = (a + (b - a) * part for a, b in zip(_PANEL, end, strict=True))
    return red, green, blue


def _plain(number: float) -> str:
    return f"{number:.6g}".replace("-", "−")


def _short(number: float) -> str:
    return f"{number:.3g}".replace("-", "−")


def _signed(number: float) -> str:
    return f"{number:+.4g}".replace("-", "−")
