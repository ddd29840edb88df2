"""Methods of Manim 0.22 that have no extension point and are replaced while we draw.

Each does what the original does, to the last bit, for mobjects and animations that behave as
Manim's own classes do, and calls the original for all others. ``tests/render/test_fast_hooks.py``
fails when a new Manim changes one of the originals.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from manim import Animation, Mobject, Transform
from manim.utils.bezier import interpolate as straight

from render.draw.fast import native

#: what is replaced: class, name of the method
REPLACED: tuple[tuple[type, str], ...] = (
    (Mobject, "get_family"),
    (Mobject, "family_members_with_points"),
    (Mobject, "__deepcopy__"),
    (Animation, "interpolate_mobject"),
)
_ORIGINALS: dict[tuple[type, str], Callable[..., Any]] = {}


def install() -> None:
    """Replace the methods; doing so twice changes nothing. Raises native.NotBuilt."""
    if _ORIGINALS:
        return
    helper = native.load()
    _ORIGINALS.update({(kind, name): getattr(kind, name) for kind, name in REPLACED})
    for (kind, name), method in zip(REPLACED, _methods(helper, *_ORIGINALS.values()), strict=True):
        setattr(kind, name, method)


def remove() -> None:
    """Put the originals back."""
    for (kind, name), original in _ORIGINALS.items():
        setattr(kind, name, original)
    _ORIGINALS.clear()


def _methods(
    helper: Any, family: Any, family_with_points: Any, copied: Any, interpolated: Any
) -> tuple[Callable[..., Any], ...]:
    """What takes the places of the originals, in the order of REPLACED."""

    def get_family(self: Any, recurse: bool = True) -> Any:
        try:
            return helper.family((self,), False)
        except LookupError:
            return family(self, recurse)

    def family_members_with_points(self: Any) -> Any:
        try:
            return helper.family((self,), True)
        except LookupError:
            return family_with_points(self)

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:
        try:
            return helper.copy(self, memo)
        except LookupError:
            return copied(self, memo)

    def interpolate_mobject(self: Any, alpha: float) -> None:
        """The family at once, where each member would be interpolated on a straight path."""
        kind: Any = type(self)
        if not _is_plain_transform(kind) or self.path_func is not straight:
            return interpolated(self, alpha)  # type: ignore[no-any-return]
        parts = (self.mobject, self.starting_mobject, self.target_copy)
        families = [part.family_members_with_points() for part in parts]
        count = len(families[0])
        apart = count if self.lag_ratio else min(count, 1)  # else all have the same alpha
        alphas = [self.get_sub_alpha(alpha, index, count) for index in range(apart)]
        try:
            helper.interpolate(*families, alphas)
        except LookupError:
            interpolated(self, alpha)

    return get_family, family_members_with_points, __deepcopy__, interpolate_mobject


@cache
def _is_plain_transform(kind: Any) -> bool:
    return (
        issubclass(kind, Transform)
        and kind.get_all_families_zipped is Transform.get_all_families_zipped
        and kind.interpolate_submobject is Transform.interpolate_submobject
        and kind.get_sub_alpha is Animation.get_sub_alpha
    )
