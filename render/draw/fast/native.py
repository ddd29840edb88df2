"""The compiled helper, told about Manim: which classes behave as Manim's own, joins and caps."""

from __future__ import annotations

import copy
import enum
import sys
import types
from functools import cache
from typing import Any

import cairo  # noqa: F401 - the helper draws with the library that this loads
import manim.camera.camera as manim_camera
import numpy as np
from manim import ManimColor, Mobject, PMobject, VMobject
from manim.mobject.types.image_mobject import AbstractImageMobject

from render.draw.fast import build

_FAMILY, _UPDATE, _DRAWING, _NOT_DRAWN, _INTERPOLATION, _COPY = 1, 2, 4, 8, 16, 32

_FAMILY_METHODS = ("get_family", "_iter_family", "family_members_with_points", "get_num_points")
_DRAWING_METHODS = (
    "get_fill_rgbas",
    "get_stroke_rgbas",
    "get_stroke_width",
    "get_subpath_split_indices_from_points",
    "consider_points_equals_2d",
    "get_background_image",
)
_DATA = (
    "points",
    "submobjects",
    "updaters",
    "updating_suspended",
    "z_index",
    "fill_rgbas",
    "stroke_rgbas",
    "background_stroke_rgbas",
    "stroke_width",
    "background_stroke_width",
    "sheen_direction",
    "sheen_factor",
    "joint_type",
    "cap_style",
    "background_image",
)
_ATOMIC = (
    *(type(None), bool, int, float, complex, str, bytes, type, range),
    *(types.FunctionType, types.BuiltinFunctionType, np.float64, np.int64, np.bool_),
    *(ManimColor, manim_camera.LineJointType, manim_camera.CapStyleType),
)


@cache
def load() -> Any:
    """The module ``lecture_native``, ready for use. Raises build.NotBuilt."""
    module = build.load()
    module.setup(
        sys.modules["cairo._cairo"].__file__,
        classify,
        {key: int(value) for key, value in manim_camera.LINE_JOIN_MAP.items()},
        {key: int(value) for key, value in manim_camera.CAP_STYLE_MAP.items()},
        frozenset(_ATOMIC),
        copy.deepcopy,
    )
    return module


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
    flags |= _UPDATE if _same(kind, Mobject, "update") else 0
    if issubclass(kind, VMobject):
        flags |= _DRAWING if _same(kind, VMobject, *_DRAWING_METHODS) else 0
        as_usual = _same(kind, Mobject, "interpolate") and _same(
            kind, VMobject, "interpolate_color"
        )
        flags |= _INTERPOLATION if as_usual else 0
    elif not issubclass(kind, PMobject | AbstractImageMobject):
        flags |= _NOT_DRAWN
    return flags


def _same(kind: type, base: type, *names: str) -> bool:
    return all(getattr(kind, name) is getattr(base, name) for name in names)
