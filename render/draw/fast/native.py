"""The compiled helper: built with the C compiler at first use, kept in the user's cache folder, and
told about Manim: which classes behave as Manim's own, joins and caps.

The name of the file says what it was built from and for, so an old one is never used by mistake.
LECTURE_NATIVE=0 in the environment goes without.
"""

from __future__ import annotations

import contextlib
import copy
import enum
import hashlib
import importlib.machinery
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import types
from functools import cache
from pathlib import Path
from typing import Any

import cairo  # noqa: F401 - the helper draws with the library that this loads
import manim.camera.camera as manim_camera
import numpy as np
from manim import ManimColor, Mobject, PMobject, VMobject
from manim.mobject.types.image_mobject import AbstractImageMobject

from engine.errors import LectureError
from engine.files import write_aside

_NAME = "lecture_native"
_FILES = sorted((Path(__file__).parent / "native").glob("*.[ch]"))
# no fused multiply-add and no reordering: sums must come out as NumPy's do, to the last bit
_OPTIONS = ("-O3", "-fPIC", "-shared", "-std=gnu11", "-ffp-contract=off")
_SECONDS = 120

_FAMILY, _DRAWING, _NOT_DRAWN, _INTERPOLATION, _COPY = 1, 2, 4, 8, 16

_FAMILY_METHODS = ("get_family", "_iter_family", "family_members_with_points", "get_num_points")
_DRAWING_METHODS = (
    *("get_fill_rgbas", "get_stroke_rgbas", "get_stroke_width", "consider_points_equals_2d"),
    *("get_subpath_split_indices_from_points", "get_background_image"),
)
_DATA = (
    *("points", "submobjects", "z_index", "fill_rgbas", "stroke_rgbas", "stroke_width"),
    *("background_stroke_rgbas", "background_stroke_width", "background_image"),
    *("sheen_direction", "sheen_factor", "joint_type", "cap_style"),
)
_ATOMIC = (
    *(type(None), bool, int, float, complex, str, bytes, type, range),
    *(types.FunctionType, types.BuiltinFunctionType, np.float64, np.int64, np.bool_),
    *(ManimColor, manim_camera.LineJointType, manim_camera.CapStyleType),
)


class NotBuilt(RuntimeError):
    """Why there is no compiled helper, in one line."""


@cache
def load() -> Any:
    """The module ``lecture_native``, built if need be, ready for use. Raises NotBuilt."""
    if os.environ.get("LECTURE_NATIVE") == "0":
        raise NotBuilt("LECTURE_NATIVE=0")
    made_of = [sys.version, platform.platform(), np.__version__, *_OPTIONS]
    made_of += [path.read_text("utf-8") for path in _FILES]
    digest = hashlib.sha256("\0".join(made_of).encode()).hexdigest()[:16]
    target = _cache_folder() / f"{_NAME}-{digest}.so"
    if not target.is_file():
        _build(target)
    loader = importlib.machinery.ExtensionFileLoader(_NAME, str(target))
    spec = importlib.util.spec_from_loader(_NAME, loader)
    assert spec is not None
    try:
        module: Any = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
    except ImportError as error:
        with contextlib.suppress(OSError):
            target.unlink()
        raise NotBuilt(f"{target}: {error}") from error
    module.setup(
        sys.modules["cairo._cairo"].__file__,
        classify,
        {key: int(value) for key, value in manim_camera.LINE_JOIN_MAP.items()},
        {key: int(value) for key, value in manim_camera.CAP_STYLE_MAP.items()},
        frozenset(_ATOMIC),
        copy.deepcopy,
    )
    return module


def _cache_folder() -> Path:
    """Where compiled files are kept: $XDG_CACHE_HOME or ~/.cache, or else a folder of this user
    among the temporary files."""
    chosen = os.environ.get("XDG_CACHE_HOME")
    with contextlib.suppress(OSError, RuntimeError):
        folder = (Path(chosen) if chosen else Path.home() / ".cache") / "transformer-lecture"
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    return Path(tempfile.mkdtemp(prefix="transformer-lecture-"))


def _build(target: Path) -> None:
    compiler = os.environ.get("CC") or next(filter(shutil.which, ("cc", "gcc", "clang")), None)
    if compiler is None:
        raise NotBuilt("there is no C compiler")
    include = [sysconfig.get_paths()["include"], np.get_include()]
    command = [*shlex.split(compiler), *_OPTIONS, *(f"-I{folder}" for folder in include)]
    command += [str(path) for path in _FILES if path.suffix == ".c"]
    if sys.platform == "darwin":
        command += ["-undefined", "dynamic_lookup"]
    command += ["-lm", *(["-ldl"] if sys.platform == "linux" else [])]
    try:
        with tempfile.TemporaryDirectory(prefix="transformer-lecture-") as folder:
            library = Path(folder) / target.name
            command += ["-o", str(library)]
            made = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS)
            if made.returncode != 0:
                raise NotBuilt(f"{compiler}: {(made.stderr.strip() or 'failed').splitlines()[0]}")
            write_aside(target, library.read_bytes())
    except (OSError, LectureError, subprocess.TimeoutExpired) as error:
        raise NotBuilt(f"{compiler}: {error}") from error


def classify(kind: type) -> int:
    """In which respects objects of this class are as Manim's own classes, as flags."""
    if not issubclass(kind, Mobject) or issubclass(kind, enum.Enum):
        return 0
    if kind.__setattr__ is not object.__setattr__ or any(
        hasattr(getattr(kind, name, None), "__set__") for name in _DATA
    ):
        return 0
    flags = _COPY if _same(kind, Mobject, "__deepcopy__") and _same(kind, object, "__new__") else 0
    flags |= _FAMILY if _same(kind, Mobject, *_FAMILY_METHODS) else 0
    if issubclass(kind, VMobject):
        flags |= _DRAWING if _same(kind, VMobject, *_DRAWING_METHODS) else 0
        if _same(kind, Mobject, "interpolate") and _same(kind, VMobject, "interpolate_color"):
            flags |= _INTERPOLATION
    elif not issubclass(kind, PMobject | AbstractImageMobject):
        flags |= _NOT_DRAWN
    return flags


def _same(kind: type, base: type, *names: str) -> bool:
    return all(getattr(kind, name) is getattr(base, name) for name in names)
