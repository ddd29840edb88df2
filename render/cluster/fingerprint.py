"""What must be the same on two machines so that they render the same videos."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from engine.errors import LectureError
from render.incremental.stamps import sha256
from render.incremental.surroundings import ffmpeg_of, font_file, versions

_PACKAGES = ("engine", "scenes", "render")
_CODE = (".py", ".c", ".h", ".pyx", ".toml")
_TEXTS = Path(__file__).resolve().parents[2] / "assets" / "text"
_MOST = 3  # files named; of more only how many


def fingerprint() -> dict[str, Any]:
    """``versions`` by name, and a digest of every file of the project that draws, by path.

    Files are read anew each time, versions are looked up once. Raises LectureError where there is
    no ffmpeg that can be used.
    """
    return {"versions": _versions(), "files": _files()}


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
    from render import ffmpeg

    found = versions()
    found["distributed"] = importlib.metadata.version("distributed")
    found["font"] = sha256(font_file())[:16]
    found["ffmpeg"] = str(ffmpeg_of(ffmpeg.find())["version"])
    return found


def _files() -> dict[str, str]:
    folders = {name: _folder_of(name) for name in _PACKAGES} | {"assets/text": _TEXTS}
    return {
        f"{name}/{path.relative_to(folder).as_posix()}": sha256(path)[:16]
        for name, folder in folders.items()
        for path in sorted(folder.rglob("*"))
        if path.suffix in _CODE
    }


def _folder_of(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise LectureError(where=package, expected="a package of the lecture", found="none")
    return Path(spec.origin).parent
