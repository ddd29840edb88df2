"""What must be the same on two machines so that they render the same videos."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import engine
from render.base.project import ASSETS
from render.base.stamps import sha256
from render.build.incremental.code import Code, digest_of_source
from render.build.incremental.surroundings import ffmpeg_of, font_file, versions
from scenes import registry

_TEXTS = ASSETS / "text"
_MOST = 3  # files named; of more only how many


def fingerprint(code_kept: Path | None = None) -> dict[str, Any]:
    """``versions`` by name, and a digest of what every file does that draws, by path.

    Files are read anew each time, versions are looked up once. ``code_kept``: digests of files,
    so that unchanged ones need not be parsed. Raises LectureError where no ffmpeg can be used.
    """
    return {"versions": _versions(), "files": _files(code_kept)}


def short(print_: Mapping[str, Any]) -> str:
    """A digest of a fingerprint."""
    return hashlib.sha256(json.dumps(print_, sort_keys=True).encode()).hexdigest()[:16]


def differences(expected: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """What is otherwise in ``found``, for people; empty if all is the same."""
    return "; ".join(_differences(expected, found))


def _differences(expected: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[str]:
    for name, version in expected["versions"].items():
        other = found["versions"].get(name, "none")
        if other != version:
            yield f"{name}: expected {version}, found {other}"
    here, there = expected["files"], found["files"]
    unlike = [path for path in {**here, **there} if here.get(path) != there.get(path)]
    if unlike:
        more = f" and {len(unlike) - _MOST} more files" if len(unlike) > _MOST else ""
        named = ", ".join(unlike[:_MOST])
        yield f"project code: expected that of this machine, found other {named}{more}"


@cache
def _versions() -> dict[str, str]:
    from render.media import ffmpeg

    found = versions()
    found["distributed"] = importlib.metadata.version("distributed")
    found["font"] = sha256(font_file())[:16]
    found["ffmpeg"] = str(ffmpeg_of(ffmpeg.find())["version"])
    return found


def _files(code_kept: Path | None) -> dict[str, str]:
    """The files of the scenes' keys (:mod:`render.build.incremental.code`); and the
    engine and the texts, which the keys have by value only."""
    code = Code(code_kept)
    found: dict[str, str] = {}
    for scene in registry.film("full"):
        found |= code.files(scene.module)
    code.keep()
    for path in sorted(Path(str(engine.__file__)).parent.rglob("*.py")):
        found[f"engine/{path.name}"] = _does(path.read_bytes())
    for path in sorted(_TEXTS.glob("*.toml")):
        found[f"assets/text/{path.name}"] = sha256(path)
    return {name: digest[:16] for name, digest in found.items()}


@cache
def _does(source: bytes) -> str:
    return digest_of_source(source)
