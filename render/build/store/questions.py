"""What a scene would be stored under as things stand now, though nobody has rendered it yet.

What a scene reads is known from its last rendering: these names, these elements, these texts.
That is a question; how things stand now is its answer, and answer and question together are what
the scene's key is made of. A scene that reads other things for other numbers has several
questions; the same answers to one of them mean that it would read just that again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from engine.errors import LectureError
from engine.reads import digest_of, look_up, packed, seen_of
from render.build.incremental.changes import Now
from render.build.incremental.made import FORM, key_of

#: where in ``made`` the answers stand
_ANSWERS = ("plain", "data", "digest", "type")


def question_of(made: Mapping[str, Any]) -> dict[str, Any]:
    """What was read for ``made``, without what was found. ``hints`` do not count: they tell which
    font and ffmpeg those were, so that they need not be looked at again."""
    values = [
        {field: value for field, value in entry.items() if field not in _ANSWERS}
        for entry in made["values"]
    ]
    font = made["font"]
    return {
        "values": values,
        "texts": [path for path, _ in made["texts"]],
        "font": font["sha256"],
        "hints": {"font": font, "ffmpeg": made["ffmpeg"]},
    }


def name_of(document: Mapping[str, Any]) -> str:
    """16 hexadecimal digits for a question, or for what was ordered."""
    counted = {field: value for field, value in document.items() if field != "hints"}
    text = json.dumps({"form": FORM, **counted}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def key_now(
    question: Mapping[str, Any], module: str, ordered: Mapping[str, Any], now: Now
) -> str | None:
    """The key that a rendering would have which reads what ``question`` asks; None where some of
    that is not there now. Raises LectureError where no ffmpeg can be used."""
    try:
        hints = question["hints"]
        if hints["font"]["sha256"] != question["font"]:
            return None
        if not now.surroundings.font_is(hints["font"]):
            return None
        values = [_answer(entry, now) for entry in question["values"]]
        texts = [[path, digest_of(look_up(now.texts, path))] for path in question["texts"]]
    except (LookupError, TypeError, ValueError, AttributeError):
        return None
    return key_of(
        {
            "form": FORM,
            "picture": dict(ordered),
            "code": now.files(module),
            "versions": now.surroundings.versions,
            "ffmpeg": {"version": now.surroundings.ffmpeg_version(hints["ffmpeg"])},
            "font": {"sha256": question["font"]},
            "values": values,
            "texts": texts,
        }
    )


def _answer(entry: Mapping[str, Any], now: Now) -> dict[str, Any]:
    """An entry of ``values`` as a worker would note it now. Raises LookupError or ValueError."""
    try:
        value = now.passes.value(str(entry["run"]), str(entry["name"]))
    except LectureError as error:
        raise LookupError(str(error)) from error
    if "shape" not in entry:
        return {"run": entry["run"], "name": entry["name"], "plain": value}
    array = np.asarray(value)
    if list(array.shape) != entry["shape"]:
        raise ValueError("another shape")
    return {"run": entry["run"], "name": entry["name"], **packed(array, seen_of(entry))}
