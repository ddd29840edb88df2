"""How values that were read differ from what they are now, in numbers."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from engine.errors import LectureError
from engine.passes import Passes
from engine.reads import KEPT, elements_of, seen_of
from render.base.reads import Input, input_of, value_now


def values_moved(said: Iterable[Input], passes: Passes) -> list[str]:
    """Of the values read, those that differ in ``passes``, a line each; first what comes first in
    the model."""
    moved = []
    for one in said:
        run, name, _ = one.arg
        line, place = "is no longer there", (2, 0)
        with contextlib.suppress(LectureError, LookupError, ValueError, AttributeError, TypeError):
            now, read = value_now(passes, one.arg)
            if read == one:
                continue
            line = _moved(one, now)
            names = list(passes.trace(run))
            place = (1, names.index(name)) if name in names else (0, 0)
        moved.append((place, f"{one.name}: {line}"))
    return [line for _, line in sorted(moved)]


def entries_moved(entries: Iterable[Mapping[str, Any]], passes: Passes) -> list[str]:
    """The same for the entries of an ``engine.reads`` document."""
    return values_moved(map(input_of, entries), passes)


def _moved(one: Input, now: Any) -> str:
    asked = one.arg[2]
    if asked is None:
        return f"was {_short(json.loads(one.digest))}, is {_short(now)}"
    now = np.asarray(now)
    if list(now.shape) != asked["shape"] or now.dtype.str != asked["type"]:
        return f"was {_size(asked['shape'])}, is {_size(now.shape)}"
    seen = seen_of(asked)
    if int(seen.sum()) > KEPT:
        return "changed"
    old = elements_of({**asked, "data": one.digest})
    assert old is not None
    apart = np.abs(now[seen].astype(float) - old.astype(float))
    most = f"{np.nanmax(apart):.6g}"
    return f"changed by at most {most} (in {np.count_nonzero(apart)} of {apart.size})"


def _short(value: Any) -> str:
    text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _size(shape: Any) -> str:
    return " x ".join(map(str, shape)) or "a single number"
