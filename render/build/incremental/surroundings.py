"""What of the machine decides about the picture: versions, the font, the ffmpeg."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from render.base.stamps import holds

PACKAGES = ("manim", "manimpango", "pycairo", "numpy", "av", "typst")
FONT = ("manimgx_fonts_cjk", "NotoSansCJK-VF.otf.ttc")


def versions() -> dict[str, str]:
    """Versions of Python (minor), of the packages that draw, and of cairo itself."""
    import cairo

    found = {"python": f"{sys.version_info[0]}.{sys.version_info[1]}"}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "none"
    return {**found, "cairo": cairo.cairo_version_string()}


def font_file() -> Path:
    """The lecture's font, as ``scenes/fonts.py`` has it, without importing what reads fonts."""
    package, name = FONT
    return _folder_of(package) / name


def ffmpeg_of(binary: str) -> dict[str, Any]:
    """The version of an ffmpeg, with what tells quickly that it is still the same file."""
    said = subprocess.run([binary, "-version"], capture_output=True, text=True, timeout=30)
    lines = said.stdout.splitlines()
    status = Path(binary).stat()
    return {
        "path": binary,
        "size": status.st_size,
        "mtime_ns": status.st_mtime_ns,
        "version": " ".join(lines[0].split()[:3]) if lines else "none",
    }


class Surroundings:
    """As they are now, each looked at once."""

    def __init__(self) -> None:
        self.versions = versions()
        self._ffmpeg: dict[str, Any] | None = None
        self._font: dict[bytes, bool] = {}

    def font_is(self, said: Mapping[str, Any]) -> bool:
        key = repr(sorted(said.items())).encode()
        if key not in self._font:
            self._font[key] = holds(font_file(), said)
        return self._font[key]

    def ffmpeg_version(self, said: Mapping[str, Any]) -> str:
        """The version of the ffmpeg that would be used; asked only if it is not the file ``said``.

        Raises LectureError where there is none that can be used.
        """
        if _is_first_choice(str(said["path"])):
            status = Path(said["path"]).stat()
            if (status.st_size, status.st_mtime_ns) == (said["size"], said["mtime_ns"]):
                return str(said["version"])
        if self._ffmpeg is None:
            from render.media import ffmpeg

            self._ffmpeg = ffmpeg_of(ffmpeg.find())
        return str(self._ffmpeg["version"])


def _is_first_choice(path: str) -> bool:
    """Whether ``render.media.ffmpeg.find`` would look at this one first, if it can be used."""
    chosen = shutil.which(os.environ.get("LECTURE_FFMPEG") or "ffmpeg")
    if chosen is None and not os.environ.get("LECTURE_FFMPEG"):
        carried = _folder_of("imageio_ffmpeg")
        return Path(path).is_file() and carried in Path(path).parents
    return chosen == path


def _folder_of(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    return Path(spec.origin).parent if spec and spec.origin else Path("/none")
