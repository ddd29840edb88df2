"""Methods of Manim 0.22 that have no extension point and are replaced while we draw.

Each does what the original does, to the last bit, for mobjects and animations that behave as
Manim's own classes do, and calls the original for all others. ``tests/render/test_fast_hooks.py``
fails when a new Manim changes one of the originals.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from manim import Animation, Mobject, Transform
from manim.utils.bezier import interpolate as straight

from render.draw.fast import native

#: what is replaced: class, name of the method
REPLACED: tuple[tuple[type, str], ...] = (
    (Mobject, "get_family"),
    (Mobject, "family_members_with_points"),
    (Mobject, "update"),
    (Mobject, "__deepcopy__"),
    (Animation, "interpolate_mobject"),
)
_ORIGINALS: dict[tuple[type, str], Callable[..., Any]] = {}


def install() -> None:
    """Replace the methods; doing so twice changes nothing. Raises build.NotBuilt."""
    if _ORIGINALS:
        return
    helper = native.load()
    for kind, name in REPLACED:
        _ORIGINALS[kind, name] = getattr(kind, name)
        setattr(kind, name, _MAKERS[name](helper, _ORIGINALS[kind, name]))


def remove() -> None:
    """Put the originals back."""
    for (kind, name), original in _ORIGINALS.items():
        setattr(kind, name, original)
    _ORIGINALS.clear()


def _get_family(helper: Any, original: Any) -> Any:
    def get_family(self: Any, recurse: bool = True) -> Any:
        try:
            return helper.family((self,), False)
        except LookupError:
            return original(self, recurse)

    return get_family


def _family_members_with_points(helper: Any, original: Any) -> Any:
    def family_members_with_points(self: Any) -> Any:
        try:
            return helper.family((self,), True)
        except LookupError:
            return original(self)

    return family_members_with_points


def _update(helper: Any, original: Any) -> Any:
    def update(self: Any, dt: float = 0, recursive: bool = True) -> Any:
        """Nothing, without a walk in Python, where no updater would run."""
        return self if helper.idle(self) else original(self, dt, recursive)

    return update


def _deepcopy(helper: Any, original: Any) -> Any:
    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:
        try:
            return helper.copy(self, memo)
        except LookupError:
            return original(self, memo)

    return __deepcopy__


def _interpolate_mobject(helper: Any, original: Any) -> Any:
    def interpolate_mobject(self: Any, alpha: float) -> None:
        """The family at once, where each member would be interpolated on a straight path."""
        if not _is_plain_transform(type(self)) or self.path_func is not straight:
            return original(self, alpha)  # type: ignore[no-any-return]
        parts = (self.mobject, self.starting_mobject, self.target_copy)
        families = [part.family_members_with_points() for part in parts]
        count = len(families[0])
        apart = count if self.lag_ratio else min(count, 1)  # else all have the same alpha
        alphas = [self.get_sub_alpha(alpha, index, count) for index in range(apart)]
        try:
            helper.interpolate(*families, alphas)
        except LookupError:
            original(self, alpha)

    return interpolate_mobject


_PLAIN: dict[type, bool] = {}


def _is_plain_transform(kind: Any) -> bool:
    if kind not in _PLAIN:
        _PLAIN[kind] = (
            issubclass(kind, Transform)
            and kind.get_all_families_zipped is Transform.get_all_families_zipped
            and kind.interpolate_submobject is Transform.interpolate_submobject
            and kind.get_sub_alpha is Animation.get_sub_alpha
        )
    return _PLAIN[kind]


_MAKERS: dict[str, Callable[[Any, Any], Any]] = {
    "get_family": _get_family,
    "family_members_with_points": _family_members_with_points,
    "update": _update,
    "__deepcopy__": _deepcopy,
    "interpolate_mobject": _interpolate_mobject,
}
